"""Section 27.5: a pipeline's schedule on lanes, its bubble, and the activations each stage holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...parallel import (
    FORWARD,
    UPDATE_RULE,
    Schedule,
    bubble_fraction,
    bubble_overhead,
    pipeline_schedule,
)
from .. import Choice, Number, Table, even_stops
from ..charts import Boxes, Labels, Lanes, Rules, Span, even_ticks, legend, round_up
from ..explorer import OURS, Explorer
from ..guesses import plain
from ..palette import BLUE, GREEN, IDLE, INK, PAPER, PINK, RED, SKY, Style
from ..stage import Stage

PLANS = {
    "gpipe": "先全部前向，再全部反向（GPipe）",
    "1f1b": "一前一后交替（1F1B）",
    "interleaved-2": "交错，每阶段 2 段",
    "interleaved-4": "交错，每阶段 4 段",
}
CONTROLS = (
    Choice("plan", "调度", "gpipe", PLANS, "微批次先后怎样排"),
    Number("stages", "阶段", 4, range(1, 65), "个", "连续的层切成几段，各归一个进程"),
    Number("microbatches", "微批次", 8, range(1, 513), "个", "一次更新处理的微批次数"),
    Number("backward", "反向耗时", 2, even_stops(1, 4, 0.5), "倍", "是前向的几倍", fraction=True),
)
PRESETS: dict[str, dict[str, Any]] = {
    "一前一后交替": {"plan": "1f1b"},
    "交错，每阶段 2 段": {"plan": "interleaved-2"},
    "只有 1 个微批次": {"microbatches": 1},
    "8 个阶段，32 个微批次": {"plan": "1f1b", "stages": 8, "microbatches": 32},
    "64 个阶段，512 个微批次": {"plan": "1f1b", "stages": 64, "microbatches": 512},
}
# Chunks of a stage are told apart by shade: even ones strong, odd ones pale.
STYLES = {
    "前向": Style(BLUE, ink=PAPER),
    "反向": Style(GREEN, "\\\\", ink=PAPER),
    "前向（另一段）": Style(SKY),
    "反向（另一段）": Style("#74C7A5", "//"),
    "气泡": IDLE,
}
KINDS = tuple(STYLES)
_FEW = 240  # stretches up to which each is a shape with the number of its microbatch
_ABOVE = 0.1  # share of the height kept free above the lanes for the word on the update


def _given(inputs: Any) -> tuple[str, dict[str, Any]]:
    """The kind of schedule, and the sizes that its bubble depends on."""
    kind, _, chunks = inputs.plan.partition("-")
    sizes = {"stages": inputs.stages, "microbatches": inputs.microbatches, "chunks": int(chunks or 1)}
    return kind, sizes


def _compute(inputs: Any) -> Schedule:
    kind, sizes = _given(inputs)
    return pipeline_schedule(kind, **sizes, backward=inputs.backward)


def _code(inputs: Any) -> str:
    kind, sizes = _given(inputs)
    given = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return f"""\
from fractions import Fraction
from course_lib.parallel import bubble_fraction, bubble_overhead, pipeline_schedule

