"""Figure 27.1 as a picture: a lane per object over a training schedule, in three groups by lifetime.

All heights are CSS pixels from the top, all places shares of the time scale. ``memory_over_time`` has the
curve that belongs under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...ledger import ACTIVATIONS, Lifetime
from ...lifetimes import PhaseKind, Timeline
from ..palette import INK, OF_LIFETIME, ORANGE, PAPER, PURPLE, Style
from .axes import short_bytes
from .boxes import Boxes
from .coverage import COLUMNS, Coverage
from .marks import Labels, Rules
from .phaseband import PhaseBand
from .timescale import TimeScale

HEIGHT: Final = 316
_LANE, _BAR, _HEADING, _HEADER = 18, 13, 19, 40
_FEW: Final = 1500  # stretches beyond this are shades, not shapes
_NARROW: Final = 1.5  # CSS pixels of a tick below which shapes would be lost

STOPPED: Final = Style("#EFEFEF")
_SAVED, _AGAIN = "saved", "again"
_LAYERS: Final = {_SAVED: Style(ORANGE), _AGAIN: Style(PURPLE)}
_LANES: Final = {kind: Style(style.color, ink=style.ink) for kind, style in OF_LIFETIME.items()}
_HEADS: Final = {
    Lifetime.ACROSS_UPDATES: "更新之后还要用",
    Lifetime.WITHIN_STEP: "反向用完就可以丢",
    Lifetime.ACROSS_STOP: "进程没了也要在",
}


@dataclass(frozen=True, slots=True)
class LayerArrays:
    """How a layer's slot is divided: ``total`` arrays, those numbered in ``kept`` saved, others made again.

    ``again`` is the name of the item that stands for what is made again.
    """

    total: int
    kept: tuple[int, ...]
    again: str

    def slots(self, height: float) -> dict[str, list[tuple[float, float]]]:
        """Return the strips of both kinds as shares of the slot; one strip each where it is low."""
        if height / self.total < 2.4:
            edge = 0.92 * len(self.kept) / self.total
            return {_SAVED: [(0, edge)], _AGAIN: [(edge, 0.92)] if edge < 0.92 else []}
        strips = {n: ((n - 0.9) / self.total, (n - 0.12) / self.total) for n in range(1, self.total + 1)}
        return {
            _SAVED: [strip for n, strip in strips.items() if n in self.kept],
            _AGAIN: [strip for n, strip in strips.items() if n not in self.kept],
        }


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where things stand: the top of each heading, the middle of each lane, the room for the layers."""

    heads: dict[Lifetime, float]
    lanes: dict[int, float]
    room: tuple[float, float]


def _layout(timeline: Timeline) -> _Rows:
    lanes: dict[Lifetime, list[int]] = {kind: [] for kind in Lifetime}
    for number, lane in enumerate(timeline.lanes):
        if lane.name != ACTIVATIONS:
            lanes[lane.lifetime].append(number)
    file = lanes[Lifetime.ACROSS_STOP]
    floor = HEIGHT - (_HEADING + _LANE if file else 0)
    step = _HEADER + _HEADING + _LANE * len(lanes[Lifetime.ACROSS_UPDATES]) + 3
    heads: dict[Lifetime, float] = {Lifetime.ACROSS_UPDATES: _HEADER, Lifetime.WITHIN_STEP: step}
    heads |= {Lifetime.ACROSS_STOP: floor} if file else {}
    middles = {
        lane: heads[kind] + _HEADING + _LANE * (row + 0.5)
        for kind, each in lanes.items()
        for row, lane in enumerate(each)
    }
    top = step + _HEADING + (_LANE * len(lanes[Lifetime.WITHIN_STEP]) or -3) + 3
    return _Rows(heads, middles, (top, floor - 4))


