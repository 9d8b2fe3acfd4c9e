"""Ticks and their words, drawn in a tenth of the time that matplotlib's own axis takes.

A ``Ruler`` stands in for an axis once the layout is done: it asks the axis where ticks are and what they say,
so locators, formatters and limits are set on the axis as ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.artist import Artist
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform

from .lettering import word_picture


def can_stand_in(axis) -> bool:
    """Say whether a ruler shows all that an axis does: no formulas, no words on the far side or turned."""
    tick = axis.get_major_ticks(1)[0]
    words = (label.get_text() for label in (*axis.get_ticklabels(), axis.get_offset_text()))
    turned = tick.label1.get_rotation() or tick.label2.get_visible() or len(axis.get_minorticklocs())
    return axis.get_visible() and not turned and not any("$" in word for word in words)


class Ruler(Artist):
    """Major ticks, their words, grid lines and the label of one axis."""

    def __init__(self, axis) -> None:
        super().__init__()
        self.set(zorder=axis.get_zorder(), animated=True, in_layout=False)
        self.axis, self._side = axis, 0 if axis.axis_name == "x" else 1
        self._look = axis.get_major_ticks(1)[0]
        axis.axes.add_artist(self)
        axis.set_visible(False)

    def draw(self, renderer) -> None:
        """Draw in pixels; called by the stage."""
        ticks = list(self._ticks())
        places, box = [place for place, _ in ticks], self.axis.axes.bbox
        start, stop = (box.y0, box.y1) if self._side == 0 else (box.x0, box.x1)
        reach = self._look.tick1line.get_markersize() * self._dpi / 72
        grid, tick = self._look.gridline, self._look.tick1line
        if grid.get_visible():
            self._lines(renderer, grid.get_color(), grid.get_linewidth(), places, start, stop)
        if tick.get_visible():
            self._lines(
                renderer, tick.get_markeredgecolor(), tick.get_markeredgewidth(), places, start - reach, start
            )
        if self._look.label1.get_visible():
            gap = self._look.get_tick_padding() + self._look.get_pad()
            self._words(renderer, ticks, start - gap * self._dpi / 72)
        if self.axis.label.get_text():
            self.axis.label.draw(renderer)

    @property
    def _dpi(self) -> float:
        return self.axis.get_figure(root=True).dpi

    def _ticks(self) -> Iterator[tuple[float, str]]:
        """Yield place in pixels and word of each tick within the limits."""
        values = np.asarray(self.axis.get_majorticklocs(), float)
        low, high = sorted(self.axis.get_view_interval())
        slack = (high - low) * 1e-9
        points = np.zeros((len(values), 2))
        points[:, self._side] = values
        pixels = self.axis.axes.transData.transform(points)[:, self._side]
        words = self.axis.get_major_formatter().format_ticks(values)
        for value, place, word in zip(values, pixels, words, strict=True):
            if low - slack <= value <= high + slack:
                yield place, word

    def _lines(self, renderer, color, width: float, places, start: float, stop: float) -> None:
        if not places:
            return
        ends = [[(place, start), (place, stop)] for place in places]
        points = np.array(ends).reshape(-1, 2)[:, :: 1 if self._side == 0 else -1]
        context = renderer.new_gc()
        context.set_foreground(color)
        context.set_snap(True)
        context.set_linewidth(width)
        renderer.draw_path(
            context, Path(points, [Path.MOVETO, Path.LINETO] * len(places)), IdentityTransform()
        )

    def _words(self, renderer, ticks, edge: float) -> None:
        context, label = renderer.new_gc(), self._look.label1
        size = label.get_fontsize()
        for place, word in ticks:
            if not word:
                continue
            picture, baseline = word_picture(word, size, self._dpi, label.get_color(), "")
            em = size * self._dpi / 72
            if self._side == 0:
                left, bottom = place - picture.shape[1] / 2, edge - 0.88 * em - baseline
            else:
                left, bottom = edge - picture.shape[1], place - 0.36 * em - baseline
            renderer.draw_image(context, round(left), round(bottom), picture)
