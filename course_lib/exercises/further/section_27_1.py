"""Further exercises for section 27.1: a weight file against training, and a device that is too small."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any, Final

from ...ledger import model_state
from ...units import GB, GiB
from ..exercise import Criterion, Exercise, Parameters, slip
from ..values import Field, Kind
from ..variants import Draw

_FILE, _STATE, _SHORT, _DEVICES = "gpt2_file_bytes", "gpt2_state_bytes", "llama_short_bytes", "llama_devices"
_RULE: Final = "工作权重与梯度各 2 字节，主副本 4 字节，两个矩各 4 字节"


def _state_bytes(p: Parameters) -> int:
    return model_state(p["parameters"], weights=2, grads=2, master=4, moments=(4, 4)).total_bytes


def _prompt_a(p: Parameters) -> str:
    book = p == A.parameters
    model = "GPT-2 124M 的分配记录里有" if book else "一个 GPT-2 那样的模型有"
    return (
        f"{model} {p['parameters']:,} 个参数（词表补齐后的数）。权重文件每个参数 2 字节。训练时，每个参数的"
        f"{_RULE}。\n\n权重文件有多少字节？训练的模型状态合计多少字节？激活先不算。"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.ledger import model_state

gpt2 = model_state({p["parameters"]:_}, weights=2, grads=2, master=4, moments=(4, 4))
gpt2_file_bytes, gpt2_state_bytes = gpt2["工作权重"].total_bytes, gpt2.total_bytes
gpt2_file_bytes, gpt2_state_bytes"""
    }


A: Final = Exercise(
    id="27.1-a",
    title="GPT-2 的权重文件，与训练它的状态",
    look_back="",
    parameters={"parameters": 124_475_904},
    fields=(
        Field(_FILE, Kind.BYTES, "权重文件，字节", "字节"),
        Field(_STATE, Kind.BYTES, "模型状态合计，字节", "字节"),
    ),
    prompt=_prompt_a,
    brief=lambda p: f"{p['parameters']:,} 个参数：权重文件多大，模型状态多大？",
    answer=lambda p: {_FILE: 2 * p["parameters"], _STATE: _state_bytes(p)},
    why=lambda p: "文件里只有工作权重；训练还要梯度、主副本和两个矩，每个参数合起来 16 字节，是文件的八倍。",
    code=_code_a,
    criteria=(
        Criterion(
            "权重文件的字节数",
            (_FILE,),
            1,
            (
                slip("每个参数按 4 字节", _FILE, lambda p: 4 * p["parameters"],
                     "题目给的权重是几字节一个？", "4 字节的是主副本，它不在这个文件里。"),
                slip("只数了参数的个数", _FILE, lambda p: p["parameters"],
                     "你写的是个数，不是字节数。", "每个参数要占几个字节？乘上它。"),
                slip("把位数当成字节数", _FILE, lambda p: 16 * p["parameters"],
                     "字节和位差几倍？", "两字节的数是十六位，要的是字节。"),
            ),
            ("文件里只有工作权重。", "个数乘以每个的字节数。"),
        ),
        Criterion(
            "模型状态的字节数",
            (_STATE,),
            2,
            (
                slip("只算了工作权重", _STATE, lambda p: 2 * p["parameters"],
                     "更新一次权重，还要用到哪些跨步骤的信息？", "把梯度、主副本和矩也各算一份。"),
                slip("漏了优化器那一边", _STATE, lambda p: 4 * p["parameters"],
                     "权重和梯度有了，Adam 还留着什么？", "主副本和两个矩比权重还大。"),
                slip("漏了主副本", _STATE, lambda p: 12 * p["parameters"],
                     "哪一份较精细的权重让小更新积累起来？", "四样对象里少了 4 字节的那一份。"),
                slip("漏了梯度", _STATE, lambda p: 14 * p["parameters"],
                     "更新之前，各项贡献汇总在哪里？", "四样对象里少了 2 字节的那一份。"),
            ),
            ("一样一样地列：权重、梯度、主副本、两个矩。", "先加出每个参数的字节数，再乘个数。"),
        ),
    ),
    draw=lambda d: {"parameters": d.whole(60_000_000, 900_000_000, step=500_000)},
    reason="权重文件为什么不能告诉你训练要多少内存？",
    rubric=("说出文件里只有一样对象", "列出训练还要的几样"),
)  # fmt: skip


