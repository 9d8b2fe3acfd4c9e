"""Section 27.6 (配套实测): the estimated step above a real one in the same picture, recompute or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, ATTENTION_SCORES, LOGITS, WORKSPACE, Ledger, model_state
from ...lifetimes import Timeline, training_timeline
from ...measuring import measured_timeline
from ...recompute import rebuild
from ...step_ledger import ARRAY_NAMES, ARRAYS, KEEPS, StepPlan, StepShape, forward_flops, rebuild_flops
from ...step_ledger.boundaries import LAST_NORMAL, SCALES, STREAM
from ...units import format_bytes
from .. import Choice, Table
from ..charts.axes import legend, short_bytes
from ..charts.memory_over_time import MemoryOverTime
from ..charts.phaseband import PhaseBand
from ..charts.step_lives import LOOKS, StepLives
from ..charts.timescale import TimeScale
from ..explorer import OURS, Explorer
from ..stage import Stage

SEQUENCES, LAYERS, ARRAYS_PER_LAYER = 2, 4, 10
CONTROLS = (
    Choice(
        "keep", "每层留下", "10", {"10": "十个数组，不重算", "4": "x、q、k、v 四个", "1": "只留输入 x"},
        "每换一次，就真的训练一步",
    ),
    Choice(
        "vocabulary", "词表", "12387", {"12387": "12,387，凑成一百万参数", "256": "256，参数少得多"},
        "词表大，logits 这个数组就大",
    ),
)  # fmt: skip
PRESETS = {
    "留四个数组": {"keep": "4"},
    "只留输入": {"keep": "1"},
    "小词表": {"vocabulary": "256"},
}
MODEL = "模型状态"
ITEMS = (MODEL, ACTIVATIONS, ATTENTION_SCORES, SCALES, LAST_NORMAL, LOGITS, STREAM, WORKSPACE)
ROOM = 5  # rows of what is outside of the layers
WORDS = {"估算": "估算：只有那十个数组", "实测": "实测：同一步里有名字的每一个数组"}
OUTSIDE = (ATTENTION_SCORES, LOGITS, STREAM, WORKSPACE)


class Steps(NamedTuple):
    """Peaks in bytes of the estimated and of the real step, and the margin that was planned."""

    estimated: int
    planned: int
    measured: int


def _plan(inputs: Any) -> StepPlan:
    return StepPlan(shape=StepShape(vocabulary=int(inputs.vocabulary)), keep=int(inputs.keep))


@lru_cache(maxsize=6)
def _timelines(plan: StepPlan) -> tuple[Timeline, Timeline, Ledger]:
    shape, state = plan.shape, model_state(plan.shape.parameters)
    acts = SavedActivations(
        sequences=shape.sequences,
        positions=shape.positions,
        width=shape.width,
        layers=shape.layers,
        arrays_per_layer=ARRAYS_PER_LAYER,
        bytes_per_value=2,
    )
    kept = rebuild(acts, arrays_per_layer=plan.keep)
    estimated = training_timeline(
        state=state, acts=kept.after, per_array=True, in_backward=kept.transient_ledger()
    )
    return estimated, measured_timeline(plan), state + acts.ledger()


def _compute(inputs: Any) -> Steps:
    estimated, measured, ledger = _timelines(_plan(inputs))
    planned = ledger.with_headroom(percent=25)
    return Steps(estimated.peak().total_bytes, planned, measured.peak().total_bytes)


def _code(inputs: Any) -> str:
    plan = _plan(inputs)
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import model_state
from course_lib.lifetimes import training_timeline
from course_lib.measuring import measured_timeline
from course_lib.recompute import rebuild
from course_lib.step_ledger import StepPlan, StepShape

plan = StepPlan(shape=StepShape(vocabulary={plan.shape.vocabulary}), keep={plan.keep})
state = model_state(plan.shape.parameters)
acts = SavedActivations(sequences={SEQUENCES}, positions=128, width=64,
                        layers={LAYERS}, arrays_per_layer={ARRAYS_PER_LAYER}, bytes_per_value=2)
kept = rebuild(acts, arrays_per_layer=plan.keep)
estimated = training_timeline(state=state, acts=kept.after, per_array=True,
                              in_backward=kept.transient_ledger())
planned = (state + acts.ledger()).with_headroom(percent=25)
result = estimated.peak().total_bytes, planned, measured_timeline(plan).peak().total_bytes
"""


