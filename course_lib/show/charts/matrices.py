"""Matrices side by side and signs between them: who holds which part of a product, what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..palette import INK
from .axes import plain
from .boxes import Boxes
from .marks import Kind, Labels, Styles

_SIGN = 1.5  # cells that a sign takes
_NAME = 1.0  # cells above a matrix for its name
_BETWEEN = 0.9  # cells between two lines
_LARGEST = 34  # CSS pixels of a cell, so that few cells do not fill the picture


@dataclass(frozen=True, slots=True)
class Matrix:
    """A named matrix; ``cells`` holds rows of (kind, word)."""

    name: str
    cells: Sequence[Sequence[tuple[Kind, str]]]

    @property
    def width(self) -> int:
        """Cells across."""
        return len(self.cells[0])


class Matrices:
    """Lines of matrices and signs; ``show`` takes lines, each a series of ``Matrix`` and text.

    Cells stay square and as large as fits; all stands in the middle, lines flush left.
    """

    def __init__(self, axes, styles: Styles, *, sharpness: float = 2) -> None:
        self._axes, self._styles, self._largest = axes, styles, _LARGEST * sharpness
        self._boxes = Boxes(axes, styles, linewidth=1.2)
        self._words, self._names = Labels(axes, size=9.5), Labels(axes, size=9, vertical="bottom")
        self._signs = Labels(axes, size=12)
        plain(axes)

    def show(self, lines: Sequence[Sequence[Matrix | str]]) -> None:
        """Show the lines from top to bottom, each from the left."""
        across = max(sum(self._width(item) for item in line) for line in lines)
        heights = [max(len(item.cells) for item in line if isinstance(item, Matrix)) for line in lines]
        down = sum(heights) + len(lines) * (_NAME + _BETWEEN)
        box = self._axes.bbox
        unit = min(box.width / across, box.height / down, self._largest)
        left, above = (box.width / unit - across) / 2, (box.height / unit - down) / 2
        self._axes.set(xlim=(-left, across + left), ylim=(down + above, -above))
        placed, signs, top = [], [], 0.0
        for line, height in zip(lines, heights, strict=True):
            top += _NAME
            placed += list(self._matrices(line, top + height / 2))
            signs += list(self._sign_places(line, top + height / 2))
            top += height + _BETWEEN
        self._signs.show(signs)
        self._names.show((x + m.width / 2, y - 0.12, m.name) for m, x, y in placed)
        self._show_cells([cell for matrix, x, y in placed for cell in _cells(matrix, x, y)])

    @staticmethod
    def _width(item: Matrix | str) -> float:
        return item.width if isinstance(item, Matrix) else _SIGN

    def _matrices(self, line, middle: float) -> Iterator[tuple[Matrix, float, float]]:
        x = 0.0
        for item in line:
            if isinstance(item, Matrix):
                yield item, x, middle - len(item.cells) / 2
            x += self._width(item)

    def _sign_places(self, line, middle: float) -> Iterator[tuple[float, float, str, str]]:
        x = 0.0
        for item in line:
            if isinstance(item, str):
                yield x + _SIGN / 2, middle, item, INK
            x += self._width(item)

    def _show_cells(self, cells: Sequence[tuple[Kind, str, float, float]]) -> None:
        groups: dict[Kind, list] = {}
        for kind, _, x, y in cells:
            groups.setdefault(kind, []).append((x, x + 1, y, y + 1))
        self._boxes.show(groups)
        self._words.show(
            (x + 0.5, y + 0.5, word, self._styles[kind].ink, self._styles[kind].color)
            for kind, word, x, y in cells
        )


def _cells(matrix: Matrix, left: float, top: float) -> Iterator[tuple[Kind, str, float, float]]:
    for down, row in enumerate(matrix.cells):
        for across, (kind, word) in enumerate(row):
            yield kind, word, left + across, top + down
