"""Exercise 1 of section 27.8: what a larger microbatch needs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from ...activations import SavedActivations
from ...ledger import Ledger, model_state
from ...units import MB, MiB
from ..exercise import Criterion, Exercise, Parameters, slip
from ..judges import numeral
from ..values import Field, Kind
from ..variants import Draw

_STATE: Final = "model_state({parameters:_}, weights=2, grads=2, master=4, moments=(4, 4))"


def _acts(p: Parameters, sequences: int | None = None) -> SavedActivations:
    return SavedActivations(
        sequences=p["sequences"] if sequences is None else sequences,
        positions=p["positions"],
        width=p["width"],
        layers=p["layers"],
        arrays_per_layer=p["arrays_per_layer"],
        bytes_per_value=p["bytes_per_value"],
    )


def _state(p: Parameters) -> Ledger:
    return model_state(p["parameters"], weights=2, grads=2, master=4, moments=(4, 4))


def _answer_1(p: Parameters) -> dict[str, Any]:
    acts = _acts(p)
    return {"activation_bytes": acts.total_bytes, "total_bytes": (_state(p) + acts.ledger()).total_bytes}


def _prompt_1(p: Parameters) -> str:
    book = p == EXERCISE_1.parameters
    model = "例 27.1 的模型不变：一百万参数" if book else f"换一个模型：{p['parameters']:,} 个参数"
    return (
        f"{model}，16 字节一个，状态共 {16 * p['parameters']:,} 字节。"
        f"本地微批次从{numeral(p['sequences_before'])}个序列增到{numeral(p['sequences'])}个，其余照旧："
        f"{p['positions']} 个位置，宽 {p['width']}，{numeral(p['layers'])}层，"
        f"每层{numeral(p['arrays_per_layer'])}个数组，每个值 {p['bytes_per_value']} 字节。\n\n"
        "已保存的激活有多少字节？连同模型状态一共多少（不加余量）？"
    )


def _code_1(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.activations import SavedActivations
from course_lib.ledger import model_state

state = {_STATE.format(**p)}
acts = SavedActivations(sequences={p["sequences"]}, positions={p["positions"]}, width={p["width"]},
                        layers={p["layers"]}, arrays_per_layer={p["arrays_per_layer"]},
                        bytes_per_value={p["bytes_per_value"]})
need = state + acts.ledger()
activation_bytes, total_bytes = acts.total_bytes, need.total_bytes
activation_bytes, total_bytes"""
    }


def _draw_1(d: Draw) -> Parameters:
    before = d.whole(1, 3)
    return {
        "parameters": d.whole(500_000, 4_000_000, step=250_000),
        "sequences_before": before,
        "sequences": before * d.whole(2, 4),
        "positions": d.pick((64, 128, 256)),
        "width": d.pick((32, 64, 128)),
        "layers": d.whole(3, 8),
        "arrays_per_layer": d.whole(8, 14, step=2),
        "bytes_per_value": d.pick((2, 4)),
    }


def _times(p: Parameters) -> int:
    return int(p["sequences"]) // int(p["sequences_before"])


def _mib_as_mb(p: Parameters) -> Fraction:
    return Fraction(_acts(p).total_bytes * MB, MiB)


EXERCISE_1: Final = Exercise(
    id="1",
    title="微批次加倍",
    look_back="[27.2 的账本](27.02-memory-ledger.ipynb)",
    parameters={
        "parameters": 1_000_000,
        "sequences_before": 2,
        "sequences": 4,
        "positions": 128,
        "width": 64,
        "layers": 4,
        "arrays_per_layer": 10,
        "bytes_per_value": 2,
    },
    fields=(
        Field("activation_bytes", Kind.BYTES, "已保存激活，字节", "字节"),
        Field("total_bytes", Kind.BYTES, "加上模型状态，不加余量，字节", "字节"),
    ),
    prompt=_prompt_1,
    brief=lambda p: f"{numeral(p['sequences'])}个序列，其余照旧：激活多少字节，加余量前共多少？",
    answer=_answer_1,
    why=lambda p: "激活与序列数成正比；模型状态只看参数个数，一个字节也没有多。两者相加就是加余量前的总量。",
    code=_code_1,
    criteria=(
        Criterion(
            "激活的字节数",
            ("activation_bytes",),
            2,
            (
                slip(
                    "只算了一层",
                    "activation_bytes",
                    lambda p: _acts(p).layer_bytes,
                    "从第一层走到最后一层，前向留下的东西都要等到反向才用完。",
                    "你的数里，层数这个因子出现了吗？",
                ),
                slip(
                    "微批次没有变",
                    "activation_bytes",
                    lambda p: _acts(p, p["sequences_before"]).total_bytes,
                    "再读一遍题目：哪个量变了，变成了几？",
                    "你用的是改变以前的序列数。",
                ),
                slip(
                    "把 MiB 当成了 MB",
                    "activation_bytes",
                    _mib_as_mb,
                    "两种「兆」差百分之几，查一查你换算时用的是哪一种。",
                    "除的时候用二的幂，乘回来却用了十的幂；直接写字节数最稳妥。",
                ),
                slip(
                    "每层只算了一个数组",
                    "activation_bytes",
                    lambda p: _acts(p).layers * _acts(p).array_bytes,
                    "一层里同样形状的数组不止一个。",
                    "题目说了每层留几个数组，把它乘上。",
                ),
            ),
            (
                "一个数组的字节数是几个因子的乘积，先把这一个写出来。",
                "再看这样的数组一共有多少个：每层几个，共几层。",
            ),
        ),
        Criterion(
            "加余量前的合计",
            ("total_bytes",),
            2,
            (
                slip(
                    "加了余量",
                    "total_bytes",
                    lambda p: Fraction(_answer_1(p)["total_bytes"] * 5, 4),
                    "题目问的是加余量之前。",
                    "余量是规划时另留的，先把它拿掉。",
                ),
                slip(
                    "状态也跟着放大了",
                    "total_bytes",
                    lambda p: _acts(p).total_bytes + _times(p) * _state(p).total_bytes,
                    "序列变多，参数的个数变了吗？",
                    "权重、梯度、主副本和矩，哪一样与序列数有关？",
                ),
                slip(
                    "只算了一层激活",
                    "total_bytes",
                    lambda p: _acts(p).layer_bytes + _state(p).total_bytes,
                    "状态那一部分对了，激活少了。",
                    "激活要把每一层都加上。",
                ),
                slip(
                    "把 MiB 当成了 MB",
                    "total_bytes",
                    lambda p: _mib_as_mb(p) + _state(p).total_bytes,
                    "相加的两项，单位是同一种「兆」吗？",
                    "都换成字节，再相加。",
                ),
                slip(
                    "没有加模型状态",
                    "total_bytes",
                    lambda p: _acts(p).total_bytes,
                    "除了激活，内存里还一直放着什么？",
                    "把题目给的模型状态加上。",
                ),
                slip(
                    "用了改变以前的激活",
                    "total_bytes",
                    lambda p: _acts(p, p["sequences_before"]).total_bytes + _state(p).total_bytes,
                    "合计里的激活，是哪一个微批次的？",
                    "换成序列变多以后的激活再加。",
                ),
            ),
            (
                "合计只有两项：一项随序列数变，一项不变。",
                "把激活的字节数与模型状态的字节数相加，别的都不加。",
            ),
        ),
    ),
    draw=_draw_1,
    reason="两个数里，哪些部分随微批次变，哪些不变？",
    rubric=(
        "说出激活随序列数成正比",
        "说出模型状态与序列数无关",
        "提到这个合计没有包括的东西，例如注意力分数或余量",
    ),
)
