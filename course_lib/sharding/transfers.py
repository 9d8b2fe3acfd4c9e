"""Section 27.5: what an update transfers because of how its states are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..arguments import whole
from ..collectives import PASSES, Ring
from ..errors import CourseError
from ..ledger import GRADS, WEIGHTS, Ledger, Row
from .resident import check_states, whole_ledger


@dataclass(frozen=True, slots=True)
class StepTransfer:
    """One collective that an update needs ``times`` times; ``what`` is a ledger row, ``why`` is Chinese."""

    what: str
    why: str
    times: int
    ring: Ring

    @property
    def bytes_per_worker(self) -> int:
        """Bytes that the busiest worker sends for one update."""
        return self.times * self.ring.most_sent_bytes


def _collectives(sharded: frozenset[str], microbatches: int) -> Iterator[tuple[str, str, int, str]]:
    """Yield (kind, ledger row, times per update, why)."""
    if not sharded:
        yield "all_reduce", GRADS, 1, "更新前汇总各进程的梯度总和"
        return
    # A sharded gradient cannot wait whole for the last microbatch: each one is summed and scattered at once.
    times = microbatches if GRADS in sharded else 1
    yield "reduce_scatter", GRADS, times, "每个进程只拿到自己那一片梯度总和"
    if WEIGHTS in sharded:
        yield "all_gather", WEIGHTS, microbatches, "前向时逐层收集权重，用完即丢"
        yield "all_gather", WEIGHTS, microbatches, "反向时再收集一次"
    else:
        yield "all_gather", WEIGHTS, 1, "各进程更新自己那一片后，收齐新的工作权重"


def step_transfers(
    state: Ledger, *, workers: int, sharded: object = frozenset(), microbatches: int = 1
) -> tuple[StepTransfer, ...]:
    """Return the collectives of one update, from a ledger of whole model states and the sharded row names.

    ``microbatches`` is how many each worker processes per update: what is sharded as weights or gradients
    crosses once for each of them. One worker transfers nothing. The few bytes of the event count are left
    out. Raises ``CourseError`` if the ledger does not know its weights or gradients.

    >>> from course_lib.ledger import model_state
    >>> [(t.ring.kind, t.bytes_per_worker) for t in step_transfers(model_state(1_000_000), workers=4)]
    [('all_reduce', 3000000)]
    """
    names = [row.name for row in whole_ledger(state)]
    n_workers, n_micro = whole("workers", workers, minimum=1), whole("microbatches", microbatches, minimum=1)
    planned = tuple(_collectives(check_states("sharded", sharded), n_micro)) if n_workers > 1 else ()
    for _, what, _, _ in planned:
        if what not in names:
            raise CourseError(
                f"state 没有记{what}，算不出要传多少", got=tuple(names), remedy="请换一种记了这一项的账目"
            )
    return tuple(
        StepTransfer(what, why, times, _ring(kind, state[what], n_workers))
        for kind, what, times, why in planned
    )


def _ring(kind: str, row: Row, workers: int) -> Ring:
    return Ring(kind=kind, values=row.count, bytes_each=row.bytes_per_value, workers=workers)


def step_volume(parameters: int, *, sharded: object = frozenset(), microbatches: int = 1) -> int:
    """Return what a worker sends per update, in parameters, for many workers: (W − 1) / W taken as 1.

    2Ψ for data parallelism and for sharded optimizer states and gradients, 3Ψ with sharded weights.
    Source: Rajbhandari et al. 2020, section 7.

    >>> from course_lib.sharding import ZERO_3
    >>> step_volume(1_000_000), step_volume(1_000_000, sharded=ZERO_3)
    (2000000, 3000000)
    """
    count = whole("parameters", parameters, minimum=1)
    planned = _collectives(check_states("sharded", sharded), whole("microbatches", microbatches, minimum=1))
    return count * sum(PASSES[kind] * times for kind, _, times, _ in planned)
