"""Section 27.5: one matrix product split among workers, and examples split among workers.

Tensor parallelism is a real small product (``split_columns``, ``split_rows``), data parallelism a sum of
``Contribution`` values. Rows one and two of table 27.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..accumulation import Contribution, total
from ..arguments import is_a, same_length, sequence, whole
from ..errors import CourseError

Ints = NDArray[np.int64]

# Sums of a million products of two such entries stay exact in 64 bits.
LARGEST_ENTRY: Final = 2**20
LARGEST_MATRIX: Final = 250_000  # entries, read one by one
LARGEST_PRODUCT: Final = 2 * 10**7  # multiplications, and with them values in all pieces


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """Pieces of one matrix product, one per worker, and how they become the whole.

    ``join`` is ``"concatenate"`` (each piece holds some finished columns) or ``"add"`` (each piece has the
    full shape but only a part of every sum).
    """

    pieces: tuple[Ints, ...]
    join: str

    def joined(self) -> Ints:
        """Return the whole product, as it stands after the pieces have crossed."""
        return np.concatenate(self.pieces, axis=1) if self.join == "concatenate" else reduce(add, self.pieces)

    @property
    def crossing_values(self) -> int:
        """Values that must reach the first worker before it holds the whole product."""
        return sum(piece.size for piece in self.pieces[1:])

    @property
    def crosses(self) -> str:
        """Say in Chinese what crosses the boundary."""
        return "各自算完的输出列，拼接" if self.join == "concatenate" else "形状相同的局部和，相加"


def split_columns(x: object, w: object, *, workers: int) -> Partial:
    """Multiply x (m × k) by w (k × n), each worker holding some columns of w and all of x.

    Entries are whole numbers up to 2**20 in size, so that the split and the whole agree exactly.

    >>> half = split_columns([[1, 2]], [[1, 0], [0, 1]], workers=2)
    >>> [piece.tolist() for piece in half.pieces], half.joined().tolist(), half.crosses
    ([[[1]], [[2]]], [[1, 2]], '各自算完的输出列，拼接')
    """
    left, right = _matrix("x", x), _matrix("w", w)
    _can_multiply((left,), right)
    n_workers = _at_most(workers, right.shape[1], "w 的列数")
    return Partial(tuple(left @ part for part in np.array_split(right, n_workers, axis=1)), "concatenate")


def split_rows(x: object, w: object, *, workers: int) -> Partial:
    """Multiply x (m × k) by w (k × n), each worker holding some rows of w and the matching columns of x.

    ``x`` may be the ``Partial`` of ``split_columns``: its pieces are used where they are and nothing crosses
    between the two products. Partial sums must be added before anything else can use them.

    >>> half = split_rows([[1, 2]], [[3], [4]], workers=2)
    >>> [piece.tolist() for piece in half.pieces], half.joined().tolist(), half.crosses
    ([[[3]], [[8]]], [[11]], '形状相同的局部和，相加')
    """
    right = _matrix("w", w)
    n_workers = _at_most(workers, right.shape[0], "w 的行数")
    if is_a(x, Partial):
        columns = _pieces_in_place(x, n_workers)
    else:
        left = _matrix("x", x)
        columns = tuple(np.array_split(left, n_workers, axis=1))
    _can_multiply(columns, right)
    cuts = np.cumsum([piece.shape[1] for piece in columns])[:-1]
    parts = np.split(right, cuts, axis=0)
    return Partial(tuple(piece @ part for piece, part in zip(columns, parts, strict=True)), "add")


def _pieces_in_place(x: Any, workers: int) -> tuple[Ints, ...]:
    if x.join != "concatenate":
        raise CourseError("x 还是待相加的局部和", remedy="请先用 x.joined() 相加，再做下一个乘法")
    if len(x.pieces) != workers:
        raise CourseError("workers 与 x 的份数不一致", got=workers, remedy=f"请给 {len(x.pieces)}")
    pieces: tuple[Ints, ...] = x.pieces
    return pieces


def _matrix(name: str, rows: object) -> Ints:
    lines: list[tuple[object, ...]] = []
    for row in sequence(name, rows):
        lines.append(sequence(name, row))
        if len(lines) * len(lines[0]) > LARGEST_MATRIX:
            raise CourseError(f"{name} 太大", remedy=f"请给至多 {LARGEST_MATRIX:,} 个整数的矩阵")
    if not lines or not lines[0]:
        raise CourseError(f"{name} 是空矩阵", got=rows, remedy="请给至少一行一列的整数")
    same_length(**{f"{name} 第 {i} 行": line for i, line in enumerate(lines)})
    entries = [
        [whole(name, entry, minimum=-LARGEST_ENTRY, maximum=LARGEST_ENTRY) for entry in line]
        for line in lines
    ]
    return np.array(entries, dtype=np.int64)


def _can_multiply(x_columns: tuple[Ints, ...], w: Ints) -> None:
    """Refuse sizes that do not fit together, and products that 64 bits or the memory cannot hold."""
    columns, (rows, width) = sum(piece.shape[1] for piece in x_columns), w.shape
    if columns != rows:
        raise CourseError(f"x 有 {columns} 列，w 有 {rows} 行，不能相乘", remedy="请让两者相等")
    if len(x_columns[0]) * rows * width > LARGEST_PRODUCT:
        raise CourseError("x 与 w 相乘的运算太多", remedy=f"请让乘法不超过 {LARGEST_PRODUCT:,} 次")
    largest = max(int(abs(piece).max()) for piece in x_columns)
    if largest * int(abs(w).max()) * rows >= 2**63:
        raise CourseError("x 与 w 的积超出 64 位整数", got=largest, remedy="请给绝对值更小的整数")


def _at_most(workers: int, available: int, what: str) -> int:
    n_workers = whole("workers", workers, minimum=1)
    if n_workers > available:
        raise CourseError(f"workers 多于{what}", got=n_workers, remedy=f"请给 1 到 {available} 之间的整数")
    return n_workers


@dataclass(frozen=True, slots=True)
class DataParallelStep:
    """What each worker gathered from its own examples, and the sum that every worker updates from.

    Only a gradient sum and a count of events cross, never a mean: means of unequal counts do not add.
    """

    local: tuple[Contribution, ...]

    @property
    def total(self) -> Contribution:
        """The contribution of all workers together; its ``mean_grad`` is what the update uses."""
        return total(self.local)


def data_parallel(per_worker: Sequence[Sequence[Contribution]]) -> DataParallelStep:
    """Sum each worker's microbatches locally; ``per_worker`` is one series of ``Contribution`` per worker.

    >>> one, three = (Contribution.from_mean(n_events=n, mean_grad=g) for n, g in ((2, 1), (6, 3)))
    >>> step = data_parallel([[one], [three]])
    >>> step.total.n_events, step.total.mean_grad
    (8, Fraction(5, 2))
    """
    local = tuple(total(sequence("per_worker", part)) for part in sequence("per_worker", per_worker))
    if not local:
        raise CourseError("per_worker 是空的", remedy="请为每个工作进程给一串 Contribution")
    return DataParallelStep(local)
