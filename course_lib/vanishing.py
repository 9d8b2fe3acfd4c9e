"""Section 27.3, measured (配套实测): what two bytes take from the real trainer's gradients and updates.

The trainer is the companion's own, its tokens are made up (``random_batch``). Gradients and updates are
computed in FP32 first, so that one backward pass can be held against any loss scale and format: hand them to
``precision.census`` and ``precision.lost``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .arguments import instance, whole
from .ledger import LOGITS
from .loss_scaling import StaticScale
from .step_ledger import StepPlan
from .trainer import Array, Watch, gradients, random_batch, start, train_step

LARGEST_EVENTS = 2**40


class RealGradients(NamedTuple):
    """Flat FP32 arrays: the gradients of the logits, and those of all weights."""

    logits: Array
    weights: Array


class RealUpdate(NamedTuple):
    """Flat arrays: the weights before an update, and what Adam adds to each."""

    weights: Array
    updates: Array


class Attempt(NamedTuple):
    """One batch under a dynamic loss scale: the scale, and whether an update was made."""

    loss_scale: int
    updated: bool


class _LogitWatch(Watch):
    """Hold the last array called logits: the backward pass turns it into their gradient, in place."""

    def __init__(self) -> None:
        self.seen: list[Array] = []

    def array(self, name: str, layer: int | None, array: Array) -> None:
        if name == LOGITS:
            self.seen = [array]


def real_gradients(plan: StepPlan, *, events: object = None) -> RealGradients:
    """Return the gradients of a first step in FP32, of a loss that is the mean over ``events`` tokens.

    Those are the tokens of the batch; more, where the batch is one microbatch of a larger update.
    """
    chosen = _in_fp32(plan)
    batch, watch = random_batch(chosen.shape), _LogitWatch()
    together = batch.events if events is None else whole("events", events, minimum=1, maximum=LARGEST_EVENTS)
    of_weights = gradients(start(chosen), batch, watch=watch)
    shrink = np.float32(Fraction(batch.events, together))
    return RealGradients(watch.seen[0].ravel() * shrink, _flat(of_weights) * shrink)


def real_update(plan: StepPlan, *, rate: object) -> RealUpdate:
    """Return the weights before a first update in FP32 and the changes that Adam makes to them."""
    state = start(_in_fp32(plan))
    before = _flat(state.weights)
    after = train_step(state, random_batch(plan.shape), rate=rate).state
    return RealUpdate(before, _flat(after.weights).astype(float) - before)


def attempts(plan: StepPlan, *, scale: StaticScale, batches: object) -> tuple[Attempt, ...]:
    """Train on so many batches under a loss scale that adjusts itself; return each scale and its outcome."""
    now = instance("scale", scale, StaticScale, "请给 StaticScale(1024) 或 DynamicScale()")
    state, made = start(plan), []
    for seed in range(whole("batches", batches, minimum=1, maximum=1000)):
        step = train_step(state, random_batch(plan.shape, seed=seed), loss_scale=now.loss_scale)
        made.append(Attempt(now.loss_scale, step.updated))
        state, now = step.state, now.adjust(grads_finite=step.updated)
    return tuple(made)


def unmoved_share(plan: StepPlan, *, rate: object, updates: object) -> Fraction:
    """Return the share of working weights that are what they were at first, after so many updates."""
    state = start(plan)
    first, batch = _flat(state.weights), random_batch(plan.shape)
    for _ in range(whole("updates", updates, minimum=1, maximum=1000)):
        state = train_step(state, batch, rate=rate, loss_scale=1024).state
    return Fraction(int((_flat(state.weights) == first).sum()), first.size)


def _in_fp32(plan: StepPlan) -> StepPlan:
    return replace(instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法"), dtype="float32")


def _flat(arrays: dict[str, Array]) -> Array:
    return np.concatenate([array.ravel() for array in arrays.values()])