result = pipeline_schedule("{kind}", {given}, backward={inputs.backward!r})
bubble_overhead({given}), bubble_fraction({given})  # 占理想时间，占总时间
"""


def _in_flight(schedule: Schedule) -> tuple[Fraction, ...]:
    """Activations each stage holds at most, in microbatches of a whole stage."""
    return tuple(Fraction(int(parts), schedule.chunks) for parts in schedule.peak_in_flight)


def _ideal(schedule: Schedule) -> Fraction:
    return schedule.total_seconds - schedule.idle_seconds[0]


def _stretches(schedule: Schedule) -> tuple[np.ndarray, ...]:
    """All work as flat arrays: lane, start, end, number of its kind, microbatch."""
    shape = schedule.start.shape
    part, microbatch, way = (axis.ravel() for axis in np.indices(shape))
    tick = float(schedule.tick)
    kind = part // schedule.stages % 2 * 2 + (way != FORWARD)
    return (
        part % schedule.stages,
        schedule.start.ravel() * tick,
        schedule.end.ravel() * tick,
        kind,
        microbatch,
    )


def _gaps(schedule: Schedule) -> tuple[np.ndarray, ...]:
    """Idle time as flat arrays: lane, start, end."""
    starts = np.sort(schedule.by_stage(schedule.start), axis=1)
    ends = np.sort(schedule.by_stage(schedule.end), axis=1)
    first, last = np.zeros((schedule.stages, 1)), np.full((schedule.stages, 1), schedule.end.max())
    begin, finish = np.hstack([first, ends]), np.hstack([starts, last])
    lane, at = np.nonzero(finish > begin)
    tick = float(schedule.tick)
    return lane, begin[lane, at] * tick, finish[lane, at] * tick


class _Chart:
    """Lanes of stages on the left, what each holds at most on the right."""

    def __init__(self, stage: Stage) -> None:
        left, self._right = stage.axes(1, 2, width_ratios=(4.6, 1), gridspec_kw={"wspace": 0.03})
        self._left, self._lanes = left, Lanes(left, STYLES, height=0.86, many=_FEW)
        left.set_ylabel("阶段")
        left.yaxis.set_label_coords(-0.05, 0.5)  # else it moves with the width of the numbers
        even_ticks(left.xaxis, "时间（一次前向 = 1）")
        self._end = Rules(left, RED, width=2)
        self._word = Labels(left, align="right", vertical="bottom")
        self._held = Boxes(self._right, {"": Style(PINK)}, linewidth=0.6)
        self._sizes = Labels(self._right, align="left")
        self._right.yaxis.set_visible(False)
        even_ticks(self._right.xaxis, "最多同时保存的微批次", ticks=3)
        legend(stage, STYLES)

    def show(self, inputs: Any, schedule: Schedule) -> None:
        names = [str(number + 1) for number in range(schedule.stages)]
        total = float(schedule.total_seconds)
        self._show_lanes(schedule, names, round_up(total))
        for axes in (self._left, self._right):
            axes.set_ylim(schedule.stages - 0.5, -0.5 - _ABOVE * schedule.stages)
        self._end.show([(total, -0.5, total, schedule.stages - 0.5)])
        self._word.show([(total, -0.5, f"到 {plain(schedule.update_seconds)} 才更新权重", RED)])
        self._show_held([float(held) for held in _in_flight(schedule)])

    def _show_lanes(self, schedule: Schedule, names: list[str], limit: float) -> None:
        lane, start, end, kind, microbatch = _stretches(schedule)
        idle_lane, idle_start, idle_end = _gaps(schedule)
        kinds = np.concatenate([kind, np.full(len(idle_lane), KINDS.index("气泡"))])
        lanes, starts, ends = map(np.concatenate, ((lane, idle_lane), (start, idle_start), (end, idle_end)))
        if len(kinds) > _FEW:
            self._lanes.show_arrays(lanes, starts, ends, kinds, names=names, limit=limit)
            return
        words = [str(number + 1) for number in microbatch] + [""] * len(idle_lane)
        rows = zip(lanes, starts, ends, (KINDS[number] for number in kinds), words, strict=True)
        self._lanes.show([Span(*row) for row in rows], names, end=limit)

    def _show_held(self, held: list[float]) -> None:
        self._right.set_xlim(0, round_up(max(held)) * 1.3)
        self._held.show({"": [(0, size, row - 0.43, row + 0.43) for row, size in enumerate(held)]})
        few = len(held) <= 16
        self._sizes.show((size, row, f" {size:g}", INK) for row, size in enumerate(held) if few)


def _picture(stage: Stage) -> Callable[[Any, Schedule], None]:
    return _Chart(stage).show


def _shares(inputs: Any) -> tuple[Fraction, Fraction]:
    _, sizes = _given(inputs)
    return bubble_overhead(**sizes), bubble_fraction(**sizes)


def _table(inputs: Any, schedule: Schedule) -> Table:
    overhead, fraction = _shares(inputs)
    held = _in_flight(schedule)
    rows = (
        ("没有气泡的理想时间", plain(_ideal(schedule))),
        ("总时间", plain(schedule.total_seconds)),
        ("每阶段闲置", plain(schedule.idle_seconds[0])),
        ("气泡 ÷ 理想时间", f"{overhead}（{float(overhead):.2%}）"),
        ("气泡 ÷ 总时间", f"{fraction}（{float(fraction):.2%}）"),
        ("第一阶段最多同时保存", f"{plain(held[0])} 个微批次"),
        ("最后阶段最多同时保存", f"{plain(held[-1])} 个微批次"),
    )
    return Table(("一次更新", "数值"), rows, note="两种气泡分母不同，不可混用。" + UPDATE_RULE + "。")


def _sentence(inputs: Any, schedule: Schedule) -> str:
    overhead, fraction = _shares(inputs)
    speed = inputs.stages * (1 - fraction)
    return (
        f"{inputs.stages} 个阶段、{inputs.microbatches} 个微批次：速度是一个进程的 {float(speed):.2f} 倍，"
        f"不是 {inputs.stages} 倍。气泡是理想时间的 {float(overhead):.1%}，"
        f"也就是总时间的 {float(fraction):.1%}；传输时间还没有算。"
        if inputs.stages > 1
        else "只有一个阶段：没有气泡，也没有加速。"
    )


def pipeline() -> Explorer:
    """Return the explorer: GPipe, 1F1B and interleaved schedules of up to 64 stages."""
    return Explorer(
        title="流水线：谁在算，谁在等，各留着几份激活",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(860, 360),
    )


EXPLORERS = (pipeline,)
