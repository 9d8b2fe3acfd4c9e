"""Pipeline parallelism: each worker holds consecutive layers; microbatches go up, their gradients come back.

All forward passes come first, then all backward passes, then every stage updates at once (GPipe). The
embedding also makes the logits, so the first and the last stage both hold it and add up its gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..collectives import share
from ..errors import CourseError
from ..ledger import GRADS
from ..trainer import Array, Batch, State, Watch
from ..trainer.adam import grads_finite, update
from ..trainer.block_grads import attention_grad, feed_forward_grad
from ..trainer.blocks import block, rebuild
from ..trainer.passes import embed, embedding_grad, last_normal, output_grad, predict
from ..trainer.workbench import Arrays, Workbench
from .rings import FINITE, together
from .states import cut_state, joined_state
from .transport import Link

UP = "激活"
DOWN = "激活的梯度"
_FIRST, _LAST = ("tokens", "positions"), ("tokens", "gain", "bias")


class Kept(NamedTuple):
    """What one stage keeps of a microbatch until its backward pass: arrays by layer, and of the output."""

    layers: dict[int, Arrays]
    output: Arrays


def stage(link: Link, state: State) -> State:
    """Cut a whole state to one stage. Raises ``CourseError`` where there are fewer layers than stages."""
    layers = state.plan.shape.layers
    if link.workers > layers:
        raise CourseError("阶段多于层", got=link.workers, remedy=f"请给至多 {layers} 个阶段")
    outer = (_FIRST if _is_first(link) else ()) + (_LAST if _is_last(link) else ())
    own = {str(layer) for layer in _layers(link, state)}

    def cut(arrays: Arrays) -> Arrays:
        return {n: array.copy() for n, array in arrays.items() if n.split(".")[0] in own or n in outer}

    return cut_state(state, cut)


def stage_step(link: Link, state: State, batches: Sequence[Batch], *, rate: float) -> State:
    """Run one update of this stage; ``batches`` are the microbatches, every stage knows their masks."""
    bench = Workbench(state, Watch())
    waiting = [_up(link, bench, batch) for batch in batches]
    for batch, kept in zip(batches, waiting, strict=True):
        _down(link, bench, batch, kept)
    _share_tied(link, state.grads)
    finite = not together(link, FINITE, not grads_finite(state))
    events = sum(batch.events for batch in batches)
    return update(state, rate=rate, loss_scale=events, finite=finite)


def _up(link: Link, bench: Workbench, batch: Batch) -> Kept:
    x = embed(bench, batch) if _is_first(link) else link.receive(link.worker - 1)
    layers = {}
    for layer in _layers(link, bench.state):
        x, arrays = block(bench, layer, x)
        layers[layer] = {name: arrays[name] for name in bench.state.plan.kept}
    if not _is_last(link):
        link.send(UP, link.worker + 1, x)
        return Kept(layers, {})
    output = last_normal(bench, x)
    output["shares"], _ = predict(bench, output["normal"], batch)
    return Kept(layers, output)


def _down(link: Link, bench: Workbench, batch: Batch, kept: Kept) -> None:
    gradient = _from_above(link, bench, batch, kept.output)
    for layer in reversed(kept.layers):
        arrays = kept.layers[layer]
        if "x" in arrays:
            rebuild(bench, layer, arrays)
        gradient = feed_forward_grad(bench, layer, gradient, arrays)
        gradient = attention_grad(bench, layer, gradient, arrays)
    if _is_first(link):
        embedding_grad(bench, batch, gradient)
    else:
        link.send(DOWN, link.worker - 1, gradient)


def _from_above(link: Link, bench: Workbench, batch: Batch, output: Arrays) -> Array:
    if _is_last(link):
        return output_grad(bench, batch, output, float(batch.events))
    return link.receive(link.worker + 1)


def _share_tied(link: Link, grads: Arrays) -> None:
    """Give the first and the last stage the sum of their gradients of the embedding."""
    first, last = 0, link.workers - 1
    if first == last or link.worker not in (first, last):
        return
    other = last if _is_first(link) else first
    link.send(GRADS, other, grads["tokens"])
    grads["tokens"] += link.receive(other)


def _layers(link: Link, state: State) -> range:
    part = share(state.plan.shape.layers, workers=link.workers, worker=link.worker)
    return range(part.start, part.stop)


def _is_first(link: Link) -> bool:
    return link.worker == 0


def _is_last(link: Link) -> bool:
    return link.worker == link.workers - 1


def joined(states: Sequence[State]) -> State:
    """Return the whole state by name, put together from what the stages keep; gradients are left out."""

    def whole(item: str) -> Arrays:
        return {name: array for state in states for name, array in getattr(state, item).items()}

    return joined_state(states[0], whole)
