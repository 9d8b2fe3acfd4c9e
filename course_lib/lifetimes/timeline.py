"""Objects over time: a memory curve, its peak, and what is alive when.

An object is alive in the half-open stretch [start, end): one that starts where another ends takes its place
without a spike between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arguments import choice, exact, instance, same_length
from ..errors import CourseError
from ..ledger import Lifetime
from .columns import Ints, Times, exact_sum, frozen, moments, time_array, whole_array
from .lanes import GROUPINGS, PLACES, Lane, checked_lanes, groups, lanes_of_rows
from .phases import Phase, Phases

LARGEST_GRID: Final = 2**25  # cells of a curve, groups × moments
LARGEST_SUM: Final = 2**62  # bytes of all objects together: below it no sum of int64 can overflow


@dataclass(frozen=True, slots=True)
class Alive:
    """What is alive of one item at a moment: how many objects, their bytes, and why they are kept."""

    name: str
    why: str
    lifetime: Lifetime
    in_memory: bool
    objects: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Peak:
    """The first stretch [time, until) with the most bytes in memory, and what is alive in it."""

    total_bytes: int
    time: float
    until: float
    phase: Phase | None
    alive: tuple[Alive, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A step function: ``total_bytes[i]`` holds from ``times[i]`` until ``times[i + 1]``.

    ``parts`` has one line per entry of ``names``; the lines add up to ``total_bytes``, for stacked areas.
    """

    names: tuple[str, ...]
    times: Times = field(repr=False)
    total_bytes: Ints = field(repr=False)
    parts: Ints = field(repr=False)

    def peaks(self) -> dict[str, int]:
        """Return each part's own largest number of bytes; they need not be reached at the same moment."""
        return dict(zip(self.names, self.parts.max(axis=1, initial=0).tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Objects as columns of equal length, one entry per object, and the lanes they lie on.

    ``starts`` and ``ends`` are moments, ``n_bytes`` whole bytes, ``lane`` indices into ``lanes``; at most
    5,000,000 objects on 100,000 lanes. Arrays are copied and read-only.
    """

    lanes: tuple[Lane, ...] = field(repr=False)
    starts: Times = field(repr=False)
    ends: Times = field(repr=False)
    n_bytes: Ints = field(repr=False)
    lane: Ints = field(repr=False)
    phases: Phases | None = None

    def __post_init__(self) -> None:
        columns: dict[str, NDArray[Any]] = {
            "starts": time_array("starts", self.starts),
            "ends": time_array("ends", self.ends),
            "n_bytes": whole_array("n_bytes", self.n_bytes),
            "lane": whole_array("lane", self.lane, maximum=checked_lanes(self.lanes) - 1),
        }
        for name, column in columns.items():
            if column.ndim != 1 or not column.size:
                raise CourseError(
                    f"{name} 必须是一列值", got=getattr(self, name), remedy="请为每个对象给一个值，至少一个"
                )
            object.__setattr__(self, name, frozen(column))
        same_length(**columns)
        _check_objects(self.starts, self.ends, self.n_bytes)
        if self.phases is not None:
            instance("phases", self.phases, Phases, "日程之外的对象请不要给 phases")

    @classmethod
    def from_arrays(
        cls,
        *,
        starts: object,
        ends: object,
        n_bytes: object,
        kinds: Lifetime | Sequence[Lifetime],
        labels: Sequence[str],
        why: str = "用到它的那段日程还没有结束",
    ) -> Timeline:
        """Return a timeline of objects from elsewhere, for example the microbatches of pipeline stages.

        ``starts`` and ``ends``: shape (objects,) or (rows, objects per row). ``labels`` and ``kinds`` have
        one entry per object, or per row (``kinds`` may be one for all); equal ones share a lane. ``n_bytes``
        is one size, one per entry of ``labels``, or one per object.

        >>> stages = Timeline.from_arrays(starts=[[0, 1], [1, 2]], ends=[[6, 8], [3, 5]], n_bytes=[100, 40],
        ...                               kinds=Lifetime.WITHIN_STEP, labels=["阶段 1", "阶段 2"])
        >>> stages.peak().total_bytes, stages.curve(by="lane").peaks()
        (280, {'阶段 1': 200, '阶段 2': 80})
        """
        first, last = time_array("starts", starts), time_array("ends", ends)
        if first.shape != last.shape or first.ndim not in (1, 2) or not first.size:
            raise CourseError(
                f"starts 与 ends 的形状是 {first.shape} 与 {last.shape}",
                remedy="请给形状相同的一维或二维数组，至少一个对象",
            )
        lanes, lane = lanes_of_rows(labels, kinds, why, len(first))
        sizes = _spread("n_bytes", whole_array("n_bytes", n_bytes), first.shape)
        per_row = first.size // len(first)
        return cls(lanes, first.ravel(), last.ravel(), sizes.ravel(), np.repeat(lane, per_row))

    @property
    def start(self) -> float:
        """The first moment."""
        first: float = self.starts.min().item()
        return first if self.phases is None else min(first, int(self.phases.starts[0]))

    @property
    def end(self) -> float:
        """The last moment; nothing is alive from here on."""
        last: float = self.ends.max().item()
        return last if self.phases is None else max(last, int(self.phases.ends[-1]))

    def curve(self, *, by: str = "lifetime", place: str = "memory") -> Curve:
        """Return the bytes over time, split by ``"lifetime"``, ``"name"`` or ``"lane"``.

        ``place`` is ``"memory"`` or ``"file"``; the two are never added.
        """
        return _curve(self, by=choice("by", by, GROUPINGS), place=choice("place", place, PLACES))

    def peak(self) -> Peak:
        """Return where most bytes are in memory, for how long, and what is alive then."""
        curve = self.curve()
        index = int(curve.total_bytes.argmax())
        time = curve.times[index].item()
        later = np.flatnonzero(curve.total_bytes[index:] != curve.total_bytes[index])
        until = curve.times[index + later[0]].item() if later.size else self.end
        phase = None if self.phases is None else self.phases.at(time)
        alive = tuple(item for item in self.alive(at=time) if item.in_memory)
        return Peak(int(curve.total_bytes[index]), time, until, phase, alive)

    def alive_indices(self, *, at: object) -> Ints:
        """Return which objects are alive at the moment ``at``, as indices into the columns."""
        moment = self._moment(at)
        return np.flatnonzero((self.starts <= moment) & (moment < self.ends))

    def alive(self, *, at: object) -> tuple[Alive, ...]:
        """Return what is alive at the moment ``at``, in memory and in files, item by item with the reason."""
        found = self.alive_indices(at=at)
        lane = self.lane[found]
        objects = np.bincount(lane, minlength=len(self.lanes))
        sizes = np.zeros(len(self.lanes), dtype=np.int64)
        np.add.at(sizes, lane, self.n_bytes[found])
        sums: dict[tuple[str, str, Lifetime, bool], tuple[int, int]] = {}
        for index in np.flatnonzero(objects):
            line = self.lanes[index]
            key = (line.name, line.why, line.lifetime, line.in_memory)
            count, total = sums.get(key, (0, 0))
            sums[key] = count + int(objects[index]), total + int(sizes[index])
        return tuple(Alive(*key, *amounts) for key, amounts in sums.items())

    def _moment(self, at: object) -> float:
        moment = exact("at", at)
        if not self.start <= moment < self.end:
            raise CourseError(
                "at 不在时间线上", got=at, remedy=f"请给不小于 {self.start}、小于 {self.end} 的时刻"
            )
        # Between two whole moments nothing changes, and int64 compares exactly with an int.
        return _as_time(moment, self.starts.dtype.kind == self.ends.dtype.kind == "i")


@lru_cache(maxsize=2)  # peak and picture ask for the same curve; a timeline equals only itself
def _curve(timeline: Timeline, *, by: str, place: str) -> Curve:
    names, group_of_lane = groups(timeline.lanes, by=by, place=place)
    group = group_of_lane[timeline.lane]
    chosen = group >= 0
    times, first, last = moments(timeline.starts, timeline.ends)
    if len(names) * times.size > LARGEST_GRID:
        raise CourseError(
            f"曲线要 {len(names)} 组 × {times.size} 个时刻，超出本课程能算的规模",
            remedy='请用 by="lifetime" 或 by="name"，或缩小日程',
        )
    cells = np.zeros(len(names) * times.size, dtype=np.int64)
    offset = group[chosen] * times.size
    np.add.at(cells, offset + first[chosen], timeline.n_bytes[chosen])
    np.subtract.at(cells, offset + last[chosen], timeline.n_bytes[chosen])
    parts = cells.reshape(len(names), times.size).cumsum(axis=1)
    return Curve(names, frozen(times), frozen(parts.sum(axis=0)), frozen(parts))


def _as_time(moment: Fraction, is_whole: bool) -> float:
    return moment.numerator // moment.denominator if is_whole else float(moment)


def _check_objects(starts: Times, ends: Times, n_bytes: Ints) -> None:
    early = np.flatnonzero(ends < starts)
    if early.size:
        index = int(early[0])
        raise CourseError(
            f"第 {index + 1} 个对象在分配之前就释放：starts 是 {starts[index]}，ends 更早",
            got=ends[index].item(),
            remedy="请让每个 end 不早于它的 start",
        )
    if not (starts < ends).any():
        raise CourseError(
            "starts 与 ends 处处相等，没有一个对象存活过", remedy="请让至少一个 end 晚于它的 start"
        )
    if exact_sum(n_bytes) > LARGEST_SUM:
        raise CourseError(
            "n_bytes 的总和超出 64 位整数可用的范围", remedy="请减少对象，或改小每个对象的字节数"
        )


def _spread(name: str, sizes: Ints, shape: tuple[int, ...]) -> Ints:
    if sizes.ndim == 1 and len(shape) == 2 and sizes.shape != (1,):
        sizes = sizes[:, np.newaxis]
    try:
        return np.broadcast_to(sizes, shape)
    except ValueError as error:
        raise CourseError(
            f"{name} 的形状 {sizes.shape} 与 starts 的形状 {shape} 对不上",
            remedy="请给一个值、每个标签一个值，或每个对象一个值",
        ) from error
