"""Data parallelism, whole (ZeRO 0) or with sharded states (ZeRO 1 to 3), on the companion's trainer.

Parameters are cut into units: everything outside the layers, then each layer. A unit's arrays are views of
one flat array, which is what the ring moves. Of a sharded item a worker keeps its share of every unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..ledger import GRADS, MASTER, WEIGHTS
from ..trainer import Array, Batch, State, Watch
from ..trainer.adam import grads_finite, update
from ..trainer.passes import backward, forward
from ..trainer.workbench import Arrays, Workbench
from .rings import COUNT, FINITE, all_gather, all_reduce, chunk, reduce_scatter, together
from .states import joined_state
from .transport import Link

OUTER = "层外"
Shapes = dict[str, dict[str, tuple[int, ...]]]


def unit_of(name: str) -> str:
    """Return the unit of a parameter array: its layer, or ``OUTER``."""
    return name.split(".")[0] if "." in name else OUTER


def units(arrays: Arrays) -> Shapes:
    """Return the shapes of the arrays by unit."""
    found: Shapes = {}
    for name, array in arrays.items():
        found.setdefault(unit_of(name), {})[name] = array.shape
    return found


def views(flat: Array, shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Return a unit's arrays as views of its flat array."""
    found, start = {}, 0
    for name, shape in shapes.items():
        stop = start + int(np.prod(shape))
        found[name] = flat[start:stop].reshape(shape)
        start = stop
    return found


def _flat(arrays: Arrays) -> dict[str, Array]:
    return {
        unit: np.concatenate([arrays[name].ravel() for name in names])
        for unit, names in units(arrays).items()
    }


class Fetched(Arrays):
    """Arrays that are only here while they are needed: the unit outside the layers, and one layer.

    A missing one fetches its unit; the layer before it is let go first.
    """

    def __init__(self, shapes: Shapes) -> None:
        super().__init__()
        self.shapes = shapes
        self.held: dict[str, Array] = {}

    def __missing__(self, name: str) -> Array:
        unit = unit_of(name)
        for other in [held for held in self.held if OUTER not in (held, unit)]:
            self.let_go(other)
        size = sum(int(np.prod(shape)) for shape in self.shapes[unit].values())
        self.held[unit] = self.fetch(unit, size)
        self |= views(self.held[unit], self.shapes[unit])
        return self[name]

    def let_go_all(self) -> None:
        """Let go of every unit that is here."""
        for unit in list(self.held):
            self.let_go(unit)

    def let_go(self, unit: str) -> None:
        """Drop a unit."""
        for name in self.shapes[unit]:
            del self[name]
        del self.held[unit]

    def fetch(self, unit: str, size: int) -> Array:
        """Return a unit's flat array."""
        raise NotImplementedError


class GatheredWeights(Fetched):
    """Working weights of which every worker keeps a share; they are gathered for use."""

    def __init__(self, shapes: Shapes, link: Link, own: Arrays) -> None:
        super().__init__(shapes)
        self.link, self.own = link, own

    def fetch(self, unit: str, size: int) -> Array:
        """Gather a unit from all workers."""
        flat = np.empty(size, self.own[unit].dtype)
        chunk(self.link, flat, self.link.worker)[...] = self.own[unit]
        all_gather(self.link, WEIGHTS, flat)
        return flat


class ScatteredGrads(Fetched):
    """Gradients of which every worker keeps a share of the sum; a whole unit is only here to be added to."""

    def __init__(self, shapes: Shapes, link: Link, own: Arrays) -> None:
        super().__init__(shapes)
        self.link, self.own = link, own

    def fetch(self, unit: str, size: int) -> Array:
        """Begin a unit with zeros."""
        return np.zeros(size, self.own[unit].dtype)

    def let_go(self, unit: str) -> None:
        """Sum a unit over the workers, keep the own share, drop the rest."""
        with np.errstate(over="ignore", invalid="ignore"):
            self.own[unit] += reduce_scatter(self.link, GRADS, self.held[unit])
        super().let_go(unit)


