"""How much of something: memory over time, counts in bins, arrangements as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..palette import INK, PAPER, RED, Style
from .axes import axis_in_bytes, round_up, short_bytes
from .boxes import Boxes
from .marks import Areas, Kind, Labels, Points, Rules, Styles


class MemoryCurve:
    """Bytes alive over time as stacked areas, with the peak, the capacity line and a time cursor."""

    def __init__(self, axes, styles: Styles) -> None:
        self._axes = axes
        self._areas = Areas(axes, styles)
        self._peak = Rules(axes, INK, width=1)
        self._limit = Rules(axes, RED, width=2)
        self._cursor = Rules(axes, INK, width=1.5, dashes="dashed", zorder=4)
        self._note = Labels(axes, vertical="bottom", plate=PAPER)
        self._limit_note = Labels(axes, align="right", vertical="bottom", plate=PAPER)
        axis_in_bytes(axes.yaxis, ticks=4)
        axes.xaxis.set_animated(True)

    def show(
        self, edges, heights: Mapping[Kind, Sequence], *, capacity: int | None = None, cursor=None
    ) -> None:
        """Show kind → n heights between n + 1 edges."""
        total = np.sum([np.asarray(each, float) for each in heights.values()], axis=0)
        peak, at = float(total.max(initial=0)), int(total.argmax()) if len(total) else 0
        top, first, last = round_up(max(peak, capacity or 0, 1) * 1.15), edges[0], edges[-1]
        self._axes.set(xlim=(first, last), ylim=(0, top))
        self._areas.show(edges, heights)
        middle = (edges[at] + edges[at + 1]) / 2
        self._peak.show([(middle, peak, middle, peak + top * 0.03)])
        inside = min(max(middle, first + (last - first) * 0.1), last - (last - first) * 0.1)
        self._note.show([(inside, peak + top * 0.035, f"峰值 {short_bytes(peak)}")])
        self._limit.show([] if capacity is None else [(first, capacity, last, capacity)])
        words = [] if capacity is None else [(last, capacity, f"容量 {short_bytes(capacity)}", RED)]
        self._limit_note.show(words)
        self._cursor.show([] if cursor is None else [(cursor, 0, cursor, top)])


class Histogram:
    """Counts in bins, each bin of one kind (kept, underflow, overflow)."""

    def __init__(self, axes, styles: Styles) -> None:
        self._axes, self._boxes = axes, Boxes(axes, styles)
        axes.xaxis.set_animated(True)
        axes.yaxis.set_animated(True)

    def show(self, edges, counts: Mapping[Kind, Sequence]) -> None:
        """Show kind → n counts between n + 1 edges; kinds are stacked."""
        edges = np.asarray(edges, float)
        floor, boxes = np.zeros(len(edges) - 1), {}
        for kind, each in counts.items():
            roof = floor + np.asarray(each, float)
            boxes[kind] = np.column_stack([edges[:-1], edges[1:], floor, roof])[roof > floor]
            floor = roof
        self._axes.set(xlim=(edges[0], edges[-1]), ylim=(0, round_up(floor.max(initial=1))))
        self._boxes.show(boxes)


class Scatter:
    """Arrangements as points, a marker per kind and a word beside each; ``chosen`` is ringed."""

    def __init__(self, axes, styles: Styles) -> None:
        self._axes = axes
        self._points = Points(axes, styles)
        self._chosen = Points(axes, {"": Style("none")}, size=190, zorder=2.5)
        self._words = Labels(axes, size=8, align="left", plate=PAPER)
        self._limit = Rules(axes, RED, width=2)
        axes.xaxis.set_animated(True)
        axes.yaxis.set_animated(True)

    def show(
        self, points: Mapping[Kind, Sequence[tuple]], *, chosen=None, limit: float | None = None
    ) -> None:
        """Show kind → rows of (x, y, word); ``chosen`` is an (x, y), ``limit`` a vertical line."""
        rows = [row for each in points.values() for row in each]
        right = round_up(max([*(row[0] for row in rows), limit or 0]) * 1.15)
        top = round_up(max((row[1] for row in rows), default=0) * 1.1)
        self._axes.set(xlim=(0, right), ylim=(-top * 0.08, top))
        self._points.show({kind: [row[:2] for row in each] for kind, each in points.items()})
        self._words.show((x + right * 0.015, y, word) for x, y, word in rows)
        self._chosen.show({"": [chosen] if chosen else ()})
        self._limit.show([] if limit is None else [(limit, -top, limit, top * 2)])
