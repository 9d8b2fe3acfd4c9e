"""Section 27.6's pictures: the memory of one step above the model state, and peaks against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...ledger import ACTIVATIONS
from ...lifetimes import Curve
from ...recompute import REBUILT
from ..palette import ACTIVATIONS as SAVED
from ..palette import BEYOND, BUFFERS, GREEN, INK, PAPER, QUIET, RED, WEIGHTS, Style
from .axes import axis_in_bytes, even_ticks, round_up, short_bytes
from .boxes import Boxes
from .marks import Areas, Curves, Labels, Points, Rules

STATE: Final = "模型状态（未按比例）"
FITS, TOO_BIG = "放得下", "放不下"
PARTS: Final = {ACTIVATIONS: SAVED, REBUILT: BUFFERS}
VERDICTS: Final = {FITS: Style(GREEN), TOO_BIG: Style(RED, "xxx")}
_BELOW: Final = 0.18  # share of the axis given to the model state


class Above:
    """Axes that count bytes above the model state, with the room that the capacity leaves there.

    To scale, the state would crowd out the rest: it is a band below zero that says its size.
    """

    def __init__(self, axes: Any, label: str = "") -> None:
        self._axes, self._line = axes, Rules(axes, RED, width=2)
        self._ground = Boxes(axes, {"": Style(BEYOND)}, zorder=1, linewidth=0)
        self._state = Boxes(axes, {"": WEIGHTS}, linewidth=0)
        axis_in_bytes(axes.yaxis, label)

    def show(self, *, xlim: tuple[float, float], top: float, room: int) -> None:
        """Set the limits; draw the band, the capacity line at ``room`` and the ground beyond it."""
        low = -_BELOW * top
        self._axes.set(xlim=xlim, ylim=(low, top))
        self._axes.yaxis.set_ticks(np.linspace(0, top, 6))
        at = min(max(room, 0), top)
        self._state.show({"": [(*xlim, low, 0)]})
        self._line.show([(xlim[0], at, xlim[1], at)] if 0 <= room < top else [])
        self._ground.show({"": [(*xlim, at, top)]})


class StepMemory:
    """Saved and rebuilt arrays over one step, the outline of a step that saves everything, the capacity."""

    def __init__(self, axes: Any) -> None:
        self._above, self._areas = Above(axes, "模型状态之上的字节"), Areas(axes, PARTS)
        self._everything = Curves(axes, {"": Style(QUIET)}, width=1.3, steps=True)
        self._band = Labels(axes, size=8.5)
        self._words = Labels(axes, size=8.5, align="left", vertical="bottom")
        self._limit = Labels(axes, size=8.5, align="right", vertical="bottom")
        axes.set_title("这一种留法：一步之内的内存")
        even_ticks(axes.xaxis, "时间（不重算的一步是 100%）", ticks=6)

    def show(self, curve: Curve, everything: Curve, *, state: int, room: int, end: float) -> None:
        """Show two curves over time up to ``end``; ``room`` is negative where the state alone is too big."""
        full = int(everything.total_bytes.max())
        top, end = round_up(full * 1.2), round_up(end)
        self._above.show(xlim=(0, end), top=top, room=room)
        heights = {name: part[:-1] for name, part in zip(curve.names, curve.parts, strict=True)}
        self._areas.show(curve.times.tolist(), heights)
        self._everything.show({"": (everything.times.tolist(), everything.total_bytes.tolist())})
        tail = "重算不动它" if room >= 0 else "它自己就放不下"
        self._band.show([(end / 2, -_BELOW * top / 2, f"模型状态 {short_bytes(state)}：{tail}", PAPER)])
        place = room + top * 0.01 if room < top else top * 0.94
        line = f"{'' if room < top else '容量线在图外，'}留出余量还剩 {short_bytes(room)}"
        self._limit.show([(end * 0.985, place, line, RED)] if room >= 0 else [])
        self._words.show([(100 / 3, full + top * 0.01, "灰线：全部留下", QUIET)])


class PeaksAgainstTime:
    """One point per choice: its peak and its time; below each, how much of the peak is for rebuilding."""

    def __init__(self, axes: Any) -> None:
        self._above, self._rebuilt = Above(axes), Rules(axes, INK, width=1)
        self._points = Points(axes, VERDICTS)
        self._chosen = Points(axes, {"": Style("none")}, size=190, zorder=4)
        self._words = Labels(axes, size=8.5, align="left", vertical="bottom")
        axes.set_title("十种留法：峰值与一步的时间")
        even_ticks(axes.xaxis, "一步的时间（%），数字是每层留几个", ticks=5)

    def show(
        self,
        points: Sequence[tuple[float, int, int, bool, str]],
        *,
        chosen: int,
        room: int,
        full: int,
    ) -> None:
        """Show rows of (time, saved bytes, peak bytes, fits, word); the first takes longest, 100 the last."""
        top, wide = round_up(full * 1.2), round_up(points[0][0] - 100)
        self._above.show(xlim=(100 - wide * 0.12, 100 + wide * 1.12), top=top, room=room)
        self._rebuilt.show([(x, saved, x, peak) for x, saved, peak, _, _ in points])
        spots = {name: [row[0:3:2] for row in points if row[3] == (name == FITS)] for name in VERDICTS}
        self._points.show(spots)
        self._chosen.show({"": [points[chosen][0:3:2]]})
        self._words.show((x + wide * 0.035, peak + top * 0.03, word) for x, _, peak, _, word in points)
