"""What every function of the trainer is handed: the arrays, how to store and widen them, and who watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..step_ledger import StepPlan
from ..step_ledger.shapes import layer_shapes, outer_shapes

Array = NDArray[Any]
Arrays = dict[str, Array]

DTYPES: Final = {2: np.float16, 4: np.float32, 8: np.float64}


class Watch:
    """Told what happens in a step. This one ignores it; measuring listens."""

    def boundary(self, phase: str) -> None:
        """A phase has just ended."""

    def array(self, name: str, layer: int | None, array: Array) -> None:
        """An array was made; a saved one carries its layer. A later name for the same array counts."""

    def flops(self, count: int) -> None:
        """A matrix product with so many multiplications and additions was done."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything that lives across updates, by name. The arrays are overwritten in place, as in any trainer:

    a new value for every update would be a second copy, which the ledger does not have. ``master`` is empty
    where the policy has none; then the weights themselves are updated.
    """

    plan: StepPlan
    weights: Arrays
    grads: Arrays
    master: Arrays
    first: Arrays
    second: Arrays
    updates: int = 0


@dataclass(frozen=True, slots=True)
class Workbench:
    """Where a step computes: values are widened to compute with and rounded to what is stored."""

    state: State
    watch: Watch

    def weight(self, name: str, layer: int | None = None) -> Array:
        """Return a weight in the precision of the arithmetic."""
        return self.widen(self.state.weights[key(name, layer)])

    def widen(self, stored: Array) -> Array:
        """Return stored values in the precision of the arithmetic; no copy where it is the same."""
        values = stored.astype(DTYPES[self.state.plan.policy.compute], copy=False)
        return values if values is stored else self.borrow(values)

    def borrow(self, values: Array) -> Array:
        """Return an array that is only needed for a moment, and tell the watch of it."""
        self.watch.array("borrowed", None, values)
        return values

    def save(self, name: str, layer: int | None, values: Array) -> Array:
        """Return values as they are kept for the backward pass; what is used later is the rounded value."""
        stored = values.astype(DTYPES[self.state.plan.policy.saved], copy=False)
        self.watch.array(name, layer, stored)
        return stored

    def multiply(self, a: Array, b: Array) -> Array:
        """Return the matrix product and count its work: 2 per multiplication and addition."""
        self.watch.flops(2 * a.size * b.shape[-1])
        return self.borrow(a @ b)

    def join(self, partial: Array) -> Array:
        """Return the sum over all workers that share a layer; here one worker has it whole."""
        return partial

    def add_grad(self, name: str, layer: int | None, values: Array) -> None:
        """Add a contribution to a gradient, in the precision in which gradients are kept.

        What is too large for it becomes an infinity, which the update looks for: no warning is needed.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            grad = self.state.grads[key(name, layer)]
            grad += values if values.dtype == grad.dtype else self.borrow(values.astype(grad.dtype))


def key(name: str, layer: int | None) -> str:
    """Return the name of a parameter array in the state.

    >>> key("wq", 0), key("tokens", None)
    ('0.wq', 'tokens')
    """
    return name if layer is None else f"{layer}.{name}"


def new_state(plan: StepPlan, *, seed: int) -> State:
    """Return random weights, and zeros for gradients and moments, each in the bytes that the plan says."""
    random, policy = np.random.default_rng(seed), plan.policy
    exact = {name: _first_values(random, name, shape) for name, shape in _all_shapes(plan).items()}

    def stored(width: int) -> Arrays:
        return {name: values.astype(DTYPES[width]) for name, values in exact.items()}

    def zeros(width: int) -> Arrays:
        return {name: np.zeros(values.shape, DTYPES[width]) for name, values in exact.items()}

    weights = stored(policy.weights)
    master = {name: each.astype(DTYPES[policy.master]) for name, each in weights.items() if policy.master}
    return State(plan, weights, zeros(policy.grads), master, zeros(policy.moments), zeros(policy.moments))


def _all_shapes(plan: StepPlan) -> dict[str, tuple[int, ...]]:
    layers = {
        key(name, layer): shape
        for layer in range(plan.shape.layers)
        for name, shape in layer_shapes(plan.shape).items()
    }
    return outer_shapes(plan.shape) | layers


def _first_values(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    kind = name.split(".")[-1]
    if kind.startswith("gain"):
        return np.ones(shape)
    if kind in ("tokens", "positions"):
        return 0.02 * random.standard_normal(shape)
    if kind.startswith("w"):
        return np.divide(random.standard_normal(shape), np.sqrt(shape[0]))
    return np.zeros(shape)
