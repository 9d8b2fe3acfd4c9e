"""The chapter's shapes, built from marks: bars of a ledger, lanes, memory curve, histogram, line, grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import FixedFormatter, FixedLocator

from ..palette import BEYOND, INK, PAPER, QUIET, RED, Style
from .axes import axis_in_bytes, plain, round_up, short_bytes
from .boxes import Boxes
from .marks import Areas, Kind, Labels, Points, Rules, Styles

_FEW_LABELS = 16  # axis names beyond this are thinned out
_MANY_SPANS = 1500  # spans beyond this are painted as pixels, not as shapes


def _gather(rows) -> dict[Kind, list]:
    groups: dict[Kind, list] = {}
    for kind, *box in rows:
        groups.setdefault(kind, []).append(box)
    return groups


def name_lanes(axis, names: Sequence[str]) -> None:
    """Write names at 0, 1, 2, … of an axis, thinned out where there are too many to read."""
    every = max(-(-len(names) // _FEW_LABELS), 1)
    axis.set_major_locator(FixedLocator(range(0, len(names), every)))
    axis.set_major_formatter(FixedFormatter(names[::every]))  # its words are what the stage compares


class LedgerBars:
    """Horizontal bars of bytes, stacked piece by piece, with a capacity line and what lies beyond it.

    ``show(bars, capacity=...)`` takes name → sequence of (kind, bytes); zero bytes show nothing.
    """

    def __init__(self, axes, styles: Styles, *, height: float = 0.62) -> None:
        self._axes, self._styles, self._half = axes, styles, height / 2
        self._boxes = Boxes(axes, styles)
        self._beyond = Boxes(axes, {"": Style(BEYOND)}, zorder=1, linewidth=0)
        self._limit = Rules(axes, RED, width=2)
        self._words = Labels(axes, size=8.5)
        self._sums = Labels(axes, size=9, align="left")
        self._note = Labels(axes, size=9, vertical="bottom")
        axes.yaxis.set_animated(True)
        axis_in_bytes(axes.xaxis)
        axes.tick_params(axis="y", length=0)

    def show(
        self,
        bars: Mapping[str, Sequence[tuple[Kind, int]]],
        *,
        capacity: int | None = None,
        reach: int = 0,
    ) -> None:
        """Show the bars from top to bottom; the axis fits the longest bar, the capacity and ``reach``."""
        totals = [sum(size for _, size in pieces) for pieces in bars.values()]
        longest = round_up(max([*(total * 1.18 for total in (*totals, reach)), (capacity or 0) * 1.05, 1]))
        self._axes.set(xlim=(0, longest), ylim=(len(bars) - 0.4, -0.75))
        name_lanes(self._axes.yaxis, tuple(bars))
        pieces = [piece for row, bar in enumerate(bars.values()) for piece in self._pieces(row, bar)]
        self._boxes.show(_gather(pieces))
        pixels = self._axes.bbox.width / longest
        self._words.show(
            ((x0 + x1) / 2, row, word, self._styles[kind].ink, self._styles[kind].color)
            for kind, x0, x1, row in ((kind, x0, x1, (y0 + y1) / 2) for kind, x0, x1, y0, y1 in pieces)
            if (x1 - x0) * pixels > self._words.width(word := short_bytes(x1 - x0)) + 4
        )
        over = [capacity is not None and total > capacity for total in totals]
        self._sums.show(
            (
                total + longest * 0.01,
                row,
                short_bytes(total) + " 放不下" * over[row],
                RED if over[row] else INK,
                BEYOND if over[row] else PAPER,
            )
            for row, total in enumerate(totals)
            if total
        )
        self._show_capacity(capacity, totals)

    def _pieces(self, row: int, bar: Sequence[tuple[Kind, int]]):
        end = 0
        for kind, size in bar:
            if size:
                yield kind, end, end + size, row - self._half, row + self._half
            end += size

    def _show_capacity(self, capacity: int | None, totals: Sequence[int]) -> None:
        if capacity is None:
            for mark in (self._limit, self._note):
                mark.show(())
            self._beyond.show({})
            return
        self._beyond.show({"": [(capacity, self._axes.get_xlim()[1], -0.5, len(totals) - 0.5)]})
        self._limit.show([(capacity, -0.5, capacity, len(totals) - 0.5)])
        self._note.show([(capacity, -0.52, f"容量 {short_bytes(capacity)}", RED)])


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of a lane: ``lane`` number, ``start`` to ``end``, its kind, and a word to write on it."""

    lane: int
    start: float
    end: float
    kind: Kind
    word: str = ""


