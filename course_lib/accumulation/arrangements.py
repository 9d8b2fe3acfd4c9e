"""One update of so many sequences, written as worker × microbatch × accumulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isqrt
from typing import TypeVar

from ..arguments import sequence, whole
from ..errors import CourseError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """How the sequences of one update are spread; ``microbatch`` is the number of sequences a worker holds.

    Equal ``sequences_per_update`` means the same update, provided that the mean is weighted by events.

    >>> str(Arrangement(workers=2, microbatch=2, accumulation=2))
    '2×2×2'
    """

    workers: int
    microbatch: int
    accumulation: int

    def __post_init__(self) -> None:
        for field in fields(self):
            checked = whole(field.name, getattr(self, field.name), minimum=1, maximum=10**6)
            object.__setattr__(self, field.name, checked)

    def __str__(self) -> str:
        return f"{self.workers}×{self.microbatch}×{self.accumulation}"

    @property
    def sequences_per_update(self) -> int:
        """workers · microbatch · accumulation."""
        return self.workers * self.microbatch * self.accumulation

    def split(self, items: Sequence[T]) -> tuple[tuple[tuple[T, ...], ...], ...]:
        """Deal one update's items, one per sequence: result[worker][round] is a microbatch.

        In every round the workers take the next ``microbatch`` items each, in order.

        >>> Arrangement(workers=2, microbatch=1, accumulation=2).split("甲 乙 丙 丁".split())
        ((('甲',), ('丙',)), (('乙',), ('丁',)))
        """
        values = sequence("items", items)
        if len(values) != self.sequences_per_update:
            raise CourseError(
                f"{self} 的一次更新要 {self.sequences_per_update} 个序列，但 items 有 {len(values)} 项",
                remedy="请让每个序列对应一项",
            )
        size = self.microbatch
        microbatches = [values[start : start + size] for start in range(0, len(values), size)]
        return tuple(tuple(microbatches[worker :: self.workers]) for worker in range(self.workers))

    def token_counts(self, lengths: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return the valid tokens of every microbatch, result[worker][round], from one length per sequence.

        >>> Arrangement(workers=2, microbatch=2, accumulation=1).token_counts([128, 128, 100, 20])
        ((256,), (120,))
        """
        counts = [whole("lengths", length) for length in sequence("lengths", lengths)]
        return tuple(tuple(map(sum, rounds)) for rounds in self.split(counts))


def arrangements(*, sequences_per_update: int) -> tuple[Arrangement, ...]:
    """Return every worker × microbatch × accumulation whose product is ``sequences_per_update``.

    >>> [str(way) for way in arrangements(sequences_per_update=2)]
    ['1×1×2', '1×2×1', '2×1×1']
    """
    sequences = whole("sequences_per_update", sequences_per_update, minimum=1, maximum=10**6)
    return tuple(
        Arrangement(workers=workers, microbatch=size, accumulation=sequences // workers // size)
        for workers in _divisors(sequences)
        for size in _divisors(sequences // workers)
    )


def _divisors(number: int) -> list[int]:
    small = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    return sorted({*small, *(number // divisor for divisor in small)})
