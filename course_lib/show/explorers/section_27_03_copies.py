"""Section 27.3: a weight rounded after every update, beside one that keeps a finer master copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ...precision import BF16, FP16, ROUNDINGS, Copies, decimal_copies, float_copies
from .. import Choice, Number, Table, even_stops
from ..charts import Curves, Labels, Rules, even_ticks, legend
from ..explorer import OURS, Explorer
from ..palette import BLUE, GREEN, PAPER, RED, Style
from ..stage import Stage

FORMATS: Final = {fmt.name: fmt for fmt in (FP16, BF16)}
_WAYS: Final = {
    "direct": ("直接更新：每次都舍入", Style(RED)),
    "master": ("主权重副本", Style(BLUE)),
    "working": ("工作权重：由副本舍入", Style(GREEN)),
}
_LOOKS: Final = dict(_WAYS.values())
_SHELF: Final = "#D5D5D5"
_SHELVES: Final = 60  # more values than this are no longer drawn one by one
_LONGEST_TABLE: Final = 12
_START: Final = Number("start", "起点", 1, even_stops(0.25, 2, 0.05), "", "更新前的权重", fraction=True)
_SUBTRACT: Final = Number(
    "subtract", "每次减", Fraction(3, 1000), even_stops(0.0001, 0.02, 0.0001), "",
    "可以输入 1/4096 这样的分数", fraction=True,
)  # fmt: skip
_STEPS: Final = Number("steps", "更新几次", 2, range(1, 61), "次")
DECIMAL_CONTROLS = (
    _START,
    _SUBTRACT,
    _STEPS,
    Number("places", "工作权重的小数位", 2, range(1, 5), "位"),
    Number("master_places", "主权重副本小数位", 3, range(1, 9), "位", "至少与工作权重一样多"),
    Choice("rounding", "舍入方式", "ROUND_HALF_EVEN", ROUNDINGS),
)
REAL_CONTROLS = (
    _START,
    _SUBTRACT,
    _STEPS,
    Choice("fmt", "工作权重存成", "FP16", {name: name for name in FORMATS}),
)


def _decimal(inputs: Any) -> Copies:
    return decimal_copies(**inputs._asdict())


def _real(inputs: Any) -> Copies:
    return float_copies(
        start=float(inputs.start),
        subtract=float(inputs.subtract),
        steps=inputs.steps,
        fmt=FORMATS[inputs.fmt],
    )


def _decimal_code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.precision import decimal_copies

result = decimal_copies(start=Fraction({str(inputs.start)!r}), subtract=Fraction({str(inputs.subtract)!r}),
                        steps={inputs.steps}, places={inputs.places}, master_places={inputs.master_places},
                        rounding={inputs.rounding!r})
"""


def _real_code(inputs: Any) -> str:
    return f"""\
from course_lib.precision import {inputs.fmt}, float_copies

result = float_copies(start={float(inputs.start)!r}, subtract={float(inputs.subtract)!r},
                      steps={inputs.steps}, fmt={inputs.fmt})
"""


def _decimal_shelves(inputs: Any, low: float, high: float) -> np.ndarray:
    step = 10.0**-inputs.places
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step


def _real_shelves(inputs: Any, low: float, high: float) -> np.ndarray:
    return FORMATS[inputs.fmt].values_between(low, high)


