"""Stretches of time on lanes (a Gantt chart), from a handful to many thousands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgba_array

from ..palette import INK
from .axes import name_lanes
from .boxes import Boxes, Raster, packed
from .marks import Kind, Labels, Rules, Styles

_MANY_SPANS = 1500  # spans beyond this are painted as pixels, not as shapes


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
        self._colors = packed(255 * to_rgba_array([style.color for style in styles.values()])[:, :3])
        self._picture = Raster(axes)
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
        self._words.show(())
        if len(lane) > self._many:
            self._boxes.show({})
            self._paint(lane, start, end, number, len(names), last)
        else:
            self._picture.show(())
            boxes = np.column_stack([start, end, lane - self._half, lane + self._half])
            self._boxes.show({each: boxes[number == n] for each, n in self._kinds.items()})

    def _paint(self, lane, start, end, number, lanes: int, last: float) -> None:
        order = np.lexsort((start, lane))
        lane, start, end, number = lane[order], start[order], end[order], number[order]
        columns = max(int(self._axes.bbox.width), 1)
        moments = (np.arange(columns) + 0.5) * last / columns
        wanted = (np.arange(lanes)[:, None] * (2 * last) + moments).ravel()
        found = np.maximum(np.searchsorted(lane * (2 * last) + start, wanted, side="right") - 1, 0)
        inside = (lane[found].reshape(lanes, columns) == np.arange(lanes)[:, None]) & (
            end[found].reshape(lanes, columns) > moments
        )
        pixels = np.where(inside, self._colors[number[found]].reshape(lanes, columns), 0)
        self._picture.show(pixels, (0, last, -0.5, lanes - 0.5))

    def cursor(self, moment: float | None) -> None:
        """Draw the time cursor, or none."""
        low, high = self._axes.get_ylim()
        self._cursor.show([] if moment is None else [(moment, low, moment, high)])
