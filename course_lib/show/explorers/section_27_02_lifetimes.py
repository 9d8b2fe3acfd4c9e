"""Section 27.2: figure 27.1 over time, what lives how long, when memory peaks, and what is alive then."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, Ledger, model_state
from ...lifetimes import Alive, Peak, Timeline, training_timeline
from ...models import MODELS
from ...recompute import REBUILT, Rebuild, rebuild
from ...sharding import ZERO_1, ZERO_2, ZERO_3, gathered, resident
from ...units import GB, MB, format_bytes
from .. import Choice, Number, Table, even_stops, log_stops, powers_of_two
from ..charts.axes import short_bytes
from ..charts.lifelines import HEIGHT, LayerArrays, Lifelines
from ..charts.memory_over_time import MemoryOverTime
from ..charts.phaseband import phase_words
from ..charts.timescale import TimeScale
from ..explorer import Explorer
from ..stage import Stage

UPDATES, ARRAYS = 3, 10
SHAPES = {"book": (1_000_000, 128, 64)} | {
    key: (model.parameters, model.positions, model.width) for key, model in MODELS.items()
}
SHARDING = {
    "none": ("不分片", "()", (), 1),
    "zero1": ("主副本和矩分给 4 个进程", "ZERO_1", ZERO_1, 4),
    "zero2": ("再分梯度，4 个进程", "ZERO_2", ZERO_2, 4),
    "zero3": ("全部模型状态，4 个进程", "ZERO_3", ZERO_3, 4),
    "zero3-64": ("全部模型状态，64 个进程", "ZERO_3", ZERO_3, 64),
}
PAUSES = {"stop": "更新两次后保存、停止、恢复", "save": "更新两次后只保存", "none": "不保存"}
CONTROLS = (
    Choice("model", "模型", "book", {"book": "书中的小模型"} | {k: m.title for k, m in MODELS.items()}),
    Number("layers", "层数", 4, range(1, 129), "层", "激活按层产生，也按层用完"),
    Number("kept", "每层留下", 10, range(1, ARRAYS + 1), "个", "每层共 10 个，不留的在反向时重算"),
    Number("microbatches", "微批次", 2, powers_of_two(1, 512), "个", "一次更新汇总几个微批次"),
    Choice("sharding", "分片", "none", {key: each[0] for key, each in SHARDING.items()}),
    Choice("pause", "停一停", "stop", PAUSES),
    Number("capacity", "设备容量", 10 * MB, log_stops(10**6, 10**14), "字节", "可以输入 80G 这样的数"),
    Number(
        "cursor", "时间游标", Fraction(2, 5), even_stops(0, 1, Fraction(1, 200)), "", "0 是开头，1 是结尾",
        fraction=True,
    ),
)  # fmt: skip
_MODEL_1T = {"model": "1t", "layers": 128, "microbatches": 512, "capacity": 80 * GB}
PRESETS = {
    "每层只留 4 个数组": {"kept": 4},
    "主副本和矩分给 4 个进程": {"sharding": "zero1"},
    "重算加分片": {"kept": 4, "sharding": "zero1"},
    "停在两次运行之间": {"cursor": Fraction(13, 20)},
    "GPT-2 124M，24 GB": {"model": "gpt2-124m", "layers": 12, "capacity": 24 * GB},
    "Llama 3 8B，80 GB": {"model": "llama3-8b", "layers": 32, "sharding": "zero3-64", "capacity": 80 * GB},
    "128 层 × 512 个微批次": _MODEL_1T | {"sharding": "zero3-64"},
}


@lru_cache(maxsize=2)
def _run(model, layers, kept, microbatches, sharding, pause) -> tuple[Timeline, TimeScale, Rebuild, Peak]:
    """Return what the cursor and the capacity do not change."""
    parameters, positions, width = SHAPES[model]
    acts = SavedActivations(
        sequences=2,
        positions=positions,
        width=width,
        layers=layers,
        arrays_per_layer=ARRAYS,
        bytes_per_value=2,
    )
    plan = rebuild(acts, arrays_per_layer=kept)
    timeline = training_timeline(
        state=_state(parameters, layers, sharding),
        acts=plan.after,
        microbatches=microbatches,
        updates=UPDATES,
        save_after=None if pause == "none" else 2,
        stop=pause == "stop",
        in_backward=plan.transient_ledger(),
    )
    assert timeline.phases is not None
    return timeline, TimeScale(timeline.phases), plan, timeline.peak()


def _state(parameters: int, layers: int, sharding: str) -> Ledger:
    _, _, names, workers = SHARDING[sharding]
    share = resident(model_state(parameters), workers=workers, sharded=names)
    return share + gathered(share, sharded=names, largest_layer=ceil(parameters / layers))


def _of(inputs: Any) -> tuple[Timeline, TimeScale, Rebuild, Peak]:
    return _run(*inputs[:6])


def _compute(inputs: Any) -> tuple[Peak, tuple[Alive, ...]]:
    timeline, scale, _, peak = _of(inputs)
    return peak, timeline.alive(at=scale.tick(inputs.cursor))


def _code(inputs: Any) -> str:
    parameters, positions, width = SHAPES[inputs.model]
    _, zero, _, workers = SHARDING[inputs.sharding]
    saved = None if inputs.pause == "none" else 2
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import model_state
from course_lib.lifetimes import training_timeline
from course_lib.recompute import rebuild
from course_lib.sharding import ZERO_1, ZERO_2, ZERO_3, gathered, resident

acts = SavedActivations(sequences=2, positions={positions}, width={width},
                        layers={inputs.layers}, arrays_per_layer={ARRAYS}, bytes_per_value=2)
plan = rebuild(acts, arrays_per_layer={inputs.kept})
share = resident(model_state({parameters:_}), workers={workers}, sharded={zero})
state = share + gathered(share, sharded={zero}, largest_layer={ceil(parameters / inputs.layers):_})
timeline = training_timeline(state=state, acts=plan.after, in_backward=plan.transient_ledger(),
                             microbatches={inputs.microbatches}, updates={UPDATES},
                             save_after={saved}, stop={inputs.pause == "stop"})
result = timeline.peak(), timeline.alive(at={_of(inputs)[1].tick(inputs.cursor)})
"""


