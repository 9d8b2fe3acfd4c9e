"""One layer forward: normalise, attend, feed forward; every array that backward needs is named and saved.

Shapes: x (B, T, D), attention scores (B, H, T, T), feed-forward values (B, T, 4D). Whatever is saved is used
from then on as it was stored, rounded, so that forward and backward see the same numbers.
"""

from __future__ import annotations

import numpy as np

from .workbench import Array, Arrays, Workbench

TINY = 1e-5  # keeps the standard deviation away from zero


def block(bench: Workbench, layer: int, x: Array) -> tuple[Array, Arrays]:
    """Return a layer's output and all its arrays by name."""
    arrays = {"x": bench.save("x", layer, x)} if "x" in bench.state.plan.kept else {}
    project(bench, layer, x, arrays)
    middle = attend(bench, layer, x, arrays)
    expand(bench, layer, middle, arrays)
    return middle + contract(bench, layer, arrays), arrays


def rebuild(bench: Workbench, layer: int, arrays: Arrays) -> None:
    """Compute again from the saved input what a layer did not keep, then drop that input.

    The layer's output itself is not needed, so the last matrix product is not repeated.
    """
    x = bench.widen(arrays.pop("x"))
    project(bench, layer, x, arrays)
    expand(bench, layer, attend(bench, layer, x, arrays), arrays)


def project(bench: Workbench, layer: int, x: Array, arrays: Arrays) -> None:
    """Normalise the input and make q, k and v of it; those that were kept are not made again."""
    _normalise(bench, layer, 1, x, arrays)
    missing = [each for each in "qkv" if each not in arrays]
    if missing:
        inputs = affine(bench, layer, "1", bench.widen(arrays["normal1"]))
        for each in missing:
            arrays[each] = bench.save(each, layer, bench.multiply(inputs, bench.weight(f"w{each}", layer)))


def attend(bench: Workbench, layer: int, x: Array, arrays: Arrays) -> Array:
    """Let every position look at the ones before it; return x plus what it found."""
    q, k, v = (split_heads(bench, bench.widen(arrays[each])) for each in "qkv")
    scores = bench.multiply(q, k.swapaxes(-1, -2))
    scores *= q.shape[-1] ** -0.5
    scores[..., _later_positions(scores.shape[-1])] = -np.inf
    softmax(scores)
    arrays["scores"] = bench.save("scores", layer, scores)
    found = bench.multiply(bench.widen(arrays["scores"]), v)
    arrays["context"] = bench.save("context", layer, join_heads(found))
    mixed = bench.join(bench.multiply(bench.widen(arrays["context"]), bench.weight("wo", layer)))
    return bench.borrow(x + mixed)


def expand(bench: Workbench, layer: int, middle: Array, arrays: Arrays) -> None:
    """Normalise again and spread to four widths, negative values cut to zero."""
    _normalise(bench, layer, 2, middle, arrays)
    inputs = affine(bench, layer, "2", bench.widen(arrays["normal2"]))
    hidden = bench.multiply(inputs, bench.weight("w1", layer))
    hidden += bench.weight("c1", layer)
    np.maximum(hidden, 0, out=hidden)
    arrays["hidden"] = bench.save("hidden", layer, hidden)


def contract(bench: Workbench, layer: int, arrays: Arrays) -> Array:
    """Bring the four widths back to one."""
    output = bench.join(bench.multiply(bench.widen(arrays["hidden"]), bench.weight("w2", layer)))
    output += bench.weight("c2", layer)
    return output


def normalise(x: Array) -> tuple[Array, Array]:
    """Return x with mean 0 and variance 1 at every position, and the scale that did it, (B, T, 1)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + TINY)
    centred *= scale
    return centred, scale


def affine(bench: Workbench, layer: int | None, which: str, normal: Array) -> Array:
    """Return the normalised values times gain plus bias."""
    scaled = bench.borrow(normal * bench.weight(f"gain{which}", layer))
    scaled += bench.weight(f"bias{which}", layer)
    return scaled


def softmax(values: Array) -> None:
    """Turn the last axis into shares that add up to 1, in place."""
    values -= values.max(axis=-1, keepdims=True)
    np.exp(values, out=values)
    values /= values.sum(axis=-1, keepdims=True)


def split_heads(bench: Workbench, values: Array) -> Array:
    """View (B, T, D) as (B, H, T, D/H)."""
    b, t, d = values.shape
    heads = bench.state.plan.shape.heads
    return values.reshape(b, t, heads, d // heads).swapaxes(1, 2)


def join_heads(values: Array) -> Array:
    """Copy (B, H, T, D/H) back to (B, T, D)."""
    b, h, t, d = values.shape
    return values.swapaxes(1, 2).reshape(b, t, h * d)


def _normalise(bench: Workbench, layer: int, which: int, x: Array, arrays: Arrays) -> None:
    normal, scale = normalise(x)
    arrays[f"normal{which}"] = bench.save(f"normal{which}", layer, normal)
    arrays[f"scale{which}"] = bench.save(f"scale{which}", layer, scale)


def _later_positions(positions: int) -> Array:
    return ~np.tri(positions, dtype=bool)
