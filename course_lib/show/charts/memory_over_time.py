"""The memory curve under the lanes of figure 27.1: stacked by lifetime, with peak, capacity and cursor."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...ledger import Lifetime
from ...lifetimes import Curve, PhaseKind, Timeline
from ..palette import BEYOND, INK, OF_LIFETIME, PAPER, QUIET, RED, Style
from .axes import axis_in_bytes, round_up, short_bytes
from .boxes import Boxes
from .coverage import COLUMNS, envelope
from .lifelines import STOPPED
from .marks import Areas, Labels, Points, Rules
from .timescale import TimeScale

_KINDS: Final = (Lifetime.ACROSS_UPDATES, Lifetime.WITHIN_STEP)
_SWING: Final = "swing"
_STYLES: Final = {kind: OF_LIFETIME[kind] for kind in _KINDS} | {_SWING: Style("#F6CF8A")}


class MemoryOverTime:
    """Bytes in memory as stacked areas; a lighter area is the range of steps narrower than a pixel."""

    def __init__(self, axes) -> None:
        self._axes = axes
        axes.set(xlim=(0, 1), xticks=[])
        self._beyond = Boxes(axes, {"": Style(BEYOND)}, zorder=1, linewidth=0)
        self._stop = Boxes(axes, {"": STOPPED}, zorder=1.1, linewidth=0)
        self._areas = Areas(axes, _STYLES)
        self._limit = Rules(axes, RED, width=2)
        self._cursor = Rules(axes, INK, width=1.3, dashes="dashed", zorder=4)
        self._peak = Points(axes, {"": Style(INK)}, size=34, zorder=4.5)
        self._peak_note = Labels(axes, size=9, align="left", vertical="bottom", plate=PAPER)
        self._limit_note = Labels(axes, size=9, align="right", vertical="bottom", plate=PAPER)
        self._now = Labels(axes, size=8.5, plate=PAPER)
        self._title = Labels(axes, size=8.5, align="left", vertical="bottom")
        self._remark = Labels(axes, size=7.5, align="right", vertical="bottom")
        axis_in_bytes(axes.yaxis, ticks=4)

    def show(self, timeline: Timeline, scale: TimeScale) -> None:
        """Show the curve."""
        curve = timeline.curve()
        self._highest = int(curve.total_bytes.max())
        edges, heights = _heights(curve, scale)
        self._areas.show(edges, heights)
        self._stops = scale.spans(PhaseKind.STOP)
        self._dense = _SWING in heights

    def capacity(self, n_bytes: int, *, name: str = "容量", reach: int = 0) -> None:
        """Fit the axis to curve, capacity and ``reach``, and show the ground beyond the capacity."""
        self._top = top = round_up(max(self._highest, n_bytes, reach, 1) * 1.22)
        self._axes.set_ylim(0, top)
        self._beyond.show({"": [(0, 1, n_bytes, top)]})
        self._stop.show({"": [(*span, 0, top) for span in self._stops]})
        self._limit.show([(0, n_bytes, 1, n_bytes)])
        self._limit_note.show([(0.998, n_bytes + top * 0.015, f"{name} {short_bytes(n_bytes)}", RED)])
        self._title.show([(0, top * 1.02, "内存里同时活着的字节")])
        remark = "浅色：微批次太密，这里只画最低到最高"
        self._remark.show([(1, top * 1.02, remark, QUIET)] if self._dense else ())

    def peak(self, place: float, n_bytes: int, words: str) -> None:
        """Mark the peak and say in words where it is."""
        self._peak.show({"": [(place, n_bytes)]})
        self._peak_note.show([(place + 0.008, n_bytes + self._top * 0.02, words)])

    def cursor(self, place: float, n_bytes: int) -> None:
        """Draw the time cursor with the bytes of the moment."""
        self._cursor.show([(place, 0, place, self._top)])
        inside = min(max(place, 0.1), 0.9)
        self._now.show([(inside, self._top * 0.07, f"此刻 {n_bytes:,} 字节")])


def _heights(curve: Curve, scale: TimeScale) -> tuple[Any, dict]:
    """Return the edges and heights of the areas: step by step, or per column where steps are too many."""
    named = dict(zip(curve.names, curve.parts, strict=True))
    parts = {kind: named[kind.value] for kind in _KINDS if kind.value in named}
    if len(curve.times) <= 4 * COLUMNS:
        return np.append(scale.place(curve.times), 1), parts
    edges = np.union1d(np.linspace(0, 1, COLUMNS + 1), scale.event_edges)
    times = scale.times(edges)
    heights: dict = {kind: envelope(curve.times, part, times)[0] for kind, part in parts.items()}
    heights[_SWING] = envelope(curve.times, curve.total_bytes, times)[1] - sum(heights.values())
    return edges, heights
