"""Exercise 2 of section 27.8: how two means are joined."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from ...accumulation import Contribution, equal_weight_mean
from ..exercise import Criterion, Exercise, Parameters, slip
from ..values import Field, Kind
from ..variants import Draw

_EVENTS: Final = "events"


def _parts(p: Parameters) -> tuple[Contribution, Contribution]:
    a = Contribution.from_mean(n_events=p["events_a"], mean_grad=p["mean_a"])
    return a, Contribution.from_mean(n_events=p["events_b"], mean_grad=p["mean_b"])


def _sum(p: Parameters) -> Fraction:
    a, b = _parts(p)
    return (a + b).grad_sum


def _letter(p: Parameters, reason: str) -> str:
    return "ABCD"[p["reasons"].index(reason)]


def _reason_text(p: Parameters, reason: str) -> str:
    few, many = sorted((p["events_a"], p["events_b"]))
    return {
        "sign": "忘了先把两份均值换成正数",
        _EVENTS: f"让 {few} 个事件与 {many} 个事件有同样大的影响",
        "cancel": "正负号相反的均值根本不能合并",
        "sequences": "分母该数序列，不该数事件",
    }[reason]


def _signed(number: int) -> str:
    return str(number).replace("-", "−")


def _prompt_2(p: Parameters) -> str:
    listed = "\n".join(f"- {_letter(p, reason)}：{_reason_text(p, reason)}" for reason in p["reasons"])
    a, b = _signed(p["mean_a"]), _signed(p["mean_b"])
    return (
        f"微批次 A 有 {p['events_a']} 个有效事件，平均梯度 {a}；"
        f"微批次 B 有 {p['events_b']} 个，平均梯度 {b}。\n\n"
        f"合起来的平均梯度是多少？有人把 {a} 与 {b} 相加再除以 2，错在哪里？从下面选一条。\n\n{listed}"
    )


def _code_2(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.accumulation import Contribution, equal_weight_mean

a = Contribution.from_mean(n_events={p["events_a"]}, mean_grad={p["mean_a"]})
b = Contribution.from_mean(n_events={p["events_b"]}, mean_grad={p["mean_b"]})
mean_grad = (a + b).mean_grad
(a + b).grad_sum, (a + b).n_events, mean_grad, equal_weight_mean([a, b])""",
        "weights": f"""from fractions import Fraction

equal_weight_error = "{_letter(p, _EVENTS)}"
[Fraction(1, 2 * part.n_events) for part in (a, b)]""",
    }


def _draw_2(d: Draw) -> Parameters:
    total = d.pick((4, 5, 8, 10))
    events = d.whole(1, total - 1)
    high, low = d.whole(2, 9), -d.whole(1, 8)
    first_high = d.pick((True, False))
    return {
        "events_a": events,
        "mean_a": high if first_high else low,
        "events_b": total - events,
        "mean_b": low if first_high else high,
        "reasons": d.shuffled(("sign", _EVENTS, "cancel", "sequences")),
    }


EXERCISE_2: Final = Exercise(
    id="2",
    title="两个均值怎样合并",
    look_back="[27.4 的分母](27.04-gradient-accumulation.ipynb)",
    parameters={
        "events_a": 3,
        "mean_a": 2,
        "events_b": 1,
        "mean_b": -2,
        "reasons": ["sign", _EVENTS, "cancel", "sequences"],
    },
    fields=(
        Field("mean_grad", Kind.NUMBER, "合并后的平均梯度"),
        Field("equal_weight_error", Kind.LETTER, '选一个字母，写成 "A" 这样'),
    ),
    prompt=_prompt_2,
    brief=lambda p: (
        f"{p['events_a']} 个事件均值 {_signed(p['mean_a'])}，{p['events_b']} 个事件均值 "
        f"{_signed(p['mean_b'])}：合并的梯度是多少，等权平均错在哪里？"
    ),
    answer=lambda p: {
        "mean_grad": (_parts(p)[0] + _parts(p)[1]).mean_grad,
        "equal_weight_error": _letter(p, _EVENTS),
    },
    why=lambda p: (
        f"先把两份均值各乘事件数，还原成总和 {_signed(int(_sum(p)))}，再除以事件总数 "
        f"{p['events_a'] + p['events_b']}。等权平均不管事件多少，事件少的那一份说话太响。"
    ),
    code=_code_2,
    criteria=(
        Criterion(
            "合并后的平均梯度",
            ("mean_grad",),
            2,
            (
                slip(
                    "等权平均",
                    "mean_grad",
                    lambda p: equal_weight_mean(_parts(p)),
                    "两个微批次里，事件一样多吗？",
                    "先把每份均值还原成它那些事件的总和，再谈平均。",
                ),
                slip(
                    "总和没有再除",
                    "mean_grad",
                    _sum,
                    "你算的是总和；题目要的是平均。",
                    "还差一步除法：分母数的是事件。",
                ),
                slip(
                    "总和除以了微批次数",
                    "mean_grad",
                    lambda p: _sum(p) / 2,
                    "分子对了，看看分母。",
                    "微批次有几个不要紧，要数其中一共有多少个有效事件。",
                ),
                slip(
                    "权重用反了",
                    "mean_grad",
                    lambda p: (
                        (p["events_b"] * p["mean_a"] + p["events_a"] * p["mean_b"])
                        / Fraction(p["events_a"] + p["events_b"])
                    ),
                    "每份均值该乘哪个事件数？",
                    "A 的均值配 A 的事件数，B 的配 B 的。",
                ),
            ),
            ("均值乘以它的事件数，就是那一份的梯度总和。", "两份总和相加，除以两份事件数之和。"),
        ),
        Criterion(
            "等权平均错在哪里",
            ("equal_weight_error",),
            1,
            (
                slip(
                    "以为要先取正",
                    "equal_weight_error",
                    lambda p: _letter(p, "sign"),
                    "负的梯度是正当的方向，不用改。",
                    "假如两份均值都是正的，等权平均就对了吗？",
                ),
                slip(
                    "以为异号不能合并",
                    "equal_weight_error",
                    lambda p: _letter(p, "cancel"),
                    "方向相反的两份证据，本来就该互相抵消一部分。",
                    "问题在于抵消时各占多大分量。",
                ),
                slip(
                    "以为该数序列",
                    "equal_weight_error",
                    lambda p: _letter(p, "sequences"),
                    "一个序列里，有的位置被 Mask 排除，有的没有。",
                    "对损失有贡献的单位是什么？分母就数它。",
                ),
            ),
            ("只有四条可选，写一个字母。", "算一算：等权时，A 的一个事件和 B 的一个事件各占多大份量？"),
        ),
    ),
    draw=_draw_2,
    reason="等权平均里，两边的一个事件各占多大份量？",
    rubric=("把均值还原为总和", "分母数有效事件，不数微批次", "说出等权时事件少的一方每个事件的份量偏大"),
)
