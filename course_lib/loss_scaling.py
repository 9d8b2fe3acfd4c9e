"""Section 27.3: scale the loss up before the backward pass, the gradients down before the update.

``StaticScale`` and ``DynamicScale`` are frozen states; ``adjust`` returns the next one. ``TrainState`` and
``apply_update`` show what a skipped update may change: the scale, and nothing else. The scale state is part
of what recovery must save: ``to_dict`` and ``scale_from_dict`` use plain numbers and text only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Final

import numpy as np

from .arguments import choice, exact, instance, truth, whole
from .arrays import Floats, finite_array, float_array
from .errors import CourseError

LARGEST_SCALE: Final = 2**127  # the largest power of two that FP32 holds
BETA_1: Final = 0.9
BETA_2: Final = 0.999
EPSILON: Final = 1e-8


@dataclass(frozen=True, slots=True)
class StaticScale:
    """A loss scale that never changes, a whole number; 1 means no scaling.

    >>> scale = StaticScale(1024)
    >>> float(scale.scale(1e-6)), float(scale.unscale(scale.scale(1e-6)))
    (0.001024, 1e-06)
    """

    loss_scale: int

    def __post_init__(self) -> None:
        checked = whole("loss_scale", self.loss_scale, minimum=1, maximum=LARGEST_SCALE)
        object.__setattr__(self, "loss_scale", checked)

    def scale(self, values: object) -> Floats:
        """Multiply a loss, or the gradients that follow from it, in float64; store the result yourself."""
        with np.errstate(over="ignore"):
            return np.asarray(float_array("values", values) * float(self.loss_scale))

    def unscale(self, values: object) -> Floats:
        """Divide stored gradients in float64, which is precise enough; what was lost before stays lost."""
        return np.asarray(float_array("values", values) / float(self.loss_scale))

    def adjust(self, *, grads_finite: bool) -> StaticScale:
        """Return the state after an update was made (True) or skipped (False): the same."""
        truth("grads_finite", grads_finite)
        return self

    def to_dict(self) -> dict[str, int | str]:
        """Return what recovery must save."""
        return {"kind": _KIND_OF[type(self)], **asdict(self)}


@dataclass(frozen=True, slots=True)
class DynamicScale(StaticScale):
    """A loss scale that falls on every non-finite gradient and rises after ``growth_interval`` good updates.

    ``good_updates`` counts updates since the last change. The scale is multiplied or divided by ``factor``
    (rounded down to a whole number) and stays within ``smallest`` and ``largest``.

    >>> scale = DynamicScale(1024, growth_interval=2)
    >>> scale.adjust(grads_finite=False).loss_scale
    512
    >>> scale.adjust(grads_finite=True).adjust(grads_finite=True).loss_scale
    2048
    """

    loss_scale: int = 2**16
    growth_interval: int = 2000
    factor: int = 2
    smallest: int = 1
    largest: int = 2**32
    good_updates: int = 0

    def __post_init__(self) -> None:
        largest = whole("largest", self.largest, minimum=1, maximum=LARGEST_SCALE)
        smallest = whole("smallest", self.smallest, minimum=1, maximum=largest)
        interval = whole("growth_interval", self.growth_interval, minimum=1)
        checked = {
            "largest": largest,
            "smallest": smallest,
            "growth_interval": interval,
            "loss_scale": whole("loss_scale", self.loss_scale, minimum=smallest, maximum=largest),
            "factor": whole("factor", self.factor, minimum=2),
            "good_updates": whole("good_updates", self.good_updates, maximum=interval - 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def adjust(self, *, grads_finite: bool) -> DynamicScale:
        """Return the state after an update was made (True) or skipped (False)."""
        if not truth("grads_finite", grads_finite):
            lower = max(self.smallest, self.loss_scale // self.factor)
            return replace(self, loss_scale=lower, good_updates=0)
        if self.good_updates + 1 < self.growth_interval:
            return replace(self, good_updates=self.good_updates + 1)
        return replace(self, loss_scale=min(self.largest, self.loss_scale * self.factor), good_updates=0)


_KINDS: Final[Mapping[str, type[StaticScale]]] = {"static": StaticScale, "dynamic": DynamicScale}
_KIND_OF: Final = {kind: name for name, kind in _KINDS.items()}


def scale_from_dict(saved: Mapping[str, object]) -> StaticScale:
    """Return the scale that ``to_dict`` wrote; refuse missing, unknown and illegal entries.

    >>> state = DynamicScale(4096, good_updates=17)
    >>> scale_from_dict(state.to_dict()) == state
    True
    """
    try:
        given = dict(saved)
    except Exception as error:  # no mapping at all, or one that cannot be read
        raise CourseError("saved 必须是字典", got=saved, remedy="请给 to_dict() 写出的字典") from error
    kind = _KINDS[choice("saved 的 kind", given.get("kind"), _KINDS)]
    names = {item.name for item in fields(kind)}
    if set(given) != names | {"kind"}:
        raise CourseError(
            "损失缩放状态的条目不对", got=saved, remedy="应有：kind、" + "、".join(sorted(names))
        )
    return kind(**{name: whole(name, given[name], maximum=LARGEST_SCALE) for name in names})


def all_finite(*arrays: object) -> bool:
    """Say whether no array holds a NaN or an infinity: the check that every training loop needs.

    >>> all_finite([1.0, 2.0], 3.0), all_finite([1.0, float("inf")])
    (True, False)
    """
    if not arrays:
        raise CourseError("没有要检查的数组", remedy="请给至少一个数组")
    return all(bool(np.isfinite(float_array("arrays", array)).all()) for array in arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmup:
    """A learning-rate schedule: linear over ``warmup_updates`` completed updates up to ``peak``, then flat.

    >>> Warmup(peak=0.1, warmup_updates=4).rate(step=0)
    Fraction(1, 40)
    """

    peak: Fraction
    warmup_updates: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "peak", exact("peak", self.peak, above=0, maximum=1000))
        object.__setattr__(self, "warmup_updates", whole("warmup_updates", self.warmup_updates, minimum=1))

    def rate(self, *, step: int) -> Fraction:
        """Return the learning rate of the update that follows ``step`` completed updates."""
        done = whole("step", step)
        return self.peak * min(Fraction(1), Fraction(done + 1, self.warmup_updates))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainState:
    """Everything that one update reads and writes. Arrays share one shape and are read-only copies.

    ``weights`` are the master weights; in training FP32, here float64, so that the only rounding a reader
    sees is that of the stored gradients. ``step`` counts completed updates; the schedule reads nothing else.
    """

    weights: Floats
    first_moment: Floats
    second_moment: Floats
    scale: StaticScale
    schedule: Warmup
    step: int = 0

    def __post_init__(self) -> None:
        shapes = set()
        for name in ("weights", "first_moment", "second_moment"):
            array = finite_array(name, getattr(self, name))
            array.setflags(write=False)
            shapes.add(array.shape)
            object.__setattr__(self, name, array)
        if len(shapes) > 1:
            raise CourseError(
                "weights、first_moment 与 second_moment 的形状不同",
                got=sorted(shapes),
                remedy="请让三者形状相同",
            )
        if (self.second_moment < 0).any():
            raise CourseError(
                "second_moment 不能有负数", got=self.second_moment, remedy="梯度平方的平均不小于 0"
            )
        instance("scale", self.scale, StaticScale, "请给 StaticScale(1024) 或 DynamicScale()")
        instance("schedule", self.schedule, Warmup, "请给 Warmup(peak=0.1, warmup_updates=4)")
        object.__setattr__(self, "step", whole("step", self.step))

    @classmethod
    def start(cls, *, weights: object, scale: StaticScale, schedule: Warmup) -> TrainState:
        """Return the state before the first update: both moments zero."""
        array = finite_array("weights", weights)
        zeros = np.zeros_like(array)
        return cls(weights=array, first_moment=zeros, second_moment=zeros, scale=scale, schedule=schedule)

    @property
    def learning_rate(self) -> Fraction:
        """Rate of the next update; unchanged by a skipped one."""
        return self.schedule.rate(step=self.step)


def apply_update(state: TrainState, *, scaled_grads: object) -> TrainState:
    """Check, unscale, make one Adam update; or skip it and change only the scale.

    ``scaled_grads`` are the gradients as stored, still multiplied by the loss scale, in the shape of the
    weights. A skipped update leaves weights, both moments, ``step`` and with it the bias correction and the
    learning rate as they were. The data it consumed are gone all the same: a data cursor moves on.
    Source: section 27.3; Adam by Kingma and Ba 2015, algorithm 1.

    >>> warmup = Warmup(peak=0.1, warmup_updates=1)
    >>> state = TrainState.start(weights=[1.0], scale=DynamicScale(1024), schedule=warmup)
    >>> skipped = apply_update(state, scaled_grads=[float("inf")])
    >>> skipped.weights.tolist(), skipped.step, skipped.scale.loss_scale
    ([1.0], 0, 512)
    """
    instance("state", state, TrainState, "请用 TrainState.start(...) 建立初始状态")
    stored = float_array("scaled_grads", scaled_grads)
    if stored.shape != state.weights.shape:
        raise CourseError(
            f"scaled_grads 的形状是 {stored.shape}，权重的形状是 {state.weights.shape}",
            remedy="请让两者形状相同",
        )
    finite = all_finite(stored)
    adjusted = replace(state, scale=state.scale.adjust(grads_finite=finite))
    return _adam(adjusted, state.scale.unscale(stored)) if finite else adjusted


def _adam(state: TrainState, grads: Floats) -> TrainState:
    step = state.step + 1
    with np.errstate(over="ignore", invalid="ignore"):  # a result beyond float64 is refused by TrainState
        first = BETA_1 * state.first_moment + (1 - BETA_1) * grads
        second = BETA_2 * state.second_moment + (1 - BETA_2) * grads * grads
        direction = first / (1 - BETA_1**step) / (np.sqrt(second / (1 - BETA_2**step)) + EPSILON)
        weights = state.weights - float(state.learning_rate) * direction
    return replace(state, weights=weights, first_moment=first, second_moment=second, step=step)
