"""Marks: each is made once on its axes and shows any number of things, so that blitting always works.

``styles`` maps a kind (any hashable: a ledger row's name, a lifetime) to its ``palette.Style``. Nothing here
knows bytes or sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PolyCollection

from ..lettering import word_picture
from ..palette import INK, PAPER, Style

Kind = Any
Styles = Mapping[Kind, Style]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def _filled(axes, styles: Styles, zorder: float, linewidth: float) -> dict[Kind, PolyCollection]:
    made = {}
    for kind, style in styles.items():
        shapes = PolyCollection([], facecolors=style.color, edgecolors=PAPER, linewidths=linewidth)
        shapes.set(hatch=style.hatch or None, zorder=zorder, animated=True)
        made[kind] = axes.add_collection(shapes, autolim=False)
    return made


class Areas:
    """Areas stacked on each other; each value holds from its x to the next."""

    def __init__(self, axes, styles: Styles, *, zorder: float = 2) -> None:
        self._shapes = _filled(axes, styles, zorder, 0)

    def show(self, edges: Sequence, heights: Mapping[Kind, Sequence]) -> None:
        """Show kind → n heights between n + 1 edges, the first kind at the bottom."""
        x = np.repeat(np.asarray(edges, float), 2)[1:-1]
        floor = np.zeros(len(x))
        for kind, shapes in self._shapes.items():
            if kind not in heights or not len(x):
                shapes.set_verts([])
                continue
            roof = floor + np.repeat(np.asarray(heights[kind], float), 2)
            outline = np.concatenate([np.column_stack([x, floor]), np.column_stack([x, roof])[::-1]])
            shapes.set_verts([outline])
            floor = roof


class Rules:
    """Straight lines of one look."""

    def __init__(self, axes, color: str = INK, *, width: float = 1.4, dashes="solid", zorder: float = 3):
        self._lines = LineCollection([], colors=color, linewidths=width, linestyles=dashes)
        self._lines.set(zorder=zorder, animated=True)
        axes.add_collection(self._lines, autolim=False)

    def show(self, lines: Sequence) -> None:
        """Show rows of (x0, y0, x1, y1)."""
        self._lines.set_segments(list(np.asarray(lines, float).reshape(-1, 2, 2)))


class Points:
    """Points, one marker and colour per kind."""

    def __init__(self, axes, styles: Styles, *, size: float = 45, zorder: float = 3) -> None:
        self._kinds = {}
        for kind, marker in zip(styles, MARKERS * len(styles), strict=False):
            made = axes.scatter([], [], s=size, marker=marker, color=styles[kind].color, edgecolor=INK)
            made.set(zorder=zorder, animated=True, linewidth=0.6)
            self._kinds[kind] = made

    def show(self, points: Mapping[Kind, Sequence]) -> None:
        """Show kind → rows of (x, y)."""
        for kind, made in self._kinds.items():
            made.set_offsets(np.asarray(points.get(kind, ()), float).reshape(-1, 2))


class Curves:
    """Lines through points, one colour and dash pattern per kind."""

    _DASHES = ("-", "--", ":", "-.")

    def __init__(self, axes, styles: Styles, *, width: float = 2, steps: bool = False, marker: str = ""):
        drawstyle = "steps-post" if steps else "default"
        self._kinds = {}
        for number, (kind, style) in enumerate(styles.items()):
            dashes = self._DASHES[number % len(self._DASHES)]
            (line,) = axes.plot([], [], dashes, color=style.color, lw=width, marker=marker, ms=4)
            line.set(drawstyle=drawstyle, animated=True)
            self._kinds[kind] = line

    def show(self, curves: Mapping[Kind, tuple[Sequence, Sequence]]) -> None:
        """Show kind → (xs, ys)."""
        for kind, line in self._kinds.items():
            line.set_data(*curves.get(kind, ((), ())))


class Labels(Artist):
    """Any number of one-line texts in the course's font.

    ``align`` says where x lies ("left", "center", "right"), ``vertical`` where y lies ("bottom", "center",
    "top"); ``plate`` is a colour laid under each word; ``transform`` replaces the axes' data coordinates.
    """

    _LEFT: Final = {"left": 0.0, "center": 0.5, "right": 1.0}
    # Share of the letter size between y and the baseline: Chinese characters reach from −0.12 to 0.88.
    _DOWN: Final = {"bottom": -0.2, "center": 0.37, "top": 0.95}

    def __init__(self, axes, *, size: float = 9, align="center", vertical="center", transform=None, plate=""):
        super().__init__()
        self.set(zorder=5, animated=True, in_layout=False)
        self._size, self._plate, self._dpi = size, plate, axes.get_figure().dpi
        self._words: tuple[tuple, ...] = ()
        self._left, self._down = self._LEFT[align], self._DOWN[vertical]
        axes.add_artist(self)
        self._place = transform or axes.transData

    def show(self, words: Iterable[tuple]) -> None:
        """Show rows of (x, y, text), (x, y, text, colour) or (x, y, text, colour, plate)."""
        looks = (INK, self._plate)
        self._words = tuple((x, y, str(text), *look, *looks[len(look) :]) for x, y, text, *look in words)

    def width(self, text: str) -> int:
        """Return how many pixels wide a word is."""
        return word_picture(text, self._size, self._dpi, INK, "")[0].shape[1]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the moment."""
        return tuple(text for _, _, text, _, _ in self._words)

    def draw(self, renderer) -> None:
        """Write all words; called by the stage."""
        context = renderer.new_gc()
        for x, y, text, color, plate in self._words:
            picture, baseline = word_picture(text, self._size, self._dpi, color, plate)
            across, up = self._place.transform((x, y))
            left = across - self._left * picture.shape[1]
            bottom = up - self._down * self._size * self._dpi / 72 - baseline
            renderer.draw_image(context, round(left), round(bottom), picture)
