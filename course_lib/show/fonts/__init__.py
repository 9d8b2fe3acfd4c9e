"""The course's own Chinese font, so that no machine shows boxes.

``CourseHeiSC-Regular.otf`` is cut from Noto Sans CJK SC by ``make_font.py``; its licence, the SIL Open Font
License 1.1, lies beside it in ``OFL.txt``.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Final

FAMILY: Final = "Course Hei SC"
FONT_FILE: Final = Path(__file__).with_name("CourseHeiSC-Regular.otf")

# A first start builds matplotlib's font cache and says so on stderr, which would end up in the notebook.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


def font_list_folder() -> Path:
    """Return where matplotlib keeps its list of the machine's fonts, made where there was none."""
    import matplotlib.font_manager

    return Path(matplotlib.get_cachedir())


@cache
def use_course_font() -> None:
    """Make the course's font matplotlib's default; a reader's own figures then show Chinese too.

    The list falls back glyph by glyph, but only as ``font.family``; the Chinese font must come first.
    """
    import matplotlib
    from matplotlib import font_manager

    font_manager.fontManager.addfont(FONT_FILE)
    matplotlib.rcParams["font.family"] = [FAMILY, "DejaVu Sans"]
