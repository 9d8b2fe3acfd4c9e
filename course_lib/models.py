"""Section 27.2: published model sizes, as presets for estimates and sliders.

The numbers are other people's, never the chapter's. ``parameters`` is the size the model is known by, rounded
as printed, except for GPT-2 124M, where it is the exact count of an allocation log (with padded vocabulary).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

from .activations import SavedActivations, TransformerActivations
from .arguments import text, whole
from .errors import CourseError

# 12 · width · batch · positions · layers · 2 bytes: the estimate of the ZeRO paper (2020), section 3.2.
ZERO_PAPER_ARRAYS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The shape of one published transformer: h ``width``, L ``layers``, a ``heads``, s ``positions``."""

    title: str
    source: str
    parameters: int
    width: int
    layers: int
    heads: int
    positions: int
    vocabulary: int
    feed_forward: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("title", "source"):
                object.__setattr__(self, field.name, text(field.name, value))
            else:
                object.__setattr__(self, field.name, whole(field.name, value, minimum=1))

    def saved(
        self, *, sequences: int, arrays_per_layer: int = 10, bytes_per_value: int = 2
    ) -> SavedActivations:
        """Return the chapter's linear estimate at this model's full sequence length.

        >>> MODELS["gpt2-1.5b"].saved(sequences=32, arrays_per_layer=ZERO_PAPER_ARRAYS).total_bytes
        60397977600
        """
        return SavedActivations(
            sequences=sequences,
            positions=self.positions,
            width=self.width,
            layers=self.layers,
            arrays_per_layer=arrays_per_layer,
            bytes_per_value=bytes_per_value,
        )

    def transformer(
        self,
        *,
        sequences: int = 1,
        tensor_parallel: int = 1,
        sequence_parallel: bool = False,
        recompute: str = "none",
    ) -> TransformerActivations:
        """Return the published count 34 + 5as/h; refused where the feed-forward width is not 4h.

        >>> MODELS["gpt3-175b"].transformer(tensor_parallel=8).units_per_layer
        Fraction(23, 1)
        """
        if self.feed_forward != 4 * self.width:
            raise CourseError(
                f"34 + 5as/h 假设前馈宽度是 4h，而 {self.title} 的 h 是 {self.width}",
                got=self.feed_forward,
                remedy="请改用 saved(...) 的线性估算，或换一个前馈宽度为 4h 的模型",
            )
        return TransformerActivations(
            sequences=sequences,
            positions=self.positions,
            width=self.width,
            heads=self.heads,
            layers=self.layers,
            tensor_parallel=tensor_parallel,
            sequence_parallel=sequence_parallel,
            recompute=recompute,
        )


_KORTHIKANTI: Final = "Korthikanti 等（2022）第 6 节"

MODELS: Final[Mapping[str, Model]] = MappingProxyType(
    {
        "gpt2-124m": Model(
            title="GPT-2 124M", source="Radford 等（2019）；参数个数取自 llm.c 的分配记录",
            parameters=124_475_904, width=768, layers=12, heads=12, positions=1024,
            vocabulary=50_257, feed_forward=3072,
        ),
        "gpt2-1.5b": Model(
            title="GPT-2 1.5B", source="Radford 等（2019）；ZeRO（2020）第 3 节",
            parameters=1_500_000_000, width=1600, layers=48, heads=25, positions=1024,
            vocabulary=50_257, feed_forward=6400,
        ),
        "llama3-8b": Model(
            title="Llama 3 8B", source="Meta（2024）的模型配置",
            parameters=8_030_000_000, width=4096, layers=32, heads=32, positions=8192,
            vocabulary=128_256, feed_forward=14_336,
        ),
        "gpt3-175b": Model(
            title="GPT-3 175B", source=_KORTHIKANTI,
            parameters=175_000_000_000, width=12_288, layers=96, heads=96, positions=2048,
            vocabulary=51_200, feed_forward=49_152,
        ),
        "mt-nlg-530b": Model(
            title="MT-NLG 530B", source=_KORTHIKANTI,
            parameters=530_000_000_000, width=20_480, layers=105, heads=128, positions=2048,
            vocabulary=51_200, feed_forward=81_920,
        ),
        "1t": Model(
            title="1T", source=_KORTHIKANTI,
            parameters=1_000_000_000_000, width=25_600, layers=128, heads=160, positions=2048,
            vocabulary=51_200, feed_forward=102_400,
        ),
    }
)  # fmt: skip
