"""Section 27.6: keep fewer arrays per layer: memory over one step, and peak against time for every choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ...ledger import ACTIVATIONS, Ledger, Lifetime, model_state
from ...lifetimes import Curve, Timeline
from ...recompute import REBUILT, Rebuild, Tradeoff, rebuild, tradeoff
from ...units import GB, MB, format_bytes
from .. import Choice, Number, Table, even_stops, log_stops
from ..cases import CASES, CHAPTER, case, case_code
from ..charts import legend
from ..charts.rebuilding import FITS, PARTS, STATE, TOO_BIG, VERDICTS, PeaksAgainstTime, StepMemory
from ..explorer import OURS, Explorer
from ..palette import WEIGHTS
from ..stage import Stage

ALL: Final = 10
Pairs = tuple[tuple[Rebuild, Tradeoff], ...]  # one array kept first, all of them last

CONTROLS = (
    Number("arrays_per_layer", "每层留下", 4, range(1, ALL + 1), "个数组", "十个里留下几个，其余重算"),
    Number("capacity_bytes", "设备容量", 21 * MB, log_stops(10**6, 10**14), "字节", "可以输入 80G 这样的数"),
    Number("percent", "规划余量", 25, range(0, 101), "%", "总账之外再预留的比例"),
    Number("cost", "重算单价", 1, even_stops(0.5, 3, 0.1), "倍", "重建一个数组比平均贵几倍", fraction=True),
    Number("sequences", "微批次", 2, range(1, 65), "个序列", "同时在算的序列数"),
    Choice("model", "模型", CHAPTER, CASES, "本章之外的模型也按每层十个数组估算"),
)
PRESETS = {
    "全部留下": {"arrays_per_layer": ALL},
    "只留每层的输入": {"arrays_per_layer": 1},
    "习题 6：减半，多算 30%": {
        "arrays_per_layer": 5,
        "cost": Fraction(9, 5),
        "capacity_bytes": 17 * MB,
        "percent": 0,
    },
    "GPT-2 1.5B，48 GB": {"model": "gpt2-1.5b", "sequences": 16, "capacity_bytes": 48 * GB},
    "Llama 3 8B，192 GB": {"model": "llama3-8b", "capacity_bytes": 192 * GB},
}


def _compute(inputs: Any) -> Pairs:
    """A step without recompute takes 1."""
    parameters, acts = case(inputs.model, sequences=inputs.sequences)
    state = model_state(parameters)
    plans = (rebuild(acts, arrays_per_layer=kept) for kept in range(1, ALL + 1))
    return tuple((plan, _answer(inputs, state, plan)) for plan in plans)


def _answer(inputs: Any, state: Ledger, plan: Rebuild) -> Tradeoff:
    return tradeoff(
        state=state,
        plan=plan,
        capacity_bytes=inputs.capacity_bytes,
        compute_seconds=1,
        percent=inputs.percent,
        extra_arithmetic=plan.extra_arithmetic * Fraction(inputs.cost),
    )


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction

from course_lib.ledger import model_state
from course_lib.recompute import rebuild, tradeoff
{case_code(inputs.model, sequences=inputs.sequences)}
plans = [rebuild(acts, arrays_per_layer=kept) for kept in range(1, {ALL + 1})]
result = tuple(
    (plan, tradeoff(state=model_state(parameters), plan=plan, capacity_bytes={inputs.capacity_bytes:_},
                    compute_seconds=1, percent={inputs.percent},
                    extra_arithmetic=plan.extra_arithmetic * Fraction("{inputs.cost}")))
    for plan in plans
)
plan, answer = result[{inputs.arrays_per_layer - 1}]  # 每层留 {inputs.arrays_per_layer} 个
"""


