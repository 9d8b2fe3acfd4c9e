"""Section 27.5: real values in shards, which only go back together when none is missing or foreign."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..arguments import exact, instance, sequence, text, whole
from ..collectives import share
from ..errors import CourseError
from .resident import check_share


@dataclass(frozen=True, slots=True)
class Shard:
    """One worker's share of real values, ``total`` in all.

    ``label`` says what they are a share of; shards of different labels do not belong together.
    """

    label: str
    worker: int
    workers: int
    total: int
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", text("label", self.label))
        for name in ("worker", "workers", "total"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        values = tuple(exact("values", value) for value in sequence("values", self.values))
        check_share(len(values), self.total, self.worker, self.workers)
        object.__setattr__(self, "values", values)


def scatter(label: str, values: object, *, workers: int) -> tuple[Shard, ...]:
    """Cut real values into one ``Shard`` per worker.

    >>> [[int(v) for v in shard.values] for shard in scatter("梯度", [1, 2, 3, 4, 5], workers=2)]
    [[1, 2, 3], [4, 5]]
    """
    numbers = tuple(exact("values", value) for value in sequence("values", values))
    n_workers = whole("workers", workers, minimum=1, maximum=2**16)
    parts = [share(len(numbers), workers=n_workers, worker=worker) for worker in range(n_workers)]
    return tuple(
        Shard(label, worker, n_workers, len(numbers), numbers[part.start : part.stop])
        for worker, part in enumerate(parts)
    )


def gather(shards: object) -> tuple[Fraction, ...]:
    """Return the whole values; refuse shards that are missing, doubled, or not cut from the same whole.

    >>> [int(value) for value in gather(scatter("梯度", [1, 2, 3], workers=2))]
    [1, 2, 3]
    """
    remedy = "请给同一次 scatter 得到的全部分片，每片一次"
    parts = [instance("shards", part, Shard, remedy) for part in sequence("shards", shards)]
    kinds = {(part.label, part.workers, part.total) for part in parts}
    if len(kinds) != 1:
        raise CourseError("这些分片不属于同一整体", got=tuple(sorted(kinds)), remedy=remedy)
    parts.sort(key=lambda part: part.worker)
    if [part.worker for part in parts] != list(range(parts[0].workers)):
        raise CourseError("分片缺失或重复", got=tuple(part.worker for part in parts), remedy=remedy)
    return tuple(value for part in parts for value in part.values)
