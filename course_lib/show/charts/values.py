"""Single values: on a number line, in the cells of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..palette import INK, PAPER, QUIET, RED
from .axes import name_lanes, plain
from .boxes import Boxes, by_kind
from .marks import Kind, Labels, Rules, Styles


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
        self._boxes.show(by_kind((kind, x - 0.5, x + 0.5, y - 0.5, y + 0.5) for kind, _, x, y in cells))
        self._words.show((x, y, word, self._styles[kind].ink) for kind, word, x, y in cells if word)