def memory_over_step(plan: Rebuild, cost: Fraction) -> Curve:
    """Return saved and rebuilt bytes over one step, in per cent of a step without recompute.

    A layer's forward takes one unit, its backward two; its missing arrays are rebuilt just before that.
    """
    again = plan.extra_forward * cost
    unit = again.denominator  # whole ticks: only then does a release meet the next allocation exactly
    layers, back = plan.before.layers, 2 * unit + again.numerator
    layer = np.arange(layers)
    done = layers * unit + (layers - layer) * back
    line = Timeline.from_arrays(
        starts=np.stack([layer * unit, done - back]),
        ends=np.stack([done, done]),
        n_bytes=[plan.after.layer_bytes, plan.transient_bytes],
        kinds=Lifetime.WITHIN_STEP,
        labels=[ACTIVATIONS, REBUILT],
    )
    curve = line.curve(by="name")
    return replace(curve, times=curve.times * 100 / (3 * layers * unit))


def _picture(stage: Stage) -> Callable[[Any, Pairs], None]:
    left, right = stage.axes(1, 2, width_ratios=(5, 4))
    step, peaks = StepMemory(left), PeaksAgainstTime(right)
    legend(stage, {STATE: WEIGHTS, **PARTS, **VERDICTS})

    def update(inputs: Any, pairs: Pairs) -> None:
        (full, everything), (plan, _) = pairs[-1], pairs[inputs.arrays_per_layer - 1]
        state = everything.before.total_bytes - full.before.total_bytes
        room = inputs.capacity_bytes * 100 // (100 + inputs.percent) - state
        points = [_point(*pair) for pair in pairs]
        curves = (memory_over_step(each, Fraction(inputs.cost)) for each in (plan, full))
        step.show(*curves, state=state, room=room, end=points[0][0])
        peaks.show(points, chosen=inputs.arrays_per_layer - 1, room=room, full=full.before.total_bytes)

    return update


def _point(plan: Rebuild, answer: Tradeoff) -> tuple[float, int, int, bool, str]:
    time, word = float(answer.seconds_after * 100), str(plan.after.arrays_per_layer)
    return time, plan.after.total_bytes, plan.peak_bytes, answer.fits_after, word


def _table(inputs: Any, pairs: Pairs) -> Table:
    columns = ("每层留", "留下的激活", REBUILT, "连模型状态", "加余量后", "一步的时间", "设备")
    rows = tuple(
        (
            f"{plan.after.arrays_per_layer} 个",
            plan.after.total_bytes,
            plan.transient_bytes,
            answer.after.total_bytes,
            answer.need_bytes_after,
            _percent(answer),
            FITS if answer.fits_after else TOO_BIG,
        )
        for plan, answer in pairs
    )
    return Table(columns, rows, note=f"未计入：{'、'.join(pairs[0][1].after.omits)}。")


def _percent(answer: Tradeoff) -> str:
    return f"{float(answer.seconds_after * 100):.1f}%"


def _sentence(inputs: Any, pairs: Pairs) -> str:
    plan, answer = pairs[inputs.arrays_per_layer - 1]
    kept = (
        f"每层留 {inputs.arrays_per_layer} 个：激活 {format_bytes(plan.after.total_bytes)}，"
        f"重建一层另需 {plan.transient_bytes:,} 字节；一步的时间是不重算的 {_percent(answer)}。"
    )
    return kept + _verdict(plan, answer)


def _verdict(plan: Rebuild, answer: Tradeoff) -> str:
    if answer.makes_it_fit:
        return "重算让它从放不下变成放得下，但每一步更慢了。"
    if not answer.fits_after:
        return f"加余量后仍比设备多 {answer.need_bytes_after - answer.capacity_bytes:,} 字节，放不下。"
    if plan.extra_forward:
        return "不重算本来也放得下，这里的重算只换来更慢。"
    return "全部留下就放得下，不必重算。"


def keep_or_rebuild() -> Explorer:
    """Return the explorer: the memory of one step, and what every choice of arrays kept costs."""
    return Explorer(
        title="少留几个数组：内存换时间",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(820, 400),
    )


EXPLORERS = (keep_or_rebuild,)
