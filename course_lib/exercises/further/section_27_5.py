"""Further exercises for section 27.5: the ZeRO paper's 7.5B model, and the two shares of a bubble."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from ...ledger import model_state
from ...parallel import bubble_fraction, bubble_overhead
from ...sharding import ZERO_1, ZERO_2, ZERO_3, resident
from ..exercise import Criterion, Exercise, Parameters, slip
from ..judges import numeral
from ..values import Field, Kind
from ..variants import Draw

_ONE, _ALL, _IDEAL, _TOTAL = "zero1_bytes", "zero3_bytes", "bubble_of_ideal", "bubble_of_total"
_STAGES: Final = {1: ZERO_1, 2: ZERO_2, 3: ZERO_3}


@lru_cache(maxsize=100)
def _resident(parameters: int, workers: int, stage: int) -> int:
    return resident(model_state(parameters), workers=workers, sharded=_STAGES[stage]).total_bytes


def _share(p: Parameters, stage: int) -> int:
    return _resident(p["parameters"], p["workers"], stage)


def _prompt_a(p: Parameters) -> str:
    model = "ZeRO 论文里一个 7.5B 的模型" if p == A.parameters else "一个模型"
    return (
        f"{model}有 {p['parameters']:,} 个参数，每个参数的状态照例 27.1：权重 2 字节，梯度 2 字节，"
        "主副本和矩共 12 字节。"
        f"它由 {p['workers']} 个数据并行的工作进程训练。\n\n"
        "只把主副本和矩平均分片，每个进程长期保留多少字节的模型状态？四样全部平均分片呢？"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.ledger import model_state
from course_lib.sharding import ZERO_1, ZERO_3, resident

state = model_state({p["parameters"]:_}, weights=2, grads=2, master=4, moments=(4, 4))
zero1_bytes = resident(state, workers={p["workers"]}, sharded=ZERO_1).total_bytes
zero3_bytes = resident(state, workers={p["workers"]}, sharded=ZERO_3).total_bytes
zero1_bytes, zero3_bytes"""
    }


A: Final = Exercise(
    id="27.5-a",
    title="7.5B 的模型分给 64 个进程",
    look_back="",
    parameters={"parameters": 7_500_000_000, "workers": 64},
    fields=(
        Field(_ONE, Kind.BYTES, "只分主副本和矩，每个进程，字节", "字节"),
        Field(_ALL, Kind.BYTES, "四样全分，每个进程，字节", "字节"),
    ),
    prompt=_prompt_a,
    brief=lambda p: (
        f"{p['parameters']:,} 个参数，{p['workers']} 个进程：只分主副本和矩、四样全分，各留多少字节？"
        ""
    ),
    answer=lambda p: {_ONE: _share(p, 1), _ALL: _share(p, 3)},
    why=lambda p: "分片的几类除以进程数，没有分片的几类每个进程都留整份，两部分相加。",
    code=_code_a,
    criteria=(
        Criterion(
            "只分主副本和矩",
            (_ONE,),
            2,
            (
                slip("只算了分片的那一部分", _ONE, lambda p: Fraction(12 * p["parameters"], p["workers"]),
                     "没有分片的那几样，放在哪里？", "权重和梯度，每个进程仍留整份。"),
                slip("把四样全分了", _ONE, lambda p: _share(p, 3),
                     "第一问里，哪几样分，哪几样不分？", "只分主副本和矩；权重和梯度保持整份。"),
                slip("连梯度也分了", _ONE, lambda p: _share(p, 2),
                     "梯度在这一问里分片了吗？", "这一问只分主副本和矩。"),
                slip("没有分片", _ONE, lambda p: 16 * p["parameters"],
                     "每个进程还留着整份的主副本和矩吗？", "把每个参数 12 字节的那部分除以进程数。"),
            ),
            ("把四样分成两组：分片的和整份的。", "分片的一组除以进程数，再加上整份的一组。"),
        ),
        Criterion(
            "四样全分",
            (_ALL,),
            1,
            (
                slip("权重和梯度留了整份", _ALL, lambda p: _share(p, 1),
                     "第二问里，还有哪一样是整份的？", "四样都要除以进程数。"),
                slip("权重留了整份", _ALL, lambda p: _share(p, 2),
                     "工作权重在这一问里分片了吗？", "用到某一层时才临时收集，长期只留一片。"),
                slip("没有除以进程数", _ALL, lambda p: 16 * p["parameters"],
                     "这是全部进程合起来的，还是一个进程的？", "全部模型状态除以进程数。"),
            ),
            ("每个参数的四样合起来几字节？", "乘参数个数，除以进程数。"),
        ),
    ),
    draw=lambda d: {"parameters": d.whole(1_000_000_000, 20_000_000_000, step=100_000_000),
                    "workers": d.pick((8, 16, 32, 64))},
    reason="四样全分之后，峰值为什么会超过长期保留的份额？",
    rubric=("说出要临时收集某一层的权重", "说出省下的内存要靠通信"),
)  # fmt: skip


