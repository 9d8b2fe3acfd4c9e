"""Section 27.9, exercise 1: a larger microbatch adds activations, the model state stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, Ledger, model_state
from .. import Number, Table, log_stops, powers_of_two
from ..charts import LedgerBars, legend
from ..explorer import Explorer
from ..palette import OF_ROW
from ..stage import Stage

CONTROLS = (
    Number("times", "微批次放大", 2, range(1, 9), "倍", "题目是 2 倍"),
    Number("sequences", "原来的序列数", 2, range(1, 33), "个", "放大之前一个微批次里的序列数"),
    Number("positions", "位置数", 128, powers_of_two(16, 8192), "个", "每个序列的 token 位置数"),
    Number("width", "宽度", 64, powers_of_two(16, 16384), "", "每个位置的坐标数"),
    Number("layers", "层数", 4, range(1, 129), "层"),
    Number("arrays_per_layer", "每层数组", 10, range(1, 41), "个", "每层保留几个同样形状的数组"),
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个", "只影响模型状态"),
)
PRESETS = {
    "放大到 8 倍": {"times": 8},
    "GPT-2 124M 的形状": {
        "sequences": 1,
        "positions": 1024,
        "width": 768,
        "layers": 12,
        "parameters": 124_475_904,
    },
    "GPT-3 175B 的形状": {
        "sequences": 1,
        "positions": 2048,
        "width": 12288,
        "layers": 96,
        "parameters": 175 * 10**9,
    },
}


def _compute(inputs: Any) -> tuple[Ledger, ...]:
    shape = {name: getattr(inputs, name) for name in ("positions", "width", "layers", "arrays_per_layer")}
    saved = (
        SavedActivations(sequences=times * inputs.sequences, bytes_per_value=2, **shape)
        for times in (1, inputs.times)
    )
    return tuple(model_state(inputs.parameters) + acts.ledger() for acts in saved)


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import model_state

def need(sequences):
    acts = SavedActivations(sequences=sequences, positions={inputs.positions}, width={inputs.width},
                            layers={inputs.layers}, bytes_per_value=2,
                            arrays_per_layer={inputs.arrays_per_layer})
    return model_state({inputs.parameters:_}) + acts.ledger()

result = tuple(need(times * {inputs.sequences}) for times in (1, {inputs.times}))
"""


def _picture(stage: Stage) -> Callable[[Any, tuple[Ledger, ...]], None]:
    bars = LedgerBars(stage.axes(), OF_ROW)
    legend(stage, {row.name: OF_ROW[row.name] for row in model_state(1)} | {ACTIVATIONS: OF_ROW[ACTIVATIONS]})

    def update(inputs: Any, ledgers: tuple[Ledger, ...]) -> None:
        pieces = ([(row.name, row.total_bytes) for row in ledger] for ledger in ledgers)
        bars.show(dict(zip(("原来", "放大后"), pieces, strict=True)))

    return update


def _parts(ledger: Ledger) -> tuple[int, int, int]:
    saved = ledger[ACTIVATIONS].total_bytes
    return saved, ledger.total_bytes - saved, ledger.total_bytes


def _table(inputs: Any, ledgers: tuple[Ledger, ...]) -> Table:
    counts = (inputs.sequences, inputs.times * inputs.sequences)
    rows = tuple((count, *_parts(ledger)) for count, ledger in zip(counts, ledgers, strict=True))
    note = f"都未加余量。未计入：{'、'.join(ledgers[-1].omits)}。"
    return Table(("序列数", "已保存激活", "模型状态", "合计字节"), rows, note=note)


def _sentence(inputs: Any, ledgers: tuple[Ledger, ...]) -> str:
    saved, state, total = _parts(ledgers[-1])
    if inputs.times == 1:
        return f"原来的微批次：激活 {saved:,} 字节，加上模型状态 {state:,} 字节，共 {total:,} 字节。"
    growth = float(total / ledgers[0].total_bytes)
    return (
        f"激活放大到 {inputs.times} 倍，是 {saved:,} 字节；模型状态仍是 {state:,} 字节。"
        f"合计 {total:,} 字节，是原来的 {growth:.2f} 倍。"
    )


def larger_microbatch() -> Explorer:
    """Return the explorer of exercise 1: microbatches of growing size beside the same model state."""
    return Explorer(
        title="习题 1：微批次加倍，账上哪一段变长",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 240),
    )


EXPLORERS = (larger_microbatch,)
