"""Section 27.9, exercise 2: events as columns; the mean that counts events, and the one that does not."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...accumulation import Contribution, equal_weight_mean, total
from .. import Number, Table, even_stops
from ..charts import Boxes, Labels, Rules, legend, round_up
from ..explorer import Explorer
from ..guesses import plain
from ..palette import BLUE, INK, ORANGE, PAPER, QUIET, RED, Style
from ..stage import Stage

FIRST, SECOND = "微批次 A 的事件", "微批次 B 的事件"
STYLES = {FIRST: Style(BLUE, ink=PAPER), SECOND: Style(ORANGE, "//")}
_MEANS = even_stops(-5, 5, 0.5)
CONTROLS = (
    Number("events_a", "A 的有效事件", 3, range(1, 17), "个", "A 里真正贡献损失的 token 事件"),
    Number("mean_a", "A 的平均梯度", 2, _MEANS, "", "A 报告的平均梯度", fraction=True),
    Number("events_b", "B 的有效事件", 1, range(1, 17), "个", "B 里真正贡献损失的 token 事件"),
    Number("mean_b", "B 的平均梯度", -2, _MEANS, "", "B 报告的平均梯度", fraction=True),
)
PRESETS = {
    "例 27.2：2 与 6 个事件": {"events_a": 2, "mean_a": 1, "events_b": 6, "mean_b": 3},
    "事件数相同": {"events_a": 2, "events_b": 2},
    "悬殊：16 与 1 个事件": {"events_a": 16, "mean_a": 1, "mean_b": -5},
}

Means = namedtuple("Means", "together equal_weight parts")


def _compute(inputs: Any) -> Means:
    parts = [
        Contribution.from_mean(n_events=inputs.events_a, mean_grad=inputs.mean_a),
        Contribution.from_mean(n_events=inputs.events_b, mean_grad=inputs.mean_b),
    ]
    return Means(total(parts).mean_grad, equal_weight_mean(parts), parts)


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.accumulation import Contribution, equal_weight_mean, total

a = Contribution.from_mean(n_events={inputs.events_a}, mean_grad={Fraction(inputs.mean_a)!r})
b = Contribution.from_mean(n_events={inputs.events_b}, mean_grad={Fraction(inputs.mean_b)!r})
result = total([a, b]).mean_grad, equal_weight_mean([a, b]), [a, b]
"""


def _picture(stage: Stage) -> Callable[[Any, Means], None]:
    axes = stage.axes()
    axes.set(xticks=(), ylabel="每个事件的平均梯度")
    axes.spines["bottom"].set_visible(False)
    axes.yaxis.set_animated(True)
    columns, zero = Boxes(axes, STYLES, linewidth=1.6), Rules(axes, QUIET, width=1)
    right, wrong = (
        Rules(axes, INK, width=2.6, zorder=4),
        Rules(axes, RED, width=2.2, dashes="dashed", zorder=4),
    )
    after = Labels(axes, size=10, align="left")
    before = Labels(axes, size=10, align="right")
    legend(stage, STYLES)

    def update(inputs: Any, means: Means) -> None:
        first, events = inputs.events_a, inputs.events_a + inputs.events_b
        reach = round_up(max(abs(inputs.mean_a), abs(inputs.mean_b), 1)) * 1.08
        low, high = min(inputs.mean_a, inputs.mean_b), max(inputs.mean_a, inputs.mean_b)
        axes.set(
            xlim=(-0.24 * events, 1.32 * events),
            ylim=(-reach if low < 0 else -reach / 12, reach if high > 0 else reach / 12),
        )
        columns.show(
            {
                FIRST: [(n, n + 1, 0, inputs.mean_a) for n in range(first)],
                SECOND: [(n, n + 1, 0, inputs.mean_b) for n in range(first, events)],
            }
        )
        zero.show([(0, 0, events, 0)])
        right.show([(0, means.together, events * 1.02, means.together)])
        wrong.show([(-events * 0.02, means.equal_weight, events, means.equal_weight)])
        after.show([(events * 1.03, means.together, f"按事件 {_shown(means.together)}")])
        before.show([(-events * 0.03, means.equal_weight, f"等权 {_shown(means.equal_weight)}", RED)])

    return update


def _shown(value: Fraction) -> str:
    return plain(value).replace("-", "−")


def _table(inputs: Any, means: Means) -> Table:
    events = inputs.events_a + inputs.events_b
    rows = tuple(
        (
            name,
            part.n_events,
            _shown(part.mean_grad),
            _shown(part.grad_sum),
            f"1/{events}",
            f"1/{2 * part.n_events}",
        )
        for name, part in zip("AB", means.parts, strict=True)
    )
    whole = total(means.parts)
    last = ("合并", events, _shown(whole.mean_grad), _shown(whole.grad_sum), "", "")
    columns = ("微批次", "事件数", "平均梯度", "梯度总和", "一个事件应占", "等权时占")
    return Table(columns, rows, last)


def _sentence(inputs: Any, means: Means) -> str:
    whole = total(means.parts)
    start = f"梯度总和 {_shown(whole.grad_sum)} 除以 {whole.n_events} 个事件，得 {_shown(whole.mean_grad)}。"
    if inputs.events_a == inputs.events_b:
        return start + "两边事件数相同，等权平均也得这个数：这是它唯一总是对的情形。"
    small, large = sorted((inputs.events_a, inputs.events_b))
    times = plain(Fraction(large, small))
    return (
        f"{start}等权平均得 {_shown(means.equal_weight)}：{small} 个事件与 {large} 个事件影响相同，"
        f"小微批次的一个事件顶大微批次的 {times} 个。"
    )


def two_means() -> Explorer:
    """Return the explorer of exercise 2: columns of events under two means."""
    return Explorer(
        title="习题 2：按事件平均，还是把两个均值再平均",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 320),
    )


EXPLORERS = (two_means,)
