"""Forward and backward through the whole model; each layer's arrays are let go once its backward is done.

A name that still points to an array keeps it alive. So every ``del`` here is a row of the ledger: leave one
out, and the difference column says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import CourseError
from ..ledger import LOGITS
from ..step_ledger.boundaries import (
    BACKWARD_END,
    EMBED,
    FORWARD_END,
    HEAD_BACK,
    LAST_NORMAL,
    STREAM,
    layer_phase,
)
from .batch import Batch
from .block_grads import attention_grad, feed_forward_grad, flat, normalise_grad
from .blocks import affine, block, normalise, rebuild
from .workbench import Array, Arrays, Workbench


@dataclass(frozen=True, slots=True)
class Forward:
    """What a forward pass leaves: the arrays of every layer, those of the output, and the mean loss."""

    layers: list[Arrays]
    output: Arrays
    loss: float


def forward(bench: Workbench, batch: Batch) -> Forward:
    """Compute the loss and keep what the plan says. Raises ``CourseError`` where the loss is not finite."""
    x = embed(bench, batch)
    bench.watch.array(STREAM, None, x)
    bench.watch.boundary(EMBED)
    layers: list[Arrays] = []
    for layer in range(bench.state.plan.shape.layers):
        x, arrays = block(bench, layer, x)
        bench.watch.array(STREAM, None, x)
        layers.append({name: arrays[name] for name in bench.state.plan.kept})
        del arrays
        bench.watch.boundary(layer_phase(layer, "前向"))
    output = last_normal(bench, x)
    del x
    output["shares"], loss = predict(bench, output["normal"], batch)
    bench.watch.boundary(FORWARD_END)
    return Forward(layers, output, loss)


def backward(bench: Workbench, batch: Batch, kept: Forward, *, loss_scale: float) -> None:
    """Add every parameter's gradient, times ``loss_scale``; ``kept`` is used up on the way."""
    gradient = output_grad(bench, batch, kept.output, loss_scale)
    bench.watch.array(STREAM, None, gradient)
    bench.watch.boundary(HEAD_BACK)
    for layer in reversed(range(len(kept.layers))):
        arrays = kept.layers.pop()
        if "x" in arrays:
            rebuild(bench, layer, arrays)
            bench.watch.boundary(layer_phase(layer, "重算"))
        gradient = feed_forward_grad(bench, layer, gradient, arrays)
        bench.watch.array(STREAM, None, gradient)
        gradient = attention_grad(bench, layer, gradient, arrays)
        bench.watch.array(STREAM, None, gradient)
        del arrays
        bench.watch.boundary(layer_phase(layer, "反向"))
    embedding_grad(bench, batch, gradient)
    del gradient
    bench.watch.boundary(BACKWARD_END)


def embed(bench: Workbench, batch: Batch) -> Array:
    """Return the first stream, (B, T, D): each token's row plus that of its position."""
    return bench.widen(bench.state.weights["tokens"][batch.tokens]) + bench.weight("positions")


def last_normal(bench: Workbench, x: Array) -> Arrays:
    """Normalise the last layer's output and keep what backward needs of it."""
    normal, scale = normalise(x)
    return {"normal": bench.save(LAST_NORMAL, None, normal), "scale": bench.save(LAST_NORMAL, None, scale)}


def predict(bench: Workbench, normal: Array, batch: Batch) -> tuple[Array, float]:
    """Return each token's share of the probability, (B, T, V), and the mean loss over the valid positions.

    Here memory peaks in the chapter's model: the logits exist twice, as computed and as stored.
    """
    logits = bench.multiply(affine(bench, None, "", bench.widen(normal)), bench.weight("tokens").T)
    bench.watch.array(LOGITS, None, logits)
    logits -= logits.max(axis=-1, keepdims=True)
    wanted = np.take_along_axis(logits, batch.targets[..., np.newaxis], axis=-1)
    np.exp(logits, out=logits)
    total = logits.sum(axis=-1, keepdims=True)
    logits /= total
    losses = np.log(total) - wanted
    loss = float(losses[batch.valid].mean(dtype=np.float64))
    if not np.isfinite(loss):
        raise CourseError("损失不是有限的数", got=loss, remedy="请检查权重与学习率；这一步没有更新任何权重")
    return bench.save(LOGITS, None, logits), loss


def output_grad(bench: Workbench, batch: Batch, output: Arrays, loss_scale: float) -> Array:
    """Return the gradient of the last layer's output; adds those of the tied embedding and the last norm."""
    difference = bench.widen(output.pop("shares"))
    bench.watch.array(LOGITS, None, difference)
    here = np.take_along_axis(difference, batch.targets[..., np.newaxis], axis=-1)
    np.put_along_axis(difference, batch.targets[..., np.newaxis], here - 1, axis=-1)
    difference *= batch.valid[..., np.newaxis] * difference.dtype.type(loss_scale / batch.events)
    normal = bench.widen(output.pop("normal"))
    inputs = affine(bench, None, "", normal)
    bench.add_grad("tokens", None, bench.multiply(flat(difference).T, flat(inputs)))
    gradient = bench.multiply(difference, bench.weight("tokens"))
    return normalise_grad(bench, None, "", gradient, normal, bench.widen(output.pop("scale")))


def embedding_grad(bench: Workbench, batch: Batch, gradient: Array) -> None:
    """Add the gradients of the embedding and of the positions, given that of the first stream."""
    by_token = bench.borrow(np.zeros(bench.state.weights["tokens"].shape, gradient.dtype))
    np.add.at(by_token, batch.tokens, gradient)
    bench.add_grad("tokens", None, by_token)
    bench.add_grad("positions", None, gradient.sum(axis=0))
