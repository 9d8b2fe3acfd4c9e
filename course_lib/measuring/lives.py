"""When every array of a real step was made and let go, as a timeline of ``lifetimes`` (配套实测).

A weak reference to the array that owns the memory tells when it is let go; a view counts as its owner. Within
a tick of the schedule the events lie evenly in their order: they are no seconds. Each pass has as many ticks
as there are layers, so that the picture has the axis of the predicted one; the embedding shares the tick of
the first layer, the output layer that of the last. Temporaries without a name in the trainer are not noted.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..arguments import instance
from ..ledger import (
    ACTIVATIONS,
    ATTENTION_SCORES,
    GRADS,
    MASTER,
    MOMENTS,
    WEIGHTS,
    WORKSPACE,
    Lifetime,
)
from ..lifetimes import Lane, Timeline, schedule
from ..step_ledger import ARRAY_NAMES, StepPlan
from ..step_ledger.boundaries import (
    BACKWARD_END,
    FORWARD_END,
    INIT,
    SCALES,
    UPDATE_END,
    layer_phase,
)
from ..trainer import Array, Watch, random_batch, start, train_step
from .reconciliation import LOSS_SCALE

_STATE: Final = {
    "weights": WEIGHTS,
    "grads": GRADS,
    "master": MASTER,
    "first": MOMENTS,
    "second": MOMENTS,
}
_OTHERS: Final = {"scores": ATTENTION_SCORES, "scale1": SCALES, "scale2": SCALES, "borrowed": WORKSPACE}


@dataclass(slots=True)
class _Life:
    name: str
    layer: int | None
    n_bytes: int
    start: int
    end: int | None = None


@dataclass(slots=True)
class Diary(Watch):
    """Notes begin and end of every array that it is told of; each event moves its clock on by one."""

    lives: list[_Life] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)
    _clock: int = 0
    _known: dict[int, tuple[_Life, weakref.ref[Array]]] = field(default_factory=dict)

    def array(self, name: str, layer: int | None, array: Array) -> None:
        """Note a new array, or a new name for a known one."""
        owner = owner_of(array)
        known = self._known.get(id(owner))
        if known:
            known[0].name, known[0].layer = name, layer
            return
        life = _Life(name, layer, owner.nbytes, self._tick())
        self.lives.append(life)
        number = id(owner)
        self._known[number] = (life, weakref.ref(owner, lambda _: self._ended(number)))

    def boundary(self, phase: str) -> None:
        """Remember when the phase ended."""
        self.marks[phase] = self._tick()

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def _ended(self, number: int) -> None:
        self._known.pop(number)[0].end = self._tick()


def owner_of(array: Array) -> Array:
    """Return the array that owns the memory which ``array`` looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def measured_timeline(plan: StepPlan) -> Timeline:
    """Run one step and return the life of its arrays: states, saved arrays, and the results of products.

    >>> measured_timeline(StepPlan()).peak().total_bytes
    37423104
    """
    wanted = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    diary, batch = Diary(), random_batch(wanted.shape)
    step = train_step(start(wanted, watch=diary), batch, loss_scale=LOSS_SCALE, watch=diary)
    timeline = _timeline(diary, wanted.shape.layers)
    del step  # until here the state is alive: it outlives the step
    return timeline


def _timeline(diary: Diary, layers: int) -> Timeline:
    clocks, ticks = _anchors(diary.marks, layers)
    lives = sorted(diary.lives, key=_lane_order)
    lanes = dict.fromkeys(map(_lane, lives))
    numbers = {lane: number for number, lane in enumerate(lanes)}
    ends = [clocks[-1] if life.end is None else life.end for life in lives]
    return Timeline(
        tuple(lanes),
        np.interp([life.start for life in lives], clocks, ticks),
        np.interp(ends, clocks, ticks),
        np.array([life.n_bytes for life in lives]),
        np.array([numbers[_lane(life)] for life in lives]),
        schedule(layers=layers, microbatches=1, updates=1, save_after=None, stop=False),
    )


def _anchors(marks: dict[str, int], layers: int) -> tuple[list[int], list[int]]:
    """Return the clock at the end of every tick of the schedule, and those ticks."""
    ends = {INIT: 0, FORWARD_END: layers, BACKWARD_END: 2 * layers, UPDATE_END: 2 * layers + 1}
    ends |= {layer_phase(n, "前向"): n + 1 for n in range(layers - 1)}
    ends |= {layer_phase(n, "反向"): 2 * layers - n for n in range(1, layers)}
    pairs = sorted((marks[phase], tick) for phase, tick in ends.items())
    return [clock for clock, _ in pairs], [tick for _, tick in pairs]


def _lane_order(life: _Life) -> tuple[int, int, int]:
    """States first, then the layers' arrays in order, then everything else."""
    if life.name in _STATE:
        return 0, list(_STATE).index(life.name), 0
    if life.name in ARRAY_NAMES:
        return 1, life.layer or 0, list(ARRAY_NAMES).index(life.name)
    return 2, 0, 0


def _lane(life: _Life) -> Lane:
    if life.name in _STATE:
        item = _STATE[life.name]
        return Lane(item, item, "更新之后还要用", Lifetime.ACROSS_UPDATES)
    if life.name in ARRAY_NAMES and life.layer is not None:
        label = f"第 {life.layer + 1} 层的{ARRAY_NAMES[life.name]}"
        return Lane(label, ACTIVATIONS, "本层的反向计算还没有用完它", Lifetime.WITHIN_STEP)
    item = _OTHERS.get(life.name, life.name)
    return Lane(item, item, "这一步里用完就放", Lifetime.WITHIN_STEP)
