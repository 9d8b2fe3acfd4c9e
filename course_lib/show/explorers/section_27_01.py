"""Section 27.1: weights of 2 MB, a device of 10 MB, and what fills it object by object until it overflows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from ...activations import SavedActivations
from ...ledger import Ledger, model_state
from ...models import MODELS
from ...units import GB, MB, format_bytes
from .. import Choice, Number, Table, log_stops
from ..charts import LedgerBars, legend
from ..explorer import Explorer
from ..palette import OF_ROW
from ..stage import Stage

_MODEL_SHAPES = {
    key: f"{m.title}：{m.positions:,} × {m.width:,} × {m.layers} 层" for key, m in MODELS.items()
}
CONTROLS = (
    Number("objects", "放进几样", 5, range(1, 6), "样", "从工作权重开始，按训练一步的需要逐样放进设备"),
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个", "可训练参数的个数"),
    Number("sequences", "序列数", 2, range(1, 65), "个", "一个微批次里的序列数，只影响激活"),
    Choice(
        "shape",
        "激活的形状",
        "book",
        {"book": "书中：128 × 64 × 4 层"} | _MODEL_SHAPES,
        "位置数 × 宽度 × 层数",
    ),
    Number("capacity", "设备容量", 10 * MB, log_stops(10**5, 10**14), "字节", "可以输入 80G 这样的数"),
)
PRESETS = {"只放工作权重": {"objects": 1}} | {
    f"{MODELS[key].title}，{size} GB": {
        "parameters": MODELS[key].parameters, "shape": key, "capacity": size * GB
    }
    for key, size in (("gpt2-124m", 24), ("gpt2-1.5b", 24), ("llama3-8b", 80), ("gpt3-175b", 80))
}  # fmt: skip


def _shape(key: str) -> tuple[int, int, int]:
    if key == "book":
        return 128, 64, 4
    return MODELS[key].positions, MODELS[key].width, MODELS[key].layers


def _everything(parameters: int, sequences: int, shape: str) -> Ledger:
    positions, width, layers = _shape(shape)
    acts = SavedActivations(
        sequences=sequences,
        positions=positions,
        width=width,
        layers=layers,
        arrays_per_layer=10,
        bytes_per_value=2,
    )
    return model_state(parameters) + acts.ledger()


NAMES = tuple(row.name for row in _everything(1, 1, "book"))


def _compute(inputs: Any) -> Ledger:
    need = _everything(inputs.parameters, inputs.sequences, inputs.shape)
    return Ledger(need.rows[: inputs.objects], NAMES[inputs.objects :] + need.omits)


def _code(inputs: Any) -> str:
    positions, width, layers = _shape(inputs.shape)
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import Ledger, model_state

acts = SavedActivations(sequences={inputs.sequences}, positions={positions}, width={width},
                        layers={layers}, arrays_per_layer=10, bytes_per_value=2)
need = model_state({inputs.parameters:_}) + acts.ledger()
not_yet = tuple(row.name for row in need.rows[{inputs.objects}:])
result = Ledger(need.rows[:{inputs.objects}], not_yet + need.omits)
result.total_bytes <= {inputs.capacity:_}  # 放得下吗
"""


def _picture(stage: Stage) -> Callable[[Any, Ledger], None]:
    bars = LedgerBars(stage.axes(), OF_ROW)
    legend(stage, {name: OF_ROW[name] for name in NAMES})

    def update(inputs: Any, placed: Ledger) -> None:
        whole = _everything(inputs.parameters, inputs.sequences, inputs.shape).total_bytes
        pieces = [(row.name, row.total_bytes) for row in placed]
        steps = (pieces[: n + 1] if n < len(pieces) else () for n in range(len(NAMES)))
        names = (NAMES[0], *(f"＋{name}" for name in NAMES[1:]))
        bars.show(dict(zip(names, steps, strict=True)), capacity=inputs.capacity, reach=whole)

    return update


def _table(inputs: Any, placed: Ledger) -> Table:
    sums = tuple(accumulate(row.total_bytes for row in placed))
    fits = ("放得下" if total <= inputs.capacity else "放不下" for total in sums)
    rows = zip((row.name for row in placed), (row.total_bytes for row in placed), sums, fits, strict=True)
    return Table(
        ("对象", "字节", "累计字节", "设备"), tuple(rows), note=f"未计入：{'、'.join(placed.omits)}。"
    )


def _sentence(inputs: Any, placed: Ledger) -> str:
    sums = accumulate(row.total_bytes for row in placed)
    over = [row.name for row, total in zip(placed, sums, strict=True) if total > inputs.capacity]
    left = inputs.capacity - placed.total_bytes
    verdict = f"放到{over[0]}时溢出，共超出 {-left:,} 字节" if over else f"放得下，还剩 {left:,} 字节"
    together = f"{len(placed.rows)} 样共 {format_bytes(placed.total_bytes)}"
    return f"{together}，设备 {inputs.capacity:,} 字节：{verdict}。"


def filling_up() -> Explorer:
    """Return the explorer: five objects enter a device of 10 MB one after the other."""
    return Explorer(
        title="一千万字节的设备怎样装满",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 330),
    )


EXPLORERS = (filling_up,)
