"""Section 27.6: save, stop, go on: which missing part of the saved state makes the run another run.

A measurement of this companion on one CPU process: one scalar weight, Adam, FP16 gradients, a dynamic loss
scale. Equality is exact; no tolerance hides a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

from ...loss_scaling import DynamicScale, TrainState, Warmup, apply_update
from ...precision import to_fp16
from .. import Number, Switch, Table
from ..charts import Curves, Labels, Points, Rules, even_ticks, legend
from ..controls import Control
from ..explorer import OURS, Explorer
from ..palette import BLUE, INK, ORANGE, RED, Style
from ..stage import Stage

DATA: Final = (5, 2, 6, 1, 7, 3, 6, 2, 8, 1, 4, 7, 2, 5, 3, 6)
ROUNDS: Final = len(DATA)
START: Final = TrainState.start(
    weights=[0.0],
    scale=DynamicScale(2**15, growth_interval=4),
    schedule=Warmup(peak=Fraction(4, 5), warmup_updates=4),
)
PARTS: Final = {
    "moments": ("两个矩", "从零开始重新积累"),
    "step": ("完成步数", "学习率与偏差修正从头来"),
    "scale": ("损失缩放状态", "倍数回到初值，可能溢出而多跳过一次更新"),
    "cursor": ("数据游标", "从第一个样例重新读，后续样例换了"),
}
CONTROLS: tuple[Control, ...] = (
    Number("saved_after", "第几轮之后保存", 6, range(1, ROUNDS), "轮", "保存后立刻停止，再从文件恢复"),
    *(Switch(name, f"恢复{title}", True, f"不恢复就{effect}") for name, (title, effect) in PARTS.items()),
)
PRESETS = {
    "只有权重": dict.fromkeys(PARTS, False),
    "权重和矩": {"step": False, "scale": False, "cursor": False},
    "习题 5：采样器重新开始": {"cursor": False},
}


class Runs(NamedTuple):
    """Weight after each round, without a stop and with one."""

    continuous: tuple[float, ...]
    resumed: tuple[float, ...]

    @property
    def first_difference(self) -> int | None:
        """The first round whose weights differ in any bit; None where the runs are the same."""
        rounds = zip(self.continuous, self.resumed, strict=True)
        return next((n for n, (one, other) in enumerate(rounds, 1) if one != other), None)


def go_on(state: TrainState, cursor: int, rounds: int) -> list[TrainState]:
    """Return the states after each of ``rounds`` rounds; each reads the next example."""
    states = []
    for example in range(cursor, cursor + rounds):
        grad = state.weights - DATA[example]
        state = apply_update(state, scaled_grads=to_fp16(state.scale.scale(grad)))
        states.append(state)
    return states


def _resumed(inputs: Any, saved: TrainState) -> tuple[TrainState, int]:
    names = ["first_moment", "second_moment"] if inputs.moments else []
    names += [name for name in ("step", "scale") if getattr(inputs, name)]
    state = replace(START, weights=saved.weights, **{name: getattr(saved, name) for name in names})
    return state, inputs.saved_after if inputs.cursor else 0


def _compute(inputs: Any) -> Runs:
    whole = go_on(START, 0, ROUNDS)
    state, cursor = _resumed(inputs, whole[inputs.saved_after - 1])
    second = go_on(state, cursor, ROUNDS - inputs.saved_after)
    return Runs(_weights(whole), _weights(whole[: inputs.saved_after] + second))


def _weights(states: list[TrainState]) -> tuple[float, ...]:
    return tuple(state.weights.item() for state in states)


def _code(inputs: Any) -> str:
    moments = "first_moment=saved.first_moment, second_moment=saved.second_moment, "
    kept = "weights=saved.weights, " + moments * inputs.moments
    kept += "".join(f"{name}=saved.{name}, " for name in ("step", "scale") if getattr(inputs, name))
    return f"""\
from dataclasses import replace

from course_lib.loss_scaling import DynamicScale, TrainState, Warmup, apply_update
from course_lib.precision import to_fp16

data = {DATA}

def go_on(state, cursor, rounds):
    states = []
    for example in range(cursor, cursor + rounds):
        grad = state.weights - data[example]
        state = apply_update(state, scaled_grads=to_fp16(state.scale.scale(grad)))
        states.append(state)
    return states

start = TrainState.start(weights=[0.0], scale=DynamicScale(2**15, growth_interval=4),
                         schedule=Warmup(peak=0.8, warmup_updates=4))
whole = go_on(start, 0, {ROUNDS})
saved = whole[{inputs.saved_after - 1}]
state = replace(start, {kept.rstrip(", ")})
second = go_on(state, {inputs.saved_after if inputs.cursor else 0}, {ROUNDS - inputs.saved_after})
result = tuple(tuple(each.weights.item() for each in states)
               for states in (whole, whole[:{inputs.saved_after}] + second))
"""


STYLES: Final = {"连续运行": Style(BLUE), "保存后继续": Style(ORANGE)}
DIFFERS: Final = "与连续运行不同"


def _picture(stage: Stage) -> Callable[[Any, Runs], None]:
    axes = stage.axes()
    curves, stop = Curves(axes, STYLES, width=2.6), Rules(axes, INK, width=1.3, dashes="dashed")
    wrong = Points(axes, {DIFFERS: Style(RED)}, size=60)
    word = Labels(axes, size=9, align="left", vertical="bottom")
    axes.set(xlim=(0.5, ROUNDS + 0.5), ylim=(-0.5, 7), ylabel="权重")
    even_ticks(axes.xaxis, "轮（每轮读一个样例）", moving=False)
    legend(stage, {**STYLES, DIFFERS: Style(RED)})

    def update(inputs: Any, runs: Runs) -> None:
        rounds, at = range(1, ROUNDS + 1), inputs.saved_after
        curves.show(
            {"连续运行": (rounds, runs.continuous), "保存后继续": (rounds[at - 1 :], runs.resumed[at - 1 :])}
        )
        stop.show([(at, -0.5, at, 7)])
        word.show([(at + 0.15, 6.5, "保存、停止、恢复")])
        rows = zip(rounds, runs.resumed, runs.continuous, strict=True)
        wrong.show({DIFFERS: [(n, other) for n, other, one in rows if one != other]})

    return update


def _table(inputs: Any, runs: Runs) -> Table:
    rows = tuple(
        (title, "恢复了" if getattr(inputs, name) else "没有恢复", "" if getattr(inputs, name) else effect)
        for name, (title, effect) in PARTS.items()
    )
    return Table(("状态", "这一次", "后果"), (("权重", "恢复了", ""), *rows))


def _sentence(inputs: Any, runs: Runs) -> str:
    missing = [title for name, (title, _) in PARTS.items() if not getattr(inputs, name)]
    start = f"第 {inputs.saved_after} 轮后保存再恢复，"
    if runs.first_difference is None:
        lucky = f"虽然没有恢复{'、'.join(missing)}，这一段恰好看不出差别" if missing else "恢复了全部状态"
        return f"{start}{lucky}：其余 {ROUNDS - inputs.saved_after} 轮的权重逐位相同。"
    return f"{start}没有恢复{'、'.join(missing)}：从第 {runs.first_difference} 轮起，权重与连续运行不同。"


def resume() -> Explorer:
    """Return the explorer: a run that never stops, and one that is saved, stopped and resumed."""
    return Explorer(
        title="保存、停止、继续：还是同一次训练吗（配套实测）",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 340),
    )


EXPLORERS = (resume,)
