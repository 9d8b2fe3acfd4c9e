"""Section 27.7: one job, and the whole ledger of one setting of all knobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from ..accumulation import Arrangement
from ..activations import SavedActivations
from ..arguments import choice, exact, instance, whole
from ..errors import CourseError
from ..ledger import Ledger
from ..recompute import Rebuild, rebuild
from ..sharding import STAGES, StepTransfer, gathered, resident, step_transfers, whole_ledger

DENOMINATORS: Final = MappingProxyType({"events": "有效事件数", "microbatches": "微批次数"})
JOB_REMEDY: Final = "请用 Job(...) 写明要训练什么"
_ACTS_REMEDY: Final = "请用 SavedActivations(...) 写明每层的全部数组"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to train, on which device, and what one update means.

    ``state`` is the ledger of the whole model, ``acts`` the shape with all arrays saved (its ``sequences`` is
    replaced by each plan's microbatch), ``percent`` the planning margin. One update averages
    ``tokens_per_update`` positions, padding included, over the ``denominator``: ``"events"`` as in example
    27.2, or ``"microbatches"``, which is the same only where all of them have equally many events.
    ``largest_layer`` (parameters) adds what is there for a moment: gathered weights, gradients before
    scattering, rebuilt arrays. Without it they are listed under ``omits``, as the chapter counts.
    """

    state: Ledger
    acts: SavedActivations
    capacity_bytes: int
    tokens_per_update: int
    percent: Fraction = Fraction(25)
    denominator: str = "events"
    largest_layer: int | None = None

    def __post_init__(self) -> None:
        whole_ledger(self.state)
        acts = instance("acts", self.acts, SavedActivations, _ACTS_REMEDY)
        if not acts.arrays_per_layer:
            raise CourseError("acts 每层没有保存任何数组", got=acts, remedy=_ACTS_REMEDY)
        object.__setattr__(self, "denominator", choice("denominator", self.denominator, DENOMINATORS))
        for name in ("capacity_bytes", "tokens_per_update"):
            object.__setattr__(self, name, whole(name, getattr(self, name), minimum=1))
        object.__setattr__(self, "percent", exact("percent", self.percent, minimum=0, maximum=1000))
        if self.largest_layer is not None:
            object.__setattr__(self, "largest_layer", whole("largest_layer", self.largest_layer, minimum=1))
        if self.tokens_per_update % acts.positions:
            raise CourseError(
                "tokens_per_update 不是整数个序列",
                got=self.tokens_per_update,
                remedy=f"请给 {acts.positions} 的倍数",
            )

    @property
    def sequences_per_update(self) -> int:
        """Sequences that one update averages."""
        return self.tokens_per_update // self.acts.positions


@dataclass(frozen=True, slots=True)
class Plan:
    """One setting of all knobs, for one worker (the one with the largest share). Made by ``plan``.

    ``transfers`` are the collectives of one update.
    """

    job: Job
    arrangement: Arrangement
    zero: int
    rebuild: Rebuild
    ledger: Ledger
    transfers: tuple[StepTransfer, ...]

    @property
    def need_bytes(self) -> int:
        """The ledger with the planning margin."""
        return self.ledger.with_headroom(percent=self.job.percent)

    @property
    def fits(self) -> bool:
        """Whether the need, margin included, is within the capacity. A plan, not a measured peak."""
        return self.need_bytes <= self.job.capacity_bytes

    @property
    def transfer_bytes(self) -> int:
        """Bytes that the busiest worker sends per update."""
        return sum(transfer.bytes_per_worker for transfer in self.transfers)

    @property
    def extra_forward(self) -> Fraction:
        """Forward work done a second time, as a share of one forward pass."""
        return self.rebuild.extra_forward

    @property
    def omits(self) -> tuple[str, ...]:
        """What the need does not count."""
        return self.ledger.omits

    @property
    def same_update(self) -> bool:
        """Whether one update averages as many sequences as the job says."""
        return self.arrangement.sequences_per_update == self.job.sequences_per_update

    @property
    def costs(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """What plans are compared by: bytes needed, bytes sent, extra forward, rounds one after another."""
        rounds = self.arrangement.accumulation
        return Fraction(self.need_bytes), Fraction(self.transfer_bytes), self.extra_forward, Fraction(rounds)


def plan(
    job: Job,
    *,
    workers: int = 1,
    microbatch: int = 1,
    accumulation: int = 1,
    arrays_per_layer: int | None = None,
    zero: int = 0,
) -> Plan:
    """Write the ledger of one setting; ``zero`` is the stage (0: nothing sharded), None keeps all arrays.

    >>> from course_lib.ledger import model_state
    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> job = Job(state=model_state(1_000_000), acts=acts, capacity_bytes=10_000_000, tokens_per_update=1024)
    >>> ten, four = (plan(job, workers=4, microbatch=2, zero=1, arrays_per_layer=k) for k in (10, 4))
    >>> ten.need_bytes, ten.fits, four.need_bytes, four.fits
    (10388400, False, 9405360, True)
    """
    instance("job", job, Job, JOB_REMEDY)
    way = Arrangement(workers=workers, microbatch=microbatch, accumulation=accumulation)
    stage = whole("zero", zero, maximum=3)
    sharded = tuple(STAGES.values())[stage if way.workers > 1 else 0]
    kept = job.acts.arrays_per_layer if arrays_per_layer is None else arrays_per_layer
    work = rebuild(replace(job.acts, sequences=way.microbatch), arrays_per_layer=kept)
    transfers = step_transfers(job.state, workers=way.workers, sharded=sharded, microbatches=way.accumulation)
    lasting = resident(job.state, workers=way.workers, sharded=sharded)
    if job.largest_layer is None:
        ledger = lasting + work.ledger()
    else:
        moment = gathered(job.state, sharded=sharded, largest_layer=job.largest_layer)
        ledger = lasting + work.peak_ledger() + moment
    return Plan(job, way, stage, work, ledger, transfers)
