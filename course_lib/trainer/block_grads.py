"""One layer backward: the gradients of ``blocks`` in reverse, from the arrays that were saved."""

from __future__ import annotations

import numpy as np

from .blocks import affine, join_heads, split_heads
from .workbench import Array, Arrays, Workbench


def feed_forward_grad(bench: Workbench, layer: int, gradient: Array, arrays: Arrays) -> Array:
    """Return the gradient between attention and feed-forward, given the one of the layer's output."""
    hidden = bench.widen(arrays["hidden"])
    bench.add_grad("c2", layer, gradient.sum(axis=(0, 1)))
    bench.add_grad("w2", layer, bench.multiply(flat(hidden).T, flat(gradient)))
    spread = bench.multiply(gradient, bench.weight("w2", layer).T)
    spread *= bench.borrow(hidden > 0)
    del hidden
    normal = bench.widen(arrays["normal2"])
    bench.add_grad("c1", layer, spread.sum(axis=(0, 1)))
    bench.add_grad("w1", layer, bench.multiply(flat(affine(bench, layer, "2", normal)).T, flat(spread)))
    inner = bench.join(bench.multiply(spread, bench.weight("w1", layer).T))
    del spread
    return gradient + normalise_grad(bench, layer, "2", inner, normal, bench.widen(arrays["scale2"]))


def attention_grad(bench: Workbench, layer: int, gradient: Array, arrays: Arrays) -> Array:
    """Return the gradient of the layer's input, given the one between attention and feed-forward."""
    context = bench.widen(arrays["context"])
    bench.add_grad("wo", layer, bench.multiply(flat(context).T, flat(gradient)))
    del context
    found = bench.multiply(gradient, bench.weight("wo", layer).T)
    of_each = _qkv_grads(bench, split_heads(bench, found), arrays)
    del found
    normal = bench.widen(arrays["normal1"])
    inputs = flat(affine(bench, layer, "1", normal))
    for each, values in of_each.items():
        bench.add_grad(f"w{each}", layer, bench.multiply(inputs.T, flat(values)))
    inner = bench.borrow(np.zeros_like(gradient))
    for each, values in of_each.items():
        inner += bench.multiply(values, bench.weight(f"w{each}", layer).T)
    inner = bench.join(inner)
    return gradient + normalise_grad(bench, layer, "1", inner, normal, bench.widen(arrays["scale1"]))


def _qkv_grads(bench: Workbench, found: Array, arrays: Arrays) -> Arrays:
    """Return the gradients of q, k and v, each (B, T, D), from the one of what attention found."""
    q, k, v = (split_heads(bench, bench.widen(arrays[each])) for each in "qkv")
    scores = bench.widen(arrays["scores"])
    of_v = bench.borrow(join_heads(bench.multiply(scores.swapaxes(-1, -2), found)))
    inner = bench.multiply(found, v.swapaxes(-1, -2))
    inner -= bench.borrow(inner * scores).sum(axis=-1, keepdims=True)
    inner *= scores
    inner *= q.shape[-1] ** -0.5
    del scores
    of_q = bench.borrow(join_heads(bench.multiply(inner, k)))
    of_k = bench.borrow(join_heads(bench.multiply(inner.swapaxes(-1, -2), q)))
    return {"q": of_q, "k": of_k, "v": of_v}


def normalise_grad(
    bench: Workbench, layer: int | None, which: str, gradient: Array, normal: Array, scale: Array
) -> Array:
    """Return the gradient of what was normalised; adds those of gain and bias."""
    bench.add_grad(f"gain{which}", layer, (gradient * normal).sum(axis=(0, 1)))
    bench.add_grad(f"bias{which}", layer, gradient.sum(axis=(0, 1)))
    inner = bench.borrow(gradient * bench.weight(f"gain{which}", layer))
    along = (inner * normal).mean(axis=-1, keepdims=True)
    inner -= inner.mean(axis=-1, keepdims=True)
    inner -= bench.borrow(normal * along)
    inner *= scale
    return inner


def flat(values: Array) -> Array:
    """View (B, T, n) as (B·T, n)."""
    return values.reshape(-1, values.shape[-1])
