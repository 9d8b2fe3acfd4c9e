"""Axes that count bytes, and legends that cost nothing per change."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

from ...units import GB, KB, MB, TB, in_unit
from ..palette import PAPER

_FEW_LABELS = 16  # names beyond this are thinned out


def short_bytes(number: float) -> str:
    """Write bytes in the decimal unit that fits, at most two decimals, for ticks and labels.

    >>> short_bytes(1_310_720), short_bytes(0)
    ('1.31 MB', '0')
    """
    if number <= 0:
        return "0"
    names = {"TB": TB, "GB": GB, "MB": MB, "KB": KB, "B": 1}
    return in_unit(int(number), next(name for name, size in names.items() if number >= size or size == 1))


def round_up(number: float) -> float:
    """Return the next limit of a short list, so that an axis stays put while a handle is dragged.

    A picture that rescales with every change hides the change, and redrawing ticks costs most of the time.

    >>> round_up(17_310_720), round_up(3), round_up(0)
    (20000000.0, 3.0, 1.0)
    """
    if number <= 0:
        return 1.0
    size = 10.0 ** floor(log10(number))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(step * size for step in steps if step * size >= number * (1 - 1e-12))


def axis_in_bytes(axis, label: str = "", *, moving: bool = True, ticks: int = 6) -> None:
    """Let an axis count bytes; ``moving`` lets its limits change without a new layout."""
    axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: short_bytes(number)))
    axis.set_label_text(label)
    axis.set_animated(moving)


def even_ticks(axis, label: str = "", *, moving: bool = True, ticks: int = 8) -> None:
    """Let an axis count whole things (steps, layers, workers)."""
    axis.set_major_locator(MaxNLocator(ticks, integer=True))
    axis.set_label_text(label)
    axis.set_animated(moving)


def name_lanes(axis, names: Sequence[str]) -> None:
    """Write names at 0, 1, 2, … of an axis, thinned out where there are too many to read."""
    every = max(-(-len(names) // _FEW_LABELS), 1)
    axis.set_major_locator(FixedLocator(range(0, len(names), every)))
    axis.set_major_formatter(FixedFormatter(names[::every]))  # its words are what the stage compares


def plain(axes, *, keep: str = "") -> None:
    """Take the frame away; ``keep`` names sides to leave, such as "bottom left"."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in keep)
    for side, axis in (("bottom", axes.xaxis), ("left", axes.yaxis)):
        if side not in keep:
            axis.set_ticks([])


def legend(stage, styles, names=None, *, columns: int = 6) -> None:
    """Write kinds and their looks above the picture, once; ``names`` maps kinds to Chinese if needed."""
    patches = [
        Patch(
            facecolor=style.color,
            hatch=style.hatch or None,
            edgecolor=PAPER,
            label=(names or {}).get(kind, kind),
        )
        for kind, style in styles.items()
    ]
    stage.figure.legend(
        handles=patches, loc="outside upper left", ncols=columns, frameon=False, handlelength=1.6, fontsize=9
    )