def _picture(
    shelves: Callable[[Any, float, float], np.ndarray],
) -> Callable[[Stage], Callable[[Any, Copies], None]]:
    def picture(stage: Stage) -> Callable[[Any, Copies], None]:
        axes = stage.axes()
        held = Rules(axes, _SHELF, width=1, zorder=1)
        ways = Curves(axes, _LOOKS, width=2.4, marker="o", steps=True)
        ends = Labels(axes, size=9, align="left", plate=PAPER)
        even_ticks(axes.xaxis, "更新次数", ticks=10)
        axes.yaxis.set_animated(True)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda number, _: f"{number:>9.6g}")
        )  # room for more digits
        legend(stage, _LOOKS | {"工作权重存得下的值": Style(_SHELF)})

        def update(inputs: Any, copies: Copies) -> None:
            curves = {name: [float(v) for v in getattr(copies, way)] for way, (name, _) in _WAYS.items()}
            values = np.concatenate(list(curves.values()))
            room = max((values.max() - values.min()) * 0.15, 1e-6)
            low, high = values.min() - room, values.max() + room
            right, tail = inputs.steps * 1.19 + 0.55, inputs.steps + 0.5  # the last value holds on
            axes.set(xlim=(0, right), ylim=(low, high))
            moments = (*range(inputs.steps + 1), tail)
            ways.show({name: (moments, [*curve, curve[-1]]) for name, curve in curves.items()})
            lines = shelves(inputs, low, high)
            held.show([(0, y, right, y) for y in lines] if len(lines) <= _SHELVES else ())
            last = {name: curve[-1] for name, curve in curves.items()}
            places = _apart(list(last.values()), gap=(high - low) * 0.075)
            ends.show(
                (tail + right * 0.01, y, f"{value:.6g}", _LOOKS[name].color)
                for y, (name, value) in zip(places, last.items(), strict=True)
            )

        return update

    return picture


def _apart(heights: list[float], *, gap: float) -> list[float]:
    """Lift heights until neighbours are a gap apart, so that words beside them can be read."""
    lifted = list(heights)
    rising = sorted(range(len(heights)), key=heights.__getitem__)
    for lower, upper in pairwise(rising):
        lifted[upper] = max(lifted[upper], lifted[lower] + gap)
    return lifted


def _written(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _table(inputs: Any, copies: Copies) -> Table:
    rows = list(zip(copies.direct, copies.master, copies.working, strict=True))
    shown = [(str(step), *map(_written, row)) for step, row in enumerate(rows)]
    if len(shown) > _LONGEST_TABLE:
        shown = [*shown[: _LONGEST_TABLE - 2], ("…",) * 4, shown[-1]]
    return Table(("更新次数", "直接更新", "主权重副本", "工作权重"), tuple(shown))


def _sentence(inputs: Any, copies: Copies) -> str:
    direct, working = (
        "一次也没有变" if at is None else f"第 {at} 次更新后开始变"
        for at in (copies.direct_changes_at, copies.working_changes_at)
    )
    return (
        f"{inputs.steps} 次更新后，直接更新是 {_written(copies.direct[-1])}（{direct}），"
        f"主权重副本是 {_written(copies.master[-1])}，"
        f"工作权重是 {_written(copies.working[-1])}（{working}）。"
    )


def _explorer(
    title: str, shelves: Callable, presets: Mapping[str, Mapping[str, Any]], **how: Any
) -> Explorer:
    return Explorer(
        title=title,
        presets=presets,
        picture=_picture(shelves),
        table=_table,
        sentence=_sentence,
        size=(760, 340),
        **how,
    )


def decimal_master() -> Explorer:
    """Return the explorer of the chapter's analogy in decimals."""
    presets: dict[str, dict[str, Any]] = {
        "减 20 次": {"steps": 20},
        "副本也只有两位小数": {"master_places": 2, "steps": 20},
        "向零截断": {"rounding": "ROUND_DOWN", "steps": 20},
    }
    return _explorer(
        "十进制类比：主权重副本先把小变化攒起来",
        _decimal_shelves, presets, controls=DECIMAL_CONTROLS, compute=_decimal, code=_decimal_code,
    )  # fmt: skip


def real_master() -> Explorer:
    """Return the explorer of the same in FP16 and BF16, with an FP32 master copy."""
    presets: dict[str, dict[str, Any]] = {
        "FP16，每次减 2^-12": {"subtract": Fraction(1, 4096), "steps": 20},
        "BF16，每次减 0.001": {"fmt": "BF16", "subtract": Fraction(1, 1000), "steps": 20},
        "BF16，每次减 0.003": {"fmt": "BF16", "steps": 20},
    }
    return _explorer(
        "真实格式：FP32 主权重副本与直接更新",
        _real_shelves, presets, controls=REAL_CONTROLS, compute=_real, code=_real_code,
        home=OURS,
    )  # fmt: skip


EXPLORERS = (decimal_master, real_master)
