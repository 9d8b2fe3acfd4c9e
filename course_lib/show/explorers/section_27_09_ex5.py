"""Section 27.9, exercise 5: stop, load weights and moments, go on; which samples follow, what is proven."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...loss_scaling import StaticScale, TrainState, Warmup, apply_update
from .. import Number, Switch, Table
from ..charts import Curves, Grid, Labels, legend
from ..explorer import OURS, Explorer
from ..palette import BLUE, GREY, ORANGE, PAPER, Style
from ..stage import Stage

SAMPLES = (3, 7, 1, 6, 8, 2, 5, 4)  # a shuffled order of eight samples, read round and round
UNBROKEN, RESUMED = "一直没停", "停下再恢复"
BEFORE, SAME, OTHER = "停之前", "与没停时是同一个样例", "换成了别的样例"
CELLS = {BEFORE: Style(GREY), SAME: Style(BLUE, ink=PAPER), OTHER: Style(ORANGE, "//")}
LINES = {UNBROKEN: Style(BLUE), RESUMED: Style(ORANGE)}
CONTROLS = (
    Number("stop", "停在第几次之后", 4, range(1, 17), "次", "在这次更新之后保存、停止、恢复"),
    Number("more", "之后再更新", 6, range(1, 17), "次"),
    Switch("moments", "加载矩状态与步数", True, "题目里已加载；去掉，两个矩就从零开始"),
    Switch("sampler", "恢复采样器状态", False, "题目里没有恢复：从头读样例"),
    Switch("compared", "与没停的逐步比较过", False, "做过比较，才谈得上一致的证据"),
)
SCHEDULE = Warmup(peak=Fraction(1, 2), warmup_updates=1)
PRESETS: dict[str, dict[str, Any]] = {
    "采样器也恢复，并比较过": {"sampler": True, "compared": True},
    "采样器也恢复，没有比较": {"sampler": True},
    "停在第 8 次：样例碰巧相同": {"stop": 8},
    "只有权重文件": {"moments": False},
}

Run = namedtuple("Run", "samples weights")


def _go_on(state: TrainState, samples: Sequence[int]) -> tuple[TrainState, list[float]]:
    """Make one Adam update per sample of the loss ½(w − sample)², whose gradient is w − sample."""
    weights = []
    for sample in samples:
        state = apply_update(state, scaled_grads=state.weights - sample)
        weights.append(float(state.weights[0]))
    return state, weights


def _compute(inputs: Any) -> tuple[Run, Run]:
    order = [SAMPLES[step % len(SAMPLES)] for step in range(inputs.stop + inputs.more)]
    fresh = TrainState.start(weights=[4.5], scale=StaticScale(1), schedule=SCHEDULE)
    saved, before = _go_on(fresh, order[: inputs.stop])
    _, after = _go_on(saved, order[inputs.stop :])
    loaded = saved if inputs.moments else replace(fresh, weights=saved.weights)
    following = order[inputs.stop :] if inputs.sampler else order[: inputs.more]
    _, resumed = _go_on(loaded, following)
    return Run(order, before + after), Run(order[: inputs.stop] + following, before + resumed)


def _code(inputs: Any) -> str:
    loaded = "saved" if inputs.moments else "replace(fresh, weights=saved.weights)"
    following = f"order[{inputs.stop}:]" if inputs.sampler else f"order[:{inputs.more}]"
    return f"""\
from dataclasses import replace
from course_lib.loss_scaling import StaticScale, TrainState, Warmup, apply_update

def go_on(state, samples):
    weights = []
    for sample in samples:  # 损失 ½(w − 样例)²，梯度 w − 样例
        state = apply_update(state, scaled_grads=state.weights - sample)
        weights.append(float(state.weights[0]))
    return state, weights

