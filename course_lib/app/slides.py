"""Which cells of a notebook share a slide: a rule, so that nobody has to mark slides by hand.

Headings begin slides, an explorer has a slide to itself, and a slide is full when the heights of its cells,
guessed from their text, reach a screen of 1280 × 720. A cell with neither output nor a guess to make is
skipped. ``metadata.slideshow`` is what RISE, nbconvert and JupyterLab's slideshow read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from unicodedata import east_asian_width

Cell = dict[str, Any]

SCREEN: Final = 560  # pixels of 720 that guessed heights may fill; the guess may be a quarter too low
_LINE: Final = 36  # a line of words
_COLUMNS: Final = 100  # columns of a line of words; a Chinese character takes two
_ROW: Final = 30  # a row of a table, a line of code or of plain text
_GAP: Final = 22
_FOLDED: Final = 20


def slide_types(cells: Sequence[Cell]) -> list[str]:
    """Return for each cell what it does: ``slide``, ``subslide``, ``-`` (goes on below) or ``skip``."""
    return list(_types(cells))


def _types(cells: Sequence[Cell]) -> Iterator[str]:
    filled, alone = 0, True
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        level, height = _level(cell), height_of(cell)
        if not height:
            yield "skip"
            continue
        ends = following is not None and level and not _level(following) and not _is_explorer(following)
        room = height + (height_of(following) if ends and following is not None else 0)
        if level in (1, 2) or not filled:
            yield "slide" if level in (1, 2) or alone else "subslide"
            filled = height
        elif level or _is_explorer(cell) or filled + room > SCREEN:
            yield "subslide"
            filled = height
        else:
            yield "-"
            filled += height
        alone = False
        if _is_explorer(cell):
            filled = SCREEN


def _level(cell: Cell) -> int:
    """Return the level of the heading that a cell begins with, 0 without one."""
    found = re.match(r"(#+) ", _text(cell["source"])) if cell["cell_type"] == "markdown" else None
    return len(found[1]) if found else 0


def _is_explorer(cell: Cell) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))


def is_folded(cell: Cell) -> bool:
    """Whether a presentation folds a cell's code: what it computed is the point. A guess stays open."""
    return cell["cell_type"] == "code" and bool(cell.get("outputs"))


def height_of(cell: Cell) -> int:
    """Return about how many pixels of a slide a cell takes; 0 for one that has nothing to show."""
    source = _text(cell["source"])
    if cell["cell_type"] != "code":
        return sum(_lines(line) for line in source.splitlines() if line.strip()) * _LINE + _GAP
    if not is_folded(cell):
        return source.count("\n") * _ROW + _ROW + _GAP if re.match(r"\w+ = None", source) else 0
    return _FOLDED + sum(_output_height(output) for output in cell["outputs"])


def _output_height(output: Cell) -> int:
    data = output.get("data", {})
    if "image/png" in data:
        return SCREEN
    if "text/html" in data:
        html = _text(data["text/html"])
        return _ROW * html.count("<tr>") + sum(
            _LINE * _lines(words) for words in re.findall(r"<p[^>]*>(.*?)</p>", html)
        )
    text = _text(data.get("text/plain", output.get("text", "")))
    return sum(_lines(line) for line in text.splitlines()) * _ROW + _GAP


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def _lines(text: str) -> int:
    """Return how many lines a paragraph takes on a slide."""
    columns = sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
    return max(1, math.ceil(columns / _COLUMNS))
