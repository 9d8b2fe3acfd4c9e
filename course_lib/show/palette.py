"""Colours and patterns: the same object looks the same in every picture.

Colours are Okabe and Ito's, told apart by colour-blind readers; every colour comes with a pattern, so that
a grey print and a weak projector still tell neighbours apart. Pictures are drawn dark on white; the dark
theme turns them round (see ``explorer``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .. import ledger

INK: Final = "#222222"
QUIET: Final = "#6b6b6b"
PAPER: Final = "#ffffff"

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
PINK: Final = "#CC79A7"
SKY: Final = "#56B4E9"
RED: Final = "#D55E00"
YELLOW: Final = "#F0E442"
GREY: Final = "#BDBDBD"
BEYOND: Final = "#FBE9DF"  # the ground beyond a capacity line


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of thing is filled: colour, pattern (a matplotlib hatch) and the ink on top of it."""

    color: str
    hatch: str = ""
    ink: str = INK


WEIGHTS: Final = Style(BLUE, ink=PAPER)
GRADS: Final = Style(ORANGE, "//")
MASTER: Final = Style(SKY, "..")
MOMENTS: Final = Style(GREEN, "\\\\", ink=PAPER)
ACTIVATIONS: Final = Style(PINK, "xx")
BUFFERS: Final = Style(YELLOW, "--")
OVERFLOW: Final = Style(RED, "xxx", ink=PAPER)
FREE: Final = Style("#F4F4F4")
IDLE: Final = Style("#E6E6E6", "..")

# What a ledger row looks like, by the row's name.
OF_ROW: Final = {
    ledger.WEIGHTS: WEIGHTS,
    ledger.GRADS: GRADS,
    ledger.GRAD_BUFFER: BUFFERS,
    ledger.MASTER: MASTER,
    ledger.MOMENTS: MOMENTS,
    ledger.ACTIVATIONS: ACTIVATIONS,
}

# What the three kinds of lifetime look like.
OF_LIFETIME: Final = {
    ledger.Lifetime.ACROSS_UPDATES: Style(BLUE, ink=PAPER),
    ledger.Lifetime.WITHIN_STEP: Style(ORANGE, "//"),
    ledger.Lifetime.ACROSS_STOP: Style(GREEN, "..", ink=PAPER),
}