class Lanes:
    """Stretches of time on lanes: lifetimes of objects, stages of a pipeline (a Gantt chart).

    ``show(spans, names)`` takes ``Span`` values, ``show_arrays`` the same as whole arrays, for large cases:
    beyond ``many`` stretches they are painted pixel by pixel, so that the cost stays flat.
    ``cursor`` draws a vertical line at a moment.
    """

    def __init__(
        self, axes, styles: Styles, *, height: float = 0.78, words: bool = True, many: int = _MANY_SPANS
    ) -> None:
        self._axes, self._styles, self._half, self._many = axes, dict(styles), height / 2, many
        self._kinds = {kind: number for number, kind in enumerate(self._styles)}
        self._boxes = Boxes(axes, self._styles, linewidth=0.6)
        self._words = Labels(axes, size=8)
        self._show_words = words
        self._cursor = Rules(axes, INK, width=1.5, dashes="dashed", zorder=4)
        from matplotlib.colors import to_rgba_array

        self._colors = np.round(to_rgba_array([s.color for s in self._styles.values()] + [PAPER]) * 255)
        self._picture = axes.imshow(np.zeros((1, 1, 4), np.uint8), aspect="auto", interpolation="nearest")
        self._picture.set(animated=True, zorder=2, visible=False)
        axes.xaxis.set_animated(True)
        axes.yaxis.set_animated(True)
        axes.tick_params(axis="y", length=0)

    def show(self, spans: Sequence[Span], names: Sequence[str], *, end: float | None = None) -> None:
        """Show spans on as many lanes as there are names, the first on top; time runs from 0 to ``end``."""
        columns = ([getattr(span, key) for span in spans] for key in ("lane", "start", "end", "kind"))
        self.show_arrays(*columns, names=names, limit=end)
        if self._show_words and len(spans) <= self._many:
            width = 14 * (self._axes.get_xlim()[1] or 1) / max(self._axes.bbox.width, 1)
            self._words.show(
                ((s.start + s.end) / 2, s.lane, s.word, self._styles[s.kind].ink)
                for s in spans
                if s.word and s.end - s.start > width * len(s.word)
            )

    def show_arrays(
        self, lane, start, end, kind, *, names: Sequence[str], limit: float | None = None
    ) -> None:
        """Show stretches given as equally long arrays; stretches of one lane must not overlap.

        ``kind`` holds kinds, or, for many stretches, an array of their numbers in the order of the styles.
        """
        lane, start, end = np.asarray(lane, int), np.asarray(start, float), np.asarray(end, float)
        last = limit if limit is not None else float(end.max(initial=1))
        self._axes.set(xlim=(0, last), ylim=(len(names) - 0.5, -0.5))
        name_lanes(self._axes.yaxis, tuple(names))
        numbered = isinstance(kind, np.ndarray) and kind.dtype.kind == "i"
        number = kind if numbered else np.fromiter((self._kinds[each] for each in kind), int, len(lane))
        many = len(lane) > self._many
        self._picture.set_visible(many)
        self._words.show(())
        if many:
            self._boxes.show({})
            self._paint(lane, start, end, number, len(names), last)
        else:
            boxes = np.column_stack([start, end, lane - self._half, lane + self._half])
            self._boxes.show({each: boxes[number == n] for each, n in self._kinds.items()})

    def _paint(self, lane, start, end, number, lanes: int, last: float) -> None:
        order = np.lexsort((start, lane))
        lane, start, end, number = lane[order], start[order], end[order], number[order]
        columns = max(int(self._axes.bbox.width), 1)
        moments = (np.arange(columns) + 0.5) * last / columns
        wanted = (np.arange(lanes)[:, None] * (2 * last) + moments).ravel()
        found = np.maximum(np.searchsorted(lane * (2 * last) + start, wanted, side="right") - 1, 0)
        inside = (lane[found] == np.repeat(np.arange(lanes), columns)) & (
            end[found] > np.tile(moments, lanes)
        )
        shades = np.where(inside, number[found], len(self._colors) - 1).reshape(lanes, columns)
        self._picture.set_data(self._colors[shades].astype(np.uint8))
        self._picture.set_extent((0, last, lanes - 0.5, -0.5))

    def cursor(self, moment: float | None) -> None:
        """Draw the time cursor, or none."""
        low, high = self._axes.get_ylim()
        self._cursor.show([] if moment is None else [(moment, low, moment, high)])


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


