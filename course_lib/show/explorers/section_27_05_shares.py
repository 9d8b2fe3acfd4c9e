"""Section 27.5: what one worker keeps under each arrangement, and how that falls with more workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, GRAD_BUFFER, Ledger, model_state
from ...sharding import STAGES, gathered, ideal_bytes, resident
from ...units import GB, MB
from .. import Number, Table, log_stops, powers_of_two
from ..charts import Curves, Labels, LedgerBars, Rules, axis_in_bytes, legend, round_up, short_bytes
from ..explorer import Explorer
from ..palette import BLUE, GREEN, GREY, INK, OF_ROW, ORANGE, QUIET, RED, Style
from ..stage import Stage

CONTROLS = (
    Number("workers", "工作进程", 4, range(1, 65), "个", "模型状态分给几个进程；可输入到 64"),
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个", "可训练参数的个数"),
    Number("layers", "层数", 4, range(1, 129), "层", "假设各层一样大：一层就是一次收集的量"),
    Number("sequences", "序列数", 2, range(1, 65), "个", "本地微批次里的序列数，只影响激活"),
    Number("width", "宽度", 64, powers_of_two(64, 16_384), "", "只影响激活"),
    Number("capacity", "设备容量", 10 * MB, log_stops(10**6, 10**14), "字节", "可以输入 80G 这样的数"),
)
PRESETS: dict[str, dict[str, Any]] = {
    "3 个进程，除不尽": {"workers": 3},
    "GPT-2 1.5B，16 GB": {
        "workers": 8, "parameters": 1_500_000_000, "layers": 48, "width": 1600, "capacity": 16 * GB,
    },
    "7.5B，64 个进程，32 GB": {
        "workers": 64, "parameters": 7_500_000_000, "layers": 32, "width": 4096, "capacity": 32 * GB,
    },
    "GPT-3 175B，64 个进程，80 GB": {
        "workers": 64, "parameters": 175 * GB, "layers": 96, "width": 12_288, "sequences": 1,
        "capacity": 80 * GB,
    },
}  # fmt: skip
FOR_A_MOMENT = "临时整层"
KINDS = {name: style for name, style in OF_ROW.items() if name != GRAD_BUFFER} | {
    FOR_A_MOMENT: Style(GREY, "--")
}
LINES = dict(zip(STAGES, (Style(INK), Style(BLUE), Style(ORANGE), Style(GREEN)), strict=True))
WORKERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def _compute(inputs: Any) -> tuple[Ledger, ...]:
    state = model_state(inputs.parameters)
    acts = SavedActivations(
        sequences=inputs.sequences,
        positions=128,
        width=inputs.width,
        layers=inputs.layers,
        arrays_per_layer=10,
        bytes_per_value=2,
    )
    layer = -(-inputs.parameters // inputs.layers)
    return tuple(
        resident(state, workers=inputs.workers, sharded=sharded)
        + acts.ledger()
        + gathered(state, sharded=sharded if inputs.workers > 1 else (), largest_layer=layer)
        for sharded in STAGES.values()
    )


def _code(inputs: Any) -> str:
    sharded = "sharded" if inputs.workers > 1 else "()"
    return f"""\
from course_lib.activations import SavedActivations
from course_lib.ledger import model_state
from course_lib.sharding import ZERO_1, ZERO_2, ZERO_3, gathered, resident

state = model_state({inputs.parameters:_})
acts = SavedActivations(sequences={inputs.sequences}, positions=128, width={inputs.width},
                        layers={inputs.layers}, arrays_per_layer=10, bytes_per_value=2)
