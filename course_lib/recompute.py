"""Section 27.6: keep fewer activations and rebuild the missing ones in the backward pass (激活检查点).

``keep_arrays`` gives the smaller saved share; ``rebuild`` also says what that costs: extra
forward work, and room for the layer that is being rebuilt. ``tradeoff`` answers exercise 6. Nothing here
touches the model state, and nothing here is about recovery (恢复检查点).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from .activations import SavedActivations
from .arguments import exact, instance, whole
from .errors import CourseError
from .ledger import ACTIVATIONS, Ledger, Lifetime, Row

REBUILT: Final = "重算暂存"
# A backward pass does about twice the arithmetic of a forward pass, so forward is a third of both together.
_FORWARD_SHARE: Final = Fraction(1, 3)
_MAKE_ACTS: Final = "请用 SavedActivations(...) 写明每层留几个数组"


def keep_arrays(acts: SavedActivations, *, arrays_per_layer: int) -> SavedActivations:
    """Return the activations with only ``arrays_per_layer`` arrays kept; the first is the layer's input.

    Raises ``CourseError`` for more arrays than there are, and for 0: nothing could be rebuilt from nothing.
    Source: section 27.6.

    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> keep_arrays(acts, arrays_per_layer=4).total_bytes
    524288
    """
    all_arrays = instance("acts", acts, SavedActivations, _MAKE_ACTS).arrays_per_layer
    if all_arrays < 1:
        raise CourseError("acts 每层没有保存数组，谈不上少留几个", got=all_arrays, remedy=_MAKE_ACTS)
    return replace(
        acts, arrays_per_layer=whole("arrays_per_layer", arrays_per_layer, minimum=1, maximum=all_arrays)
    )


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Activations before and after, and what rebuilding the difference costs.

    ``extra_forward`` is a share of one forward pass over all layers. Made by ``rebuild``.
    """

    before: SavedActivations
    after: SavedActivations
    extra_forward: Fraction

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            instance(name, getattr(self, name), SavedActivations, _MAKE_ACTS)
        if keep_arrays(self.before, arrays_per_layer=self.after.arrays_per_layer) != self.after:
            raise CourseError(
                "after 与 before 只能差在每层的数组数", got=self.after, remedy="请用 keep_arrays 得到 after"
            )
        share = exact("extra_forward", self.extra_forward, minimum=0, maximum=1)
        object.__setattr__(self, "extra_forward", share)

    @property
    def kept(self) -> tuple[int, ...]:
        """Which arrays of a layer stay, counted from 1: the input, then evenly spread.

        The section names no arrays, so this is one even choice; with equal costs any other costs the same.
        """
        total, kept = self.before.arrays_per_layer, self.after.arrays_per_layer
        if kept > 10_000:
            raise CourseError("要列出的数组太多", got=kept, remedy="请在每层至多留 10,000 个数组时再列名单")
        return tuple(1 + index * total // kept for index in range(kept))

    @property
    def freed_bytes(self) -> int:
        """Bytes no longer kept between forward and backward."""
        return self.before.total_bytes - self.after.total_bytes

    @property
    def transient_bytes(self) -> int:
        """Room for the missing arrays of the one layer that is being rebuilt, beside the saved share."""
        return self.before.layer_bytes - self.after.layer_bytes

    @property
    def peak_bytes(self) -> int:
        """Saved share plus one layer's rebuilt arrays: reached in the backward pass of the last layer."""
        return self.after.total_bytes + self.transient_bytes

    @property
    def extra_arithmetic(self) -> Fraction:
        """``extra_forward`` as a share of forward and backward together, backward taken as two forwards."""
        return self.extra_forward * _FORWARD_SHARE

    def ledger(self) -> Ledger:
        """Return the saved share alone; the room for rebuilding is named under ``omits``."""
        saved = self.after.ledger()
        return replace(saved, omits=(REBUILT, *saved.omits)) if self.transient_bytes else saved

    def transient_ledger(self) -> Ledger:
        """Return the room for rebuilding alone: in the backward pass it is there beside the saved share."""
        if not self.transient_bytes:
            return Ledger(())
        width = self.before.bytes_per_value
        why = "反向到哪一层，就重建那一层缺的数组"
        return Ledger((Row(REBUILT, self.transient_bytes // width, (width,), why, Lifetime.WITHIN_STEP),))

    def peak_ledger(self) -> Ledger:
        """Return the saved share and the room for rebuilding one layer."""
        return self.ledger() + self.transient_ledger()


def rebuild(acts: SavedActivations, *, arrays_per_layer: int) -> Rebuild:
    """Keep ``arrays_per_layer`` arrays and rebuild the others, each at an equal share of its layer's forward.

    That equal share is this model's assumption: real arrays differ widely in cost.

    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> plan = rebuild(acts, arrays_per_layer=4)
    >>> plan.freed_bytes, plan.transient_bytes, plan.peak_bytes, plan.extra_forward
    (786432, 196608, 720896, Fraction(3, 5))
    """
    after = keep_arrays(acts, arrays_per_layer=arrays_per_layer)
    missing = acts.arrays_per_layer - after.arrays_per_layer
    return Rebuild(acts, after, Fraction(missing, acts.arrays_per_layer))


def selective_extra_flops(*, positions: int, width: int) -> Fraction:
    """Return the extra arithmetic of rebuilding only the attention scores, s/(6h) of the whole step.

    Source: Korthikanti et al. 2022, appendix A; GPT-3 has s 2048 and h 12288.

    >>> selective_extra_flops(positions=2048, width=12288)
    Fraction(1, 36)
    """
    return Fraction(whole("positions", positions, minimum=1), 6 * whole("width", width, minimum=1))


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Before and after on one device: what is needed, whether it fits, how long one iteration computes.

    The two ledgers differ in rows of a step only. ``capacity_bytes`` is compared with the planned need,
    margin included; a plan that fits is not a measured peak.
    """

    before: Ledger
    after: Ledger
    need_bytes_before: int
    need_bytes_after: int
    capacity_bytes: int
    seconds_before: Fraction
    seconds_after: Fraction

    @property
    def fits_before(self) -> bool:
        """Whether it fits with everything saved."""
        return self.need_bytes_before <= self.capacity_bytes

    @property
    def fits_after(self) -> bool:
        """Whether it fits with recompute, the room for rebuilding included."""
        return self.need_bytes_after <= self.capacity_bytes

    @property
    def makes_it_fit(self) -> bool:
        """Whether recompute is what makes the run possible."""
        return self.fits_after and not self.fits_before

    @property
    def decisive_capacities(self) -> range:
        """All capacities in bytes at which recompute makes the difference; empty where it saves nothing."""
        return range(self.need_bytes_after, self.need_bytes_before)


def tradeoff(
    *,
    state: Ledger,
    plan: Rebuild,
    capacity_bytes: int,
    compute_seconds: object,
    percent: object = 0,
    extra_arithmetic: object = None,
) -> Tradeoff:
    """Compare saving everything with ``plan`` on a device of ``capacity_bytes`` (exercise 6).

    ``state`` is the ledger without activations and stays as it is; ``percent`` is the planning margin;
    ``compute_seconds`` is one iteration's arithmetic before. ``extra_arithmetic`` is the share added to it:
    3/10 in the exercise, ``plan.extra_arithmetic`` where it is left out.

    >>> from course_lib.ledger import model_state
    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> answer = tradeoff(state=model_state(1_000_000), plan=rebuild(acts, arrays_per_layer=5),
    ...                   capacity_bytes=17_000_000, compute_seconds=1, extra_arithmetic=0.3)
    >>> answer.fits_before, answer.fits_after, answer.seconds_after
    (False, True, Fraction(13, 10))
    """
    ledger = instance("state", state, Ledger, "请给 model_state(...) 这样的账本")
    work = instance("plan", plan, Rebuild, "请用 rebuild(acts, arrays_per_layer=...) 得到")
    if any(row.name in (ACTIVATIONS, REBUILT) for row in ledger):
        raise CourseError("state 里已有激活，会重复计入", remedy="激活请只由 plan 给出")
    before, after = ledger + work.before.ledger(), ledger + work.peak_ledger()
    seconds = exact("compute_seconds", compute_seconds, minimum=0)
    share = work.extra_arithmetic if extra_arithmetic is None else extra_arithmetic
    return Tradeoff(
        before,
        after,
        before.with_headroom(percent=percent),
        after.with_headroom(percent=percent),
        whole("capacity_bytes", capacity_bytes),
        seconds,
        seconds * (1 + exact("extra_arithmetic", share, minimum=0)),
    )