class NumberLine:
    """The numbers a format can hold, as ticks on a line per format, and where a value lands.

    ``show(lines, marks)``: name → sequence of representable numbers; name → (value, what it becomes, word).
    """

    def __init__(self, axes) -> None:
        self._axes = axes
        self._ticks, self._base = Rules(axes, INK, width=1.1), Rules(axes, QUIET, width=1)
        self._value, self._landing = Rules(axes, RED, width=2), Rules(axes, RED, width=1.2, dashes="dotted")
        self._words = Labels(axes, vertical="bottom", plate=PAPER)
        plain(axes, keep="bottom left")
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_animated(True)
        axes.yaxis.set_animated(True)
        axes.tick_params(axis="y", length=0)

    def show(
        self, lines: Mapping[str, Sequence], marks: Mapping[str, tuple], limits: tuple[float, float]
    ) -> None:
        """Show the stretch of the number line within ``limits``."""
        self._axes.set(xlim=limits, ylim=(len(lines) - 0.4, -0.8))
        name_lanes(self._axes.yaxis, tuple(lines))
        rows = list(enumerate(lines.values()))
        self._base.show([(*limits[:1], row, limits[1], row) for row, _ in rows])
        self._ticks.show([(x, row - 0.16, x, row + 0.16) for row, xs in rows for x in xs])
        found = [(row, *marks[name]) for row, name in enumerate(lines) if name in marks]
        self._value.show([(value, row - 0.42, value, row) for row, value, _, _ in found])
        self._landing.show([(value, row - 0.3, lands, row - 0.05) for row, value, lands, _ in found])
        self._words.show([(value, row - 0.44, word, RED) for row, value, _, word in found])


class Grid:
    """Cells of a table: tokens and masks, blocks of a matrix. ``show`` takes rows of (kind, word)."""

    def __init__(self, axes, styles: Styles, *, size: float = 9) -> None:
        self._axes, self._styles = axes, styles
        self._boxes, self._words = Boxes(axes, styles, linewidth=1.5), Labels(axes, size=size)
        axes.yaxis.set_animated(True)
        axes.xaxis.set_animated(True)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    def show(
        self,
        rows: Sequence[Sequence[tuple[Kind, str]]],
        names: Sequence[str] = (),
        columns: Sequence[str] = (),
    ):
        """Show cells row by row from the top; ``names`` label rows, ``columns`` label columns."""
        across = max((len(row) for row in rows), default=1)
        self._axes.set(xlim=(-0.5, max(across, 1) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        name_lanes(self._axes.yaxis, tuple(names))
        name_lanes(self._axes.xaxis, tuple(columns))
        cells = [(*cell, x, y) for y, row in enumerate(rows) for x, cell in enumerate(row)]
        self._boxes.show(_gather((kind, x - 0.5, x + 0.5, y - 0.5, y + 0.5) for kind, _, x, y in cells))
        self._words.show((x, y, word, self._styles[kind].ink) for kind, word, x, y in cells if word)


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
