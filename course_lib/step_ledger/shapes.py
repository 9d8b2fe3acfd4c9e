"""The model that is trained: its sizes, its arrays, how its values are stored, and what a layer keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from types import MappingProxyType
from typing import Final

from ..arguments import LARGEST_COUNT, text, whole
from ..errors import CourseError

# The arrays of a layer that are batch × position × width, in the order of the forward pass, and how many
# widths each has. Without the input they are the chapter's ten: a backward pass needs exactly them.
ARRAYS: Final[Mapping[str, int]] = MappingProxyType(
    {"x": 1, "normal1": 1, "q": 1, "k": 1, "v": 1, "context": 1, "normal2": 1, "hidden": 4}
)
ARRAY_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "x": "层的输入 x",
        "normal1": "归一化输入一",
        "q": "查询 q",
        "k": "键 k",
        "v": "值 v",
        "context": "上下文",
        "normal2": "归一化输入二",
        "hidden": "前馈中间值，四个",
    }
)
BESIDES: Final = ("scores", "scale1", "scale2")  # saved too, but of other shapes
_TEN: Final = tuple(name for name in ARRAYS if name != "x")
# How many of the ten arrays stay, and which. Two ways keep the input instead of what follows from it.
KEEPS: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {10: (*_TEN, *BESIDES), 4: ("x", "q", "k", "v"), 1: ("x",)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepShape:
    """Sizes of the trained model and of its batch; the feed-forward part is four widths wide.

    Raises ``CourseError`` where the heads do not divide the width, and beyond 1,000 layers.

    >>> StepShape().parameters, StepShape(vocabulary=256).parameters
    (1000000, 223616)
    """

    sequences: int = 2
    positions: int = 128
    width: int = 64
    layers: int = 4
    heads: int = 4
    vocabulary: int = 12_387

    def __post_init__(self) -> None:
        for field in fields(self):
            value, minimum = getattr(self, field.name), 2 if field.name == "vocabulary" else 1
            maximum = 1000 if field.name == "layers" else LARGEST_COUNT
            size = whole(field.name, value, minimum=minimum, maximum=maximum)
            object.__setattr__(self, field.name, size)
        if self.width % self.heads:
            raise CourseError(
                f"width 是 {self.width}，不能平分给 {self.heads} 个注意力头",
                remedy="请让 width 是 heads 的整数倍",
            )

    @property
    def array_values(self) -> int:
        """Values of one batch × position × width array."""
        return self.sequences * self.positions * self.width

    @property
    def score_values(self) -> int:
        """Attention scores of one layer: every position against every position, per head."""
        return self.sequences * self.heads * self.positions**2

    @property
    def parameters(self) -> int:
        """N, over all parameter arrays."""
        layer = sum(prod(shape) for shape in layer_shapes(self).values())
        return self.layers * layer + sum(prod(shape) for shape in outer_shapes(self).values())


def layer_shapes(shape: StepShape) -> dict[str, tuple[int, ...]]:
    """Return the parameter arrays of one layer: gains and biases, attention, feed-forward."""
    d = shape.width
    squares = dict.fromkeys(("wq", "wk", "wv", "wo"), (d, d))
    norms = dict.fromkeys(("gain1", "bias1", "gain2", "bias2"), (d,))
    return {**norms, **squares, "w1": (d, 4 * d), "c1": (4 * d,), "w2": (4 * d, d), "c2": (d,)}


def outer_shapes(shape: StepShape) -> dict[str, tuple[int, ...]]:
    """Return the parameter arrays outside the layers; the embedding also makes the logits (tied)."""
    d = shape.width
    return {"tokens": (shape.vocabulary, d), "positions": (shape.positions, d), "gain": (d,), "bias": (d,)}


@dataclass(frozen=True, slots=True)
class Policy:
    """Bytes per value of everything that is stored, and of the arithmetic; master 0 for "does not exist"."""

    title: str
    weights: int
    grads: int
    master: int
    moments: int
    saved: int
    compute: int

    def __post_init__(self) -> None:
        text("title", self.title)
        for field in fields(self)[1:]:
            width = whole(field.name, getattr(self, field.name), maximum=8)
            object.__setattr__(self, field.name, width)
            if width not in ((0, 4, 8) if field.name == "master" else (2, 4, 8)):
                raise CourseError(f"{field.name} 不是可用的字节数", got=width, remedy="请给 2、4 或 8")


POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "float16": Policy("本章的混合精度", 2, 2, 4, 4, 2, 4),
        "float32": Policy("全程 FP32", 4, 4, 0, 4, 4, 4),
        "float64": Policy("全程 float64", 8, 8, 0, 8, 8, 8),
        "float16-grads32": Policy("梯度以 4 字节保存", 2, 4, 4, 4, 2, 4),
        "float16-no-master": Policy("不设主副本", 2, 2, 0, 4, 2, 4),
    }
)
