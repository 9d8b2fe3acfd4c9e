"""Boxes and pixels painted straight into the picture: matplotlib takes half a millisecond per hatched box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from ..palette import PAPER, Style


@lru_cache
def _sheet(style: Style, inch: int, width: int) -> np.ndarray:
    """Return colour and pattern as whole pixels, an inch high and at least ``width`` wide.

    An inch is the period of matplotlib's hatches, so sheets on end have no seam.
    """
    renderer = RendererAgg(inch, inch, inch)
    context = renderer.new_gc()
    context.set_linewidth(0)
    context.set_hatch(style.hatch or None)
    context.set_hatch_color(PAPER)
    context.set_hatch_linewidth(0.6)
    whole = Affine2D().scale(inch + 2).translate(-1, -1)
    renderer.draw_path(context, Path.unit_rectangle(), whole, to_rgb(style.color))
    return np.tile(_canvas(renderer), (1, -(-width // inch)))


def by_kind(rows) -> dict[Any, list]:
    """Return kind → rows, from rows of (kind, …): what ``Boxes.show`` takes."""
    groups: dict[Any, list] = {}
    for kind, *box in rows:
        groups.setdefault(kind, []).append(box)
    return groups


class Boxes(Artist):
    """Rectangles of several kinds; a ``linewidth`` in points is the gap between neighbours."""

    def __init__(
        self, axes, styles: Mapping[Any, Style], *, zorder: float = 2, linewidth: float = 0.8
    ) -> None:
        super().__init__()
        self.set(zorder=zorder, animated=True, in_layout=False)
        self._styles = styles
        self._boxes: dict[Any, np.ndarray] = {}
        self._inch = round(axes.get_figure(root=True).dpi)
        self._gap = round(linewidth * self._inch / 72 / 2)
        axes.add_artist(self)

    def show(self, boxes: Mapping[Any, Sequence | np.ndarray]) -> None:
        """Show kind → rows of (x0, x1, y0, y1); kinds left out show nothing."""
        self._boxes = {
            kind: np.asarray(boxes[kind], float).reshape(-1, 4)
            for kind in self._styles
            if len(boxes.get(kind, ()))
        }

    def draw(self, renderer) -> None:
        """Paint all boxes; called by the stage."""
        canvas = _canvas(renderer)
        for kind, boxes in self._boxes.items():
            sheet = _sheet(self._styles[kind], self._inch, canvas.shape[1])
            for left, right, top, bottom in _on_canvas(self.axes, boxes, len(canvas), self._gap):
                for start in range(top // self._inch * self._inch, bottom, self._inch):
                    low, high = max(top, start), min(bottom, start + self._inch)
                    canvas[low:high, left:right] = sheet[low - start : high - start, left:right]


class Raster(Artist):
    """Pixels stretched over a rectangle without blurring; matplotlib's images take ten times as long."""

    def __init__(self, axes, *, zorder: float = 2) -> None:
        super().__init__()
        self.set(zorder=zorder, animated=True, in_layout=False)
        self._pixels = np.zeros((0, 0), np.uint32)
        axes.add_artist(self)

    def show(self, pixels, box: Sequence[float] = (0, 0, 0, 0)) -> None:
        """Show rows of packed colours (see ``packed``; 0 lets the ground through) over (x0, x1, y0, y1).

        The first row is the topmost; the rectangle must lie within the axes. No rows show nothing.
        """
        self._pixels, self._box = np.asarray(pixels, np.uint32), np.array([box], float)

    def draw(self, renderer) -> None:
        """Paint the pixels; called by the stage."""
        if not self._pixels.size:
            return
        canvas = _canvas(renderer)
        for left, right, top, bottom in _on_canvas(self.axes, self._box, len(canvas)):
            rows, columns = (
                np.arange(size) * count // size
                for size, count in zip((bottom - top, right - left), self._pixels.shape, strict=True)
            )
            block = self._pixels[:, columns][rows]
            np.copyto(canvas[top:bottom, left:right], block, where=block != 0)


def packed(colors) -> np.ndarray:
    """Return red, green and blue (0 to 255, along the last axis) as one number per colour, opaque."""
    opaque = np.full((*np.shape(colors)[:-1], 4), 255, np.uint8)
    opaque[..., :3] = np.round(colors)
    return opaque.view(np.uint32)[..., 0]


def _canvas(renderer) -> np.ndarray:
    """Return the picture itself as packed colours: what is written there is seen."""
    return np.asarray(renderer.buffer_rgba()).view(np.uint32)[..., 0]


def _on_canvas(axes, boxes: np.ndarray, height: int, gap: int = 0) -> list[list[int]]:
    """Return columns and rows of a canvas, counted from the top; the thinnest box is a pixel wide."""
    corners = boxes[:, [0, 2, 1, 3]].reshape(-1, 2)
    places = axes.transData.transform(corners).reshape(-1, 2, 2)
    low, high = places.min(axis=1), places.max(axis=1)
    least, most = axes.bbox.get_points()
    seen = ((high > np.maximum(low, least)) & (low < most)).all(axis=1)
    low, high = (np.round(np.clip(side[seen], least, most)).astype(int) for side in (low, high))
    between = gap * (high - low > 2 * gap)
    low, high = low + between, np.maximum(high - between, low + 1)
    return np.column_stack([low[:, 0], high[:, 0], height - high[:, 1], height - low[:, 1]]).tolist()
