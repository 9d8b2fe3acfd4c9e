"""Section 27.4: one update at the agreed boundary, and three ways to miss it, as paths of one weight."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from matplotlib.ticker import FuncFormatter

from ...accumulation import (
    Microbatch,
    Outcome,
    UpdateRule,
    update_at_boundary,
    update_clipping_early,
    update_early,
    update_with_equal_weights,
)
from .. import Number, Table, even_stops
from ..charts import Curves, Labels, Rules, legend
from ..controls import show_number
from ..explorer import OURS, Explorer
from ..palette import BLUE, GREEN, PAPER, PINK, QUIET, RED, Style
from ..stage import Stage

WAYS: Final = {
    "约定边界更新一次": (update_at_boundary, Style(GREEN)),
    "甲之后就更新": (update_early, Style(RED)),
    "等权平均均值": (update_with_equal_weights, Style(BLUE)),
    "各微批次先裁剪": (update_clipping_early, Style(PINK)),
}
_LOOKS: Final = {name: style for name, (_, style) in WAYS.items()}
_WHOLE_PATHS: Final = tuple(WAYS)[:2]  # the others differ only at the boundary
_GRADS: Final = even_stops(-4, 4, 0.5)
CONTROLS = (
    Number("n_a", "甲的有效事件", 2, range(1, 9), "个"),
    Number("g_a", "甲的平均梯度", 1, _GRADS, "", "在权重 0 处", fraction=True),
    Number("n_b", "乙的有效事件", 6, range(1, 9), "个"),
    Number("g_b", "乙的平均梯度", 3, _GRADS, "", "在权重 0 处", fraction=True),
    Number("rate", "学习率", Fraction(1, 10), even_stops(0.02, 1, 0.02), "", "配套给定", fraction=True),
    Number("clip", "裁剪到", 4, even_stops(0.5, 4, 0.25), "", "配套给定；4 以内的梯度裁不到", fraction=True),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "学习率 0.5": {"rate": Fraction(1, 2)},
    "裁剪到 1.5": {"clip": Fraction(3, 2)},
    "两份梯度方向相反": {"g_a": -2, "rate": Fraction(1, 2)},
}


def _compute(inputs: Any) -> tuple[Outcome, ...]:
    batches = [
        Microbatch(targets=(-inputs.g_a,) * inputs.n_a),
        Microbatch(targets=(-inputs.g_b,) * inputs.n_b),
    ]
    rule = UpdateRule(rate=inputs.rate, clip=inputs.clip)
    return tuple(way(weight=0, microbatches=batches, rule=rule) for way, _ in WAYS.values())


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.accumulation import (Microbatch, UpdateRule, update_at_boundary, update_clipping_early,
                                     update_early, update_with_equal_weights)

batches = [Microbatch(targets=[-Fraction({str(inputs.g_a)!r})] * {inputs.n_a}),
           Microbatch(targets=[-Fraction({str(inputs.g_b)!r})] * {inputs.n_b})]
rule = UpdateRule(rate=Fraction({str(inputs.rate)!r}), clip=Fraction({str(inputs.clip)!r}))
ways = (update_at_boundary, update_early, update_with_equal_weights, update_clipping_early)
result = tuple(way(weight=0, microbatches=batches, rule=rule) for way in ways)
"""


def _path(inputs: Any, outcome: Outcome, *, from_start: bool) -> tuple[tuple, list[float]]:
    """Moments and the weight: before the first microbatch, after each of the two, and a while later."""
    first, last = outcome.contributions[0], outcome.contributions[-1]
    between = Fraction(0)
    if last.parameters_version:  # the second gradient was computed at another weight
        rule = UpdateRule(rate=inputs.rate, clip=inputs.clip)
        between = rule.step(weight=0, mean_grad=first.mean_grad)
    end = float(outcome.weight)
    return ((0, 1, 2, 2.25), [0, float(between), end, end]) if from_start else ((2, 2, 2.25), [0, end, end])


def _picture(stage: Stage) -> Callable[[Any, tuple[Outcome, ...]], None]:
    axes = stage.axes()
    paths, ground = Curves(axes, _LOOKS, width=2.6, steps=True, marker="o"), Rules(axes, QUIET, width=0.8)
    ends = Labels(axes, size=9.5, align="left", plate=PAPER)
    axes.set(xlim=(0, 3.1))
    axes.set_title("权重", loc="left", fontsize=9.5)
    axes.set_xticks([0.5, 1, 1.5, 2], ["微批次甲", "", "微批次乙", "约定的边界"])
    axes.yaxis.set_animated(True)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:>8.4g}"))  # room for digits
    legend(stage, _LOOKS)

    def update(inputs: Any, result: tuple[Outcome, ...]) -> None:
        curves = {
            name: _path(inputs, outcome, from_start=name in _WHOLE_PATHS)
            for name, outcome in zip(WAYS, result, strict=True)
        }
        heights = [height for _, path in curves.values() for height in path]
        room = max((max(heights) - min(heights)) * 0.2, 0.01)
        axes.set_ylim(min(heights) - room, max(heights) + room)
        paths.show(curves)
        ground.show([(0, 0, 3.1, 0)])
        ends.show(_ends(result, gap=room * 0.45))

    return update


def _ends(result: tuple[Outcome, ...], *, gap: float):
    """Words beside the ends of the paths, one per height, pushed apart."""
    names: dict[Fraction, list[str]] = {}
    for name, outcome in zip(WAYS, result, strict=True):
        names.setdefault(outcome.weight, []).append(name)
    place = float("-inf")
    for weight in sorted(names):
        place = max(float(weight), place + gap)
        words = f"{float(weight):.4g} {names[weight][0]}" + f"等 {len(names[weight])} 种" * (
            len(names[weight]) > 1
        )
        yield 2.27, place, words, _LOOKS[names[weight][0]].color


def _table(inputs: Any, result: tuple[Outcome, ...]) -> Table:
    right = result[0].weight
    rows = tuple(
        (
            name,
            show_number(outcome.weight),
            "、".join(str(part.parameters_version) for part in outcome.contributions),
            show_number(outcome.weight - right) if outcome.weight != right else "相同",
        )
        for name, outcome in zip(WAYS, result, strict=True)
    )
    return Table(
        ("做法", "更新后的权重", "两份贡献的参数版本", "与约定边界相差"),
        rows,
        note="配套补充：学习率、裁剪和「梯度 = 权重 − 目标」的一维小模型由配套给定。",
    )


def _sentence(inputs: Any, result: tuple[Outcome, ...]) -> str:
    ends = "，".join(f"{name} {show_number(o.weight)}" for name, o in zip(WAYS, result, strict=True))
    moved = show_number(result[1].contributions[1].mean_grad)
    return f"从权重 0 出发：{ends}。提前更新以后，乙的平均梯度由 {show_number(inputs.g_b)} 变成 {moved}。"


def one_update() -> Explorer:
    """Return the explorer: four procedures from the same two microbatches."""
    return Explorer(
        title="更新放在哪里，权重就走到哪里",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 360),
    )


EXPLORERS = (one_update,)
