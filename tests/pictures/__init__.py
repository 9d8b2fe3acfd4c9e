"""Small pictures of every explorer's first state, to see when one changes; compared as from a distance.

``python -m tests.pictures`` draws them all anew; look at what changed before keeping it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

FOLDER = Path(__file__).parent
WIDTH = 190  # a quarter of most pictures' CSS pixels
BLUR = 1.5
# Of 255. A shift by one CSS pixel gives up to 30, other hinting 5, a lost bar of a fortieth of the axis 170.
TOLERANCE = 45


def makers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every explorer's name and maker."""
    from course_lib.show.explorers import all_explorers

    for maker in all_explorers():
        yield f"{maker.__module__.rpartition('.')[2].removeprefix('section_')}-{maker.__name__}", maker


def small(png: bytes) -> Image.Image:
    """Return a picture reduced to ``WIDTH``, without transparency."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    return picture.resize((WIDTH, round(WIDTH * picture.height / picture.width)), Image.Resampling.BOX)


def kept(name: str) -> Image.Image:
    """Return the picture kept under this name."""
    return Image.open(FOLDER / f"{name}.png").convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> int:
    """Return by how much the most different points differ, both pictures blurred; 255 for other sizes."""
    if one.size != other.size:
        return 255
    blurred = [np.asarray(picture.filter(ImageFilter.GaussianBlur(BLUR)), int) for picture in (one, other)]
    return int(np.abs(blurred[0] - blurred[1]).max())


def renew() -> None:
    """Draw all pictures anew; those that look as before are left alone."""
    wanted = {f"{name}.png": maker for name, maker in makers()}
    for stray in {path.name for path in FOLDER.glob("*.png")} - set(wanted):
        (FOLDER / stray).unlink()
        print(f"{stray}: removed")
    for file, maker in wanted.items():
        now = small(maker().image.value)
        if not (FOLDER / file).exists() or difference(now, kept(Path(file).stem)) > TOLERANCE:
            now.save(FOLDER / file, optimize=True)
            print(f"{file}: drawn anew")
