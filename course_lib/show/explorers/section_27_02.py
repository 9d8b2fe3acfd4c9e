"""Section 27.2: table 27.1, the activations and the margin, every figure movable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, RECIPES, Ledger, Recipe, model_state
from ...models import MODELS
from ...units import GB, MB, format_bytes
from .. import Number, Table, log_stops
from ..charts import LedgerBars, legend
from ..explorer import Explorer
from ..palette import GREY, OF_ROW, Style
from ..stage import Stage

MARGIN = "余量"
_ITEMS = {"weights": "工作权重", "grads": "梯度", "grad_buffer": "梯度累积缓冲", "master": "主权重副本"}
_SHAPE = ("sequences", "positions", "width", "layers")
_BYTES = (0, 1, 2, 4, 8)


def _per_parameter(name: str, label: str) -> Number:
    book = getattr(RECIPES["chapter"], name)
    return Number(name, label, book, _BYTES, "字节", "每个参数的字节数；0 表示没有这一项")


CONTROLS = (
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个"),
    *(_per_parameter(name, label) for name, label in _ITEMS.items()),
    Number("moment", "每个矩", 4, _BYTES, "字节", "Adam 有两个矩数组；0 表示优化器不保留矩"),
    Number("sequences", "序列数", 2, range(1, 65), "个"),
    Number("positions", "位置数", 128, log_stops(16, 131_072), "个", "每个序列的 token 位置"),
    Number("width", "宽度", 64, log_stops(16, 32_768)),
    Number("layers", "层数", 4, range(1, 129), "层"),
    Number("arrays", "每层数组", 10, range(1, 35), "个", "每层为反向保留几个数组"),
    Number("percent", "余量", 25, range(0, 101), "%", "规划时多留的份额，不是测得的"),
    Number("capacity", "设备容量", 10 * MB, log_stops(10**6, 10**14), "字节", "可以输入 80G 这样的数"),
)


def _items_of(recipe: Recipe) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in _ITEMS} | {"moment": recipe.moments[0]}


PRESETS = {
    f"{recipe.bytes_per_parameter} 字节：{recipe.title}": _items_of(recipe)
    for key, recipe in RECIPES.items()
    if key != "chapter"
} | {
    model.title: {name: getattr(model, name) for name in ("parameters", *_SHAPE[1:])} | {"capacity": 80 * GB}
    for model in MODELS.values()
}


def _moments(inputs: Any) -> tuple[int, ...]:
    return (inputs.moment, inputs.moment) if inputs.moment else ()


def _compute(inputs: Any) -> tuple[Ledger, Ledger, int]:
    items = {name: getattr(inputs, name) for name in _ITEMS}
    state = model_state(inputs.parameters, moments=_moments(inputs), **items)
    shape = {name: getattr(inputs, name) for name in _SHAPE}
    need = state + SavedActivations(arrays_per_layer=inputs.arrays, bytes_per_value=2, **shape).ledger()
    return state, need, need.with_headroom(percent=inputs.percent)


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import model_state

state = model_state({inputs.parameters:_}, weights={inputs.weights}, grads={inputs.grads},
                    grad_buffer={inputs.grad_buffer}, master={inputs.master}, moments={_moments(inputs)})
acts = SavedActivations(sequences={inputs.sequences}, positions={inputs.positions}, width={inputs.width},
                        layers={inputs.layers}, arrays_per_layer={inputs.arrays}, bytes_per_value=2)
need = state + acts.ledger()
result = state, need, need.with_headroom(percent={inputs.percent})
"""


def _picture(stage: Stage) -> Callable[[Any, Any], None]:
    looks = OF_ROW | {MARGIN: Style(GREY, "..")}
    bars = LedgerBars(stage.axes(), looks)
    legend(stage, looks, columns=7)

    def update(inputs: Any, result: tuple[Ledger, Ledger, int]) -> None:
        state, need, planned = result
        held, counted = ([(row.name, row.total_bytes) for row in ledger] for ledger in (state, need))
        margin = (MARGIN, planned - need.total_bytes)
        rows = {"模型状态": held, "＋已保存激活": counted, f"＋{inputs.percent}% 余量": [*counted, margin]}
        bars.show(rows, capacity=inputs.capacity)

    return update


def _table(inputs: Any, result: tuple[Ledger, Ledger, int]) -> Table:
    state, need, planned = result
    rows = [(row.name, " + ".join(map(str, row.bytes_each)), row.total_bytes) for row in state]
    each = sum(row.bytes_per_value for row in state)
    rows.append(("模型状态合计", str(each), state.total_bytes))
    rows.append((ACTIVATIONS, "", need[ACTIVATIONS].total_bytes))
    rows.append((f"{inputs.percent}% {MARGIN}", "", planned - need.total_bytes))
    omits = f"未计入：{'、'.join(need.omits)}。"
    return Table(("对象", "每个参数的字节", "总字节"), tuple(rows), ("规划总量", "", planned), omits)


def _sentence(inputs: Any, result: tuple[Ledger, Ledger, int]) -> str:
    state, need, planned = result
    over = planned - inputs.capacity
    verdict = f"超出容量 {over:,} 字节" if over > 0 else f"离容量还有 {-over:,} 字节"
    return (
        f"模型状态 {state.total_bytes:,} 字节，加上激活是 {need.total_bytes:,} 字节，"
        f"连同余量规划 {format_bytes(planned)}：{verdict}。"
    )


def ledger() -> Explorer:
    """Return the explorer: table 27.1, the activations and the margin as bars against a capacity."""
    return Explorer(
        title="表 27.1，每个数都可以动",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 270),
    )


EXPLORERS = (ledger,)