def _rows(plan: StepPlan) -> tuple[dict[str, list[int]], dict[str, range]]:
    """Return on which rows each lane of either timeline lies, and the rows that a name stands for."""
    names = [name for name in ARRAYS if name != "x" or plan.keep != ARRAYS_PER_LAYER]
    rows: dict[str, list[int]] = {}
    groups: dict[str, range] = {}
    below = 0
    for layer in range(1, plan.shape.layers + 1):
        top = below
        kept = iter(range(1, ARRAYS_PER_LAYER + 1))
        for name in names:
            mine = list(range(below, below + ARRAYS[name]))
            rows[f"第 {layer} 层的{ARRAY_NAMES[name]}"] = mine
            if name in KEEPS[plan.keep]:
                rows |= {_estimated_label(plan, layer, next(kept)): [row] for row in mine}
            below += len(mine)
        groups[f"第 {layer} 层"] = range(top, below)
    for name in OUTSIDE:
        groups[name] = range(below, below + ROOM)
        rows[name] = list(groups[name])
        below += ROOM
    return rows, groups


def _estimated_label(plan: StepPlan, layer: int, array: int) -> str:
    return f"第 {layer} 层" + (f"第 {array} 个数组" if plan.keep > 1 else "")


def _picture(stage: Stage) -> Callable[[Any, Any], None]:
    stage.figure.set_layout_engine("none")
    legend(stage, LOOKS)
    axes = iter(_axes(stage))
    top = next(axes)
    top.set(xlim=(0, 1), ylim=(38, 18), xticks=[], yticks=[])
    top.spines[:].set_visible(False)
    band = PhaseBand(top)
    lanes = [StepLives(next(axes)), StepLives(next(axes))]
    curves = [MemoryOverTime(next(axes)), MemoryOverTime(next(axes))]

    def update(inputs: Any, result: Steps) -> None:
        plan = _plan(inputs)
        timelines = _timelines(plan)[:2]
        rows, names = _rows(plan)
        for timeline, lane, curve, word in zip(timelines, lanes, curves, WORDS, strict=True):
            assert timeline.phases is not None
            scale, peak = TimeScale(timeline.phases), timeline.peak()
            lane.show(timeline, scale, rows, names, WORDS[word])
            curve.show(timeline, scale)
            curve.capacity(result.planned, name="估算加余量", reach=result.measured)
            place = float(scale.place((peak.time + peak.until) / 2))
            curve.peak(place, peak.total_bytes, f"{word}的峰值 {short_bytes(peak.total_bytes)}")
            band.show(scale)

    return update


def _axes(stage: Stage) -> Iterator[Any]:
    """Yield the axes from the top: phases, both lanes, both curves; heights in CSS pixels."""
    left, across, top = 96 / stage.width, 1 - 110 / stage.width, stage.height - 44
    for height, gap in ((20, 22), (172, 26), (172, 30), (92, 30), (92, 0)):
        top -= height
        yield stage.figure.add_axes((left, top / stage.height, across, height / stage.height))
        top -= gap


def _at_peak(timeline: Timeline) -> dict[str, int]:
    alive = timeline.peak().alive
    sizes = {item.name: item.total_bytes for item in alive}
    known = {name: sizes[name] for name in ITEMS if name in sizes}
    rest = sum(size for name, size in sizes.items() if name not in ITEMS)
    return {MODEL: rest} | known


def _table(inputs: Any, result: Steps) -> Table:
    estimated, measured, _ = _timelines(_plan(inputs))
    before, after = _at_peak(estimated), _at_peak(measured)
    names = [name for name in ITEMS if name in before or name in after]
    rows = tuple((name, before.get(name, 0), after.get(name, 0)) for name in names)
    totals = ("合计", result.estimated, result.measured)
    return Table(
        ("各自峰值时活着", "估算", "实测"), rows, totals, "实测：配套的训练器在本机 CPU 上走的一步。"
    )


def _sentence(inputs: Any, result: Steps) -> str:
    plan = _plan(inputs)
    over = result.measured - result.planned
    verdict = f"超出 {over:,} 字节" if over > 0 else f"没有超出，还剩 {-over:,} 字节"
    share = rebuild_flops(plan) / forward_flops(plan)
    again = f"重算多做各层前向的 {share:.2%}。" if share else ""
    return (
        f"估算的峰值 {result.estimated:,} 字节；不重算时加 25% 余量，规划 {result.planned:,} 字节。"
        f"实测的峰值 {format_bytes(result.measured)}：{verdict}。{again}"
    )


def measured_step() -> Explorer:
    """Return the explorer: the lanes and the memory curve of the estimated step and of a real one."""
    return Explorer(
        title="配套实测：估算的一步与真的一步",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 720),
        home=OURS,
    )


EXPLORERS = (measured_step,)
