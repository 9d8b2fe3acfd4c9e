"""Further exercises for section 27.2: another bookkeeping of the same Adam, and activations of GPT-2 1.5B."""

from __future__ import annotations

from typing import Any, Final

from ...activations import SavedActivations
from ...ledger import model_state
from ..exercise import Criterion, Exercise, Parameters, slip
from ..values import Field, Kind
from ..variants import Draw

_STATE, _EXTRA, _ARRAY, _ACTS = "gpt3_state_bytes", "gpt3_extra_bytes", "gpt2_array_bytes", "gpt2_acts_bytes"


def _answer_a(p: Parameters) -> dict[str, Any]:
    wide = model_state(p["parameters"], weights=2, grads=4, master=4, moments=(4, 4)).total_bytes
    return {_STATE: wide, _EXTRA: wide - model_state(p["parameters"]).total_bytes}


def _prompt_a(p: Parameters) -> str:
    model = "GPT-3 175B" if p == A.parameters else "一个 GPT-3 那样的模型"
    return (
        f"{model}有 {p['parameters']:,} 个参数。有的实现用 4 字节保存梯度，其余与例 27.1 相同："
        "工作权重 2 字节，主副本 4 字节，两个矩各 4 字节。\n\n"
        "这样的模型状态合计多少字节？比例 27.1 的记账方式多多少字节？"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.ledger import diff, model_state

chapter = model_state({p["parameters"]:_}, weights=2, grads=2, master=4, moments=(4, 4))
wide = model_state({p["parameters"]:_}, weights=2, grads=4, master=4, moments=(4, 4))
gpt3_state_bytes = wide.total_bytes
gpt3_extra_bytes = sum(line.change_bytes for line in diff(chapter, wide))
gpt3_state_bytes, gpt3_extra_bytes"""
    }


A: Final = Exercise(
    id="27.2-a",
    title="GPT-3 的梯度改用 4 字节",
    look_back="",
    parameters={"parameters": 175_000_000_000},
    fields=(
        Field(_STATE, Kind.BYTES, "模型状态合计，字节", "字节"),
        Field(_EXTRA, Kind.BYTES, "比例 27.1 的记账方式多，字节", "字节"),
    ),
    prompt=_prompt_a,
    brief=lambda p: f"{p['parameters']:,} 个参数，梯度 4 字节：状态合计多少，比每参数 16 字节多多少？",
    answer=_answer_a,
    why=lambda p: "只有梯度那一行变宽，每个参数多 2 字节，合计每个参数 18 字节；其他行都不动。",
    code=_code_a,
    criteria=(
        Criterion(
            "模型状态的字节数",
            (_STATE,),
            2,
            (
                slip("梯度仍按 2 字节", _STATE, lambda p: 16 * p["parameters"],
                     "哪一行的字节数变了？", "你的合计还是例 27.1 的，把变了的那一行换掉。"),
                slip("两种梯度都算了", _STATE, lambda p: 20 * p["parameters"],
                     "梯度存几份？", "4 字节的梯度是替换，不是再加一份。"),
                slip("只算了一个矩", _STATE, lambda p: 14 * p["parameters"],
                     "Adam 跟踪几个移动平均？", "梯度的和梯度平方的，各有一个数组。"),
                slip("只算了优化器那一边", _STATE, lambda p: 12 * p["parameters"],
                     "主副本和矩之外，还有什么跨更新留着？", "把工作权重和梯度也加上。"),
            ),
            ("照表 27.1 列四行，改一行。", "先加出每个参数的字节数，再乘个数。"),
        ),
        Criterion(
            "多出的字节数",
            (_EXTRA,),
            1,
            (
                slip("把整份梯度当成多出的", _EXTRA, lambda p: 4 * p["parameters"],
                     "原来的记账方式里，梯度是零吗？", "多出的是新旧两种宽度之差。"),
                slip("写成了合计", _EXTRA, lambda p: 18 * p["parameters"],
                     "问的是多出多少，不是一共多少。", "两种合计相减。"),
                slip("以为合计一样", _EXTRA, lambda p: 0,
                     "每个参数的字节数还是 16 吗？", "有一行变宽了，别的行没有变窄。"),
            ),
            ("两种记账方式，哪一行不同？", "不同的那一行，每个参数差几字节？"),
        ),
    ),
    draw=lambda d: {"parameters": d.whole(1_000_000_000, 400_000_000_000, step=500_000_000)},
    reason="合计不同的两本账，怎样说清差在哪里？",
    rubric=("指名差在梯度那一行", "不说哪一本账「错了」，而说各记了什么"),
)  # fmt: skip


def _acts(p: Parameters) -> SavedActivations:
    return SavedActivations(
        sequences=p["sequences"],
        positions=p["positions"],
        width=p["width"],
        layers=p["layers"],
        arrays_per_layer=12,
        bytes_per_value=2,
    )


def _prompt_b(p: Parameters) -> str:
    model = "GPT-2 1.5B" if p == B.parameters else "一个 GPT-2 那样的模型"
    return (
        f"{model}宽 {p['width']}，{p['layers']} 层，{p['heads']} 个注意力头。微批次有 {p['sequences']} 个长 "
        f"{p['positions']} 的序列。ZeRO 论文的粗估是每层留 12 个「批次 × 位置 × 宽度」的数组，"
        "每个值 2 字节。\n\n"
        "一个数组多少字节？全部保存的激活多少字节？"
    )


def _code_b(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.activations import SavedActivations

gpt2 = SavedActivations(sequences={p["sequences"]}, positions={p["positions"]}, width={p["width"]},
                        layers={p["layers"]}, arrays_per_layer=12, bytes_per_value=2)
gpt2_array_bytes, gpt2_acts_bytes = gpt2.array_bytes, gpt2.total_bytes
gpt2_array_bytes, gpt2_acts_bytes"""
    }


