"""What a resumed run becomes when one part of the saved state is left out; every bit is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..arguments import choice, sequence, whole
from ..trainer import Array, Watch
from ..trainer.passes import forward
from ..trainer.workbench import Workbench
from .parts import Parts, put_together, take_apart
from .runs import SEQUENCES, SMALL, TrainingRun, advance, batch_of, begin

ROUNDS: Final = 48
PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "first": "第一矩",
        "second": "第二矩",
        "step": "完成步数",
        "random": "随机状态",
        "cursor": "数据游标与次序",
        "schedule": "学习率日程的位置",
        "scale": "损失缩放状态",
        "precise": "主权重副本的精度",
    }
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run without a stop and one that was saved after a round and resumed.

    ``losses`` are means over all data after every round of the continuous run, ``resumed_losses`` and
    ``distances`` from the save on: |difference of the weights| / |weights|, 0 only where all bits agree.
    """

    saved_after: int
    losses: tuple[float, ...]
    resumed_losses: tuple[float, ...]
    distances: tuple[float, ...]

    @property
    def first_difference(self) -> int | None:
        """The first round after which the weights differ in any bit; None where they never do."""
        rounds = enumerate(self.distances, self.saved_after)
        return next((number for number, distance in rounds if distance), None)

    @property
    def lower_loss(self) -> bool:
        """Whether the resumed run ends with the lower loss."""
        return self.resumed_losses[-1] < self.losses[-1]


@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    parts: Parts
    weights: Array
    loss: float


def compare(*, saved_after: object, without: Iterable[str] = ()) -> Comparison:
    """Save after a round, resume without the named parts (``PARTS``), and go on to round 48.

    ``"precise"`` left out keeps the master copy in two bytes; any other part begins anew.

    >>> compare(saved_after=40).first_difference is None
    True
    >>> compare(saved_after=40, without=["first"]).first_difference
    41
    """
    at = whole("saved_after", saved_after, minimum=1, maximum=ROUNDS - 1)
    lost = {choice("without", part, PARTS) for part in sequence("without", without)}
    return _compare(at, tuple(part for part in PARTS if part in lost))


@lru_cache(maxsize=256)
def _compare(at: int, lost: tuple[str, ...]) -> Comparison:
    continuous = _continuous()
    parts = continuous[at - 1].parts
    for part in lost:
        parts = _LOSE[part](parts, take_apart(begin(SMALL)))
    run = put_together(SMALL, parts)
    resumed = [_moment(run)]
    while run.rounds < ROUNDS:
        run = advance(run)
        resumed.append(_moment(run))
    pairs = zip(resumed, continuous[at - 1 :], strict=True)
    return Comparison(
        at,
        tuple(each.loss for each in continuous),
        tuple(each.loss for each in resumed),
        tuple(_distance(one.weights, other.weights) for one, other in pairs),
    )


@lru_cache(maxsize=1)
def _continuous() -> tuple[_Moment, ...]:
    run, moments = begin(SMALL), []
    for _ in range(ROUNDS):
        run = advance(run)
        moments.append(_moment(run, copy=True))
    return tuple(moments)


def _moment(run: TrainingRun, *, copy: bool = False) -> _Moment:
    parts = take_apart(run)
    if copy:
        parts = Parts({name: each.copy() for name, each in parts.arrays.items()}, parts.facts)
    weights = np.concatenate([each.ravel() for each in run.state.master.values()])
    bench = Workbench(run.state, Watch())
    return _Moment(parts, weights, forward(bench, batch_of(run.setup, np.arange(SEQUENCES))).loss)


def _distance(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def _anew(*prefixes: str) -> Callable[[Parts, Parts], Parts]:
    """Take the named arrays and facts from a run that has just begun."""

    def lose(parts: Parts, fresh: Parts) -> Parts:
        def pick(name: str) -> bool:
            return name.split("/")[0] in prefixes

        arrays = {name: (fresh if pick(name) else parts).arrays[name] for name in parts.arrays}
        return Parts(arrays, {name: (fresh if pick(name) else parts).facts[name] for name in parts.facts})

    return lose


def _shorten(parts: Parts, _: Parts) -> Parts:
    def two_bytes(name: str, array: Array) -> Any:
        return array.astype(np.float16).astype(array.dtype) if name.startswith("master/") else array

    return replace(parts, arrays={name: two_bytes(name, each) for name, each in parts.arrays.items()})


_LOSE: Final[Mapping[str, Callable[[Parts, Parts], Parts]]] = {
    "first": _anew("first"),
    "second": _anew("second"),
    "step": _anew("updates"),
    "random": _anew("random"),
    "cursor": _anew("cursor", "order"),
    "schedule": _anew("scheduled"),
    "scale": _anew("scale"),
    "precise": _shorten,
}
