"""Where memory is highest inside a step: boundaries do not show it, temporaries make it.

Six moments compete, each with the arrays that the trainer's own lines make there; which one wins depends on
the sizes. Temporaries inside numpy's operations are not counted: they are small beside the chapter's model
and change with numpy's version; of a tiny model they may be some per cent.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arguments import instance
from ..ledger import LOGITS, WORKSPACE, Ledger
from .boundaries import FORWARD_END, HEAD_BACK, UPDATE_END, Boundary, StepPlan, layer_phase, step_row


def peak(plan: StepPlan) -> Boundary:
    """Return the moment with the most bytes; its phase is the one that it lies in.

    >>> highest = peak(StepPlan())
    >>> highest.phase, highest.total_bytes
    ('前向结束', 37423104)
    """
    wanted = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
    return max(_moments(wanted), key=lambda moment: moment.total_bytes)


def _moments(plan: StepPlan) -> Iterator[Boundary]:
    yield from _output_moments(plan)
    yield from _layer_moments(plan)
    largest = max(_embedding_values(plan), 4 * plan.shape.width**2)
    yield _at(UPDATE_END, plan.state(), 2 * plan.policy.moments * largest)


def _output_moments(plan: StepPlan) -> Iterator[Boundary]:
    """The logits as computed and as stored; then their gradient beside the one of the tied embedding."""
    policy, array = plan.policy, plan.shape.array_values
    held, logits = plan.state() + plan.saved(plan.shape.layers) + plan.output(), plan.output()[LOGITS].count
    yield _at(FORWARD_END, held, logits * policy.compute * _makes_copies(plan))
    # By then what was stored is gone; the same values in the width of the arithmetic have taken its place.
    wider = (policy.compute - policy.saved) * (logits + array)
    rounded = policy.grads * (policy.grads != policy.compute)
    gradient = _embedding_values(plan) * (policy.compute + rounded)
    yield _at(HEAD_BACK, held, wider + policy.compute * array + gradient)


def _layer_moments(plan: StepPlan) -> Iterator[Boundary]:
    """The last layer's backward pass: feed-forward, attention, and the way back to the layer's input."""
    shape, copies = plan.shape, _makes_copies(plan)
    array, scores = (plan.policy.compute * values for values in (shape.array_values, shape.score_values))
    last = shape.layers - 1
    held, phase = plan.state() + plan.stream() + plan.saved(last, whole_layers=1), layer_phase(last, "反向")
    signs = 4 * shape.array_values  # where the feed-forward values are positive, one byte each
    yield _at(phase, held, 4 * (1 + copies) * array + signs)
    yield _at(phase, held, (2 + 3 * copies) * array + (2 + copies) * scores)
    yield _at(phase, held, (7 + copies) * array)


def _makes_copies(plan: StepPlan) -> bool:
    """Whether values are stored otherwise than they are computed, so that widening makes a second array."""
    return plan.policy.saved != plan.policy.compute


def _embedding_values(plan: StepPlan) -> int:
    return plan.shape.vocabulary * plan.shape.width


def _at(phase: str, ledger: Ledger, workspace_bytes: int) -> Boundary:
    return Boundary(phase, ledger.with_row(step_row(WORKSPACE, workspace_bytes, 1)))
