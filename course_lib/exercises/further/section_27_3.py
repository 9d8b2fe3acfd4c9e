"""Further exercises for section 27.3: bounds for a loss scale, and how long a master copy has to collect."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from ...precision import BF16, FP16, steps_until_visible, to_fp16
from ..exercise import Criterion, Exercise, Parameters, slip
from ..values import Field, Kind
from ..variants import Draw

_LEAST, _MOST, _STEPS, _MOVES = "least_scale", "largest_scale", "steps_with_master", "moves_without_master"
_SIGNS: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _power(exponent: int) -> str:
    return "2" + str(exponent).translate(_SIGNS)


@lru_cache(maxsize=1000)
def _bounds(smallest: int, largest: int) -> tuple[int, int]:
    """Return the least and the largest scale, found by storing both gradients at every power of two."""
    small, large = 2.0**-smallest, 2.0**largest
    powers = [2**n for n in range(40)]
    stored = {scale: (to_fp16(small * scale), to_fp16(large * scale)) for scale in powers}
    kept = [scale for scale in powers if stored[scale][0] > 0]
    finite = [scale for scale in powers if stored[scale][1] < float("inf")]
    return kept[0], finite[-1]


def _answer_a(p: Parameters) -> dict[str, Any]:
    least, most = _bounds(p["small"], p["large"])
    return {_LEAST: least, _MOST: most}


def _prompt_a(p: Parameters) -> str:
    return (
        f"一批梯度里，最小的是 {_power(-p['small'])}，最大的是 {_power(p['large'])}。它们要存成 FP16："
        "最大值 65,504，"
        "最小的次正规数 2⁻²⁴，舍入到最近的数，正好在中间时取偶。损失缩放倍数只用 2 的幂。\n\n"
        "倍数至少多大，最小的梯度才不会变成零？至多多大，最大的梯度才不会溢出？"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from math import isfinite
from course_lib.precision import to_fp16

scales = [2**n for n in range(40)]
least_scale = min(s for s in scales if to_fp16(2.0**-{p["small"]} * s) > 0)
largest_scale = max(s for s in scales if isfinite(to_fp16(2.0**{p["large"]} * s)))
least_scale, largest_scale"""
    }


A: Final = Exercise(
    id="27.3-a",
    title="损失缩放倍数的下限与上限",
    look_back="",
    parameters={"small": 27, "large": 3},
    fields=(
        Field(_LEAST, Kind.NUMBER, "倍数至少，2 的幂"),
        Field(_MOST, Kind.NUMBER, "倍数至多，2 的幂"),
    ),
    prompt=_prompt_a,
    brief=lambda p: f"梯度从 {_power(-p['small'])} 到 {_power(p['large'])}，存成 FP16：倍数的下限与上限？",
    answer=_answer_a,
    why=lambda p: (
        "放大后至少要到最小的次正规数：正好一半会舍入到偶数，也就是零。放大后至多到 2¹⁵，"
        "再大一倍就过了 65,504。"
    ),
    code=_code_a,
    criteria=(
        Criterion(
            "倍数的下限",
            (_LEAST,),
            2,
            (
                slip("以为正好一半会进上去", _LEAST, lambda p: 2 ** (p["small"] - 25),
                     "放大之后，这个数离零近还是离最小的次正规数近？", "正好在中间时取偶；零是偶数。"),
                slip("以为要到正规数才行", _LEAST, lambda p: 2 ** (p["small"] - 14),
                     "不会变成零，要求有多高？", "次正规数也不是零。"),
                slip("取了倒数", _LEAST, lambda p: 2 ** p["small"],
                     "要把它放大到 1 吗？", "只要放大到能存下的最小的数。"),
            ),
            ("能存下的最小的正数是多少？", "最小的梯度乘以倍数，至少要到那里。"),
        ),
        Criterion(
            "倍数的上限",
            (_MOST,),
            1,
            (
                slip("大了一倍", _MOST, lambda p: 2 ** (16 - p["large"]),
                     "放大以后，与 65,504 比一比。", "2 的 16 次方比最大值大。"),
                slip("小了一倍", _MOST, lambda p: 2 ** (14 - p["large"]),
                     "再大一倍会溢出吗？", "不超过最大值的 2 的幂，最大是哪一个？"),
                slip("写成了指数", _MOST, lambda p: 15 - p["large"],
                     "要的是倍数，还是它的指数？", "倍数是 2 的那么多次方。"),
            ),
            ("不超过最大值的最大的 2 的幂是哪一个？", "最大的梯度乘以倍数，不能过那里。"),
        ),
    ),
    draw=lambda d: {"small": d.whole(26, 38), "large": d.whole(-4, 8)},
    reason="下限比上限还大时，一个固定的倍数够用吗？",
    rubric=("说出下限防变零，上限防溢出", "说出在缩放之前已经丢掉的值找不回来"),
)  # fmt: skip


