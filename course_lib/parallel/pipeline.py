"""Section 27.5: pipeline parallelism as arrays of start and end times.

The model is cut into q = p · v parts of consecutive layers; part number i runs on stage i mod p, so that a
stage owns v parts (v = 1 except in the interleaved schedule). Symbols: p stages, m microbatches, v chunks,
f and b the ticks of one forward and one backward of a part. Sending takes no time here, and every stage is
equally fast: real schedules are no shorter. Source: Narayanan et al. 2021, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..arguments import choice, exact, is_a, truth, whole
from ..errors import CourseError

Ints = NDArray[np.int64]

FORWARD: Final = 0
BACKWARD: Final = 1
LARGEST_SCHEDULE: Final = 4_000_000
LARGEST_STAGES: Final = 100_000  # each gets exact times of its own
UPDATE_RULE: Final = "所有微批次的反向在所有阶段都结束后，各阶段一起更新一次权重；此前参数保持不变"


def bubble_overhead(*, stages: int, microbatches: int, chunks: int = 1) -> Fraction:
    """Idle time of a stage as a share of the *ideal* time: (p − 1) / (v · m).

    >>> float(bubble_overhead(stages=8, microbatches=32))
    0.21875
    """
    gap = whole("stages", stages, minimum=1) - 1
    work = whole("microbatches", microbatches, minimum=1) * whole("chunks", chunks, minimum=1)
    return Fraction(gap, work)


def bubble_fraction(*, stages: int, microbatches: int, chunks: int = 1) -> Fraction:
    """Idle time of a stage as a share of the *total* time: (p − 1) / (v · m + p − 1).

    >>> round(float(bubble_fraction(stages=8, microbatches=32)), 5)
    0.17949
    """
    overhead = bubble_overhead(stages=stages, microbatches=microbatches, chunks=chunks)
    return overhead / (1 + overhead)


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """When each part of the model works on each microbatch; weights change once, at ``update_seconds``.

    ``start`` and ``end`` have shape (p · v parts, m microbatches, 2 directions) and count ticks of ``tick``
    seconds; the last axis is indexed by ``FORWARD`` and ``BACKWARD``.
    """

    kind: str
    stages: int
    start: Ints
    end: Ints
    tick: Fraction

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schedule):
            return NotImplemented
        mine, theirs = (self.kind, self.stages, self.tick), (other.kind, other.stages, other.tick)
        same = mine == theirs and np.array_equal(self.start, other.start)
        return same and np.array_equal(self.end, other.end)

    @property
    def chunks(self) -> int:
        """Parts owned by each stage."""
        return len(self.start) // self.stages

    @property
    def total_seconds(self) -> Fraction:
        """Time from the first forward to the end of the last backward."""
        return int(self.end.max()) * self.tick

    @property
    def update_seconds(self) -> Fraction:
        """The moment at which the weights may be updated (``UPDATE_RULE``): when the pipeline is empty."""
        return self.total_seconds

    @property
    def idle_seconds(self) -> tuple[Fraction, ...]:
        """Time in which each stage has nothing to do, counted from the arrays."""
        busy = self.by_stage(self.end - self.start).sum(axis=1)
        return tuple(self.total_seconds - int(ticks) * self.tick for ticks in busy)

    @property
    def peak_in_flight(self) -> Ints:
        """Most (part, microbatch) activations a stage holds at once, shape (stages,).

        Held from the start of the forward to the end of its backward. A part is 1 / ``chunks`` of a stage.
        """
        begins = self.by_stage(self.start[:, :, FORWARD])
        ends = self.by_stage(self.end[:, :, BACKWARD])
        # Doubling the ticks leaves room to let an end come before a begin at the same moment.
        moments = np.concatenate((2 * begins + 1, 2 * ends), axis=1)
        steps = np.where(np.argsort(moments, axis=1) < begins.shape[1], 1, -1)
        peaks: Ints = steps.cumsum(axis=1).max(axis=1)
        return peaks

    def by_stage(self, values: Ints) -> Ints:
        """Regroup an array whose first axis is parts into one flat row per stage."""
        parts = len(self.start)
        if not is_a(values, np.ndarray) or values.ndim < 2 or len(values) != parts:
            raise CourseError(
                "values 的第一维必须是各个部分", got=values, remedy=f"请给第一维长 {parts} 的数组"
            )
        grouped = values.reshape(self.chunks, self.stages, -1)
        return grouped.swapaxes(0, 1).reshape(self.stages, -1)


def pipeline_schedule(
    kind: str, *, stages: int, microbatches: int, chunks: int = 1, forward: object = 1, backward: object = 2
) -> Schedule:
    """Return the schedule of one update; ``kind`` is ``"gpipe"``, ``"1f1b"`` or ``"interleaved"``.

    ``forward`` and ``backward`` are the seconds a whole stage needs for one microbatch; a part of the
    interleaved schedule needs 1 / ``chunks`` of that. Interleaving takes two or more chunks, and whole
    groups of p microbatches.

    >>> s = pipeline_schedule("1f1b", stages=4, microbatches=8)
    >>> s.total_seconds, s.peak_in_flight.tolist(), s.update_seconds == s.total_seconds
    (Fraction(33, 1), [4, 3, 2, 1], True)
    """
    formula = _FORMULAS[choice("kind", kind, _FORMULAS)]
    p, m, v = _sizes(kind, stages, microbatches, chunks)
    times = [exact(name, t, above=0) / v for name, t in (("forward", forward), ("backward", backward))]
    unit = lcm(*(time.denominator for time in times))
    f, b = (int(time * unit) for time in times)
    if (p + m * v + p * v) * (f + b) >= 2**61:
        raise CourseError(
            "forward 与 backward 合成的时间刻度太细",
            got=(forward, backward),
            remedy="请给更简单的数，例如 1 与 2",
        )
    start = np.stack(formula(p, m, v, f, b), axis=-1)
    return Schedule(kind, p, start, start + np.array([f, b], dtype=np.int64), Fraction(1, unit))


def _sizes(kind: str, stages: int, microbatches: int, chunks: int) -> tuple[int, int, int]:
    p = whole("stages", stages, minimum=1, maximum=LARGEST_STAGES)
    m = whole("microbatches", microbatches, minimum=1)
    v = whole("chunks", chunks, minimum=1)
    if p * m * v > LARGEST_SCHEDULE:
        raise CourseError(
            "stages × microbatches × chunks 太大", got=p * m * v, remedy=f"请让乘积不超过 {LARGEST_SCHEDULE}"
        )
    if (kind == "interleaved") != (v > 1):
        raise CourseError("chunks 与 kind 不符", got=v, remedy="interleaved 请给 2 或更大，其他调度请给 1")
    if v > 1 and m % p:
        raise CourseError(
            "microbatches 在交错调度里必须是 stages 的整数倍", got=m, remedy=f"例如 {p * (m // p + 1)}"
        )
    return p, m, v


def _gpipe(p: int, m: int, v: int, f: int, b: int) -> tuple[Ints, Ints]:
    """All forwards, then all backwards: each wave moves one stage per step."""
    s, i = np.ogrid[:p, :m]
    return (s + i) * f, (p - 1 + m) * f + (p - 1 - s + i) * b


def _one_forward_one_backward(p: int, m: int, v: int, f: int, b: int) -> tuple[Ints, Ints]:
    """Stage s starts p − 1 − s extra forwards, then takes one forward, one backward in turn.

    The last stage never waits, so its backward i starts at p·f + i·(f + b); each earlier stage follows b
    later. A forward of the steady phase ends exactly where the backward of its pair starts.
    """
    s, i = np.ogrid[:p, :m]
    early = p - 1 - s
    backward = p * f + i * (f + b) + early * b
    steady = backward - early * (f + b) - f
    return np.where(i <= early, (s + i) * f, steady), backward


def _interleaved(p: int, m: int, v: int, f: int, b: int) -> tuple[Ints, Ints]:
    """All stages step together: a tick has room for one forward, then one backward, of every stage.

    Unit k of stage s runs forward in tick k + s − (p·v − 1) and backward in tick k + p − 1 − s, units being
    ordered by groups of p microbatches, then chunks (backward: from the last chunk), then microbatches.
    Ticks before 0 only have forwards, ticks after ``last`` only backwards; neither takes the other's time.
    """
    part, i = np.ogrid[: p * v, :m]
    s, chunk = part % p, part // p
    group_start = i // p * (p * v) + i % p
    n_forward = group_start + chunk * p + s - (p * v - 1)
    n_backward = group_start + (v - 1 - chunk) * p + p - 1 - s
    last = m * v + p - p * v - 1
    forward = (n_forward + p * v - 1) * f + np.maximum(n_forward, 0) * b
    return forward, (np.minimum(n_backward, last) + p * v) * f + n_backward * b


_FORMULAS: Final = MappingProxyType[str, Callable[[int, int, int, int, int], tuple[Ints, Ints]]](
    {"gpipe": _gpipe, "1f1b": _one_forward_one_backward, "interleaved": _interleaved}
)
SCHEDULES: Final = tuple(_FORMULAS)


def training_seconds(
    *, parameters: int, tokens: int, workers: int, flops_per_second: object, recompute: bool = True
) -> Fraction:
    """Whole training time about 8·T·P / (n·X) with activation recompute, 6·T·P / (n·X) without.

    ``flops_per_second`` is what one worker really achieves, not its data sheet. Source: Narayanan et al.
    2021, section 5.1: a forward is 2·T·P operations, a backward twice that, a recompute one more forward.

    >>> float(training_seconds(parameters=10**9, tokens=10**9, workers=8, flops_per_second=10**14))
    10000.0
    """
    operations = 8 if truth("recompute", recompute) else 6
    work = operations * whole("tokens", tokens, minimum=1) * whole("parameters", parameters, minimum=1)
    speed = exact("flops_per_second", flops_per_second, above=0)
    return work / (whole("workers", workers, minimum=1) * speed)