order = [{SAMPLES}[step % {len(SAMPLES)}] for step in range({inputs.stop + inputs.more})]
fresh = TrainState.start(weights=[4.5], scale=StaticScale(1), schedule=Warmup(peak=0.5, warmup_updates=1))
saved, before = go_on(fresh, order[:{inputs.stop}])
_, after = go_on(saved, order[{inputs.stop}:])
following = {following}
_, resumed = go_on({loaded}, following)
result = (order, before + after), (order[:{inputs.stop}] + following, before + resumed)
"""


def _cells(inputs: Any, run: Run, unbroken: Run) -> list[tuple[str, str]]:
    kinds = [
        SAME if mine == theirs else OTHER for mine, theirs in zip(run.samples, unbroken.samples, strict=True)
    ]
    kinds[: inputs.stop] = [BEFORE] * inputs.stop
    return [(kind, str(sample)) for kind, sample in zip(kinds, run.samples, strict=True)]


def _picture(stage: Stage) -> Callable[[Any, tuple[Run, Run]], None]:
    top, bottom = stage.axes(2, 1, height_ratios=(1, 1.5))
    read = Grid(top, CELLS)
    under, over = Curves(bottom, LINES, width=5), Curves(bottom, LINES, width=2, marker="o")
    numbers = Labels(bottom, vertical="top")  # as axis ticks they would take most of the time
    bottom.set(xticks=(), yticks=(), xlabel="第几次更新（格里是样例的编号，上下对齐）", ylabel="权重")
    legend(stage, CELLS | {"线：没停": LINES[UNBROKEN], "线：恢复后": LINES[RESUMED]}, columns=5)

    def update(inputs: Any, runs: tuple[Run, Run]) -> None:
        unbroken, resumed = runs
        updates = range(1, len(unbroken.weights) + 1)
        read.show([_cells(inputs, run, unbroken) for run in runs], (UNBROKEN, RESUMED))
        low, high = _limits(unbroken.weights + resumed.weights)
        bottom.set(xlim=(0.5, len(updates) + 0.5), ylim=(low, high))
        numbers.show((step, high, step) for step in updates)
        under.show({UNBROKEN: (updates, unbroken.weights)})
        over.show({RESUMED: (updates[inputs.stop - 1 :], resumed.weights[inputs.stop - 1 :])})

    return update


def _limits(weights: Sequence[float]) -> tuple[float, float]:
    low, high = min(weights), max(weights)
    return low - 0.1 * (high - low) - 0.01, high + 0.3 * (high - low) + 0.01


def _table(inputs: Any, runs: tuple[Run, Run]) -> Table:
    match = ("有" if runs[0] == runs[1] else "比较过，不一致") if inputs.compared else "没有"
    rows = (
        ("权重接着上次保存的值", "有"),
        ("两个矩与步数接着上次保存的值", "有" if inputs.moments else "没有"),
        ("后续样例的次序与没停时相同", "有" if inputs.sampler else "没有"),
        ("在这个环境里，与没停的运行一致", match),
        ("换一台机器也逐位相同", "没有"),
    )
    return Table(
        ("能这样说吗", "证据"), rows, note="一个权重、八个样例的小例，用来看清次序；不是分布式恢复实验。"
    )


def _sentence(inputs: Any, runs: tuple[Run, Run]) -> str:
    unbroken, resumed = runs
    if unbroken == resumed:
        proven = "逐步比较过，这就是一致的证据" if inputs.compared else "但没有逐步比较过，还不算证据"
        by_chance = "" if inputs.sampler else "采样器没有恢复，只是恰好停在一轮的末尾；"
        return f"两次运行的样例与权重都相同：{by_chance}{proven}。"
    pairs = enumerate(zip(unbroken.weights, resumed.weights, strict=True), start=1)
    first = next(step for step, (one, other) in pairs if one != other)
    apart = f"权重从第 {first} 次更新起分道扬镳。"
    other = sum(one != other for one, other in zip(unbroken.samples, resumed.samples, strict=True))
    if not other:
        return f"样例与没停时相同，两个矩却从零开始：{apart}"
    return f"恢复后 {inputs.more} 次更新里，{other} 次读到别的样例；{apart}"


def resumed_run() -> Explorer:
    """Return the explorer of exercise 5: two runs side by side, and what may be said about the second."""
    return Explorer(
        title="习题 5：权重和矩都在，采样器从头来",
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


EXPLORERS = (resumed_run,)
