"""Section 27.10, companion's own: activations of one layer by the published count 34 + 5as/h."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...activations import TransformerActivations
from ...ledger import ACTIVATIONS, ATTENTION_SCORES
from ...models import MODELS
from .. import Choice, Number, Table, powers_of_two
from ..charts import LedgerBars, legend
from ..explorer import OURS, Explorer
from ..guesses import plain
from ..palette import OF_ROW, ORANGE, Style
from ..stage import Stage

# The count assumes a feed-forward width of 4h.
USABLE = {key: model for key, model in MODELS.items() if model.feed_forward == 4 * model.width}
CONTROLS = (
    Choice("model", "模型", "gpt3-175b", {key: model.title for key, model in USABLE.items()}, "论文里的设定"),
    Number("tensor_parallel", "张量并行", 8, powers_of_two(1, 32), "个", "必须整除头数和宽度"),
    Number("sequences", "序列数", 1, range(1, 65), "个", "一个微批次里的序列数"),
)
PRESETS: dict[str, dict[str, Any]] = {
    "GPT-2 124M，4 个进程": {"model": "gpt2-124m", "tensor_parallel": 4},
    "MT-NLG 530B": {"model": "mt-nlg-530b"},
    "1T": {"model": "1t"},
}
FORMS: dict[str, dict[str, Any]] = {
    "不分": {"tensor_parallel": 1},
    "张量并行": {},
    "张量＋序列": {"sequence_parallel": True},
    "张量＋选择重算": {"recompute": "selective"},
    "三者都用": {"sequence_parallel": True, "recompute": "selective"},
    "全部重算": {"recompute": "full"},
}
KINDS = {ACTIVATIONS: OF_ROW[ACTIVATIONS], ATTENTION_SCORES: Style(ORANGE, "//")}
NAMES = {ACTIVATIONS: "随序列长度线性增长的部分", ATTENTION_SCORES: "注意力分数（随平方增长）"}


def _compute(inputs: Any) -> tuple[TransformerActivations, ...]:
    given = {"sequences": inputs.sequences, "tensor_parallel": inputs.tensor_parallel}
    return tuple(USABLE[inputs.model].transformer(**(given | form)) for form in FORMS.values())


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.models import MODELS

given = {{"sequences": {inputs.sequences}, "tensor_parallel": {inputs.tensor_parallel}}}
forms = {tuple(FORMS.values())}
result = tuple(MODELS["{inputs.model}"].transformer(**(given | form)) for form in forms)
"""


def _picture(stage: Stage) -> Callable[[Any, tuple[TransformerActivations, ...]], None]:
    bars = LedgerBars(stage.axes(), KINDS)
    legend(stage, KINDS, NAMES)

    def update(inputs: Any, layers: tuple[TransformerActivations, ...]) -> None:
        pieces = [[(row.name, row.total_bytes // each.layers) for row in each.ledger()] for each in layers]
        bars.show(dict(zip(FORMS, pieces, strict=True)))

    return update


def _table(inputs: Any, layers: tuple[TransformerActivations, ...]) -> Table:
    rows = tuple(
        (name, plain(each.units_per_layer), each.layer_bytes, each.total_bytes)
        for name, each in zip(FORMS, layers, strict=True)
    )
    columns = ("做法", "每层，以 s·b·h 字节计", "每层字节", f"{layers[0].layers} 层字节")
    return Table(columns, rows, note="每个进程的字节数，按论文的公式推算，不是测量。")


def _sentence(inputs: Any, layers: tuple[TransformerActivations, ...]) -> str:
    none, best = layers[0].units_per_layer, layers[4].units_per_layer
    return (
        f"{USABLE[inputs.model].title}，{inputs.tensor_parallel} 个进程：每层从 {plain(none)} 份"
        f"降到 {plain(best)} 份（三者都用），一份是 s·b·h 字节。"
    )


def layer_activations() -> Explorer:
    """Return the explorer: one layer's activations without, with tensor and sequence parallel, recompute."""
    return Explorer(
        title="一层要留多少激活：论文的公式",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 320),
    )


EXPLORERS = (layer_activations,)
