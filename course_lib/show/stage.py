"""One picture for life: laid out once, its fixed parts drawn once, only what changes drawn again.

A drawing function gets a ``Stage``, takes axes from it and makes artists. Whatever is *animated* in
matplotlib's sense is drawn anew on each change, everything else once. The marks of ``show.charts`` animate
their artists themselves; what else should move is passed through ``stage.moves(...)``.

Why not ``plt.figure`` and ``savefig``: that takes about 150 ms per change, this about 10.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .fonts import use_course_font
from .palette import INK, QUIET
from .png import PngWriter, halved, small_png
from .rulers import Ruler, can_stand_in

# Handlers run in a thread of their own beside the cells (JupyterLab 4.4+, ipykernel 7+), and matplotlib's
# font and mathtext code is not thread-safe: every stage builds and draws under this one lock.
DRAWING: Final = threading.RLock()

SHARPNESS: Final = 2  # picture pixels per CSS pixel
_CSS_DPI: Final = 100
_HINT_SHARE: Final = 0.035  # of the height, kept free at the bottom for the hint of a stored picture
_RC: Final[dict[Any, Any]] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "hatch.linewidth": 0.6,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "path.simplify": True,
    "mathtext.fontset": "dejavusans",
}


class Stage:
    """A figure of ``width`` × ``height`` CSS pixels.

    Use ``axes`` to get axes, ``freeze`` once after the first state is on, then ``png`` after each change.
    """

    def __init__(self, width: int = 760, height: int = 400) -> None:
        use_course_font()
        self.width, self.height = width, height
        self.style = rc_context(_RC)
        self.figure = Figure(figsize=(width / _CSS_DPI, height / _CSS_DPI), dpi=_CSS_DPI * SHARPNESS)
        self.figure.set_layout_engine("constrained", rect=(0, _HINT_SHARE, 1, 1 - _HINT_SHARE))
        self.canvas = FigureCanvasAgg(self.figure)
        self.sharp = True
        self._writers = {True: PngWriter(), False: PngWriter()}

    def axes(self, rows: int = 1, columns: int = 1, **grid):
        """Return one axes, or an array of them; ``grid`` is handed to ``Figure.subplots``."""
        return self.figure.subplots(rows, columns, **grid)

    def moves(self, *artists):
        """Mark artists as changing; returns the last, so that a call can stand around a constructor."""
        for artist in artists:
            artist.set_animated(True)
        return artists[-1]

    def freeze(self) -> None:
        """Lay out for the present state, then draw and keep everything that does not move."""
        for axes in self.figure.axes:
            self.moves(*axes.spines.values())  # else a bar would cover the axis line
        self.canvas.draw()
        self.figure.set_layout_engine("none")
        for artist in list(self._animated()):
            if isinstance(artist, Axis) and can_stand_in(artist):
                Ruler(artist)
        self._moving = [
            artist for artist in self._animated() if artist.get_visible() or not isinstance(artist, Axis)
        ]
        self._scales = [artist for artist in self._moving if isinstance(artist, (Axis, Ruler))]
        self._marks = [artist for artist in self._moving if artist not in self._scales]
        self.canvas.draw()
        self._fixed = self.canvas.copy_from_bbox(self.figure.bbox)
        self._scaled: list[tuple] = []
        self._backdrop = self._fixed
        self.draw()

    def _animated(self) -> Iterator:
        for parent in (*self.figure.axes, self.figure):
            children = sorted(parent.get_children(), key=lambda child: child.get_zorder())
            yield from (child for child in children if child.get_animated())

    def draw(self) -> None:
        """Put the fixed parts back and draw what moves on top, back to front.

        Ticks and their words are the slowest part and seldom change: they lie at the very back and are kept.
        """
        renderer = self.canvas.get_renderer()
        scaled = [_scale_state(scale) for scale in self._scales]
        if scaled != self._scaled:
            self.canvas.restore_region(self._fixed)
            for scale in self._scales:
                scale.draw(renderer)
            self._backdrop, self._scaled = self.canvas.copy_from_bbox(self.figure.bbox), scaled
        else:
            self.canvas.restore_region(self._backdrop)
        for artist in self._marks:
            artist.draw(renderer)

    def png(self) -> bytes:
        """Return the picture as it stands, compressed fast; where not ``sharp``, one pixel per CSS pixel."""
        picture = self.canvas.buffer_rgba()
        return self._writers[self.sharp].write(picture if self.sharp else halved(picture))

    def still(self, hint: str) -> bytes:
        """Return the picture for a stored notebook: small, with a hint in its bottom right corner."""
        written = self.figure.text(0.995, 0.006, hint, ha="right", va="bottom", fontsize=7.5, color=QUIET)
        written.draw(self.canvas.get_renderer())
        written.remove()
        picture = small_png(self.canvas.buffer_rgba())
        self.draw()
        return picture

    def redraw_all(self) -> bytes:
        """Return the picture drawn from nothing: the proof that ``draw`` leaves nothing behind."""
        for artist in self._moving:
            artist.set_animated(False)
        self.canvas.draw()
        for artist in self._moving:
            artist.set_animated(True)
        return self.png()


def _scale_state(scale: Axis | Ruler) -> tuple:
    """What an axis shows: limits, scale, fixed ticks and their words, its label."""
    axis = scale.axis if isinstance(scale, Ruler) else scale
    places = getattr(axis.get_major_locator(), "locs", ())
    words = getattr(axis.get_major_formatter(), "seq", ())
    return (*axis.get_view_interval(), axis.get_scale(), tuple(places), tuple(words), axis.get_label_text())
