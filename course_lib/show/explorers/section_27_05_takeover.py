"""Section 27.5: more workers compute less each and transfer more; where the transfer takes over."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

from matplotlib.ticker import FuncFormatter, NullLocator

from ...collectives import Ring, ring_seconds, step_seconds, takeover_workers
from ...units import GB, MB
from .. import Number, Table, even_stops, log_stops, powers_of_two
from ..charts import Curves, Labels, Rules, legend
from ..explorer import OURS, Explorer
from ..guesses import plain
from ..palette import BLUE, INK, ORANGE, PAPER, QUIET, RED, Style
from ..stage import Stage

CONTROLS = (
    Number("workers", "工作进程", 4, range(1, 1025), "个", "一次更新分给几个进程"),
    Number("compute_ms", "独自要算", 1000, log_stops(10, 10**7), "毫秒", "独自算完一次更新的时间"),
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个", "梯度每个 2 字节"),
    Number("speed", "链路速率", 100 * MB, log_stops(10**6, 10**12), "字节/秒", "实际速率，不是标称"),
    Number("latency_ms", "每次延迟", 0, even_stops(0, 5, 0.05), "毫秒", "每条消息的延迟", fraction=True),
    Number("overlap", "重叠比例", 0, even_stops(0, 1, 0.05), "", "较短一方藏住几成", fraction=True),
)
PRESETS: dict[str, dict[str, Any]] = {
    "27 个进程，传输刚刚更长": {"workers": 27},
    "每次延迟 1 毫秒": {"latency_ms": 1, "workers": 64},
    "完全重叠，64 个进程": {"workers": 64, "overlap": 1},
    "GPT-2 124M，每秒 10 GB": {
        "workers": 32, "parameters": 124_475_904, "speed": 10 * GB, "compute_ms": 4000,
    },
}  # fmt: skip
COMPUTE, TRANSFER, STEP = "每个进程的计算", "汇总梯度的传输", "一步"
LOOKS = {COMPUTE: Style(BLUE, ink=PAPER), TRANSFER: Style(ORANGE), STEP: Style(INK)}
WORKERS = powers_of_two(1, 1024)
UNITS = {"秒": 1, "毫秒": 1e-3, "微秒": 1e-6}

Takeover = namedtuple("Takeover", "takeover compute transfer step")


def _payload(inputs: Any) -> dict[str, Any]:
    return {"bytes_per_second": inputs.speed, "latency": Fraction(inputs.latency_ms) / 1000}


def _times(inputs: Any, workers: int) -> tuple[Fraction, Fraction, Fraction]:
    work = Fraction(inputs.compute_ms) / 1000 / workers
    ring = Ring(kind="all_reduce", values=inputs.parameters, bytes_each=2, workers=workers)
    moved = ring_seconds(ring, **_payload(inputs))
    return work, moved, step_seconds(compute=work, transfer=moved, overlap=inputs.overlap)


def _compute(inputs: Any) -> Takeover:
    whole = Fraction(inputs.compute_ms) / 1000
    at = takeover_workers(compute=whole, n_bytes=2 * inputs.parameters, **_payload(inputs))
    return Takeover(at, *_times(inputs, inputs.workers))


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.collectives import Ring, ring_seconds, step_seconds, takeover_workers

whole = {Fraction(inputs.compute_ms) / 1000!r}
link = {{"bytes_per_second": {inputs.speed:_}, "latency": {Fraction(inputs.latency_ms) / 1000!r}}}
ring = Ring(kind="all_reduce", values={inputs.parameters:_}, bytes_each=2, workers={inputs.workers})
work, moved = whole / {inputs.workers}, ring_seconds(ring, **link)
step = step_seconds(compute=work, transfer=moved, overlap={inputs.overlap!r})
result = (takeover_workers(compute=whole, n_bytes={2 * inputs.parameters:_}, **link), work, moved, step)
"""


def _short(seconds: float) -> str:
    unit, size = next(((unit, size) for unit, size in UNITS.items() if seconds >= size), ("微秒", 1e-6))
    return f"{seconds / size:,.6g} {unit}"


class _Crossing:
    """Times against workers on two log scales, with the takeover and the present number of workers."""

    def __init__(self, stage: Stage) -> None:
        self._axes = axes = stage.axes()
        self._curves = Curves(axes, LOOKS, marker="o")
        self._taken, self._here = Rules(axes, RED, width=2), Rules(axes, QUIET, dashes="dotted")
        self._word = Labels(axes, align="left", vertical="top", plate=PAPER)
        self._now = Labels(axes, align="left", vertical="bottom", plate=PAPER)
        axes.set(xscale="log", yscale="log", xlim=(0.9, 1200), xlabel="工作进程数")
        axes.set_xticks(WORKERS, [str(number) for number in WORKERS])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: _short(seconds)))
        axes.yaxis.set_animated(True)
        legend(stage, LOOKS)

    def show(self, inputs: Any, result: Takeover) -> None:
        times = [[float(seconds) for seconds in _times(inputs, number)] for number in WORKERS]
        computes, transfers, steps = zip(*times, strict=True)
        low = 10.0 ** floor(log10(min(computes[-1], transfers[1])))
        high = 10.0 ** ceil(log10(max(steps)) + 0.3)
        self._axes.set_ylim(low, high)
        self._curves.show(
            {COMPUTE: (WORKERS, computes), TRANSFER: (WORKERS[1:], transfers[1:]), STEP: (WORKERS, steps)}
        )
        shown = result.takeover <= WORKERS[-1]
        self._taken.show([(result.takeover, low, result.takeover, high)] if shown else [])
        words = f"从 {result.takeover} 个进程起，传输更长"
        self._word.show([(min(result.takeover, 90) * 1.04, high, words, RED)] if shown else [])
        self._here.show([(inputs.workers, low, inputs.workers, high)])
        self._now.show([(min(inputs.workers, 600) * 1.04, low, f"{inputs.workers} 个", INK)])


def _picture(stage: Stage) -> Callable[[Any, Takeover], None]:
    return _Crossing(stage).show


def _table(inputs: Any, result: Takeover) -> Table:
    alone = _times(inputs, 1)[2]
    rows = (
        (COMPUTE, f"{plain(result.compute * 1000)} 毫秒"),
        (TRANSFER, f"{plain(result.transfer * 1000)} 毫秒"),
        (STEP, f"{plain(result.step * 1000)} 毫秒"),
        ("速度是一个进程的", f"{float(alone / result.step):.2f} 倍"),
        ("传输从几个进程起更长", f"{result.takeover} 个"),
    )
    return Table((f"{inputs.workers} 个工作进程", "数值"), rows, note="环形汇总，没有计入争用：都是下界。")


def _sentence(inputs: Any, result: Takeover) -> str:
    speed = float(_times(inputs, 1)[2] / result.step)
    longer = "传输比计算长" if result.transfer > result.compute else "计算还比传输长"
    return (
        f"{inputs.workers} 个进程：{longer}，速度是一个进程的 {speed:.2f} 倍；"
        f"从 {result.takeover} 个进程起，传输占上风。"
    )


def takeover() -> Explorer:
    """Return the explorer: compute per worker, ring transfer and step against the number of workers."""
    return Explorer(
        title="进程加到几个，传输占了上风",
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


EXPLORERS = (takeover,)
