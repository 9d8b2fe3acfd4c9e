"""Section 27.5: who keeps what (example 27.3), and what has to be fetched because of it.

A sharded ledger is one worker's: its sharded rows are ``ShardRow`` values that know which share they are.
Only model states are sharded here; activations come from each worker's own examples. Symbols: N or Ψ
parameters, W workers, L parameters of the largest layer. Source: Rajbhandari et al. 2020, sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from ..arguments import choice, instance, sequence, whole
from ..collectives import share
from ..errors import CourseError
from ..ledger import GRAD_BUFFER, GRADS, MASTER, MOMENTS, WEIGHTS, Ledger, Lifetime, Row

MODEL_STATES: Final = (WEIGHTS, GRADS, GRAD_BUFFER, MASTER, MOMENTS)
ZERO_1: Final = frozenset({MASTER, MOMENTS})
ZERO_2: Final = ZERO_1 | {GRADS, GRAD_BUFFER}
ZERO_3: Final = ZERO_2 | {WEIGHTS}
STAGES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"不分片": frozenset(), "ZeRO 1": ZERO_1, "ZeRO 2": ZERO_2, "ZeRO 3": ZERO_3}
)

GATHERED_WEIGHTS: Final = "临时收集的权重"
UNSCATTERED_GRADS: Final = "分片前的整层梯度"

_STATE_REMEDY: Final = "请用 model_state(...) 或 RECIPES[...].ledger(...) 得到整份账本"


def check_share(count: int, total: int, worker: int, workers: int) -> None:
    """Refuse a share that is not the size this worker owns."""
    due = share(total, workers=workers, worker=worker).count
    if count != due:
        raise CourseError(
            f"第 {worker} 号进程（共 {workers} 个）的份额与 worker、workers 不符",
            got=count,
            remedy=f"{total} 个值里它应有 {due} 个",
        )


def check_states(argument: str, names: object) -> frozenset[str]:
    """Return a set of model states; refuse anything that is not one, activations above all."""
    return frozenset(choice(argument, name, MODEL_STATES) for name in sequence(argument, names))


@dataclass(frozen=True, slots=True)
class ShardRow(Row):
    """A row of which this worker keeps only its share: ``count`` of ``whole_count`` values.

    Shares of all ``workers`` sum to the whole, also when it does not divide.
    """

    whole_count: int
    worker: int
    workers: int

    def __post_init__(self) -> None:
        Row.__post_init__(self)  # super() has no meaning in a class that slots=True builds a second time
        for name in ("whole_count", "worker", "workers"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        check_share(self.count, self.whole_count, self.worker, self.workers)

    @property
    def ideal_bytes(self) -> Fraction:
        """The share if the whole divided evenly; a planning figure, no worker stores part of a byte."""
        return Fraction(self.whole_count * self.bytes_per_value, self.workers)


def whole_ledger(state: Ledger) -> Ledger:
    """Return the ledger if it is of the whole model; refuse one that is already one worker's."""
    for row in instance("state", state, Ledger, _STATE_REMEDY):
        if isinstance(row, ShardRow):
            raise CourseError("state 已经是一个进程的份额，不能再分一次", got=row.name, remedy=_STATE_REMEDY)
    return state


def resident(state: Ledger, *, workers: int, sharded: object, worker: int = 0) -> Ledger:
    """Return what one worker keeps for good; ``worker`` 0 has a largest share.

    ``sharded`` names the rows to split (``ZERO_1`` to ``ZERO_3``, or any set of model states); rows that the
    ledger does not have are no fault. What a step fetches or holds on top is listed under ``omits``; count it
    with ``gathered``. Raises ``CourseError`` for a ledger that is already one worker's.

    >>> from course_lib.ledger import model_state
    >>> state = model_state(1_000_000)
    >>> [resident(state, workers=4, sharded=zero).total_bytes for zero in (ZERO_1, ZERO_2, ZERO_3)]
    [7000000, 5500000, 4000000]
    """
    names, n_workers = check_states("sharded", sharded), whole("workers", workers, minimum=1)
    index = whole("worker", worker, maximum=n_workers - 1)
    whole_ledger(state)
    if n_workers == 1:
        return state
    rows = tuple(_shard_row(row, index, n_workers) if row.name in names else row for row in state)
    return Ledger(rows, state.omits + _fetched(names))


def _shard_row(row: Row, worker: int, workers: int) -> ShardRow:
    count = share(row.count, workers=workers, worker=worker).count
    return ShardRow(row.name, count, row.bytes_each, row.why, row.lifetime, row.count, worker, workers)


def _fetched(names: frozenset[str]) -> tuple[str, ...]:
    """Name what the step needs whole although it is kept in shares."""
    needed = ((WEIGHTS, GATHERED_WEIGHTS), (GRADS, UNSCATTERED_GRADS))
    return tuple(temporary for name, temporary in needed if name in names)


def ideal_bytes(state: Ledger, *, workers: int, sharded: object) -> Fraction:
    """Return one worker's bytes if every share divided evenly: kept whole + sharded / W.

    >>> from course_lib.ledger import model_state
    >>> ideal_bytes(model_state(7_500_000_000), workers=64, sharded=ZERO_2)
    Fraction(16640625000, 1)
    """
    rows = resident(state, workers=workers, sharded=sharded)
    shares = (row.ideal_bytes if isinstance(row, ShardRow) else Fraction(row.total_bytes) for row in rows)
    return sum(shares, start=Fraction())


def gathered(state: Ledger, *, sharded: object, largest_layer: int) -> Ledger:
    """Return what is whole for a moment: weights of the largest layer, and its gradients before scattering.

    ``state`` is the whole ledger or one worker's, ``largest_layer`` counts parameters. Both rows have the
    width of the working weights, in which the backward pass computes. One layer at a time: fetching the next
    one early takes more. The sum of lasting share and this is the peak beside activations and buffers.

    >>> from course_lib.ledger import model_state
    >>> gathered(model_state(1_000_000), sharded=ZERO_3, largest_layer=250_000).total_bytes
    1000000
    """
    instance("state", state, Ledger, _STATE_REMEDY)
    size = whole("largest_layer", largest_layer, minimum=1)
    parameters = max((_whole_count(row) for row in state if row.name == WEIGHTS), default=size)
    if size > parameters:
        raise CourseError("largest_layer 大于整个模型", got=size, remedy=f"请给至多 {parameters} 的整数")
    why = "分片不够算一层，用时收齐，用完即丢"
    names = _fetched(check_states("sharded", sharded))
    width = state[WEIGHTS].bytes_each if names else ()
    return Ledger(tuple(Row(name, size, width, why, Lifetime.WITHIN_STEP) for name in names))


def _whole_count(row: Row) -> int:
    return row.whole_count if isinstance(row, ShardRow) else row.count


def offload(state: Ledger, *, names: object) -> Ledger:
    """Return the ledger without the rows that are moved to host memory, listed under ``omits`` as such.

    >>> from course_lib.ledger import model_state
    >>> offload(model_state(10), names=ZERO_1).omits[:2]
    ('主权重副本（移到主机内存）', '一阶矩与二阶矩（移到主机内存）')
    """
    moved = check_states("names", names)
    rows = instance("state", state, Ledger, _STATE_REMEDY).rows
    host = tuple(f"{row.name}（移到主机内存）" for row in rows if row.name in moved)
    return Ledger(tuple(row for row in rows if row.name not in moved), host + state.omits)
