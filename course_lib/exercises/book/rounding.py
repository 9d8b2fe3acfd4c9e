"""Exercise 4 of section 27.8: rounding each time, or keeping a finer copy."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from ...precision import Copies, decimal_copies, float_copies
from ..exercise import Criterion, Exercise, Parameters, slip
from ..values import Field, Kind


@lru_cache(maxsize=1000)
def _decimals(start: str, subtract: str, steps: int, rounding: str) -> Copies[Decimal]:
    return decimal_copies(start=Fraction(start), subtract=Fraction(subtract), steps=steps, rounding=rounding)


def _copies(p: Parameters, steps: int = 2, rounding: str = ROUND_HALF_EVEN) -> Copies[Decimal]:
    return _decimals(p["start"], p["subtract"], steps, rounding)


@lru_cache(maxsize=1000)
def _floats(start: str, subtract: str, steps: int) -> Copies[float]:
    return float_copies(start=float(start), subtract=float(subtract), steps=steps)


def _answer_4(p: Parameters) -> dict[str, Any]:
    copies = _copies(p)
    return {
        "immediate_after_1": copies.direct[1], "immediate_after_2": copies.direct[2],
        "master_after_1": copies.master[1], "master_after_2": copies.master[2],
        "working_after_2": copies.working[2],
    }  # fmt: skip


def _binary(p: Parameters, steps: int) -> Fraction:
    """What real FP16 would hold after direct updates."""
    stored = _floats(p["start"], p["subtract"], steps)
    return Fraction(stored.direct[steps])


def _binary_master(p: Parameters, steps: int) -> Fraction:
    stored = _floats(p["start"], p["subtract"], steps)
    return Fraction(stored.working[steps])


_BINARY: Final = (
    "这是十进制的类比，不用 FP16 的二进制规则。",
    "只按题目说的小数位数舍入，别让电脑替你换成 FP16。",
)


def _stage(title: str, answer: str, wrong: tuple[Any, ...], *hints: str) -> Criterion:
    return Criterion(title, (answer,), 1, wrong, hints)


_CRITERIA_4: Final = (
    _stage(
        "立即舍入，第一次",
        "immediate_after_1",
        (
            slip(
                "没有舍入",
                "immediate_after_1",
                lambda p: _copies(p).master[1],
                "这份权重能存几位小数？",
                "减完还要舍入到两位，再存回去。",
            ),
            slip(
                "当成截断",
                "immediate_after_1",
                lambda p: _copies(p, rounding=ROUND_DOWN).direct[1],
                "舍入是找最近的，不是把后面的砍掉。",
                "减完的数，离哪一个两位小数更近？",
            ),
            slip("用了二进制 FP16", "immediate_after_1", lambda p: _binary(p, 1), *_BINARY),
        ),
        "先减，再看它离哪一个两位小数最近。",
        "减去的量连半格都不到，舍入后会怎样？",
    ),
    _stage(
        "立即舍入，第二次",
        "immediate_after_2",
        (
            slip(
                "到最后才舍入一次",
                "immediate_after_2",
                lambda p: _copies(p).working[2],
                "第二次从哪一个数开始减？",
                "每次都要舍入：第一次舍入的结果才是第二次的起点。",
            ),
            slip(
                "没有舍入",
                "immediate_after_2",
                lambda p: _copies(p).master[2],
                "这份权重能存几位小数？",
                "两次都要舍入到两位，再存回去。",
            ),
            slip(
                "当成截断",
                "immediate_after_2",
                lambda p: _copies(p, rounding=ROUND_DOWN).direct[2],
                "舍入是找最近的，不是把后面的砍掉。",
                "每一次减完，离哪一个两位小数更近？",
            ),
            slip("用了二进制 FP16", "immediate_after_2", lambda p: _binary(p, 2), *_BINARY),
        ),
        "第二次的起点，是第一次舍入以后存下的数。",
        "存下的数变过没有？没有的话，第二次与第一次一样。",
    ),
    _stage(
        "主副本，第一次",
        "master_after_1",
        (
            slip(
                "主副本也舍入成两位",
                "master_after_1",
                lambda p: _copies(p).direct[1],
                "主副本存几位小数？",
                "主副本比工作权重多一位，这一位正好装得下更新。",
            ),
            slip(
                "加成了减",
                "master_after_1",
                lambda p: Fraction(p["start"]) + Fraction(p["subtract"]),
                "更新的方向是哪一边？",
                "题目是减，不是加。",
            ),
            slip("用了二进制 FP16", "master_after_1", lambda p: _binary_master(p, 1), *_BINARY),
        ),
        "主副本存三位小数。",
        "减去的量正好三位小数，主副本不丢任何东西。",
    ),
    _stage(
        "主副本，第二次",
        "master_after_2",
        (
            slip(
                "写成了工作副本的值",
                "master_after_2",
                lambda p: _copies(p).working[2],
                "舍入是为了给计算使用，主副本自己变不变？",
                "舍入只产生工作副本；主副本留着原来的三位。",
            ),
            slip(
                "从舍入后的数接着减",
                "master_after_2",
                lambda p: _copies(p).master[1],
                "第二次从哪一个数开始减？",
                "主副本接着自己上一次的值减，不从工作副本减。",
            ),
            slip(
                "多减了一次",
                "master_after_2",
                lambda p: _copies(p, steps=3).master[3],
                "数一数减了几次。",
                "题目一共减两次。",
            ),
        ),
        "主副本接着自己上一次的值减。",
        "两次都不舍入，各减一份。",
    ),
    _stage(
        "工作副本，第二次",
        "working_after_2",
        (
            slip(
                "没有舍入",
                "working_after_2",
                lambda p: _copies(p).master[2],
                "工作副本能存几位小数？",
                "把主副本的值舍入成两位，才是工作副本。",
            ),
            slip(
                "以为还是没有动",
                "working_after_2",
                lambda p: _copies(p).direct[2],
                "工作副本从谁舍入得来？",
                "它不从自己上一次的值来，而从主副本来；主副本已经走了两步。",
            ),
            slip("用了二进制 FP16", "working_after_2", lambda p: _binary_master(p, 2), *_BINARY),
        ),
        "工作副本是主副本舍入成两位得到的。",
        "看主副本越过了两格的中点没有。",
    ),
)


def _prompt_4(p: Parameters) -> str:
    return (
        f"用十进制类比：工作权重只存两位小数，起点 {p['start']}，每次减 {p['subtract']}，共减两次。\n\n"
        "先看立即舍入：每次减完就留两位小数。再看主副本：它存三位小数，一直往下减，需要时才舍入成两位的工作副本。"
        "写出两种做法各一步的值。"
    )


def _code_4(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.precision import decimal_copies

copies = decimal_copies(start={literal_text(p["start"])}, subtract={p["subtract"]}, steps=2)
immediate_after_1, immediate_after_2 = copies.direct[1:]
master_after_1, master_after_2 = copies.master[1:]
working_after_2 = copies.working[2]
[str(value) for value in (immediate_after_1, immediate_after_2,
                          master_after_1, master_after_2, working_after_2)]"""
    }


