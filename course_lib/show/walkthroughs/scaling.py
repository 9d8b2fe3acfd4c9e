"""Section 27.3: loss scaling, a gradient enlarged in time, too late, and too much."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log10
from typing import Final

import numpy as np

from ...loss_scaling import StaticScale, all_finite
from ...precision import FP16, to_fp16
from ..charts import Boxes, Labels, Points, Rules
from ..charts import plain as bare
from ..guesses import plain
from ..palette import BEYOND, BLUE, GREY, INK, PAPER, QUIET, RED, SKY, Style
from ..stage import Stage
from .steps import Question, Step, Walk

SCALE: Final = 1024
TOO_LARGE: Final = 32_768
SMALL, TINY, LARGE = Fraction(1, 10**6), Fraction(2, 10**8), Fraction(2)
_LOW, _HIGH = -9.3, 6.2  # powers of ten that the picture reaches
_ZONES: Final = (
    ("归零", _LOW, log10(FP16.smallest_subnormal / 2), Style(GREY)),
    ("位数变少", log10(FP16.smallest_subnormal / 2), log10(FP16.smallest_normal), Style(SKY)),
    ("FP16 正规数", log10(FP16.smallest_normal), log10(FP16.largest), Style(BLUE, ink=PAPER)),
    ("溢出", log10(FP16.largest), _HIGH, Style(BEYOND)),
)
_DOTS: Final = {"": Style(RED)}
Path = tuple[tuple[Fraction, str], ...]  # values in order, each with a word; the last is where it ends


def _picture(stage: Stage):
    axes = stage.axes()
    zones = Boxes(axes, {name: style for name, _, _, style in _ZONES})
    names = Labels(axes, size=10)
    dots, ways = Points(axes, _DOTS, size=90), Rules(axes, INK, width=2)
    above, below = (Labels(axes, size=10, vertical=side) for side in ("bottom", "top"))
    beside = Labels(axes, size=10, align="left")
    bare(axes, keep="bottom")
    axes.set(xlim=(_LOW, _HIGH), ylim=(0, 4.2), xlabel="大小，每格十倍")
    axes.set_xticks(range(-9, 7, 3), ["0.000000001", "0.000001", "0.001", "1", "1,000", "1,000,000"])
    axes.spines["bottom"].set_color(QUIET)

    def update(path: Path) -> None:
        zones.show({name: [(low, high, 0, 0.9)] for name, low, high, _ in _ZONES})
        names.show(((low + high) / 2, 0.45, name, style.ink) for name, low, high, style in _ZONES)
        places = [(_place(value), 3.4 - 0.85 * n) for n, (value, _) in enumerate(path)]
        dots.show({"": places})
        ways.show([(*one, *other) for one, other in pairwise(places)])
        words = [(_inside(x), y, word) for (x, y), (_, word) in zip(places, path, strict=True)]
        above.show((x, y + 0.2, word) for x, y, word in words[:1])
        beside.show((x + 0.35, y, word) for x, y, word in words[1:-1])
        below.show((x, y - 0.2, word) for x, y, word in words[1:][-1:])

    return update


def _place(value: Fraction) -> float:
    """Return the power of ten; zero and what is beyond FP16 lie in the zones at the ends."""
    return min(max(log10(value), _LOW + 0.4), _HIGH - 0.6) if value else _LOW + 0.4


def _inside(place: float) -> float:
    """Keep words within the picture."""
    return min(max(place, _LOW + 1.3), _HIGH - 1.6)


def _stored(value: Fraction) -> Fraction:
    """Return what FP16 keeps of a value that it can hold."""
    return Fraction(float(to_fp16(float(value))))


def _in_time() -> tuple[Step, ...]:
    scale = StaticScale(SCALE)
    larger = SMALL * SCALE
    back = Fraction(str(float(scale.unscale(scale.scale(float(SMALL))))))
    start = (SMALL, plain(SMALL))
    up, down = (larger, f"× {SCALE:,}"), (back, f"÷ {SCALE:,}")
    return (
        Step(
            "一个小梯度",
            plain(SMALL),
            "FP16 存得下它，但有效位已经不全。",
            ("梯度", plain(SMALL)),
            (start,),
        ),
        Step(
            "反向之前放大损失",
            f"{plain(SMALL)} × {SCALE:,} = {plain(larger)}",
            "损失乘上倍数，每个梯度跟着乘；落进了 FP16 的正规数。",
            (f"放大 {SCALE:,} 倍", plain(larger)),
            (start, up),
            Question(f"损失缩放倍数是 {SCALE:,}，这个梯度变成多少？", larger),
        ),
        Step(
            "更新之前除回来",
            f"{plain(larger)} ÷ {SCALE:,} = {plain(back)}",
            "除法在足够高的精度里做，大小复原。",
            ("除回来", plain(back)),
            (start, up, down),
        ),
    )


def _too_late() -> tuple[Step, ...]:
    lost, kept = _stored(TINY), _stored(TINY * SCALE)
    start = (TINY, plain(TINY))
    ends = ("归零", "存得下")
    rescued = StaticScale(SCALE).unscale(float(kept))
    near = plain(Fraction(f"{float(rescued):.2g}"))
    return (
        Step(
            "更小的，直接存",
            f"{plain(TINY)} → {plain(lost)}",
            "它不到 FP16 最小正数的一半。",
            ("直接存成 FP16", plain(lost)),
            (start, (lost, "存成 FP16")),
            Question(f"梯度 {plain(TINY)} 直接存成 FP16，会怎样？", ends[bool(lost)], options=ends),
        ),
        Step(
            "先放大，再存",
            f"{plain(TINY)} × {SCALE:,} → 存 → ÷ {SCALE:,} = 约 {near}",
            "同一个数，只是次序不同，就留住了。",
            ("先放大再存", f"约 {near}"),
            (start, (kept, f"× {SCALE:,} 再存"), (TINY, f"÷ {SCALE:,}")),
        ),
        Step(
            "先存，再放大",
            f"{plain(lost)} × {SCALE:,} = {plain(lost * SCALE)}",
            "缩放以前已经丢掉的，多大的倍数也找不回来。",
            ("先存再放大", plain(lost * SCALE)),
            (start, (lost, "存成 FP16"), (lost * SCALE, f"× {SCALE:,}")),
            Question(f"已经归零的，再放大 {SCALE:,} 倍救得回来吗？", "救不回", options=("救得回", "救不回")),
        ),
    )


def _too_much() -> Step:
    scaled = LARGE * TOO_LARGE
    finite = all_finite(to_fp16(np.float64(scaled)))
    ends = ("变成无穷", "存得下")
    return Step(
        "倍数太大",
        f"{plain(LARGE)} × {TOO_LARGE:,} = {plain(scaled)} > {int(FP16.largest):,}",
        "所以循环里要查非有限值；跳过一次更新时，权重、矩、步数都不动，调度前后一致。",
        (f"{plain(LARGE)} 放大 {TOO_LARGE:,} 倍", "有限" if finite else "无穷"),
        ((LARGE, plain(LARGE)), (scaled, f"× {TOO_LARGE:,}")),
        Question(f"梯度 {plain(LARGE)} 乘 {TOO_LARGE:,} 再存成 FP16，会怎样？", ends[finite], options=ends),
    )


def loss_scaling() -> Walk:
    """Return loss scaling: in time, too late, too much."""
    steps = (*_in_time(), *_too_late(), _too_much())
    return Walk("损失缩放：放大要趁早，也不能太大", ("做了什么", "得到"), steps, _picture)
