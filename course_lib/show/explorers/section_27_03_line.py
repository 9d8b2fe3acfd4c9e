"""Section 27.3: the numbers that FP16 and BF16 hold around a weight, and where the changed weight lands."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ...precision import BF16, FP16, Format
from .. import Number, Table, even_stops, powers_of_two
from ..charts import Boxes, Labels, NumberLine, Points, legend
from ..controls import show_number
from ..explorer import OURS, Explorer
from ..palette import BEYOND, BLUE, INK, ORANGE, QUIET, RED, Style
from ..stage import Stage

FORMATS: Final = (FP16, BF16)
STARTS: Final = (*(Fraction(n * 10**k, 10**8) for k in range(13) for n in (1, 2, 5)), Fraction(65_504))
CONTROLS = (
    Number("start", "起点", 1, STARTS[:-3] + STARTS[-1:], "", "原来的权重或梯度", fraction=True),
    Number(
        "change",
        "变化是起点的几倍",
        Fraction(-3, 1000),
        even_stops(-0.02, 0.02, 0.00025),
        "倍",
        "可以输入 -1/4096 这样的分数",
        fraction=True,
    ),
    Number("zoom", "放大", 1, powers_of_two(1, 64), "倍", "只改变看的范围"),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "1 − 2^-11：留得住": {"change": Fraction(-1, 2048), "zoom": 8},
    "1 ＋ 2^-11：留不住": {"change": Fraction(1, 2048), "zoom": 8},
    "1 − 2^-12：留不住": {"change": Fraction(-1, 4096), "zoom": 8},
    "梯度 0.000001": {"start": Fraction(1, 10**6), "change": 0},
    "梯度 0.00000002": {"start": Fraction(2, 10**8), "change": 0},
    "FP16 的尽头": {"start": 65_504, "change": Fraction(1, 1000)},
}
_MARKS: Final = {"起点存成": Style(BLUE), "新值存成": Style(ORANGE)}


def _compute(inputs: Any) -> tuple:
    start, value = float(inputs.start), float(inputs.start * (1 + inputs.change))
    before = [(fmt, float(fmt.round(start))) for fmt in FORMATS]
    return tuple((held, float(fmt.round(value)), *fmt.neighbours(held)) for fmt, held in before)


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.precision import BF16, FP16

start = Fraction({str(inputs.start)!r})
value = start * (1 + Fraction({str(inputs.change)!r}))
before = [(fmt, float(fmt.round(float(start)))) for fmt in (FP16, BF16)]
# 起点存成、新值存成、起点的左邻和右邻
result = tuple((held, float(fmt.round(float(value))), *fmt.neighbours(held)) for fmt, held in before)
"""


def _window(inputs: Any) -> tuple[float, float]:
    start = float(inputs.start)
    half = 1.5 * max(fmt.spacing(start) for fmt in FORMATS) / inputs.zoom
    half = max(half, 1.25 * abs(float(inputs.start * inputs.change)))
    return start - half, start + half


def _ticks(fmt: Format, low: float, high: float, columns: int) -> list[float]:
    """The values held between two limits, at most one per column of the picture."""
    held = fmt.values_between(low, high)
    _, first = np.unique(np.floor((held - low) / (high - low) * columns), return_index=True)
    return held[first].tolist()


def _picture(stage: Stage) -> Callable[[Any, tuple], None]:
    axes = stage.axes()
    beyond = Boxes(axes, {"": Style(BEYOND)}, zorder=1, linewidth=0)
    line = NumberLine(axes)
    before = Points(axes, {"": _MARKS["起点存成"]}, size=190)  # a larger dot: it shows around the next one
    after = Points(axes, {"": _MARKS["新值存成"]}, size=60, zorder=3.5)
    steps = Labels(axes, size=9, align="right")
    names = Labels(axes, size=8.5, align="right", vertical="bottom")
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.7g}"))
    axes.tick_params(axis="y", labelsize=11)
    legend(stage, _MARKS | {"要存的新值": Style(RED)})

    def update(inputs: Any, result: tuple) -> None:
        low, high = _window(inputs)
        value = float(inputs.start * (1 + inputs.change))
        ticks = {fmt.name: _ticks(fmt, low, high, 350) for fmt in FORMATS}
        words = [f"{_exact(inputs, 9)} → {_plain(landed)}" for _, landed, _, _ in result]
        marks = {
            fmt.name: (value, landed if math.isfinite(landed) else high, word)
            for fmt, (_, landed, _, _), word in zip(FORMATS, result, words, strict=True)
        }
        line.show(ticks, marks, (low, high))
        for dots, place in ((before, 0), (after, 1)):
            dots.show({"": [(row[place], y) for y, row in enumerate(result) if low <= row[place] <= high]})
        steps.show((high, y + 0.3, _spacing(row), QUIET) for y, row in enumerate(result))
        ends = [(fmt.largest + fmt.spacing(fmt.largest) / 2, y) for y, fmt in enumerate(FORMATS)]
        over = [(end, high, y - 0.25, y + 0.25) for end, y in ends if end < high]
        beyond.show({"": over})
        names.show((high, y0, "溢出", INK) for _, _, y0, _ in over)

    return update


def _exact(inputs: Any, digits: int) -> str:
    """The new value as a decimal where that is short: 0.000001, not 1e-06."""
    value = inputs.start * (1 + inputs.change)
    return decimal if len(decimal := show_number(value)) < 15 else f"{float(value):.{digits}g}"


def _plain(number: float) -> str:
    return f"{number:.7g}" if math.isfinite(number) else "无穷"


def _spacing(row: tuple) -> str:
    held, _, below, above = row
    right = f"{above - held:.3g}" if math.isfinite(above) else "无"
    return f"到左邻 {held - below:.3g}，到右邻 {right}"


def _fate(inputs: Any, row: tuple) -> str:
    held, landed, _, _ = row
    if not math.isfinite(landed):
        return "溢出"
    if not landed:
        return "归零"
    if not inputs.change:
        return "存得下"
    return "变化丢失" if landed == held else "变化保住"


def _table(inputs: Any, result: tuple) -> Table:
    names = ("起点存成", "新值存成", "起点的左邻", "起点的右邻")
    values = zip(*result, strict=True)
    rows = [(name, *map(_full, row)) for name, row in zip(names, values, strict=True)]
    fates = ("结果", *(_fate(inputs, row) for row in result))
    low, high = _window(inputs)
    note = f"图上看的是 {low:.6g} 到 {high:.6g}。"
    return Table(("", *(fmt.name for fmt in FORMATS)), (*rows, fates), note=note)


def _full(number: float) -> str:
    return f"{number:.12g}" if math.isfinite(number) else "无穷"


def _sentence(inputs: Any, result: tuple) -> str:
    ends = (
        f"{fmt.name} 存成 {_full(row[1])}（{_fate(inputs, row)}）"
        for fmt, row in zip(FORMATS, result, strict=True)
    )
    return f"起点 {show_number(inputs.start)}，新值 {_exact(inputs, 12)}：{'，'.join(ends)}。"


def number_line() -> Explorer:
    """Return the explorer: both formats around one number, zoomed in."""
    return Explorer(
        title="同是 2 字节：FP16 与 BF16 在一个数附近存得下哪些值",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 300),
    )


EXPLORERS = (number_line,)
