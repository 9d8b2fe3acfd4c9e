"""The band of phases over a training schedule: forward, backward, update, save, stop, resume."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...lifetimes import Phase, PhaseKind, Phases
from ..palette import PAPER, QUIET, Style
from .boxes import Boxes
from .marks import Labels, Rules
from .timescale import PASSES, TimeScale

_TOP, _FLOOR = 20, 36
_LEGIBLE: Final = 3  # CSS pixels of the narrowest phase below which an update's passes are one box
_LOOK: Final = {
    PhaseKind.FORWARD: Style("#E9E9E9"),
    PhaseKind.BACKWARD: Style("#CDCDCD"),
    PhaseKind.UPDATE: Style("#7A7A7A", ink=PAPER),
    PhaseKind.SAVE: Style("#BCE3D5"),
    PhaseKind.STOP: Style("#3C3C3C", ink=PAPER),
    PhaseKind.RESUME: Style("#BCE3D5"),
}


class PhaseBand:
    """One box per phase under a brace per update; passes too narrow to be seen are one box per update."""

    def __init__(self, axes) -> None:
        self._pixel = 2 / axes.bbox.width
        self._boxes = Boxes(axes, _LOOK)
        self._braces = Rules(axes, QUIET, width=1)
        self._updates = Labels(axes, size=8, plate=PAPER)
        self._words = Labels(axes, size=7.2)

    def show(self, scale: TimeScale) -> None:
        """Show the phases between 0 and 1."""
        phases = scale.phases
        roomy = np.diff(scale.edges).min() > _LEGIBLE * self._pixel
        cells = [
            (phase.kind, phase.label, *map(float, scale.place([phase.start, phase.end])))
            for phase in (phases if roomy else _events(phases))
        ]
        spans = _updates(scale)
        if not roomy:
            word = f"{int(phases.microbatches.max())} 个微批次的前向与反向"
            cells += [(PhaseKind.FORWARD, word, left, right) for _, left, right, _ in spans]
        self._show_cells(cells)
        gap = 1.5 * self._pixel
        self._braces.show([(left + gap, 17, end - gap, 17) for _, left, _, end in spans])
        self._updates.show(((left + end) / 2, 9, f"第 {n} 次更新") for n, left, _, end in spans)

    def _show_cells(self, cells: list[tuple]) -> None:
        boxes: dict[PhaseKind, list] = {kind: [] for kind in PhaseKind}
        words = []
        for kind, word, left, right in cells:
            boxes[kind].append((left, right, _TOP, _FLOOR))
            shown = next((each for each in _shorter(kind, word) if self._fits(each, kind, right - left)), "")
            words.append(((left + right) / 2, (_TOP + _FLOOR) / 2, shown, _LOOK[kind].ink))
        self._boxes.show(boxes)
        self._words.show(word for word in words if word[2])

    def _fits(self, word: str, kind: PhaseKind, room: float) -> bool:
        margin = 4 if kind in PASSES else 0  # passes stand side by side by the dozen
        return (self._words.width(word) / 2 + margin) * self._pixel < room


def _shorter(kind: PhaseKind, word: str) -> tuple[str, ...]:
    return (word, word[0]) if kind in PASSES else (word,)


def _events(phases: Phases):
    kinds = tuple(PhaseKind)
    for code in sorted({*phases.codes.tolist()}):
        if kinds[code] not in PASSES:
            for start, end in zip(*phases.of(kinds[code]), strict=True):
                yield Phase(kinds[code], int(start), int(end), 1, None)


def _updates(scale: TimeScale) -> list[tuple[int, float, float, float]]:
    """Return number, begin, end of the passes and end of each update."""
    phases = scale.phases
    begins = np.flatnonzero(np.diff(phases.microbatches, prepend=0) > 0)
    begins = begins[phases.microbatches[begins] == 1]
    closing, closed = phases.of(PhaseKind.UPDATE)
    left, middle, right = (scale.place(ticks).tolist() for ticks in (phases.starts[begins], closing, closed))
    return list(zip(range(1, len(left) + 1), left, middle, right, strict=True))


def phase_words(phase: Phase, tick: int) -> str:
    """Say in Chinese where in the schedule a tick lies.

    >>> phase_words(Phase(PhaseKind.BACKWARD, 4, 8, 1, 1), 5)
    '第 1 次更新第 1 个微批次，第 3 层反向'
    """
    start = f"第 {phase.update} 次更新"
    if phase.microbatch is None:
        return {PhaseKind.UPDATE: start, PhaseKind.SAVE: start + "之后，保存"}.get(phase.kind, phase.label)
    into = tick - phase.start
    layer = into + 1 if phase.kind is PhaseKind.FORWARD else phase.end - phase.start - into
    return f"{start}第 {phase.microbatch} 个微批次，第 {layer} 层{phase.label}"
