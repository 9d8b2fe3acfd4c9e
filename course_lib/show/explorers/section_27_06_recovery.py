"""Section 27.6: leave a part of the saved state out, and see the resumed run become another run.

A measurement of this companion: its own small trainer in the chapter's mixed precision, on one CPU. Equality
is exact, bit by bit; a loss that looks good is shown to prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10
from typing import Any, Final

from ...recovery import PARTS, Comparison, compare
from ...recovery.omissions import ROUNDS
from .. import Number, Switch, Table
from ..charts import Curves, Labels, Points, Rules, even_ticks, legend
from ..controls import Control
from ..explorer import OURS, Explorer
from ..palette import BLUE, INK, ORANGE, RED, Style
from ..stage import Stage

EFFECTS: Final = {
    "first": "更新的方向从零重新积累",
    "second": "头几步除以过小的数，一步跨得很远",
    "step": "偏差修正从头来，头几步大小不对",
    "random": "每批遮住的位置和下一轮的次序都换了",
    "cursor": "从头读数据，后面的批次换了",
    "schedule": "学习率重新预热",
    "scale": "倍数回到初值，跳过更新的时刻换了",
    "precise": "主副本只按 2 字节存，攒下的零头没了",
}
CONTROLS: tuple[Control, ...] = (
    Number("saved_after", "第几轮之后保存", 20, range(1, ROUNDS), "轮", "保存后立刻停止，再恢复"),
    *(Switch(part, f"恢复{name}", True, f"去掉：{EFFECTS[part]}") for part, name in PARTS.items()),
)
PRESETS: dict[str, dict[str, Any]] = {
    "只有权重": dict.fromkeys(PARTS, False) | {"precise": True},
    "两个矩都没有": {"first": False, "second": False},
    **{f"只缺{name}": {part: False} for part, name in PARTS.items()},
}
CONTINUOUS, RESUMED, DIFFERS = "连续运行", "保存后继续", "从这一轮起不同"
LINES: Final = {CONTINUOUS: Style(BLUE), RESUMED: Style(ORANGE)}
SAME_BITS: Final = -8  # where the picture draws a distance of exactly zero, below all others
TICKS: Final = {SAME_BITS: "逐位相同", -6: "百万分之一", -4: "万分之一", -2: "百分之一", 0: "一倍"}


def _without(inputs: Any) -> tuple[str, ...]:
    return tuple(part for part in PARTS if not getattr(inputs, part))


def _compute(inputs: Any) -> Comparison:
    return compare(saved_after=inputs.saved_after, without=_without(inputs))


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.recovery import compare

result = compare(saved_after={inputs.saved_after}, without={list(_without(inputs))})
"""


def _height(distance: float) -> float:
    return max(log10(distance), SAME_BITS + 0.5) if distance else SAME_BITS


def _picture(stage: Stage) -> Callable[[Any, Comparison], None]:
    top, bottom = stage.axes(2, 1, height_ratios=(1.2, 1))
    under, over = Curves(top, LINES, width=4), Curves(top, LINES, width=1.8)
    apart, first = Curves(bottom, LINES, width=2.2), Points(bottom, {DIFFERS: Style(RED)}, size=60)
    stops = [Rules(axes, INK, width=1.3, dashes="dashed") for axes in (top, bottom)]
    word = Labels(top, size=9, align="left", vertical="top")
    for axes in (top, bottom):
        axes.set(xlim=(0, ROUNDS + 1))
    even_ticks(top.yaxis, "全部数据的损失", ticks=5)
    bottom.set(ylim=(SAME_BITS - 0.7, 2), yticks=tuple(TICKS), yticklabels=TICKS.values())
    bottom.set_ylabel("权重相差")
    top.set_xticks(())
    even_ticks(bottom.xaxis, "轮（每轮读一批）", moving=False)
    legend(stage, {**LINES, DIFFERS: Style(RED)})

    def update(inputs: Any, found: Comparison) -> None:
        at, rounds = found.saved_after, range(1, ROUNDS + 1)
        losses = found.losses + found.resumed_losses
        low, high = min(2, floor(min(losses))), max(3, ceil(max(losses)))
        top.set(ylim=(low, high))
        under.show({CONTINUOUS: (rounds, found.losses)})
        over.show({RESUMED: (rounds[at - 1 :], found.resumed_losses)})
        heights = [_height(distance) for distance in found.distances]
        apart.show({RESUMED: (rounds[at - 1 :], heights)})
        one = found.first_difference
        first.show({DIFFERS: [] if one is None else [(one, heights[one - at])]})
        for stop in stops:
            stop.show([(at, -10, at, 1000)])
        word.show([(at + 0.3, high, "保存、停止、恢复")])

    return update


def _loss_word(found: Comparison) -> str:
    difference = found.resumed_losses[-1] - found.losses[-1]
    if not difference:
        return "相同"
    return f"{'低' if difference < 0 else '高'} {abs(difference):.4f}"


def _table(inputs: Any, found: Comparison) -> Table:
    parts = tuple(
        (name, "有", "") if getattr(inputs, part) else (name, "没有", EFFECTS[part])
        for part, name in PARTS.items()
    )
    last = found.distances[-1]
    rows = (
        ("权重从第几轮起不同", found.first_difference or "没有不同", ""),
        ("最后的权重相差", f"{last:.2g}" if last else "0", "差的长度 ÷ 权重的长度"),
        ("最后的损失，与连续运行比", _loss_word(found), "损失低不说明恢复得对"),
    )
    return Table(("恢复", "这一次", "说明"), (*parts, *rows))


def _sentence(inputs: Any, found: Comparison) -> str:
    missing = "、".join(PARTS[part] for part in _without(inputs))
    start = f"第 {found.saved_after} 轮后保存再恢复，" + (f"缺{missing}" if missing else "全部状态都在")
    if found.first_difference is None:
        lucky = "，这一段恰好看不出差别" if missing else ""
        return f"{start}{lucky}：直到第 {ROUNDS} 轮，权重逐位相同。"
    now = f"权重从第 {found.first_difference} 轮起不同，最后的损失比连续运行{_loss_word(found)}"
    return f"{start}：{now}" + ("：损失更低，却不是同一次训练。" if found.lower_loss else "。")


def recovery() -> Explorer:
    """Return the explorer: untick a part of the saved state and watch weights and loss drift."""
    return Explorer(
        title="少恢复一样，训练变成什么样（配套实测）",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 420),
    )


EXPLORERS = (recovery,)
