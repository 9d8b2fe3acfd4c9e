"""Colours and patterns: the same object looks the same in every picture.

Colours are Okabe and Ito's, told apart by colour-blind readers, but for their yellow: it would vanish on
white paper, and in the dark theme too. Every colour comes with a pattern, so that a grey print and a weak
projector still tell neighbours apart. Pictures are drawn dark on white; the dark theme turns them round by
``DARK_FILTER``, so that a shade too near to the paper is lost in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .. import ledger

INK: Final = "#161616"
QUIET: Final = "#6b6b6b"
PAPER: Final = "#ffffff"

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
PINK: Final = "#CC79A7"
SKY: Final = "#56B4E9"
RED: Final = "#D55E00"
PURPLE: Final = "#7E57C2"
GREY: Final = "#B2B2B2"
BEYOND: Final = "#FBE9DF"  # the ground beyond a capacity line

DARK_FILTER: Final = "invert(.93) hue-rotate(180deg)"  # CSS: white becomes the dark theme's paper


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
BUFFERS: Final = Style(PURPLE, "--", ink=PAPER)
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