def _picture(stage: Stage) -> Callable[[Any, Any], None]:
    stage.figure.set_layout_engine("none")  # lanes and curve share their left edge, pixel by pixel
    width, height = stage.width, stage.height
    left, across = 122 / width, 1 - 136 / width
    lanes = Lifelines(stage.figure.add_axes((left, 1 - (20 + HEIGHT) / height, across, HEIGHT / height)))
    below = 24
    curve = MemoryOverTime(
        stage.figure.add_axes((left, below / height, across, (height - below - 20 - HEIGHT - 26) / height))
    )

    shown: list[Timeline] = []

    def update(inputs: Any, result: Any) -> None:
        timeline, scale, plan, peak = _of(inputs)
        if shown != [timeline]:  # a timeline equals only itself: moving the cursor draws no lanes anew
            shown[:] = [timeline]
            size = f"{inputs.layers} 层 × 每层 {inputs.kept} 个数组 × {plan.after.array_bytes:,} 字节"
            lanes.show(timeline, scale, LayerArrays(ARRAYS, plan.kept, REBUILT), size)
            curve.show(timeline, scale)
        lanes.cursor(float(inputs.cursor))
        curve.capacity(inputs.capacity)
        words = f"峰值 {short_bytes(peak.total_bytes)}：{_when(peak)}"
        curve.peak(float(scale.place((peak.time + peak.until) / 2)), peak.total_bytes, words)
        curve.cursor(float(inputs.cursor), _in_memory(result[1]))

    return update


def _table(inputs: Any, result: tuple[Peak, tuple[Alive, ...]]) -> Table:
    array = _of(inputs)[2].after.array_bytes
    rows = tuple(
        (
            item.name if item.in_memory else f"{item.name}（在磁盘）",
            item.total_bytes // array if item.name == ACTIVATIONS else item.objects,
            item.total_bytes,
            item.lifetime.value,
            item.why,
        )
        for item in result[1]
    )
    return Table(
        ("此刻活着", "个数", "字节", "存活时间", "为什么"),
        rows,
        total=("内存合计", "", _in_memory(result[1]), "", ""),
    )


def _in_memory(alive: tuple[Alive, ...]) -> int:
    return sum(item.total_bytes for item in alive if item.in_memory)


def _when(peak: Peak) -> str:
    """Say when the peak begins, and that it lasts into the backward pass where it does."""
    assert peak.phase is not None
    return phase_words(peak.phase, int(peak.time)) + "到反向" * (peak.until > peak.phase.end)


def _sentence(inputs: Any, result: tuple[Peak, tuple[Alive, ...]]) -> str:
    peak, alive = result
    _, scale, plan, _ = _of(inputs)
    tick = scale.tick(inputs.cursor)
    over = peak.total_bytes - inputs.capacity
    verdict = f"超出容量 {over:,} 字节" if over > 0 else f"离容量还有 {-over:,} 字节"
    again = f"重算少存 {plan.freed_bytes:,} 字节的激活，每步多做 {float(plan.extra_forward):.0%} 的前向。"
    return (
        f"峰值 {format_bytes(peak.total_bytes)}，最早在{_when(peak)}，{verdict}。"
        f"{again if plan.freed_bytes else ''}"
        f"游标停在{phase_words(scale.phases.at(tick), tick)}：内存里有 {_in_memory(alive):,} 字节。"
    )


def lifetimes() -> Explorer:
    """Return the explorer: lanes by lifetime, the memory curve under them, and a cursor that lists."""
    return Explorer(
        title="图 27.1：什么活多久，内存何时最满",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 520),
    )


EXPLORERS = (lifetimes,)