@dataclass(frozen=True, slots=True)
class Replica:
    """One data parallel worker between updates: flat arrays by unit.

    ``weights`` and ``grads`` are whole, and empty where they are sharded; ``own`` has what this worker
    updates, as views of those where they are whole.
    """

    shapes: Shapes
    sharded: frozenset[str]
    weights: Arrays
    grads: Arrays
    own: State


def replica(link: Link, state: State, *, sharded: frozenset[str]) -> Replica:
    """Cut a whole state to what one worker keeps; ``sharded`` is one of ``sharding.STAGES``."""
    weights, grads = _flat(state.weights), _flat(state.grads)

    def part(flat: Array) -> Array:
        return chunk(link, flat, link.worker) if MASTER in sharded else flat

    def share(whole: dict[str, Array], keep_whole: bool) -> Arrays:
        return {unit: part(flat) if keep_whole else part(flat).copy() for unit, flat in whole.items()}

    own = replace(
        state,
        weights=share(weights, WEIGHTS not in sharded),
        grads=share(grads, GRADS not in sharded),
        master=share(_flat(state.master), keep_whole=False),
        first=share(_flat(state.first), keep_whole=False),
        second=share(_flat(state.second), keep_whole=False),
    )
    return Replica(
        units(state.weights),
        sharded,
        {} if WEIGHTS in sharded else weights,
        {} if GRADS in sharded else grads,
        own,
    )


def replica_step(
    link: Link, worker: Replica, batches: Sequence[Batch], *, rate: float, watch: Watch
) -> Replica:
    """Run one update of this worker, in step with all others; ``batches`` are its own microbatches.

    What is summed are gradient sums and event counts, so that masks may leave workers unequal events.
    """
    bench = Workbench(_for_passes(link, worker), watch)
    for batch in batches:
        kept = forward(bench, batch)
        _let_go(bench.state)
        backward(bench, batch, kept, loss_scale=batch.events)  # times events: a sum, not a mean
        _let_go(bench.state)
    _sum_grads(link, worker)
    events = together(link, COUNT, sum(batch.events for batch in batches))
    finite = not together(link, FINITE, not grads_finite(worker.own))
    own = update(worker.own, rate=rate, loss_scale=events, finite=finite)
    for flat in worker.grads.values():
        flat[...] = 0
    if worker.sharded:
        for flat in worker.weights.values():
            all_gather(link, WEIGHTS, flat)
    return replace(worker, own=own)


def _for_passes(link: Link, worker: Replica) -> State:
    """Return the state that forward and backward work on: whole arrays by name, or ones that are fetched."""
    weights: Arrays = GatheredWeights(worker.shapes, link, worker.own.weights)
    grads: Arrays = ScatteredGrads(worker.shapes, link, worker.own.grads)
    if worker.weights:
        weights = _by_name(worker, worker.weights)
    if worker.grads:
        grads = _by_name(worker, worker.grads)
    return replace(worker.own, weights=weights, grads=grads)


def _by_name(worker: Replica, flats: Arrays) -> Arrays:
    return {name: a for unit, flat in flats.items() for name, a in views(flat, worker.shapes[unit]).items()}


def _let_go(state: State) -> None:
    for arrays in (state.weights, state.grads):
        if isinstance(arrays, Fetched):
            arrays.let_go_all()


def _sum_grads(link: Link, worker: Replica) -> None:
    for flat in worker.grads.values():
        if worker.sharded:
            reduce_scatter(link, GRADS, flat)
        else:
            all_reduce(link, GRADS, flat)


def joined(replicas: Sequence[Replica]) -> State:
    """Return the whole state by name, put together from what the workers keep; gradients are left out."""
    first = replicas[0]

    def whole(item: str) -> Arrays:
        parts: list[Arrays] = [getattr(each.own, item) for each in replicas]
        kept = parts if first.sharded else parts[:1]
        flats = {unit: np.concatenate([part[unit] for part in kept]) for unit in parts[0]}
        return _by_name(first, flats)

    return joined_state(first.own, whole)
