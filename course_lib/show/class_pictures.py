"""Two pictures of a class graded: how the points of each exercise spread, and which mistakes were common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .palette import BLUE, INK, ORANGE
from .spreads import Spread
from .stage import DRAWING, Stage

WIDTH: Final = 920  # CSS pixels
_ACROSS: Final = 3
_TITLE: Final = 15  # characters
_NAME: Final = 26


def points_picture(spreads: Sequence[Spread]) -> bytes:
    """Return a PNG with a small histogram for each exercise, all to one scale."""
    across = min(_ACROSS, len(spreads))
    down = -(-len(spreads) // across)
    tallest = max((max(spread.counts) for spread in spreads), default=0)
    with DRAWING:
        stage = Stage(WIDTH, 40 + 165 * down)
        with stage.style:
            grid = stage.axes(down, across, squeeze=False).ravel()
            for axes, spread in zip(grid, spreads, strict=False):
                _histogram(axes, spread, max(tallest, 1))
            for axes in grid[len(spreads) :]:
                axes.set_visible(False)
            stage.figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.15)
            stage.figure.supxlabel("得分（半分归入较小的整数）", fontsize=9.5)
            stage.freeze()
            return stage.still("")


def _histogram(axes, spread: Spread, tallest: int) -> None:
    places = range(len(spread.counts))
    axes.bar(places, spread.counts, width=0.72, color=BLUE)
    for x, count in zip(places, spread.counts, strict=True):
        if count:
            axes.text(x, count + tallest * 0.03, str(count), ha="center", va="bottom", color=INK, fontsize=9)
    axes.set_title(_label(spread.title, _TITLE), loc="left")
    axes.set(xlim=(-0.6, len(spread.counts) - 0.4), ylim=(0, tallest * 1.2), yticks=[])
    axes.set_xticks(list(places), spread.labels)
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=0)


def mistakes_picture(mistakes: Sequence[tuple[str, int]]) -> bytes:
    """Return a PNG with a bar for each name and how many students made that mistake, the first on top."""
    names = [_label(name, _NAME) for name, _ in mistakes]
    counts = [count for _, count in mistakes]
    places = range(len(mistakes))
    with DRAWING:
        stage = Stage(WIDTH, 50 + 30 * len(mistakes))
        with stage.style:
            axes = stage.axes()
            axes.barh(places, counts, height=0.66, color=ORANGE)
            for y, count in zip(places, counts, strict=True):
                axes.text(count + max(counts) * 0.008, y, f"{count} 人", ha="left", va="center", fontsize=9)
            axes.set_yticks(list(places), names)
            axes.set(xlim=(0, max(counts) * 1.1), ylim=(len(counts) - 0.4, -0.6), xticks=[])
            axes.spines["bottom"].set_visible(False)
            axes.tick_params(length=0)
            stage.freeze()
            return stage.still("")


def _label(text: str, longest: int) -> str:
    """Return one short line that matplotlib does not read as mathematics."""
    line = " ".join(text.split())
    return (line if len(line) <= longest else f"{line[: longest - 1]}…").replace("$", r"\$")