_FORMATS: Final = {"FP16": FP16, "BF16": BF16}
_HALF: Final = {"FP16": 12, "BF16": 9}  # half the spacing just below 1, as a negative power of two


@lru_cache(maxsize=100)
def _steps(name: str, power: int) -> int:
    found = steps_until_visible(start=1, subtract=2.0**-power, fmt=_FORMATS[name], limit=2000)
    return -1 if found is None else found


def _prompt_b(p: Parameters) -> str:
    return (
        f"一个权重从 1 开始，每次更新减 {_power(-p['power'])}。工作权重存成 {p['format']}，"
        "在 1 的下方两个相邻的数"
        f"相差 {_power(1 - _HALF[p['format']])}（1 的上方间隔大一倍）；舍入到最近的数，"
        "正好在中间时取偶，1 算偶。"
        "主权重副本存成 FP32。\n\n"
        "有主副本时，第几次更新之后，工作权重第一次变动？没有主副本、每次直接舍入，它会不会变动？"
    )


def _code_b(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.precision import {p["format"]}, float_copies

copies = float_copies(start=1, subtract=2.0**-{p["power"]}, steps=1000, fmt={p["format"]})
steps_with_master = copies.working_changes_at
moves_without_master = copies.direct_changes_at is not None
steps_with_master, moves_without_master"""
    }


def _draw_b(d: Draw) -> Parameters:
    name = d.pick(("FP16", "BF16"))
    return {"format": name, "power": _HALF[name] + d.whole(1, 6)}


B: Final = Exercise(
    id="27.3-b",
    title="主副本要攒多久",
    look_back="",
    parameters={"format": "FP16", "power": 14},
    fields=(
        Field(_STEPS, Kind.NUMBER, "有主副本：第几次更新之后变动"),
        Field(_MOVES, Kind.TRUTH, "没有主副本会变动吗：True 或 False"),
    ),
    prompt=_prompt_b,
    brief=lambda p: (
        f"从 1 起每次减 {_power(-p['power'])}，存成 {p['format']}：第几次之后变动？没有主副本呢？"
        ""
    ),
    answer=lambda p: {_STEPS: _steps(p["format"], p["power"]), _MOVES: False},
    why=lambda p: (
        "攒到的量要超过半个间隔才会舍入到下一个数；正好一半时取偶，还是 1。没有主副本，每次都回到 1。"
        ""
    ),
    code=_code_b,
    criteria=(
        Criterion(
            "第几次之后变动",
            (_STEPS,),
            2,
            (
                slip("以为正好一半就动", _STEPS, lambda p: 2 ** (p["power"] - _HALF[p["format"]]),
                     "攒到正好一半时，舍入到哪一边？", "正好在中间时取偶，1 算偶；还差一点。"),
                slip("以为要攒满一个间隔", _STEPS, lambda p: 2 ** (p["power"] - _HALF[p["format"]] + 1),
                     "舍入找的是最近的数。", "不用攒满一整格，超过半格就离下一个数更近。"),
                slip("用了 1 上方的间隔", _STEPS, lambda p: 2 ** (p["power"] - _HALF[p["format"]] + 1) + 1,
                     "权重在往哪边走？", "1 的下方，间隔只有上方的一半。"),
            ),
            ("半个间隔是多少？每次减多少？", "要严格超过半个间隔。"),
        ),
        Criterion(
            "没有主副本会不会变动",
            (_MOVES,),
            1,
            (
                slip("以为慢一些也会动", _MOVES, lambda p: True,
                     "第二次更新从哪一个数开始？", "第一次舍入回到原处，以后每一次都与第一次相同。"),
            ),
            ("一次更新减去的，有半个间隔那么多吗？", "看看第一次之后存下的是什么。"),
        ),
    ),
    draw=_draw_b,
    reason="主副本为什么能让这么小的更新起作用？",
    rubric=("说出主副本记住每一次更新", "说出直接舍入每次都回到同一个数"),
)  # fmt: skip
