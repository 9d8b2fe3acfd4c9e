"""The tokens of one step, what should follow each, and which positions count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import instance, whole
from ..arrays import LARGEST_ARRAY
from ..errors import CourseError
from ..step_ledger import StepShape
from .workbench import Array


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """``tokens`` and ``targets`` of shape (B, T); ``valid`` is False where padding must not count (mask).

    Raises ``CourseError`` for other shapes, an empty batch, anything but whole tokens, and no valid position.
    """

    tokens: Array
    targets: Array
    valid: Array

    def __post_init__(self) -> None:
        for name in ("tokens", "targets"):
            object.__setattr__(self, name, _tokens(name, getattr(self, name)))
        valid = _as_array("valid", self.valid)
        if valid.dtype != bool or not self.tokens.shape == self.targets.shape == valid.shape:
            raise CourseError(
                f"tokens、targets、valid 的形状是 {self.tokens.shape}、{self.targets.shape}、{valid.shape}",
                remedy="请给三个形状相同的二维数组，valid 只含 True 与 False",
            )
        if not valid.any():
            raise CourseError("所有位置都被 Mask 排除，没有可平均的损失", remedy="请至少留一个有效位置")
        object.__setattr__(self, "valid", valid)

    @property
    def events(self) -> int:
        """Valid target tokens: the denominator of the mean loss (section 27.4)."""
        return int(self.valid.sum())

    def check(self, shape: StepShape) -> None:
        """Raise ``CourseError`` where the batch does not fit the model."""
        wanted = (shape.sequences, shape.positions)
        if self.tokens.shape != wanted:
            raise CourseError(
                "tokens 的形状与模型不符",
                got=self.tokens.shape,
                remedy=f"请给 {wanted[0]} 个序列，每个 {wanted[1]} 个位置",
            )
        largest = int(max(self.tokens.max(), self.targets.max()))
        if largest >= shape.vocabulary:
            raise CourseError(
                "token 不在词表里", got=largest, remedy=f"请给 0 到 {shape.vocabulary - 1} 的编号"
            )


def random_batch(shape: StepShape, *, seed: int = 0) -> Batch:
    """Return made-up tokens in which each position is followed by the next, all positions valid."""
    sizes = instance("shape", shape, StepShape, "请用 StepShape(...) 写明尺寸")
    if sizes.sequences * sizes.positions > LARGEST_ARRAY:
        raise CourseError("这一批的 token 太多", remedy=f"请让序列数 × 位置数不超过 {LARGEST_ARRAY:,}")
    random = np.random.default_rng(whole("seed", seed))
    stream = random.integers(0, sizes.vocabulary, (sizes.sequences, sizes.positions + 1))
    return Batch(stream[:, :-1], stream[:, 1:], np.ones(stream[:, 1:].shape, dtype=bool))


def _tokens(name: str, values: object) -> Array:
    array = _as_array(name, values)
    whole_numbers = array.ndim == 2 and array.size > 0 and array.dtype.kind in "iu"
    if not whole_numbers or not 0 <= int(array.min()) <= int(array.max()) < 2**31:
        raise CourseError(
            f"{name} 必须是非空的二维数组，只含不小于 0、小于 2**31 的整数",
            got=values,
            remedy="请给形状为序列 × 位置的 token 编号",
        )
    return array.astype(np.int64)


def _as_array(name: str, values: object) -> Array:
    try:
        return np.array(values)
    except Exception as error:  # ragged lists, and whatever a foreign object raises when converted
        raise CourseError(f"{name} 读不成数组", got=values, remedy="请给形状为序列 × 位置的数组") from error
