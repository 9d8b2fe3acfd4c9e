"""Bars of bytes, stacked piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..palette import BEYOND, INK, PAPER, RED, Style
from .axes import axis_in_bytes, name_lanes, round_up, short_bytes
from .boxes import Boxes, by_kind
from .marks import Kind, Labels, Rules, Styles


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
        self._boxes.show(by_kind(pieces))
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