result = tuple(
    resident(state, workers={inputs.workers}, sharded=sharded) + acts.ledger()
    + gathered(state, sharded={sharded}, largest_layer={-(-inputs.parameters // inputs.layers):_})
    for sharded in (frozenset(), ZERO_1, ZERO_2, ZERO_3)
)
"""


class _Falling:
    """Lasting bytes and activations of one worker against the number of workers, a line per arrangement."""

    def __init__(self, axes) -> None:
        self._axes = axes
        self._curves = Curves(axes, LINES, marker="o")
        self._limit, self._here = Rules(axes, RED, width=2), Rules(axes, QUIET, width=1, dashes="dotted")
        self._words = Labels(axes, align="left", size=8.5)
        axes.set(xscale="log", xlim=(0.9, 110), xlabel="工作进程数（长期份额加本地激活，理想平分）")
        axes.set_xticks(WORKERS[:2] + WORKERS[3::2], [str(n) for n in WORKERS[:2] + WORKERS[3::2]])
        axes.minorticks_off()
        axis_in_bytes(axes.yaxis, ticks=4)

    def show(self, inputs: Any, acts: int) -> None:
        state = model_state(inputs.parameters)
        falling = {
            name: [float(ideal_bytes(state, workers=n, sharded=sharded) + acts) for n in WORKERS]
            for name, sharded in STAGES.items()
        }
        top = round_up(falling["不分片"][0]) * 1.1
        self._axes.set_ylim(0, top)
        self._curves.show({name: (WORKERS, each) for name, each in falling.items()})
        self._words.show((WORKERS[-1] * 1.08, falling[name][-1], name, LINES[name].color) for name in LINES)
        inside = inputs.capacity < top
        self._limit.show([(0.9, inputs.capacity, 110, inputs.capacity)] if inside else [])
        self._here.show([(inputs.workers, 0, inputs.workers, top)])


def _pieces(ledger: Ledger) -> list[tuple[str, int]]:
    """What is whole for a moment comes last, as one piece or two of one look."""
    return [(row.name if row.name in KINDS else FOR_A_MOMENT, row.total_bytes) for row in ledger]


def _picture(stage: Stage) -> Callable[[Any, tuple[Ledger, ...]], None]:
    top, bottom = stage.axes(2, 1, height_ratios=(1.25, 1))
    bars, falling = LedgerBars(top, KINDS), _Falling(bottom)
    legend(stage, KINDS)

    def update(inputs: Any, ledgers: tuple[Ledger, ...]) -> None:
        shown = zip(STAGES, map(_pieces, ledgers), strict=True)
        bars.show(dict(shown), capacity=inputs.capacity)
        falling.show(inputs, ledgers[0][ACTIVATIONS].total_bytes)

    return update


def _table(inputs: Any, ledgers: tuple[Ledger, ...]) -> Table:
    rows = []
    for (name, sharded), ledger in zip(STAGES.items(), ledgers, strict=True):
        lasting = resident(model_state(inputs.parameters), workers=inputs.workers, sharded=sharded)
        acts = lasting.total_bytes + ledger[ACTIVATIONS].total_bytes
        fits = "放得下" if ledger.total_bytes <= inputs.capacity else "放不下"
        rows.append((name, lasting.total_bytes, acts, ledger.total_bytes, fits))
    columns = ("安排", "长期份额", "加本地激活", "再加收集的峰值", "设备")
    return Table(
        columns, tuple(rows), note=f"0 号进程的字节数。未计入：{'、'.join(ledgers[-1].omits)}，余量。"
    )


def _sentence(inputs: Any, ledgers: tuple[Ledger, ...]) -> str:
    fits = [
        name for name, ledger in zip(STAGES, ledgers, strict=True) if ledger.total_bytes <= inputs.capacity
    ]
    rest = inputs.parameters % inputs.workers
    uneven = f"参数除不尽：前 {rest} 个进程各多一个。" if rest else ""
    verdict = f"放得下的安排：{'、'.join(fits)}" if fits else "没有一种安排放得下"
    return f"{inputs.workers} 个进程，设备 {short_bytes(inputs.capacity)}（不留余量）：{verdict}。{uneven}"


def shares() -> Explorer:
    """Return the explorer: ZeRO 1 to 3 over workers, lasting share, local activations, gather peak."""
    return Explorer(
        title="每个进程留多少：长期份额、本地激活和临时收集",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(740, 390),
    )


EXPLORERS = (shares,)
