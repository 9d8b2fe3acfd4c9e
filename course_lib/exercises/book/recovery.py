"""Exercise 5 of section 27.8: what a recovery proves, claim by claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ..exercise import Criterion, Exercise, Misconception, Parameters
from ..judges import placed
from ..values import Field, Kind
from ..variants import Draw

WEIGHTS, MOMENTS, STEP, SAMPLER = "权重", "矩", "步数", "采样器"
_COMPARED, _ELSEWHERE, _VERSION = "逐次比较", "在另一台机器上逐次比较", "版本"

# What a claim says, and the evidence that it needs.
_CLAIMS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "values": ("模型与优化器从上次保存的数值往下走", (WEIGHTS, MOMENTS)),
        "order": ("接下来读到的样例，与不停机时相同", (SAMPLER,)),
        "updates": ("恢复后每一次更新，都与不停机时一致", (WEIGHTS, MOMENTS, SAMPLER, _COMPARED)),
        "moments": ("两个矩没有被清零", (MOMENTS,)),
        "bitwise": ("换一台机器恢复，结果也逐位相同", (WEIGHTS, MOMENTS, SAMPLER, _ELSEWHERE)),
        "complete": ("恢复训练所需的状态已经齐全", (WEIGHTS, MOMENTS, STEP, SAMPLER, _VERSION)),
        "weights": ("权重接着上次保存的值", (WEIGHTS,)),
        "schedule": ("学习率日程从停下的那一步接着走", (STEP,)),
    }
)
_NUMERIC: Final = ("values", "moments", "weights", "schedule")


def _letters(p: Parameters, claims: Sequence[str]) -> list[str]:
    return ["ABCDEFGH"[index] for index, claim in enumerate(p["claims"]) if claim in claims]


def _supported(p: Parameters) -> list[str]:
    return [claim for claim in p["claims"] if set(_CLAIMS[claim][1]) <= set(p["restored"])]


def _piles(p: Parameters, claims: Sequence[str]) -> dict[str, list[str]]:
    return {
        "supported": _letters(p, claims),
        "not_supported": _letters(p, [claim for claim in p["claims"] if claim not in claims]),
    }


def _flipped(*names: str) -> Callable[[Parameters], dict[str, list[str]]]:
    """Return the sorting in which these claims lie in the wrong pile; "first", "second" are numeric ones."""

    def wrong(p: Parameters) -> dict[str, list[str]]:
        numeric = [claim for claim in p["claims"] if claim in _NUMERIC]
        flip = {{"first": numeric[0], "second": numeric[-1]}.get(name, name) for name in names}
        return _piles(p, [claim for claim in p["claims"] if (claim in _supported(p)) != (claim in flip)])

    return wrong


def _topic(title: str, claims: Sequence[str], known: tuple[Misconception, ...], *hints: str) -> Criterion:
    return Criterion(
        title, ("supported", "not_supported"), 2, known, hints, placed(lambda p: _letters(p, claims))
    )


_CRITERIA_5: Final = (
    _topic(
        "数值接上了没有",
        _NUMERIC,
        (
            Misconception(
                "先写的一句没有查证",
                _flipped("first"),
                (
                    "关于数值的两句话，有一句放错了堆：它要靠哪几样状态？",
                    "先写出那句话要的状态，再看题目说没说它读了回来。",
                ),
            ),
            Misconception(
                "后写的一句没有查证",
                _flipped("second"),
                (
                    "关于数值的两句话，靠后的一句再查一查：它要靠哪几样状态？",
                    "先写出那句话要的状态，再看题目说没说它读了回来。",
                ),
            ),
            Misconception(
                "一样没读回来就全盘否定",
                _flipped("first", "second"),
                (
                    "有一样重新初始化，是不是连读回来的几样也不作数了？",
                    "把读回来的和没有读回来的分开写，再看每句话靠的是哪一边。",
                ),
            ),
        ),
        "每句话只要它自己那几样状态，不要更多。",
        "一句话放进一堆，不要两堆都放，也不要漏掉。",
    ),
    _topic(
        "样例与更新",
        ("order", "updates"),
        (
            Misconception(
                "数据没变，次序就没变",
                _flipped("order"),
                ("下一个样例由谁来挑？", "挑样例的那一样，它的状态读回来了没有？"),
            ),
            Misconception(
                "没有比较也算一致",
                _flipped("updates"),
                (
                    "「每一次都一致」是一句很强的话，要怎样才看得出来？",
                    "题目说没说，恢复后的运行与不停的运行比较过？",
                ),
            ),
            Misconception(
                "接上数值就等于没停过",
                _flipped("order", "updates"),
                ("一次更新除了权重和矩，还用到什么？", "看样例的次序由谁决定；再看有没有人比较过两条路径。"),
            ),
        ),
        "次序与一致是两句话，各要各的证据。",
        "一句话放进一堆，不要两堆都放，也不要漏掉。",
    ),
    _topic(
        "换机器与齐全",
        ("bitwise", "complete"),
        (
            Misconception(
                "在一处行就处处行",
                _flipped("bitwise"),
                ("题目里出现过第二台机器吗？", "硬件和软件换了，舍入与次序都可能变；这要另外举证。"),
            ),
            Misconception(
                "能读回来就算齐全",
                _flipped("complete"),
                (
                    "列一张恢复训练要存的清单，再对照题目。",
                    "清单上除了权重和矩还有几样？题目说的那一样在其中吗？",
                ),
            ),
            Misconception(
                "读得进来就什么都保证了",
                _flipped("bitwise", "complete"),
                ("「能继续」和「有保证」隔着什么？", "两句话都问一问：谁在什么环境里核对过？"),
            ),
        ),
        "强的说法要强的证据。",
        "一句话放进一堆，不要两堆都放，也不要漏掉。",
    ),
)


def _prompt_5(p: Parameters) -> str:
    first, *others = p["restored"]
    names = {MOMENTS: "两个矩", STEP: "步数", SAMPLER: "采样器的状态", WEIGHTS: "权重"}
    back = f"{names[first]}读回来了，" + "".join(f"{names[other]}也读回来了，" for other in others)
    lost = "两个矩却清成了零" if MOMENTS not in p["restored"] else "数据采样器却重新初始化"
    listed = "\n".join(f"- {_letters(p, [claim])[0]}：{_CLAIMS[claim][0]}" for claim in p["claims"])
    return (
        f"训练停下后恢复：{back}{lost}。恢复后没有与一直不停的运行比较过。\n\n"
        f"把下面的说法分成两堆：有依据的，没有依据的。\n\n{listed}"
    )


def _code_5(p: Parameters) -> dict[str, str]:
    have = ", ".join(f'"{name}"' for name in p["restored"])
    entries = []
    for claim in p["claims"]:
        evidence = ", ".join(f'"{name}"' for name in _CLAIMS[claim][1])
        entries.append(f'"{_letters(p, [claim])[0]}": {{{evidence}}}')
    pairs = [", ".join(entries[:2]), entries[2], ", ".join(entries[3:4]), *entries[4:]]
    needs = ",\n         ".join(pairs)
    return {
        "solution": f"""have = {{{have}}}