class Lifelines:
    """The lanes: phases on top, then what lives across updates, within a step, across a stop."""

    def __init__(self, axes) -> None:
        self._axes, self._pixel = axes, 2 / axes.bbox.width  # one CSS pixel
        axes.set(xlim=(0, 1), ylim=(HEIGHT, 0), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        self._band = PhaseBand(axes)
        self._stop = Boxes(axes, {"": STOPPED}, zorder=1, linewidth=0)
        self._bars = Boxes(axes, _LANES, linewidth=0.8)
        self._layers = Boxes(axes, _LAYERS, linewidth=0)
        self._shades = Coverage(axes, ORANGE)
        self._arrows = Rules(axes, OF_LIFETIME[Lifetime.ACROSS_STOP].color, width=2.2, zorder=4)
        self._ways = Labels(axes, size=7.2, plate=PAPER)
        self._cursor = Rules(axes, INK, width=1.3, dashes="dashed", zorder=4)
        self._sizes = Labels(axes, size=8, align="left")
        self._heads = Labels(axes, size=8.5, align="left", plate=PAPER)
        self._names = Labels(axes, size=8.5, align="right")

    def show(self, timeline: Timeline, scale: TimeScale, arrays: LayerArrays, detail: str) -> None:
        """Show a training timeline; ``detail`` stands beside the heading of what lives within a step."""
        self._timeline, self._scale, self._arrays = timeline, scale, arrays
        rows = _layout(timeline)
        self._band.show(scale)
        self._show_lanes(rows)
        words = _HEADS | {Lifetime.WITHIN_STEP: detail}
        self._heads.show(
            (0.022, top + 10, f"{kind.value}：{words[kind]}") for kind, top in rows.heads.items()
        )
        self._show_layers(*rows.room)
        self._show_stop(rows)

    def cursor(self, place: float) -> None:
        """Draw the time cursor."""
        self._cursor.show([(place, 0, place, HEIGHT)])

    def _show_lanes(self, rows: _Rows) -> None:
        boxes = {kind: [(0, 0.016, top + 5, top + 15)] for kind, top in rows.heads.items()}
        again: list[tuple] = []
        sizes = []
        for lane, middle in rows.lanes.items():
            kind, name = self._timeline.lanes[lane].lifetime, self._timeline.lanes[lane].name
            lefts, rights, size = self._stretches(lane)
            target = again if name == self._arrays.again else boxes[kind]
            target += [
                (left, right, middle - _BAR / 2, middle + _BAR / 2)
                for left, right in zip(lefts, rights, strict=True)
            ]
            room = rights - lefts > self._pixel * (self._sizes.width(size) / 2 + 8)
            if room.any():
                ink = INK if target is again else _LANES[kind].ink
                sizes.append((lefts[room.argmax()] + 6 * self._pixel, middle, size, ink))
        self._bars.show(boxes)
        self._again_lane = again
        self._sizes.show(sizes)
        self._names_of_lanes = [
            (-0.012, middle, self._timeline.lanes[lane].name) for lane, middle in rows.lanes.items()
        ]

    def _stretches(self, lane: int) -> tuple[np.ndarray, np.ndarray, str]:
        """Return a lane's stretches, those too narrow to be told apart as one, and the size of its object."""
        mine = np.flatnonzero(self._timeline.lane == lane)
        lefts, rights = self._places(mine)
        size = short_bytes(int(self._timeline.n_bytes[mine[0]]))
        if np.median(rights - lefts) < 4 * self._pixel:
            apart = np.flatnonzero(lefts[1:] - rights[:-1] > 4 * self._pixel)
            lefts, rights = lefts[np.append(0, apart + 1)], rights[np.append(apart, len(rights) - 1)]
        return lefts, rights, size

    def _places(self, objects) -> tuple[np.ndarray, np.ndarray]:
        return self._scale.place(self._timeline.starts[objects]), self._scale.place(
            self._timeline.ends[objects]
        )

    def _show_layers(self, top: float, bottom: float) -> None:
        """Show the layers' arrays: strips while they can be seen, one box per layer, then shades."""
        lanes = [n for n, lane in enumerate(self._timeline.lanes) if lane.name == ACTIVATIONS]
        mine = slice(*np.searchsorted(self._timeline.lane, [lanes[0], lanes[-1] + 1]))
        layer, starts, ends = (
            self._timeline.lane[mine] - lanes[0],
            self._timeline.starts[mine],
            self._timeline.ends[mine],
        )
        height = (bottom - top) / len(lanes)
        self._names.show((*self._names_of_lanes, *_layer_names(len(lanes), top, height)))
        dense = len(layer) > _FEW or self._scale.place(1) - self._scale.place(0) < _NARROW * self._pixel
        if dense:
            self._layers.show({_AGAIN: self._again_lane})
            edges = self._scale.times(np.linspace(0, 1, COLUMNS + 1))
            self._shades.show(layer, starts, ends, lanes=len(lanes), edges=edges, top=top, bottom=bottom)
            return
        self._shades.hide()
        # A layer's missing arrays are there again during its own backward tick, the last of its life.
        first, last, begun = map(self._scale.place, (starts, ends, ends - 1))
        boxes = {
            kind: [
                np.column_stack([begins, last, top + height * (layer + high), top + height * (layer + low)])
                for high, low in strips
            ]
            for (kind, strips), begins in zip(self._arrays.slots(height).items(), (first, begun), strict=True)
        }
        boxes[_AGAIN].append(np.reshape(self._again_lane, (-1, 4)))
        joined: dict[str, Any] = {kind: np.concatenate(each) for kind, each in boxes.items()}
        self._layers.show(joined)

    def _show_stop(self, rows: _Rows) -> None:
        """Show the gap in which nothing is in memory, and the way through the file."""
        stops = self._scale.spans(PhaseKind.STOP)
        self._stop.show({"": [(*span, _HEADER - 2, HEIGHT) for span in stops]})
        file = rows.heads.get(Lifetime.ACROSS_STOP)
        if file is None:
            self._arrows.show(())
            self._ways.show(())
            return
        memory, disk = rows.heads[Lifetime.WITHIN_STEP] - 5, file + _HEADING + 2
        color = OF_LIFETIME[Lifetime.ACROSS_STOP].color
        arrows, words = [], []
        for kind, tail, tip, word in (
            (PhaseKind.SAVE, memory, disk, "写入"),
            (PhaseKind.RESUME, disk, memory, "读回"),
        ):
            for left, right in self._scale.spans(kind):
                middle, back = (left + right) / 2, 7 if tip < tail else -7
                arrows += [(middle, tail, middle, tip)]
                arrows += [(middle + side * self._pixel, tip + back, middle, tip) for side in (-4, 4)]
                words.append((middle, (tip + tail) / 2, word, color))
        self._arrows.show(arrows)
        self._ways.show(words)


def _layer_names(layers: int, top: float, height: float) -> list[tuple]:
    shown = range(layers) if height >= 13 else (0, layers // 2, layers - 1)
    lowest = top + height * layers - 6
    return [
        (-0.012, min(max(top + height * (index + 0.5), top + 6), lowest), f"第 {index + 1} 层的激活")
        for index in dict.fromkeys(shown)
    ]
