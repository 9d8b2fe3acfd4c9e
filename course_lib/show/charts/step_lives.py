"""The arrays of one step as lanes: a few rows per layer, and rows for what is outside of the layers.

The same picture serves a predicted and a measured timeline, so that the two can stand one above the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...lifetimes import PhaseKind, Timeline
from ..palette import INK, ORANGE, PURPLE, QUIET, Style
from .boxes import Boxes
from .marks import Labels, Rules
from .timescale import TimeScale

SAVED, AGAIN, OUTSIDE = "前向留下的", "反向时重建的", "不在那十个数组里的"
LOOKS: Final[Mapping[Hashable, Style]] = {
    SAVED: Style(ORANGE),
    AGAIN: Style(PURPLE),
    OUTSIDE: Style("#7A7A7A"),
}

Rows = Mapping[str, Sequence[int]]


class StepLives:
    """Lanes between 0 and 1 on the time scale; ``rows`` says by a lane's label on which rows it is drawn."""

    def __init__(self, axes) -> None:
        self._axes = axes
        axes.set(xlim=(0, 1), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        self._boxes = Boxes(axes, LOOKS, linewidth=0)
        self._borders = Rules(axes, QUIET, width=0.5)
        self._names = Labels(axes, size=8.5, align="right")
        self._title = Labels(axes, size=9, align="left", vertical="bottom")
        self._turn = Rules(axes, INK, width=0.8, dashes="dashed", zorder=4)

    def show(
        self, timeline: Timeline, scale: TimeScale, rows: Rows, names: Mapping[str, range], title: str
    ) -> None:
        """Show the lanes that have rows; ``names`` says which rows a name on the left stands for."""
        last = max(group.stop for group in names.values())
        self._axes.set_ylim(last, 0)
        turn = scale.spans(PhaseKind.BACKWARD)[0][0]
        boxes: dict[Hashable, Any] = {look: [] for look in LOOKS}
        for lane, left, right in zip(
            timeline.lane, scale.place(timeline.starts), scale.place(timeline.ends), strict=True
        ):
            label = timeline.lanes[lane].label
            look = OUTSIDE if label in names else AGAIN if left >= turn else SAVED
            boxes[look] += [(left, right, row + 0.12, row + 0.88) for row in rows.get(label, ())]
        shapes: dict[Hashable, Any] = {look: np.reshape(each, (-1, 4)) for look, each in boxes.items()}
        self._boxes.show(shapes)
        self._borders.show([(0, group.stop, 1, group.stop) for group in names.values()])
        self._names.show((-0.012, (group.start + group.stop) / 2, name) for name, group in names.items())
        self._title.show([(0, -0.6, title)])
        self._turn.show([(turn, 0, turn, last)])