def literal_text(decimal: str) -> str:
    """Write a decimal as short as Python reads it back: 1.00 is 1."""
    return f"{Decimal(decimal).normalize():f}"


EXERCISE_4: Final = Exercise(
    id="4",
    title="舍入两次，还是攒着",
    look_back="[27.3 的两份副本](27.03-precision-and-loss-scaling.ipynb)",
    parameters={"start": "1.00", "subtract": "0.003"},
    fields=(
        Field("immediate_after_1", Kind.NUMBER, "立即舍入，第一次之后"),
        Field("immediate_after_2", Kind.NUMBER, "立即舍入，第二次之后"),
        Field("master_after_1", Kind.NUMBER, "主副本，第一次之后"),
        Field("master_after_2", Kind.NUMBER, "主副本，第二次之后"),
        Field("working_after_2", Kind.NUMBER, "由主副本舍入的工作副本，第二次之后"),
    ),
    prompt=_prompt_4,
    brief=lambda p: f"从 {p['start']} 起，两次各减 {p['subtract']}。比较立即留两位小数与保留主副本。",
    answer=_answer_4,
    why=lambda p: (
        "立即舍入时，每次减掉的不到半格，舍入又回到原处；主副本把两次都记住，越过中点以后工作副本才变。"
    ),
    code=_code_4,
    criteria=_CRITERIA_4,
    draw=lambda d: {"start": f"{d.whole(101, 499) / 100:.2f}", "subtract": d.pick(("0.003", "0.004"))},
    reason="差别从哪一步开始，为什么？",
    rubric=("说出立即舍入每次都丢掉更新", "说出主副本先积累再舍入", "没有把十进制的类比说成 FP16 的规则"),
)
