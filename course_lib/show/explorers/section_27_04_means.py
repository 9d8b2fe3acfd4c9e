"""Section 27.4: two microbatches with a mask, event by event, and the two ways to average them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from ...accumulation import Contribution, equal_weight_mean, total
from .. import Number, Table, even_stops
from ..charts import Boxes, Grid, Labels, Rules, legend
from ..controls import show_number
from ..explorer import Explorer
from ..palette import BLUE, GREEN, INK, ORANGE, PAPER, QUIET, RED, Style
from ..stage import Stage

POSITIONS: Final = 8
_NAMES: Final = ("微批次甲", "微批次乙")
_PADDING: Final = "被 Mask 排除的填充"
_LOOKS: Final = {
    _NAMES[0]: Style(BLUE, ink=PAPER),
    _NAMES[1]: Style(ORANGE, "//"),
    _PADDING: Style("#D9D9D9", "..", QUIET),
}
_GRADS: Final = even_stops(-4, 4, 0.5)
CONTROLS = (
    Number("n_a", "甲的有效事件", 2, range(1, POSITIONS + 1), "个", "没有被 Mask 排除的目标 token"),
    Number("g_a", "甲的平均梯度", 1, _GRADS, fraction=True),
    Number("n_b", "乙的有效事件", 6, range(1, POSITIONS + 1), "个", "没有被 Mask 排除的目标 token"),
    Number("g_b", "乙的平均梯度", 3, _GRADS, fraction=True),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "习题 2：3 个与 1 个": {"n_a": 3, "g_a": 2, "n_b": 1, "g_b": -2},
    "事件数相同": {"n_a": 4, "n_b": 4},
    "相差最大": {"n_a": 1, "g_a": -4, "n_b": 8, "g_b": 4},
}


def _compute(inputs: Any) -> tuple[Contribution, Contribution, Contribution, Fraction]:
    a = Contribution.from_mean(n_events=inputs.n_a, mean_grad=inputs.g_a)
    b = Contribution.from_mean(n_events=inputs.n_b, mean_grad=inputs.g_b)
    return a, b, total([a, b]), equal_weight_mean([a, b])


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.accumulation import Contribution, equal_weight_mean, total

a = Contribution.from_mean(n_events={inputs.n_a}, mean_grad=Fraction({str(inputs.g_a)!r}))
b = Contribution.from_mean(n_events={inputs.n_b}, mean_grad=Fraction({str(inputs.g_b)!r}))
result = (a, b, total([a, b]), equal_weight_mean([a, b]))
"""


def _cells(part: Contribution, kind: str) -> list[tuple[str, str]]:
    word = _short(part.mean_grad)
    return [(kind, word)] * part.n_events + [(_PADDING, "填充")] * (POSITIONS - part.n_events)


def _short(number: Fraction) -> str:
    return show_number(number) if number.denominator < 100 else f"{float(number):.4g}"


def _blocks(parts: tuple[Contribution, Contribution]) -> dict[str, list[tuple[float, float, int, int]]]:
    """One block per event at its gradient; events of equal gradient are stacked."""
    half = 0.22
    places = [float(part.mean_grad) for part in parts]
    floor = parts[0].n_events if abs(places[0] - places[1]) < 2 * half else 0
    rows = zip(_NAMES, parts, places, (0, floor), strict=True)
    return {
        name: [(x - half, x + half, low + n, low + n + 1) for n in range(part.n_events)]
        for name, part, x, low in rows
    }


def _picture(stage: Stage) -> Callable[[Any, tuple], None]:
    top, bottom = stage.axes(2, 1, height_ratios=(2, 3))
    grid, blocks = Grid(top, _LOOKS, size=9.5), Boxes(bottom, _LOOKS)
    right, wrong = Rules(bottom, GREEN, width=3), Rules(bottom, RED, width=2.5, dashes="dashed")
    words = Labels(bottom, size=10, vertical="bottom", plate=PAPER)
    top.set_xlabel("目标 token 的位置，格中是这个事件的梯度")
    bottom.set(xlim=(-5, 5), xlabel="梯度：每个有效事件一块，重心就是合并后的均值", yticks=())
    bottom.set_xticks(range(-4, 5))
    bottom.spines["left"].set_visible(False)
    legend(stage, _LOOKS)

    def update(inputs: Any, result: tuple) -> None:
        *parts, both, equal = result
        rows = [_cells(part, name) for part, name in zip(parts, _NAMES, strict=True)]
        sums = (f"{name}：{p.n_events} 个事件" for name, p in zip(_NAMES, parts, strict=True))
        grid.show(rows, tuple(sums), tuple(str(n + 1) for n in range(POSITIONS)))
        pile = _blocks((parts[0], parts[1]))
        height = max(box[3] for boxes in pile.values() for box in boxes)
        blocks.show(pile)
        bottom.set_ylim(0, height * 1.55)
        mean = float(both.mean_grad)
        right.show([(mean, 0, mean, height * 1.28)])
        wrong.show([(float(equal), 0, float(equal), height * 1.08)])
        words.show(
            [
                (mean, height * 1.29, f"按事件加权 {_short(both.mean_grad)}", INK),
                (float(equal), height * 1.09, f"等权平均 {_short(equal)}", RED),
            ]
        )

    return update


def _table(inputs: Any, result: tuple) -> Table:
    *parts, both, equal = result
    rows = tuple(
        (name, part.n_events, show_number(part.mean_grad), show_number(part.grad_sum))
        for name, part in zip(_NAMES, parts, strict=True)
    )
    last = ("合并", both.n_events, show_number(both.mean_grad), show_number(both.grad_sum))
    return Table(
        ("微批次", "有效事件", "平均梯度", "梯度总和"),
        rows,
        last,
        f"等权平均得 {show_number(equal)}。",
    )


def _sentence(inputs: Any, result: tuple) -> str:
    *_, both, equal = result
    verdict = "恰好相同" if both.mean_grad == equal else f"差 {show_number(both.mean_grad - equal)}"
    return (
        f"{both.n_events} 个有效事件的梯度总和是 {show_number(both.grad_sum)}，"
        f"均值 {show_number(both.mean_grad)}；等权平均得 {show_number(equal)}，{verdict}。"
    )


def event_mean() -> Explorer:
    """Return the explorer: tokens and masks as a grid, the means as the balance point of all events."""
    return Explorer(
        title="分母数的是有效事件",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 400),
    )


EXPLORERS = (event_mean,)