def _bubble(p: Parameters) -> dict[str, Any]:
    sizes = {"stages": p["stages"], "microbatches": p["microbatches"]}
    return {_IDEAL: bubble_overhead(**sizes), _TOTAL: bubble_fraction(**sizes)}


def _prompt_b(p: Parameters) -> str:
    return (
        f"流水线有{numeral(p['stages'])}个阶段，一次更新有 {p['microbatches']} 个微批次，"
        "前向做完再反向，各阶段一样快，"
        "传输不计时间。气泡是阶段闲着的时间。\n\n"
        '气泡是理想时间（没有气泡时的时间）的几分之几？是总时间的几分之几？可以写分数，例如 "3/7"。'
    )


def _code_b(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.parallel import bubble_fraction, bubble_overhead

bubble_of_ideal = bubble_overhead(stages={p["stages"]}, microbatches={p["microbatches"]})
bubble_of_total = bubble_fraction(stages={p["stages"]}, microbatches={p["microbatches"]})
bubble_of_ideal, bubble_of_total"""
    }


# Stages and microbatches for which both shares end after a few decimals.
_CLEAN: Final = (
    (8, 28),
    (5, 16),
    (9, 32),
    (4, 12),
    (3, 8),
    (10, 16),
    (8, 25),
    (7, 24),
    (6, 20),
    (4, 5),
    (11, 40),
    (12, 44),
)


def _draw_b(d: Draw) -> Parameters:
    stages, microbatches = d.pick(_CLEAN)
    return {"stages": stages, "microbatches": microbatches}


B: Final = Exercise(
    id="27.5-b",
    title="同一个气泡，两个分母",
    look_back="",
    parameters={"stages": 8, "microbatches": 32},
    fields=(
        Field(_IDEAL, Kind.NUMBER, "气泡占理想时间的份额"),
        Field(_TOTAL, Kind.NUMBER, "气泡占总时间的份额"),
    ),
    prompt=_prompt_b,
    brief=lambda p: f"{p['stages']} 个阶段、{p['microbatches']} 个微批次：气泡占理想时间和总时间各几分之几？",
    answer=_bubble,
    why=lambda p: (
        "一个阶段忙的时间与微批次数成正比，闲的时间与阶段数减一成正比；分母是忙的时间，"
        "或忙闲合起来的时间。"
    ),
    code=_code_b,
    criteria=(
        Criterion(
            "占理想时间的份额",
            (_IDEAL,),
            1,
            (
                slip("用了总时间作分母", _IDEAL, lambda p: _bubble(p)[_TOTAL],
                     "理想时间里有没有气泡？", "分母只数真正干活的时间。"),
                slip("闲的步数多数了一步", _IDEAL, lambda p: Fraction(p["stages"], p["microbatches"]),
                     "最后一个阶段等几步才轮到它？", "只有一个阶段时，闲几步？"),
                slip("分子分母颠倒了", _IDEAL, lambda p: Fraction(p["microbatches"], p["stages"] - 1),
                     "气泡比理想时间长吗？", "闲的作分子，忙的作分母。"),
            ),
            ("一个阶段闲几步，忙几步？", "闲的步数除以忙的步数。"),
        ),
        Criterion(
            "占总时间的份额",
            (_TOTAL,),
            2,
            (
                slip("用了理想时间作分母", _TOTAL, lambda p: _bubble(p)[_IDEAL],
                     "总时间里有没有气泡？", "分母要把闲的时间也算进去。"),
                slip("闲的步数多数了一步", _TOTAL,
                     lambda p: Fraction(p["stages"], p["microbatches"] + p["stages"]),
                     "只有一个阶段时，闲几步？", "分子和分母里，阶段数都要减一。"),
                slip("写成了忙的份额", _TOTAL, lambda p: 1 - _bubble(p)[_TOTAL],
                     "问的是闲的，还是忙的？", "用 1 减一次就到了另一边。"),
            ),
            ("总时间等于忙的加闲的。", "闲的步数除以总步数。"),
        ),
    ),
    draw=_draw_b,
    reason="两个份额都对，为什么不能混着比？",
    rubric=("说出分母不同", "说出增加微批次时两个份额都变小"),
)  # fmt: skip
