"""The update: Adam on the master copy, or on the weights where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .workbench import Array, State

KEEP_FIRST, KEEP_SECOND, TINY = 0.9, 0.999, 1e-8


def grads_finite(state: State) -> bool:
    """Whether no gradient holds an infinity or NaN: a loss scale may have been too large."""
    return all(bool(np.isfinite(grad).all()) for grad in state.grads.values())


def update(state: State, *, rate: float, loss_scale: float, finite: bool) -> State:
    """Return the state after one update; gradients are divided by ``loss_scale`` and then set to zero.

    Where not all gradients are finite nothing but the gradients changes, the count of updates included.
    """
    if finite:
        targets = state.master or state.weights
        for name, target in targets.items():
            _move(state, name, target, rate, loss_scale)
            if state.master:
                state.weights[name][...] = target
    for grad in state.grads.values():
        grad[...] = 0
    return replace(state, updates=state.updates + finite)


def _move(state: State, name: str, target: Array, rate: float, loss_scale: float) -> None:
    first, second, count = state.first[name], state.second[name], state.updates + 1
    grad = state.grads[name].astype(first.dtype)
    grad /= loss_scale
    first *= KEEP_FIRST
    first += (1 - KEEP_FIRST) * grad
    grad *= grad
    second *= KEEP_SECOND
    second += (1 - KEEP_SECOND) * grad
    step = second / (1 - KEEP_SECOND**count)
    np.sqrt(step, out=step)
    step += TINY
    np.divide(first, step, out=step)
    step *= rate / (1 - KEEP_FIRST**count)
    np.subtract(target, step, out=target, casting="same_kind")
