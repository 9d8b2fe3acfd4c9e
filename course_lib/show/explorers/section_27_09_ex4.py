"""Section 27.9, exercise 4: a weight falls through bands of decimals, rounded at once or kept finer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ...precision import ROUNDINGS, Copies, decimal_copies
from .. import Choice, Number, Table, even_stops
from ..charts import Boxes, Curves, Labels, legend
from ..controls import show_number
from ..explorer import Explorer
from ..palette import BLUE, GREEN, PAPER, QUIET, RED, Style
from ..stage import Stage

DIRECT, MASTER, WORKING = "立即舍入", "主副本", "由主副本舍入的工作副本"
STYLES = {DIRECT: Style(RED), MASTER: Style(BLUE), WORKING: Style(GREEN)}
_BANDS = {0: Style("#F1F1F1"), 1: Style(PAPER)}
_NEAREST, _UPWARDS = ("ROUND_HALF_EVEN", "ROUND_HALF_UP", "ROUND_HALF_DOWN"), ("ROUND_UP", "ROUND_CEILING")
_MOST_LABELS = 7
CONTROLS = (
    Number("steps", "更新次数", 2, range(1, 13), "次", "题目是两次；多走几步，看两份副本差多远"),
    Number("subtract", "每次减去", Fraction(3, 1000), even_stops(0, 0.012, 0.0005), "", fraction=True),
    Number("start", "起点", 1, even_stops(1, 2, 0.01), "", "更新之前的权重", fraction=True),
    Number("places", "工作权重的小数位", 2, range(1, 4), "位", "工作权重只存这么多位小数"),
    Number("master_places", "主副本的小数位", 3, range(1, 7), "位", "不能少于工作权重的位数"),
    Choice("rounding", "舍入方式", "ROUND_HALF_EVEN", dict(ROUNDINGS), "题目没有用到平局，前三种结果一样"),
)
PRESETS: dict[str, dict[str, Any]] = {
    "多走到 12 次": {"steps": 12},
    "每次减 0.006：两边都动": {"subtract": Fraction(6, 1000), "steps": 6},
    "主副本也只留两位": {"master_places": 2, "steps": 12},
    "向零截断": {"rounding": "ROUND_DOWN", "steps": 12},
}


def _compute(inputs: Any) -> Copies[Decimal]:
    return decimal_copies(**inputs._asdict())


def _code(inputs: Any) -> str:
    return f"""\
from decimal import Decimal
from course_lib.precision import decimal_copies

result = decimal_copies(start=Decimal("{show_number(inputs.start)}"), steps={inputs.steps},
                        subtract=Decimal("{show_number(inputs.subtract)}"),
                        places={inputs.places}, master_places={inputs.master_places},
                        rounding="{inputs.rounding}")
"""


def _bands(inputs: Any, least: float, most: float) -> Iterator[tuple[int, float, float, str]]:
    """Yield (number, low, high, name) of the values that the working weight can take between two bounds."""
    unit = 10.0**-inputs.places
    below = 0.5 if inputs.rounding in _NEAREST else 1.0 if inputs.rounding in _UPWARDS else 0.0
    for number in range(round(least / unit), round(most / unit) + 1):
        low = (number - below) * unit
        yield number, low, low + unit, f"{number * unit:.{inputs.places}f}"


def _picture(stage: Stage) -> Callable[[Any, Copies[Decimal]], None]:
    axes = stage.axes()
    axes.set(yticks=(), xticks=())
    axes.set_xlabel("第几次更新之后", labelpad=18)  # room for the numbers, written as labels: ticks are slow
    ground = Boxes(axes, _BANDS, zorder=1, linewidth=0)
    names, values = Labels(axes, align="right"), Labels(axes, size=8.5, vertical="top", plate=PAPER)
    numbers = Labels(axes, vertical="top")
    stored = Curves(axes, {name: STYLES[name] for name in (DIRECT, WORKING)}, width=3, steps=True, marker="o")
    master = Curves(axes, {MASTER: STYLES[MASTER]}, marker="o")
    legend(stage, STYLES)

    def update(inputs: Any, copies: Copies[Decimal]) -> None:
        ends = [float(value) for line in (copies.direct, copies.master, copies.working) for value in line]
        unit, right, steps = 10.0**-inputs.places, inputs.steps * 1.22, range(inputs.steps + 1)
        low, high = min(ends) - 0.8 * unit, max(ends) + 0.8 * unit
        axes.set(xlim=(-0.04 * inputs.steps, right), ylim=(low, high))
        numbers.show((step, low - 0.02 * (high - low), step) for step in steps)
        bands = list(_bands(inputs, min(ends) - unit, max(ends) + unit))
        ground.show({side: [(-1, right, *b[1:3]) for b in bands if b[0] % 2 == side] for side in _BANDS})
        seen = [
            (middle, name) for _, bottom, top, name in bands if low < (middle := (bottom + top) / 2) < high
        ]
        every = -(-len(seen) // _MOST_LABELS)
        names.show((right * 0.99, middle, f"这一带存成 {name}", QUIET) for middle, name in seen[::-every])
        stored.show({DIRECT: (steps, copies.direct), WORKING: (steps, copies.working)})
        master.show({MASTER: (steps, copies.master)})
        written = zip(steps, copies.master, strict=True) if inputs.steps <= _MOST_LABELS else ()
        values.show((step, float(value) - 0.02 * (high - low), str(value), BLUE) for step, value in written)

    return update


def _table(inputs: Any, copies: Copies[Decimal]) -> Table:
    lines = zip(copies.direct, copies.master, copies.working, strict=True)
    rows = tuple((step, str(a), str(b), str(c)) for step, (a, b, c) in enumerate(lines))
    return Table(
        ("更新次数", DIRECT, MASTER, "工作副本"), rows, note="十进制类比，不是 FP16 或 BF16 的规则。"
    )


def _sentence(inputs: Any, copies: Copies[Decimal]) -> str:
    return (
        f"{inputs.steps} 次更新后，{_moved(DIRECT, copies.direct_changes_at, copies.direct[-1])}；"
        f"主副本是 {copies.master[-1]}，{_moved('工作副本', copies.working_changes_at, copies.working[-1])}。"
    )


def _moved(name: str, first: int | None, last: Decimal) -> str:
    if first is None:
        return f"{name}的权重还是 {last}" if name == DIRECT else f"{name}还是 {last}"
    return f"{name}从第 {first} 次起变动，现在是 {last}"


def two_copies() -> Explorer:
    """Return the explorer of exercise 4: the same small update with and without a finer copy."""
    return Explorer(
        title="习题 4：每次都舍入，还是先在主副本里攒着",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 340),
    )


EXPLORERS = (two_copies,)