def _draw_b(d: Draw) -> Parameters:
    width, heads = d.pick(((768, 12), (1024, 16), (1280, 20), (1600, 25)))
    sequences, layers = d.pick((4, 8, 16, 24, 48)), d.pick((20, 24, 36, 48))
    return {"width": width, "heads": heads, "layers": layers, "sequences": sequences, "positions": 1024}


B: Final = Exercise(
    id="27.2-b",
    title="GPT-2 1.5B 的激活",
    look_back="",
    parameters={"width": 1600, "heads": 25, "layers": 48, "sequences": 32, "positions": 1024},
    fields=(
        Field(_ARRAY, Kind.BYTES, "一个数组，字节", "字节"),
        Field(_ACTS, Kind.BYTES, "全部激活，字节", "字节"),
    ),
    prompt=_prompt_b,
    brief=lambda p: (
        f"宽 {p['width']}、{p['layers']} 层、{p['sequences']} 个序列：一个数组和全部激活各多少字节？"
        ""
    ),
    answer=lambda p: {_ARRAY: _acts(p).array_bytes, _ACTS: _acts(p).total_bytes},
    why=lambda p: (
        "一个数组是序列、位置、宽度与每值字节数之积；层数乘以每层的数组数，就是数组的总数。"
        "头数用不上。"
    ),
    code=_code_b,
    criteria=(
        Criterion(
            "一个数组的字节数",
            (_ARRAY,),
            1,
            (
                slip("漏了序列数", _ARRAY, lambda p: _acts(p).array_bytes // p["sequences"],
                     "一个微批次里有几个序列？", "数组的第一维是批次。"),
                slip("漏了每个值的字节数", _ARRAY, lambda p: _acts(p).array_values,
                     "你数的是值还是字节？", "每个值占两个字节。"),
                slip("又乘了头数", _ARRAY, lambda p: _acts(p).array_bytes * p["heads"],
                     "宽度里已经包含了所有的头吗？", "头是把宽度分开，不是再乘一遍。"),
            ),
            ("数组的形状是批次 × 位置 × 宽度。", "三个长度相乘，再乘每个值的字节数。"),
        ),
        Criterion(
            "全部激活的字节数",
            (_ACTS,),
            2,
            (
                slip("只算了一层", _ACTS, lambda p: _acts(p).layer_bytes,
                     "反向开始之前，前面各层的数组还在吗？", "把层数乘上。"),
                slip("每层只算了一个数组", _ACTS, lambda p: p["layers"] * _acts(p).array_bytes,
                     "每层留几个数组？", "题目给了每层的个数，把它乘上。"),
                slip("只算了一个序列", _ACTS, lambda p: _acts(p).total_bytes // p["sequences"],
                     "微批次里的序列同时在内存里吗？", "激活随序列数成正比。"),
            ),
            ("先数一共有多少个数组。", "数组的个数乘以一个数组的字节数。"),
        ),
    ),
    draw=_draw_b,
    reason="这个粗估没有包括什么？哪一样会随长度的平方增长？",
    rubric=("指出注意力分数随长度的平方增长", "至少再说出一样没有包括的东西"),
)  # fmt: skip
