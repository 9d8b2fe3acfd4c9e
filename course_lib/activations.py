"""Section 27.2: values that the forward pass saves for the backward pass.

``SavedActivations`` is the chapter's linear model: k arrays per layer, each batch × position × width.
``TransformerActivations`` is the published count for a real transformer layer, 34 + 5as/h. What they do not
include is listed under ``omits``; the ``…_row`` functions make rows of it for ``Ledger.with_row``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, prod
from typing import Final

from .arguments import choice, exact, instance, truth, whole
from .errors import CourseError
from .ledger import (
    ACTIVATIONS,
    ATTENTION_SCORES,
    COMMUNICATION,
    EMBEDDINGS,
    FRAGMENTATION,
    LOGITS,
    STEP_OMITS,
    WORKSPACE,
    Ledger,
    Lifetime,
    Row,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedActivations:
    """k arrays per layer of shape (sequences, positions, width), all saved until the backward pass.

    Source: example 27.1, M_act = sequences · positions · width · layers · arrays_per_layer · bytes_per_value.

    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> acts.array_bytes, acts.arrays, acts.total_bytes
    (32768, 40, 1310720)
    """

    sequences: int
    positions: int
    width: int
    layers: int
    arrays_per_layer: int
    bytes_per_value: int

    def __post_init__(self) -> None:
        for field in fields(self):
            minimum = 0 if field.name == "arrays_per_layer" else 1
            checked = whole(field.name, getattr(self, field.name), minimum=minimum)
            object.__setattr__(self, field.name, checked)

    @property
    def array_values(self) -> int:
        """Values in one array: sequences × positions × width."""
        return self.sequences * self.positions * self.width

    @property
    def array_bytes(self) -> int:
        """Bytes of one array."""
        return self.array_values * self.bytes_per_value

    @property
    def layer_bytes(self) -> int:
        """Bytes of all arrays of one layer."""
        return self.arrays_per_layer * self.array_bytes

    @property
    def arrays(self) -> int:
        """Arrays over all layers."""
        return self.layers * self.arrays_per_layer

    @property
    def total_bytes(self) -> int:
        """Bytes of all saved arrays."""
        return self.arrays * self.array_bytes

    def ledger(self) -> Ledger:
        """Return one row for all arrays; what ten arrays do not include is listed under ``omits``."""
        row = Row(
            ACTIVATIONS,
            self.arrays * self.array_values,
            (self.bytes_per_value,),
            "反向计算要沿前向的中间值走回去",
            Lifetime.WITHIN_STEP,
        )
        return Ledger((row,), STEP_OMITS)


_FORMS: Final = ("none", "selective", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerActivations:
    """The published count for a transformer layer trained in 16 bits: 34 + 5as/h, in units of s·b·h bytes.

    Symbols: b ``sequences``, s ``positions``, h ``width``, a ``heads``, t ``tensor_parallel`` workers.
    ``sequence_parallel`` also splits what tensor parallelism leaves whole; ``recompute`` is ``"none"``,
    ``"selective"`` (the attention scores, 5as/h, are rebuilt) or ``"full"`` (only the layer's input, 2, is
    kept, whole on every worker). The 34 assume dropout, a feed-forward width of 4h and no fused attention.
    Raises ``CourseError`` where t does not divide a and h (and s, with sequence parallelism).
    Source: Korthikanti et al. 2022, table 2. Bytes are those of one worker.

    >>> gpt3 = TransformerActivations(sequences=1, positions=2048, width=12288, heads=96, layers=96,
    ...                               tensor_parallel=8, recompute="selective")
    >>> gpt3.units_per_layer, gpt3.layer_bytes
    (Fraction(13, 1), 327155712)
    """

    sequences: int
    positions: int
    width: int
    heads: int
    layers: int
    tensor_parallel: int = 1
    sequence_parallel: bool = False
    recompute: str = "none"

    def __post_init__(self) -> None:
        for name in ("sequences", "positions", "width", "heads", "layers", "tensor_parallel"):
            object.__setattr__(self, name, whole(name, getattr(self, name), minimum=1))
        truth("sequence_parallel", self.sequence_parallel)
        object.__setattr__(self, "recompute", choice("recompute", self.recompute, _FORMS))
        for name in ("heads", "width", *(["positions"] if self.sequence_parallel else [])):
            size = getattr(self, name)
            if size % self.tensor_parallel:
                raise CourseError(
                    f"tensor_parallel 不能整除 {name}（{size}）",
                    got=self.tensor_parallel,
                    remedy=f"请给 {size} 的一个约数",
                )

    @property
    def layer_values(self) -> int:
        """s·b·h, the unit of the formula."""
        return self.sequences * self.positions * self.width

    @property
    def linear_units(self) -> Fraction:
        """What grows with s, per layer in s·b·h bytes: 34, 10 + 24/t, 34/t or, with full recompute, 2."""
        if self.recompute == "full":
            return Fraction(2)
        whole_part = Fraction(10, self.tensor_parallel if self.sequence_parallel else 1)
        return whole_part + Fraction(24, self.tensor_parallel)

    @property
    def score_units(self) -> Fraction:
        """What grows with s², per layer in s·b·h bytes: 5as/(ht), or 0 where the scores are rebuilt."""
        if self.recompute != "none":
            return Fraction(0)
        return Fraction(5 * self.heads * self.positions, self.width * self.tensor_parallel)

    @property
    def units_per_layer(self) -> Fraction:
        """Bytes of one layer divided by s·b·h."""
        return self.linear_units + self.score_units

    @property
    def layer_bytes(self) -> int:
        """Bytes of one layer; whole, as t divides heads and width."""
        return int(self.units_per_layer * self.layer_values)

    @property
    def total_bytes(self) -> int:
        """Bytes of all layers, for one microbatch."""
        return self.layers * self.layer_bytes

    def ledger(self) -> Ledger:
        """Return the part linear in s and, where saved, the attention scores as a row of their own."""
        linear = int(self.linear_units * self.layer_values) * self.layers
        kept = Ledger(
            (Row(ACTIVATIONS, linear, (1,), "反向计算要沿前向的中间值走回去", Lifetime.WITHIN_STEP),),
            STEP_OMITS,
        )
        scores = self.total_bytes - linear
        if not scores:
            return kept
        return kept.with_row(Row(ATTENTION_SCORES, scores, (1,), _WHY_SCORES, Lifetime.WITHIN_STEP))


_WHY_SCORES: Final = "反向计算注意力时要用 softmax 的结果，随序列长度平方增长"


def attention_scores_row(
    *, sequences: int, positions: int, heads: int, layers: int, bytes_each: tuple[int, ...] = (2, 1, 2)
) -> Row:
    """Return the saved attention scores: b·a·s² values per layer.

    ``bytes_each`` are the softmax output, the dropout mask and the dropout output (Korthikanti et al. 2022,
    section 4.1); fused attention saves none of them, so then leave the row out.

    >>> attention_scores_row(sequences=2, positions=128, heads=4, layers=4).total_bytes
    2621440
    """
    count = _product(sequences=sequences, positions=positions, heads=heads, layers=layers, columns=positions)
    return Row(ATTENTION_SCORES, count, bytes_each, _WHY_SCORES, Lifetime.WITHIN_STEP)


def embeddings_row(*, sequences: int, positions: int, width: int, bytes_per_value: int = 2) -> Row:
    """Return the embedding output, the first layer's input: one array of b·s·h values.

    >>> embeddings_row(sequences=2, positions=128, width=64).total_bytes
    32768
    """
    count = _product(sequences=sequences, positions=positions, width=width)
    each = whole("bytes_per_value", bytes_per_value, minimum=1)
    return Row(EMBEDDINGS, count, (each,), "第一层的输入，反向时还要用", Lifetime.WITHIN_STEP)


def logits_row(*, sequences: int, positions: int, vocabulary: int, bytes_per_value: int = 4) -> Row:
    """Return the logits: b·s·v values, 4 bytes each for a loss in FP32 (Korthikanti et al. 2022, 4.3).

    >>> logits_row(sequences=2, positions=128, vocabulary=50_257).total_bytes
    51463168
    """
    count = _product(sequences=sequences, positions=positions, vocabulary=vocabulary)
    each = whole("bytes_per_value", bytes_per_value, minimum=1)
    return Row(LOGITS, count, (each,), "算损失和它的梯度都要用", Lifetime.WITHIN_STEP)


def workspace_row(*, n_bytes: int) -> Row:
    """Return room that kernels use while they run; its size is measured or read from the library's notes."""
    return Row(WORKSPACE, whole("n_bytes", n_bytes), (1,), "内核运行期间的草稿空间", Lifetime.WITHIN_STEP)


def communication_row(*, n_bytes: int) -> Row:
    """Return the buffers of collective communication, for example one bucket of gradients."""
    return Row(COMMUNICATION, whole("n_bytes", n_bytes), (1,), "集体通信收发时的中转", Lifetime.WITHIN_STEP)


def fragmentation_row(ledger: Ledger, *, percent: object) -> Row:
    """Return memory that is reserved but unusable, as a share of what ``ledger`` counts, rounded up.

    >>> from course_lib.ledger import model_state
    >>> fragmentation_row(model_state(1_000_000), percent=5).total_bytes
    800000
    """
    counted = instance("ledger", ledger, Ledger, "请给要按比例计碎片的账本").total_bytes
    share = exact("percent", percent, minimum=0, maximum=1000)
    return Row(
        FRAGMENTATION, ceil(counted * share / 100), (1,), "空着却拼不出整块的内存", Lifetime.WITHIN_STEP
    )


def _product(**sizes: int) -> int:
    return prod(whole(name, size, minimum=1) for name, size in sizes.items())
