"""Section 27.6: a small real trainer (配套实测), a transformer language model in numpy, backward by hand.

It is the companion's own, not the book's MG-2. With ``StepPlan()`` it has exactly the chapter's sizes. Read
it in this order: ``workbench`` (arrays, how they are stored), ``blocks`` (a layer forward), ``block_grads``
(a layer backward), ``passes`` (the whole model), ``adam`` (the update). ``Watch`` is how others look on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arguments import exact, instance, whole
from ..errors import CourseError
from ..step_ledger import StepPlan, peak
from ..step_ledger.boundaries import INIT, UPDATE_END
from .adam import grads_finite, update
from .batch import Batch, random_batch
from .passes import backward, forward
from .workbench import Array, State, Watch, Workbench, new_state

__all__ = [
    "LARGEST_BYTES",
    "Array",
    "Batch",
    "State",
    "Step",
    "Watch",
    "gradients",
    "random_batch",
    "start",
    "train_step",
]

LARGEST_BYTES = 2**31  # of the peak; the trainer is there to be looked at, not to be large
_SILENT = Watch()


@dataclass(frozen=True, slots=True)
class Step:
    """One training step: the state after it, the mean loss before it, and whether weights were updated."""

    state: State
    loss: float
    updated: bool


def start(plan: StepPlan, *, seed: int = 0, watch: Watch = _SILENT) -> State:
    """Return a state with random weights. Raises ``CourseError`` for a plan beyond 2 GiB."""
    wanted = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    needed = peak(wanted).total_bytes
    if needed > LARGEST_BYTES:
        raise CourseError(
            "这一步太大，配套的训练器放不下", got=needed, remedy="请把尺寸改小，使总量不超过 2 GiB"
        )
    state = new_state(wanted, seed=whole("seed", seed))
    for item in ("weights", "grads", "master", "first", "second"):
        for array in getattr(state, item).values():
            watch.array(item, None, array)
    watch.boundary(INIT)
    return state


def gradients(
    state: State, batch: Batch, *, loss_scale: object = 1, watch: Watch = _SILENT
) -> dict[str, Array]:
    """Return every parameter's gradient times ``loss_scale``, as stored; the state stays as it was.

    Raises ``CourseError`` as ``train_step`` does.
    """
    bench, scale = _checked(state, batch, loss_scale, watch)
    backward(bench, batch, forward(bench, batch), loss_scale=scale)
    found = {name: grad.copy() for name, grad in state.grads.items()}
    for grad in state.grads.values():
        grad[...] = 0
    return found


def train_step(
    state: State, batch: Batch, *, rate: object = 0.001, loss_scale: object = 1, watch: Watch = _SILENT
) -> Step:
    """Run forward, backward and Adam once; the arrays of ``state`` are overwritten.

    ``loss_scale`` multiplies the loss before backward and divides the gradients before the update (27.3).
    Where gradients overflow the update is skipped. Raises ``CourseError`` for a batch that does not fit and
    for a loss that is not finite; then no weight has changed.

    >>> from course_lib.step_ledger import StepShape
    >>> shape = StepShape(sequences=1, positions=4, width=8, layers=1, heads=2, vocabulary=11)
    >>> first = train_step(start(StepPlan(shape=shape, dtype="float64")), random_batch(shape))
    >>> train_step(first.state, random_batch(shape)).loss < first.loss
    True
    """
    bench, scale = _checked(state, batch, loss_scale, watch)
    speed = float(exact("rate", rate, minimum=0, maximum=10))
    kept = forward(bench, batch)
    backward(bench, batch, kept, loss_scale=scale)
    after = update(state, rate=speed, loss_scale=scale, finite=grads_finite(state))
    watch.boundary(UPDATE_END)
    return Step(after, kept.loss, after.updates > state.updates)


def _checked(state: object, batch: object, loss_scale: object, watch: Watch) -> tuple[Workbench, float]:
    before = instance("state", state, State, "请用 start(...) 得到")
    instance("batch", batch, Batch, "请用 Batch(...) 或 random_batch(...) 得到").check(before.plan.shape)
    return Workbench(before, watch), float(exact("loss_scale", loss_scale, above=0, maximum=2**32))