needs = {{{needs}}}
supported = sorted(claim for claim, evidence in needs.items() if evidence <= have)
not_supported = sorted(set(needs) - set(supported))
supported, not_supported"""
    }


def _draw_5(d: Draw) -> Parameters:
    restored = d.pick(([WEIGHTS, MOMENTS], [WEIGHTS, SAMPLER], [WEIGHTS, MOMENTS, STEP], [WEIGHTS, STEP]))
    claims = [*d.shuffled(_NUMERIC, 2), "order", "updates", "bitwise", "complete"]
    return {"restored": restored, "claims": d.shuffled(claims)}


EXERCISE_5: Final = Exercise(
    id="5",
    title="这次恢复证明了什么",
    look_back="[27.6 的两种检查点](27.06-recompute-and-recovery.ipynb)",
    parameters={
        "restored": [WEIGHTS, MOMENTS],
        "claims": ["values", "order", "updates", "moments", "bitwise", "complete"],
    },
    fields=(
        Field("supported", Kind.LETTERS, '有依据的字母，写成 ["……", "……"]'),
        Field("not_supported", Kind.LETTERS, "没有依据的字母"),
    ),
    prompt=_prompt_5,
    brief=lambda p: "、".join(p["restored"]) + "读回来了，别的没有。还能说什么，缺哪项证据？",
    answer=lambda p: _piles(p, _supported(p)),
    why=lambda p: (
        "给每句话写上它要的证据，再看手里有没有：读回来的状态只支持靠它们的那几句；"
        "样例的次序要采样器，一致要比较，换机器要另外举证。"
    ),
    code=_code_5,
    criteria=_CRITERIA_5,
    draw=_draw_5,
    reason="还缺什么证据？怎样补上？",
    rubric=(
        "指出要保存没有读回来的那一样状态",
        "指出要在写明的环境里比较恢复后的更新",
        "不把「能继续」说成「与没停过一样」",
    ),
)
