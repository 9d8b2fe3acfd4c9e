"""Tensor parallelism: each worker holds some heads and some of the feed-forward columns of every layer.

The first product of each half is split by columns, the second by rows, so that nothing crosses in between;
their partial results are added over the ring. Embedding, norms and the output are whole on every worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import CourseError
from ..step_ledger import StepPlan
from ..trainer import Array, Batch, State, Watch
from ..trainer.adam import grads_finite, update
from ..trainer.passes import backward, forward
from ..trainer.workbench import Arrays, Workbench
from .rings import FINITE, all_reduce, together
from .states import cut_state, joined_state
from .transport import Link

PARTIAL = "局部和"
_AXIS = {"wq": 1, "wk": 1, "wv": 1, "w1": 1, "c1": 0, "wo": 0, "w2": 0}  # along which an array is cut


@dataclass(frozen=True, slots=True)
class TensorBench(Workbench):
    """A workbench whose products are parts of a sum over all workers."""

    link: Link

    def join(self, partial: Array) -> Array:
        """Add up the workers' partial results."""
        flat = partial.reshape(-1)
        all_reduce(self.link, PARTIAL, flat)
        return flat.reshape(partial.shape)


def slices(link: Link, state: State) -> State:
    """Cut a whole state to one worker's columns and rows.

    Raises ``CourseError`` for heads that do not divide.
    """
    heads, left = divmod(state.plan.shape.heads, link.workers)
    if left:
        raise CourseError(
            f"{state.plan.shape.heads} 个注意力头不能平分给 {link.workers} 个进程",
            remedy="请让 heads 是 workers 的整数倍",
        )

    def cut(arrays: Arrays) -> Arrays:
        return {name: _part(link, name, array).copy() for name, array in arrays.items()}

    plan = replace(state.plan, shape=replace(state.plan.shape, heads=heads))
    return cut_state(replace(state, plan=plan), cut)


def _part(link: Link, name: str, array: Array) -> Array:
    axis = _axis(name)
    return array if axis is None else np.split(array, link.workers, axis=axis)[link.worker]


def tensor_step(link: Link, state: State, batches: Sequence[Batch], *, rate: float) -> State:
    """Run one update of this worker; all workers see the same microbatches."""
    bench = TensorBench(state, Watch(), link)
    for batch in batches:
        backward(bench, batch, forward(bench, batch), loss_scale=batch.events)
    finite = not together(link, FINITE, not grads_finite(state))
    events = sum(batch.events for batch in batches)
    return update(state, rate=rate, loss_scale=events, finite=finite)


def joined(states: Sequence[State], plan: StepPlan) -> State:
    """Return the whole state by name, put together from what the workers keep; gradients are left out."""

    def whole(item: str) -> Arrays:
        parts: list[Arrays] = [getattr(state, item) for state in states]
        return {name: _join(name, [part[name] for part in parts]) for name in parts[0]}

    return joined_state(replace(states[0], plan=plan), whole)


def _axis(name: str) -> int | None:
    return _AXIS.get(name.split(".")[-1])


def _join(name: str, parts: list[Array]) -> Array:
    axis = _axis(name)
    return parts[0] if axis is None else np.concatenate(parts, axis=axis)
