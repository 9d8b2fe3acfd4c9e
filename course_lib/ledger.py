"""Section 27.2: what a training step keeps, item by item (table 27.1).

A ``Ledger`` is a list of ``Row`` values plus the names of what it does *not* count. Adding ledgers joins the
rows and shortens the list of omissions by what is now counted. Symbols: N parameters; every row stores
``count`` values of ``bytes_each`` bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Final

from .arguments import exact, instance, is_a, sequence, text, whole
from .errors import CourseError

WEIGHTS: Final = "工作权重"
GRADS: Final = "梯度"
GRAD_BUFFER: Final = "梯度累积缓冲"
MASTER: Final = "主权重副本"
MOMENTS: Final = "一阶矩与二阶矩"
ACTIVATIONS: Final = "已保存激活"

ATTENTION_SCORES: Final = "注意力分数"
EMBEDDINGS: Final = "嵌入输出"
LOGITS: Final = "logits"
WORKSPACE: Final = "临时工作区"
COMMUNICATION: Final = "通信缓冲区"
FRAGMENTATION: Final = "内存碎片"

STEP_OMITS: Final = (ATTENTION_SCORES, EMBEDDINGS, LOGITS, WORKSPACE, COMMUNICATION, FRAGMENTATION)


class Lifetime(Enum):
    """How long an object stays: the three kinds of figure 27.1. The value is the Chinese label."""

    ACROSS_UPDATES = "跨更新保留"
    WITHIN_STEP = "单步之内"
    ACROSS_STOP = "跨停止恢复"


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a ledger: ``count`` values, each stored once per entry of ``bytes_each``.

    ``name`` is the Chinese name and the row's identity, ``why`` says in Chinese why it is kept.

    >>> Row("一阶矩与二阶矩", 1_000_000, (4, 4), "保留 Adam 的更新历史", Lifetime.ACROSS_UPDATES).total_bytes
    8000000
    """

    name: str
    count: int
    bytes_each: tuple[int, ...]
    why: str
    lifetime: Lifetime

    def __post_init__(self) -> None:
        for name in ("name", "why"):
            object.__setattr__(self, name, text(name, getattr(self, name)))
        instance("lifetime", self.lifetime, Lifetime, "请从 Lifetime 的三类存活时间中选一类")
        if not is_a(self.bytes_each, tuple) or not self.bytes_each:
            raise CourseError("bytes_each 必须是非空元组", got=self.bytes_each, remedy="例如 (2,) 或 (4, 4)")
        object.__setattr__(self, "count", whole("count", self.count))
        given = sequence("bytes_each", self.bytes_each)
        widths = tuple(whole("bytes_each", width, minimum=1) for width in given)
        object.__setattr__(self, "bytes_each", widths)

    @property
    def bytes_per_value(self) -> int:
        """Bytes per counted value; per parameter where the row counts parameters."""
        return sum(self.bytes_each)

    @property
    def total_bytes(self) -> int:
        """``count`` × ``bytes_per_value``."""
        return self.count * self.bytes_per_value


@dataclass(frozen=True, slots=True)
class Ledger:
    """Rows that are alive together in this estimate, and the names of what is left out.

    Raises ``CourseError`` for a second row of the same name.
    """

    rows: tuple[Row, ...]
    omits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = sequence("rows", self.rows)
        names = [instance("rows", row, Row, "请用 Row(...) 写账目").name for row in rows]
        for name, times in Counter(names).items():
            if times > 1:
                raise CourseError("账本里已有同名的一行", got=name, remedy="请换一个名字，或先把两行合成一行")
        omits = dict.fromkeys(text("omits", name) for name in sequence("omits", self.omits))
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "omits", tuple(name for name in omits if name not in names))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        known = "、".join(row.name for row in self.rows) or "（空）"
        raise CourseError("账本里没有这一行", got=name, remedy=f"现有的行：{known}")

    def __add__(self, other: object) -> Ledger:
        if not isinstance(other, Ledger):
            raise CourseError(
                "只能与另一本账相加", got=other, remedy="激活请先写成 acts.ledger()，单独一行请用 with_row"
            )
        return Ledger(self.rows + other.rows, self.omits + other.omits)

    @property
    def total_bytes(self) -> int:
        """Sum over all rows, in bytes."""
        return sum(row.total_bytes for row in self.rows)

    def with_row(self, row: Row) -> Ledger:
        """Return a ledger that also counts ``row`` and no longer lists it as omitted."""
        return Ledger((*self.rows, row), self.omits)

    def with_headroom(self, *, percent: object) -> int:
        """Total bytes plus a planning margin, rounded up to a whole byte. A plan, not a measured peak.

        >>> model_state(1_000_000).with_headroom(percent=25)
        20000000
        """
        share = exact("percent", percent, minimum=0, maximum=1000)
        return ceil(self.total_bytes * (1 + share / 100))

    def bytes_per_parameter(self, parameters: int) -> Fraction:
        """Total bytes per parameter; exact, as rows need not divide evenly."""
        return Fraction(self.total_bytes, whole("parameters", parameters, minimum=1))


