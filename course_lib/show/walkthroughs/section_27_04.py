"""Section 27.4: example 27.2, two microbatches and the denominator of their mean."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, NamedTuple

from ...accumulation import Contribution, equal_weight_mean
from ..charts import Boxes, Labels, Rules, legend
from ..guesses import plain
from ..palette import BLUE, GREEN, INK, ORANGE, PAPER, RED, Style
from ..stage import Stage
from .steps import Question, Step, Walk

_NAMES: Final = ("微批次甲", "微批次乙")
_LOOKS: Final = dict(zip(_NAMES, (Style(BLUE, ink=PAPER), Style(ORANGE, "//")), strict=True))
_HALF: Final = 0.2  # of a block's width, on the axis of gradients
_BOTH: Final = "合并"


class Shown(NamedTuple):
    """What the picture holds: the contributions so far, and the two means where they are there."""

    parts: tuple[Contribution, ...]
    right: Fraction | None = None
    wrong: Fraction | None = None


def _blocks(parts: tuple[Contribution, ...]) -> dict[str, list[tuple[float, float, int, int]]]:
    """One block per event, stacked at its gradient."""
    return {
        name: [
            (float(part.mean_grad) - _HALF, float(part.mean_grad) + _HALF, n, n + 1)
            for n in range(part.n_events)
        ]
        for name, part in zip(_NAMES, parts, strict=False)
    }


def _picture(stage: Stage):
    axes = stage.axes()
    blocks = Boxes(axes, _LOOKS)
    right, wrong = Rules(axes, GREEN, width=3), Rules(axes, RED, width=2.5, dashes="dashed")
    words = Labels(axes, size=10, vertical="bottom", plate=PAPER)
    axes.set(xlim=(0, 4), ylim=(0, 9.5), yticks=(), xlabel="梯度：每个有效事件一块")
    axes.set_xticks(range(5))
    axes.spines["left"].set_visible(False)
    legend(stage, _LOOKS)

    def update(shown: Shown) -> None:
        blocks.show(_blocks(shown.parts))
        means = ((right, shown.right, 7.9, "按事件", INK), (wrong, shown.wrong, 6.6, "等权", RED))
        there: list[Any] = []
        for rules, mean, top, word, color in means:
            rules.show([] if mean is None else [(float(mean), 0, float(mean), top)])
            if mean is not None:
                there.append((float(mean), top + 0.1, f"{word} {plain(mean)}", color))
        words.show(there)

    return update


def _row(name: str, part: Contribution) -> tuple[str | int, ...]:
    return name, part.n_events, plain(part.mean_grad), plain(part.grad_sum)


def _restore(name: str, part: Contribution, parts: tuple[Contribution, ...]) -> Step:
    n, mean, both = part.n_events, plain(part.mean_grad), plain(part.grad_sum)
    says = f"它报告的是均值 {mean}；乘回 {n} 个有效事件，才是它的梯度总和。"
    return Step(name, f"{n} × {mean} = {both}", says, _row(name, part), Shown(parts))


def _sums(a: Contribution, b: Contribution, shown: Shown) -> tuple[Step, ...]:
    both = a + b
    count = f"{a.n_events} + {b.n_events} = {both.n_events} 个事件"
    added = f"{plain(a.grad_sum)} + {plain(b.grad_sum)} = {plain(both.grad_sum)}"
    mean = f"({plain(a.grad_sum)} + {plain(b.grad_sum)}) ÷ {both.n_events} = {plain(both.mean_grad)}"
    return (
        Step("分母", count, "被 Mask 排除的填充不算，数的是真正进入损失的目标。", (), shown),
        Step("分子", added, "两份梯度总和可以直接相加，均值不可以。", (), shown),
        Step(
            "合并后的均值",
            mean,
            f"绿线是全部 {both.n_events} 块的重心。",
            _row(_BOTH, both),
            shown._replace(right=both.mean_grad),
            Question("两份合起来只更新一次，平均梯度该是多少？", both.mean_grad),
        ),
    )


def _mistakes(a: Contribution, b: Contribution, shown: Shown) -> tuple[Step, ...]:
    equal, both = equal_weight_mean([a, b]), a + b
    nearer = _NAMES[abs(equal - a.mean_grad) > abs(both.mean_grad - a.mean_grad)]
    last = shown._replace(right=both.mean_grad, wrong=equal)
    return (
        Step(
            "等权平均错在哪里",
            f"({plain(a.mean_grad)} + {plain(b.mean_grad)}) ÷ 2 = {plain(equal)}",
            f"{a.n_events} 个事件与 {b.n_events} 个各占一半分量，均值少了 {plain(both.mean_grad - equal)}。",
            ("等权平均", "", plain(equal), ""),
            last,
            Question("把两个均值各算一半，结果会偏向谁？", nearer, options=_NAMES),
        ),
        Step(
            "更新边界",
            f"Σ n·g ÷ Σ n = {plain(both.grad_sum)} ÷ {both.n_events} = {plain(both.mean_grad)}",
            f"{both.n_events} 个事件都到齐了才裁剪、更新、清零。中途改了参数，后一份梯度就从别处算起了。",
            (),
            last,
            Question("甲算完先更新一次，再算乙，还是同一种更新吗？", "不是", options=("是", "不是")),
        ),
    )


def example_2() -> Walk:
    """Return example 27.2."""
    a = Contribution.from_mean(n_events=2, mean_grad=1)
    b = Contribution.from_mean(n_events=6, mean_grad=3)
    shown = Shown((a, b))
    first = (_restore(_NAMES[0], a, (a,)), _restore(_NAMES[1], b, (a, b)))
    steps = (*first, *_sums(a, b, shown), *_mistakes(a, b, shown))
    return Walk("例 27.2：分母数的是有效事件", ("微批次", "事件", "均值", "总和"), steps, _picture)


WALKS: Final = {"27.2": example_2}
