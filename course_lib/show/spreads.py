"""What a histogram of points shows; apart from the drawing, so that making one loads no matplotlib."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """How many students reached so many points of one exercise: a label and a count for each bar."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