_WHY: Final = MappingProxyType(
    {
        WEIGHTS: "前向与反向计算都要读",
        GRADS: "汇总各项贡献，等到更新时用",
        GRAD_BUFFER: "用更高精度累加各微批次的梯度",
        MASTER: "让细小的更新积累起来",
        MOMENTS: "Adam 靠它们记住更新历史",
    }
)


def model_state(
    parameters: int,
    *,
    weights: int = 2,
    grads: int = 2,
    grad_buffer: int = 0,
    master: int = 4,
    moments: tuple[int, ...] = (4, 4),
) -> Ledger:
    """Return the model states of N parameters; arguments are bytes per parameter, 0 for "does not exist".

    All rows live across updates. Activations and everything else of a step are listed under ``omits``.
    Source: example 27.1 and table 27.1.

    >>> state = model_state(1_000_000, weights=2, grads=2, master=4, moments=(4, 4))
    >>> [row.total_bytes for row in state], state.total_bytes
    ([2000000, 2000000, 4000000, 8000000], 16000000)
    """
    count = whole("parameters", parameters, minimum=1)
    widths = {
        WEIGHTS: (whole("weights", weights),),
        GRADS: (whole("grads", grads),),
        GRAD_BUFFER: (whole("grad_buffer", grad_buffer),),
        MASTER: (whole("master", master),),
        MOMENTS: tuple(whole("moments", width, minimum=1) for width in sequence("moments", moments)),
    }
    rows = tuple(
        Row(name, count, width, _WHY[name], Lifetime.ACROSS_UPDATES)
        for name, width in widths.items()
        if sum(width)
    )
    return Ledger(rows, (ACTIVATIONS, *STEP_OMITS))


@dataclass(frozen=True, slots=True)
class Recipe:
    """One published bookkeeping of Adam: bytes per parameter of each item, and where it is printed.

    ``not_counted`` names model states that the bookkeeping leaves out although training has them; a state
    that this way of training does without, such as a master copy, is not named.
    """

    title: str
    source: str
    weights: int
    grads: int
    grad_buffer: int
    master: int
    moments: tuple[int, ...]
    not_counted: tuple[str, ...] = ()

    @property
    def bytes_per_parameter(self) -> int:
        """Sum of all items, in bytes per parameter."""
        return self.weights + self.grads + self.grad_buffer + self.master + sum(self.moments)

    def ledger(self, parameters: int) -> Ledger:
        """Return this bookkeeping for N parameters."""
        state = model_state(
            parameters,
            weights=self.weights,
            grads=self.grads,
            grad_buffer=self.grad_buffer,
            master=self.master,
            moments=self.moments,
        )
        return replace(state, omits=self.not_counted + state.omits)


RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType(
    {
        "chapter": Recipe("本章的混合精度 Adam", "例 27.1；ZeRO（2020）第 3 节", 2, 2, 0, 4, (4, 4)),
        "fp32": Recipe("全程 FP32 的 Adam", "按全部 4 字节推得，没有主权重副本", 4, 4, 0, 0, (4, 4)),
        "megatron": Recipe("梯度以 4 字节保存", "Megatron-LM；llm-analysis", 2, 4, 0, 4, (4, 4)),
        "playbook": Recipe("另加 FP32 梯度累积缓冲", "Ultra-Scale Playbook", 2, 2, 4, 4, (4, 4)),
        "no-master": Recipe("不设主副本", "一些课程笔记", 2, 2, 0, 0, (4, 4)),
        "scaling-book": Recipe(
            "只计权重与矩", "scaling-book 的估算", 2, 0, 0, 0, (4, 4), not_counted=(GRADS, MASTER)
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of a comparison: bytes of the same item in two ledgers, 0 where it has no row."""

    name: str
    left_bytes: int
    right_bytes: int

    @property
    def change_bytes(self) -> int:
        """``right_bytes`` − ``left_bytes``."""
        return self.right_bytes - self.left_bytes


def diff(left: Ledger, right: Ledger) -> tuple[Difference, ...]:
    """Compare two ledgers item by item and return the items whose bytes differ. Equal totals prove nothing.

    >>> [(d.name, d.change_bytes) for d in diff(RECIPES["chapter"].ledger(10), RECIPES["fp32"].ledger(10))]
    [('工作权重', 20), ('梯度', 20), ('主权重副本', -40)]
    """
    sides = [
        {row.name: row.total_bytes for row in instance(name, side, Ledger, "请给 Ledger")}
        for name, side in (("left", left), ("right", right))
    ]
    names = dict.fromkeys([*sides[0], *sides[1]])
    lines = (Difference(name, sides[0].get(name, 0), sides[1].get(name, 0)) for name in names)
    return tuple(line for line in lines if line.change_bytes)
