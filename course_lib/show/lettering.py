"""Words as small pictures, kept: matplotlib's Text takes three times as long to draw the same line."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.font_manager import findfont, get_font
from matplotlib.ft2font import LoadFlags

from .fonts import FONT_FILE

_PAD = 3  # pixels around a word on a plate


@lru_cache(maxsize=4000)
def word_picture(text: str, points: float, dpi: float, color: str, plate: str) -> tuple[np.ndarray, int]:
    """Return one line as RGBA rows from bottom to top, and the height of its baseline in pixels.

    ``plate`` is a colour laid under the word, nearly opaque. Characters the course's font lacks are boxes.
    """
    font = get_font([str(FONT_FILE), findfont("DejaVu Sans")])
    font.set_size(points, dpi)
    font.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    font.draw_glyphs_to_bitmap(antialiased=True)
    ink = np.asarray(font.get_image())[::-1]
    below = round(font.get_descent() / 64)
    if plate:
        return _on_plate(ink, color, plate), below + _PAD
    picture = np.zeros((*ink.shape, 4), np.uint8)
    picture[..., :3] = np.round(np.array(to_rgb(color)) * 255)
    picture[..., 3] = ink
    return picture, below


def _on_plate(ink: np.ndarray, color: str, plate: str) -> np.ndarray:
    share = np.pad(ink, _PAD)[..., None] / 255
    paper = np.array([*to_rgb(plate), 0.85])
    return np.round(255 * (share * [*to_rgb(color), 1] + (1 - share) * paper)).astype(np.uint8)