def _prompt_b(p: Parameters) -> str:
    model = "Llama 3 8B" if p == B.parameters else "一个 Llama 那样的模型"
    return (
        f"{model}有 {p['parameters']:,} 个参数，训练时每个参数的{_RULE}。手上的设备各有 "
        f"{p['capacity_gb']} GB，这里的 GB 是 10⁹ 字节。\n\n一台设备还差多少字节才放得下模型状态？"
        "假如状态能平均切开，激活和别的都不算，至少要几台？"
    )


def _code_b(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from math import ceil
from course_lib.ledger import model_state
from course_lib.units import GB

llama = model_state({p["parameters"]:_}, weights=2, grads=2, master=4, moments=(4, 4)).total_bytes
llama_short_bytes, llama_devices = llama - {p["capacity_gb"]} * GB, ceil(llama / ({p["capacity_gb"]} * GB))
llama_short_bytes, llama_devices"""
    }


def _devices(n_bytes: int, p: Parameters) -> int:
    return ceil(Fraction(n_bytes, p["capacity_gb"] * GB))


def _answer_b(p: Parameters) -> dict[str, Any]:
    total = _state_bytes(p)
    return {_SHORT: total - p["capacity_gb"] * GB, _DEVICES: _devices(total, p)}


def _draw_b(d: Draw) -> Parameters:
    return {
        "parameters": d.whole(5_000_000_000, 15_000_000_000, step=10_000_000),
        "capacity_gb": d.pick((16, 24, 32)),
    }


B: Final = Exercise(
    id="27.1-b",
    title="Llama 3 8B 与一台 24 GB 的设备",
    look_back="",
    parameters={"parameters": 8_030_000_000, "capacity_gb": 24},
    fields=(
        Field(_SHORT, Kind.BYTES, "一台还差多少字节", "字节"),
        Field(_DEVICES, Kind.NUMBER, "至少几台", "台"),
    ),
    prompt=_prompt_b,
    brief=lambda p: f"{p['parameters']:,} 个参数，设备各 {p['capacity_gb']} GB：差多少字节，至少几台？",
    answer=_answer_b,
    why=lambda p: "模型状态减去一台的容量就是差额；台数是两者的商往上取整，不足一台也要再添一台。",
    code=_code_b,
    criteria=(
        Criterion(
            "差多少字节",
            (_SHORT,),
            2,
            (
                slip("把 GB 当成了 GiB", _SHORT, lambda p: _state_bytes(p) - p["capacity_gb"] * GiB,
                     "题目说的 GB 是哪一种？", "10 的幂与 2 的幂，在这个大小上差百分之七。"),
                slip("只放了工作权重", _SHORT, lambda p: 2 * p["parameters"] - p["capacity_gb"] * GB,
                     "你得到的差额是正的吗？", "训练放的不只是权重，把四样都加上。"),
                slip("减反了", _SHORT, lambda p: p["capacity_gb"] * GB - _state_bytes(p),
                     "差额应该是正的还是负的？", "需要的减去有的。"),
            ),
            ("先算模型状态一共多少字节。", "再减去一台设备的容量，单位都用字节。"),
        ),
        Criterion(
            "至少几台",
            (_DEVICES,),
            1,
            (
                slip("舍去了不足一台的部分", _DEVICES, lambda p: _state_bytes(p) // (p["capacity_gb"] * GB),
                     "这么多台加起来，容量够了吗？", "除不尽时往哪边取整，才装得下？"),
                slip("只按权重算台数", _DEVICES, lambda p: _devices(2 * p["parameters"], p),
                     "分到各台的是什么？", "要分的是整份模型状态，不只是权重。"),
                slip("只按权重和梯度算台数", _DEVICES, lambda p: _devices(4 * p["parameters"], p),
                     "优化器的那一份放在哪里？", "主副本和两个矩也要分。"),
            ),
            ("模型状态除以一台的容量。", "装不满的那一台也是一台。"),
        ),
    ),
    draw=_draw_b,
    reason="平均切开之后，每台还需要哪些没有算进来的东西？",
    rubric=("提到激活或临时收集", "提到切开之后要靠通信"),
)  # fmt: skip
