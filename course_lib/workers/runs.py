"""One update, done by one worker or by several, from the same first weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import choice, exact, instance, sequence
from ..errors import CourseError
from ..sharding import STAGES
from ..step_ledger import StepPlan, peak
from ..trainer import LARGEST_BYTES, Array, Batch, State, Watch, start
from . import replicas, stages, tensor
from .states import ITEMS
from .transport import Link, Transport

ALONE = "不分片"  # the stage of ``sharding.STAGES`` in which every worker keeps everything


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The whole state after one update, and the transport that knows what had crossed for it."""

    state: State
    transport: Transport

    def differing(self, other: Outcome) -> tuple[str, ...]:
        """Return the names of the parameter arrays that are not equal bit by bit, moments and all."""
        pairs = _pairs(self.state, other.state)
        return tuple(sorted({name for name, mine, theirs in pairs if not np.array_equal(mine, theirs)}))

    def farthest(self, other: Outcome) -> float:
        """Return the largest distance between values of the same place.

        Moments count too: a first step of Adam hardly shows the size of a gradient, the moments do.
        """
        pairs = _pairs(self.state, other.state)
        return max(float(np.abs(mine.astype(np.float64) - theirs).max()) for _, mine, theirs in pairs)


def _pairs(one: State, other: State) -> Iterator[tuple[str, Array, Array]]:
    for item in ITEMS:
        for name, values in getattr(one, item).items():
            yield name, values, getattr(other, item)[name]


def alone(plan: StepPlan, batches: object, *, rate: object = 0.001) -> Outcome:
    """Let one worker do all microbatches itself: the result that the others are compared with."""
    return data_parallel(plan, [batches], rate=rate)


def data_parallel(plan: StepPlan, batches: object, *, zero: str = ALONE, rate: object = 0.001) -> Outcome:
    """Give every worker its own microbatches: ``batches`` is one series of ``Batch`` per worker.

    ``zero`` names one of ``sharding.STAGES``. Raises ``CourseError`` for batches that do not fit, and for
    unequal numbers of them: who shards gradients or weights meets the others in every microbatch.

    >>> from course_lib.step_ledger import StepShape
    >>> from course_lib.trainer import random_batch
    >>> small = StepPlan(shape=StepShape(sequences=1, positions=4, width=8, layers=1, heads=2, vocabulary=8))
    >>> batch = random_batch(small.shape)
    >>> run = data_parallel(small, [[batch], [batch]])
    >>> run.transport.sent_bytes(0, "梯度") == 2 * small.shape.parameters
    True
    """
    own = [_checked(plan, part) for part in sequence("batches", batches)]
    counts = tuple(map(len, own))
    if len(set(counts)) > 1:
        raise CourseError(
            "各进程的微批次个数不同",
            got=counts,
            remedy="请给同样多的微批次；有效事件不必一样多，用 Mask 排除",
        )
    sharded, speed = STAGES[choice("zero", zero, STAGES)], _speed(rate)
    transport, state = between(plan, workers=len(own)), start(plan)

    def program(link: Link) -> replicas.Replica:
        worker = replicas.replica(link, state, sharded=sharded)
        return replicas.replica_step(link, worker, own[link.worker], rate=speed, watch=Watch())

    done = transport.run(program)
    return Outcome(replicas.joined(done), transport)


def tensor_parallel(plan: StepPlan, batches: object, *, workers: int, rate: object = 0.001) -> Outcome:
    """Split every layer by heads and feed-forward columns; all workers see all microbatches."""
    checked, speed = _checked(plan, batches), _speed(rate)
    transport, state = between(plan, workers=workers), start(plan)
    done = transport.run(
        lambda link: tensor.tensor_step(link, tensor.slices(link, state), checked, rate=speed)
    )
    return Outcome(tensor.joined(done, plan), transport)


def pipeline(plan: StepPlan, batches: object, *, workers: int = 2, rate: object = 0.001) -> Outcome:
    """Split the layers into consecutive stages, one per worker."""
    checked, speed = _checked(plan, batches), _speed(rate)
    transport, state = between(plan, workers=workers), start(plan)
    done = transport.run(lambda link: stages.stage_step(link, stages.stage(link, state), checked, rate=speed))
    return Outcome(stages.joined(done), transport)


def between(plan: StepPlan, *, workers: int) -> Transport:
    """Return a transport for workers of this plan. Raises ``CourseError`` beyond 2 GiB for all together."""
    transport = Transport(workers)
    needed = peak(plan).total_bytes * transport.workers
    if needed > LARGEST_BYTES:
        raise CourseError("这些进程合起来太大", got=needed, remedy="请把尺寸或进程数改小，使总量不超过 2 GiB")
    return transport


def _checked(plan: StepPlan, batches: object) -> Sequence[Batch]:
    instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    remedy = "请用 Batch(...) 或 random_batch(...) 得到"
    checked = [instance("batches", batch, Batch, remedy) for batch in sequence("batches", batches)]
    for batch in checked:
        batch.check(plan.shape)
    if not checked:
        raise CourseError("batches 是空的", remedy="请给每个进程至少一个微批次")
    return checked


def _speed(rate: object) -> float:
    return float(exact("rate", rate, minimum=0, maximum=10))
