"""What data parallel workers keep, and what they gather for a moment, read from the allocator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Final

from ..arguments import choice, instance
from ..errors import CourseError
from ..ledger import GRADS, Ledger
from ..measuring.allocator import Meter, tracing
from ..measuring.reconciliation import Line
from ..sharding import STAGES, gathered, resident
from ..step_ledger import StepPlan
from ..step_ledger.boundaries import EMBED, FORWARD_END, HEAD_BACK, INIT, UPDATE_END
from ..step_ledger.shapes import layer_shapes, outer_shapes
from ..trainer import Watch, random_batch, start
from .replicas import Replica, replica, replica_step
from .runs import between
from .transport import Link, Transport

_RATE: Final = 0.001


@dataclass(frozen=True, slots=True)
class Shares:
    """What one worker keeps between updates, and all workers' bytes at every boundary of one update.

    ``lines`` has predicted beside measured, ``gathered_bytes`` what each worker holds at most on top of its
    lasting share and of activations, measured: whole units of weights and of gradients not yet scattered.
    """

    lasting_bytes: tuple[int, ...]
    lines: tuple[Line, ...]
    gathered_bytes: int


class _Together(Watch):
    """Takes a reading when all workers have come to a boundary."""

    def __init__(self, link: Link, meter: Meter) -> None:
        self._link, self._meter = link, meter

    def boundary(self, phase: str) -> None:
        self._link.meet()
        if self._link.worker == 0:
            self._meter.boundary(phase)
        self._link.meet()


def measured_shares(plan: StepPlan, *, workers: int, zero: str) -> Shares:
    """Run one update of data parallel workers and read what they hold; every layer keeps its ten arrays.

    >>> from course_lib.step_ledger import StepShape
    >>> small = StepPlan(shape=StepShape(sequences=1, positions=4, width=8, layers=2, heads=2, vocabulary=8))
    >>> any(line.difference for line in measured_shares(small, workers=2, zero="ZeRO 3").lines)
    False
    """
    instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    if plan.keep != 10:
        raise CourseError("这里只测每层留十个数组的一步", got=plan.keep, remedy="请用 keep=10")
    transport, sharded = between(plan, workers=workers), STAGES[choice("zero", zero, STAGES)]
    building, step = _measure(plan, transport, sharded)
    kept, rest = [0, *(reading.n_bytes for reading in building.readings)], _rest(plan)
    measured = [kept[-1], *(reading.n_bytes for reading in step.readings)]
    expected = _predicted(plan, transport.workers, sharded)
    lines = tuple(
        Line(phase, n_bytes, found) for (phase, n_bytes), found in zip(expected, measured, strict=True)
    )
    above = max(line.measured_bytes - kept[-1] - transport.workers * rest[line.phase] for line in lines)
    lasting = tuple(after - before for before, after in pairwise(kept))
    return Shares(lasting, lines, above // transport.workers)


def _measure(plan: StepPlan, transport: Transport, sharded: frozenset[str]) -> tuple[Meter, Meter]:
    """Return the meter that read after each worker was built, and the one of the step."""
    batches = [random_batch(plan.shape, seed=worker) for worker in range(transport.workers)]
    building, step = Meter(), Meter()

    def program(link: Link) -> Replica:
        watch = _Together(link, step)
        return replica_step(link, replicas[link.worker], [batches[link.worker]], rate=_RATE, watch=watch)

    with tracing():
        building.begin()
        step.begin()
        replicas = []
        for worker in range(transport.workers):
            replicas.append(replica(Link(transport, worker), start(plan), sharded=sharded))
            building.boundary(INIT)
        transport.run(program)
        step.boundary(UPDATE_END)
    return building, step


def _rest(plan: StepPlan) -> dict[str, int]:
    """Return by phase what a step holds besides the model states, from shapes alone."""
    first, *_ = boundaries = plan.boundaries()
    return {boundary.phase: boundary.total_bytes - first.total_bytes for boundary in boundaries}


def _predicted(plan: StepPlan, workers: int, sharded: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Yield every phase and the bytes of all workers: lasting shares, gathered units, and the rest."""
    state = plan.boundaries()[0].ledger
    lasting = sum(
        resident(state, workers=workers, sharded=sharded, worker=worker).total_bytes
        for worker in range(workers)
    )
    for phase, rest in _rest(plan).items():
        yield phase, lasting + workers * (rest + _gathered_bytes(plan, state, phase, sharded))


def _gathered_bytes(plan: StepPlan, state: Ledger, phase: str, sharded: frozenset[str]) -> int:
    """Return what a worker holds whole for a moment: the unit outside the layers, and one layer.

    The embedding makes the logits too, so that unit stays from the beginning of a pass to its end.
    """
    if phase in (INIT, UPDATE_END):
        return 0
    forward = phase in (EMBED, FORWARD_END) or phase.endswith("前向")
    layer = 0 if phase in (EMBED, HEAD_BACK) else _values(layer_shapes(plan.shape))
    names = sharded - {GRADS} if forward else sharded
    held = layer + _values(outer_shapes(plan.shape))
    return gathered(state, sharded=names, largest_layer=held).total_bytes


def _values(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(map(prod, shapes.values()))
