"""The named stretches of a training schedule: forward, backward, update, save, stop, resume.

One forward or backward pass takes as many ticks as there are layers, each of the others one. Ticks order the
events; they are not seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from ..arguments import exact, instance, truth, whole
from ..errors import CourseError
from .columns import LARGEST_OBJECTS, Ints, frozen


class PhaseKind(Enum):
    """What the process does; the value is the Chinese label."""

    FORWARD = "前向"
    BACKWARD = "反向"
    UPDATE = "更新"
    SAVE = "保存"
    STOP = "停止"
    RESUME = "恢复"


_KINDS = tuple(PhaseKind)


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch [start, end) of the schedule; updates and microbatches count from 1.

    ``microbatch`` is None outside forward and backward; ``update`` is the one worked on or last finished.
    """

    kind: PhaseKind
    start: int
    end: int
    update: int
    microbatch: int | None

    @property
    def label(self) -> str:
        """The Chinese name."""
        return self.kind.value


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """All phases in order as columns, so that long schedules stay cheap; iterating gives ``Phase`` values.

    Made by ``schedule``. ``codes`` index ``PhaseKind``; microbatch 0 stands for none.
    """

    codes: Ints = field(repr=False)
    starts: Ints = field(repr=False)
    ends: Ints = field(repr=False)
    updates: Ints = field(repr=False)
    microbatches: Ints = field(repr=False)

    def __len__(self) -> int:
        return self.codes.size

    def __iter__(self) -> Iterator[Phase]:
        return (self._phase(index) for index in range(len(self)))

    def at(self, time: float) -> Phase:
        """Return the phase that is running at ``time``, which must lie within the schedule."""
        first, last = int(self.starts[0]), int(self.ends[-1])
        moment = exact("time", time, minimum=first, maximum=last)
        return self._phase(int(np.searchsorted(self.starts, float(moment), side="right")) - 1)

    def of(self, kind: PhaseKind) -> tuple[Ints, Ints]:
        """Return the starts and the ends of all phases of one kind."""
        chosen = self.codes == _KINDS.index(instance("kind", kind, PhaseKind, "请从 PhaseKind 中选一种"))
        return self.starts[chosen], self.ends[chosen]

    def _phase(self, index: int) -> Phase:
        return Phase(
            _KINDS[self.codes[index]],
            int(self.starts[index]),
            int(self.ends[index]),
            int(self.updates[index]),
            int(self.microbatches[index]) or None,
        )


def schedule(*, layers: int, microbatches: int, updates: int, save_after: int | None, stop: bool) -> Phases:
    """Return the phases of ``updates`` updates of ``microbatches`` microbatches each.

    ``save_after`` is the update followed by a save, or None; with ``stop`` a stop and a resume come after it.
    Raises ``CourseError`` where layers × microbatches × updates, or the phases, exceed 5,000,000.

    >>> phases = schedule(layers=4, microbatches=1, updates=1, save_after=1, stop=True)
    >>> [(phase.label, phase.start, phase.end) for phase in phases]
    [('前向', 0, 4), ('反向', 4, 8), ('更新', 8, 9), ('保存', 9, 10), ('停止', 10, 11), ('恢复', 11, 12)]
    """
    depth = whole("layers", layers, minimum=1)
    m, u = whole("microbatches", microbatches, minimum=1), whole("updates", updates, minimum=1)
    if max(depth * m, 2 * m + 1) * u > LARGEST_OBJECTS:
        raise CourseError(
            f"{depth} 层 × {m} 个微批次 × {u} 次更新，超出本课程能算的规模",
            remedy=f"请让三者之积以及前向、反向与更新的总次数都不超过 {LARGEST_OBJECTS:,}",
        )
    saved = None if save_after is None else whole("save_after", save_after, minimum=1, maximum=u)
    if truth("stop", stop) and saved is None:
        raise CourseError(
            "stop 之前没有保存，停止后无从恢复", remedy="请用 save_after 写明在第几次更新之后保存"
        )
    pause = () if saved is None else (3, 4, 5) if stop else (3,)
    return _phases(depth, m, u, saved or 0, pause)


def _phases(layers: int, microbatches: int, updates: int, saved: int, pause: tuple[int, ...]) -> Phases:
    one_update = np.append(np.tile([0, 1], microbatches), 2)
    numbers = np.append(np.repeat(np.arange(1, microbatches + 1), 2), 0)
    place = np.full(len(pause), saved * one_update.size)
    codes = np.insert(np.tile(one_update, updates), place, pause)
    update = np.insert(np.repeat(np.arange(1, updates + 1), one_update.size), place, saved)
    microbatch = np.insert(np.tile(numbers, updates), place, 0)
    lengths = np.where(codes < 2, layers, 1)
    ends = np.cumsum(lengths)
    return Phases(*map(frozen, (codes, ends - lengths, ends, update, microbatch)))
