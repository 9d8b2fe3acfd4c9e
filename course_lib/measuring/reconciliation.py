"""The ledger's predictions beside the allocator's count, phase by phase (配套实测)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..arguments import instance
from ..step_ledger import StepPlan
from ..step_ledger import peak as predicted_peak
from ..trainer import Step, Watch, random_batch, start, train_step
from .allocator import NOBODY, Meter, tracing

LOSS_SCALE: Final = 1024  # keeps small gradients in FP16; the same for every plan, so that results compare


@dataclass(frozen=True, slots=True)
class Line:
    """One phase: the bytes that the ledger predicts and the bytes that the allocator counted."""

    phase: str
    predicted_bytes: int
    measured_bytes: int

    @property
    def difference(self) -> int:
        """Measured minus predicted."""
        return self.measured_bytes - self.predicted_bytes


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Predicted beside measured at every boundary, and the peak in between.

    The measured peak includes temporaries that numpy makes inside an operation, so it may differ between
    versions of numpy, and a few thousand bytes of Python's own objects. ``flops`` has the work per phase.
    """

    plan: StepPlan
    lines: tuple[Line, ...]
    peak: Line
    flops: tuple[tuple[str, int], ...]

    @property
    def exact(self) -> bool:
        """Whether every boundary agrees to the byte."""
        return not any(line.difference for line in self.lines)

    def work(self, kind: str) -> int:
        """Return the work of all phases whose name ends with ``kind``, for example 重算."""
        return sum(count for phase, count in self.flops if phase.endswith(kind))


def reconcile(plan: StepPlan, *, also: Watch = NOBODY) -> Reconciliation:
    """Run one step of the plan and set every boundary beside the ledger.

    ``also`` is told of the same events; what it holds on to shows up as a difference.

    >>> from course_lib.step_ledger import StepShape
    >>> small = StepShape(sequences=1, positions=8, width=8, layers=2, heads=2, vocabulary=20)
    >>> reconcile(StepPlan(shape=small)).exact
    True
    """
    wanted = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    meter = Meter(instance("also", also, Watch, "请给 Watch 的子类"))
    _one_step(wanted, meter)
    lines = tuple(
        Line(boundary.phase, boundary.total_bytes, reading.n_bytes)
        for boundary, reading in zip(wanted.boundaries(), meter.readings, strict=True)
    )
    highest, peak = max(reading.peak_bytes for reading in meter.readings[1:]), predicted_peak(wanted)
    flops = tuple((reading.phase, reading.flops) for reading in meter.readings)
    return Reconciliation(wanted, lines, Line(peak.phase, peak.total_bytes, highest), flops)


def _one_step(plan: StepPlan, meter: Meter) -> Step:
    batch = random_batch(plan.shape)
    with tracing():
        meter.begin()
        return train_step(start(plan, watch=meter), batch, loss_scale=LOSS_SCALE, watch=meter)
