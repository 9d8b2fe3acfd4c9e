"""Section 27.2: example 27.1, the ledger of a million parameters, line by line."""

from __future__ import annotations

from typing import Final

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, GRADS, MASTER, MOMENTS, WEIGHTS, Ledger, Row, model_state
from ...units import in_unit
from ..palette import GREY, OF_ROW, Style
from .givens import CAPACITY, FITS, PARAMETERS, chapter_activations, fits
from .pictures import Bars, ledger_bars
from .steps import Question, Step, Walk

PERCENT: Final = 25
_MARGIN: Final = "余量"
_ROWS: Final = (WEIGHTS, GRADS, MASTER, MOMENTS)
_STYLES: Final = {name: OF_ROW[name] for name in (*_ROWS, ACTIVATIONS)} | {_MARGIN: Style(GREY, "--")}
_SAYS: Final = {
    WEIGHTS: "存下来的模型文件就这么大。",
    GRADS: "反向算出来，攒到更新的那一刻才用。",
    MASTER: "同一批权重再记一份，精度高一倍，接得住细小的更新。",
    MOMENTS: "Adam 给每个参数记两个平均：梯度的，和梯度平方的。",
}


def _bars(ledger: Ledger, margin: int = 0) -> Bars:
    pieces = tuple((row.name, row.total_bytes) for row in ledger)
    return (
        ("模型文件", pieces[:1]),
        ("训练一步", pieces),
        ("连同余量", (*pieces, (_MARGIN, margin)) if margin else ()),
    )


def _state_step(state: Ledger, row: Row) -> Step:
    """Return the step that adds one row of table 27.1."""
    so_far = Ledger(state.rows[: state.rows.index(row) + 1])
    each = " + ".join(map(str, row.bytes_each))
    factor = f"({each})" if "+" in each else each
    question = f"再加{MOMENTS}，{CAPACITY:,} 字节的设备还放得下吗？"
    ask = Question(question, fits(so_far.total_bytes), options=FITS) if row.name == MOMENTS else None
    formula = f"{row.count:,} × {factor} = {row.total_bytes:,} 字节"
    says = _SAYS[row.name] + _room(so_far.total_bytes)
    return Step(row.name, formula, says, (row.name, each, row.total_bytes), _bars(so_far), ask)


def _room(n_bytes: int) -> str:
    """Say what the device has left, or lacks."""
    if fits(n_bytes) == FITS[0]:
        return f"设备还空着 {CAPACITY - n_bytes:,} 字节。"
    return f"超出设备 {n_bytes - CAPACITY:,} 字节，而激活还没有算。"


def _state_total(state: Ledger) -> Step:
    each, total = state.bytes_per_parameter(PARAMETERS), state.total_bytes
    return Step(
        "模型状态合计",
        f"{PARAMETERS:,} × {each} = {total:,} 字节",
        f"每个参数在文件里 {state[WEIGHTS].bytes_per_value} 字节，训练时 {each} 字节。"
        f"光是模型状态就超出设备 {total - CAPACITY:,} 字节。",
        ("模型状态", str(each), total),
        _bars(state),
    )


def _activation_steps(state: Ledger, acts: SavedActivations) -> tuple[Step, ...]:
    one, total = acts.array_bytes, acts.total_bytes
    layers = f"{acts.layers} 层 × {acts.arrays_per_layer} 个 × {one:,}"
    return (
        Step(
            "一个激活数组",
            f"{acts.sequences} × {acts.positions} × {acts.width} × {acts.bytes_per_value} = {one:,} 字节",
            f"{acts.sequences} 个序列，{acts.positions} 个位置，宽 {acts.width}，每个值 "
            f"{acts.bytes_per_value} 字节。它是前向的中间值，不是参数。",
            ("一个数组", "", one),
            _bars(state),
        ),
        Step(
            ACTIVATIONS,
            f"{layers} = {total:,} 字节",
            f"合 {in_unit(total, 'MiB')}。每层留 {acts.arrays_per_layer} 个是给定的假设。",
            (f"{acts.arrays} 个数组", "", total),
            _bars(state + acts.ledger()),
            Question(
                f"{acts.layers} 层各留 {acts.arrays_per_layer} 个这样的数组，共多少字节？", total, "字节"
            ),
        ),
    )


def _totals(state: Ledger, acts: SavedActivations) -> tuple[Step, ...]:
    need = state + acts.ledger()
    planned = need.with_headroom(percent=PERCENT)
    both = f"{state.total_bytes:,} + {acts.total_bytes:,} = {need.total_bytes:,} 字节"
    margin = f"{need.total_bytes:,} × {1 + PERCENT / 100} = {planned:,} 字节"
    with_margin = _bars(need, planned - need.total_bytes)
    return (
        Step(
            "状态加激活",
            both,
            "两本账相加。这个模型里激活是小头；序列变长、变多，它会变大，模型状态不变。",
            ("状态加激活", "", need.total_bytes),
            _bars(need),
        ),
        Step(
            f"再留 {PERCENT}% 余量",
            margin,
            "余量是做规划时留的，没有测量作依据。",
            (f"连同 {PERCENT}% 余量", "", planned),
            with_margin,
            Question(f"再给合计留 {PERCENT}% 的余量，规划里写多少字节？", planned, "字节"),
        ),
        Step(
            "还没有数的",
            "、".join(need.omits),
            "账上没有它们，不等于它们不占内存。要说某台设备装得下，最后得拿真实的分配记录来。",
            (),
            with_margin,
            Question("有了余量，就能保证放得下吗？", "不能", options=("能", "不能")),
        ),
    )


def example_1() -> Walk:
    """Return example 27.1."""
    state, acts = model_state(PARAMETERS), chapter_activations()
    rows = tuple(_state_step(state, row) for row in state)
    steps = (*rows, _state_total(state), *_activation_steps(state, acts), *_totals(state, acts))
    reach = (state + acts.ledger()).with_headroom(percent=PERCENT)
    picture = ledger_bars(_STYLES, reach=reach, capacity=CAPACITY)
    return Walk("例 27.1：一百万参数的存储账", ("对象", "每参数", "字节"), steps, picture)


WALKS: Final = {"27.1": example_1}
