"""Measure a real training step at the chapter's size: ``python -m benchmarks.trainer``.

Medians of processor time in milliseconds, in one thread: the step alone for each way to keep arrays, with the
work that recompute adds beside the time that it adds; then the same step under ``tracemalloc``, and a whole
reconciliation. It measures one machine and is never a test.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from course_lib.measuring import measured_timeline, reconcile
from course_lib.measuring.allocator import tracing
from course_lib.step_ledger import KEEPS, POLICIES, StepPlan, StepShape, forward_flops, rebuild_flops
from course_lib.trainer import random_batch, start, train_step

RUNS = 9


def median_ms(run: Callable[[], object]) -> float:
    """Return the median processor time of a call: other processes may be busy beside it."""
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        run()
        times.append(1000 * (time.process_time() - begin))
    return median(times)


def step_ms(plan: StepPlan) -> float:
    """Return the median time of one step, initialisation left out."""
    state, batch = start(plan), random_batch(plan.shape)
    return median_ms(lambda: train_step(state, batch, loss_scale=1024))


def main() -> None:
    """Print the report."""
    small = StepShape(vocabulary=256)
    print("one step, ms    kept   alone   more time   more forward work")
    for shape, dtype in ((StepShape(), "float16"), (small, "float16"), (small, "float64")):
        everything = 0.0
        for keep in KEEPS:
            plan = StepPlan(shape=shape, dtype=dtype, keep=keep)
            alone = step_ms(plan)
            everything = everything or alone
            share = rebuild_flops(plan) / forward_flops(plan)
            word = f"{dtype}, {shape.vocabulary}"
            print(f"{word:16}{keep:4}{alone:8.0f}{alone / everything - 1:11.0%}{share:16.1%}")
    plan = StepPlan()
    bare = step_ms(plan)
    with tracing():
        traced = step_ms(plan)
    print(f"tracing: {bare:.0f} ms alone, {traced:.0f} ms traced, {traced / bare:.2f} times")
    print(f"reconcile, initialisation and readings included: {median_ms(lambda: reconcile(plan)):.0f} ms")
    print(f"measured_timeline: {median_ms(lambda: measured_timeline(plan)):.0f} ms")
    for dtype in POLICIES:
        print(f"{dtype:20}{step_ms(StepPlan(dtype=dtype)):6.0f} ms")


if __name__ == "__main__":
    main()
