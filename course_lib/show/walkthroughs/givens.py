"""What the chapter gives once and its examples share."""

from __future__ import annotations

from typing import Final

from ...activations import SavedActivations
from ...units import MB

PARAMETERS: Final = 1_000_000
CAPACITY: Final = 10 * MB
WORKERS: Final = 4
FITS: Final = ("放得下", "放不下")


def chapter_activations() -> SavedActivations:
    """Return the saved activations that the chapter's examples share."""
    return SavedActivations(
        sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )


def fits(n_bytes: int) -> str:
    """Say whether so many bytes fit the device of the chapter."""
    return FITS[n_bytes > CAPACITY]
