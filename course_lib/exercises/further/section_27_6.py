"""Further exercises for section 27.6: recompute for GPT-2 1.5B, and what its recovery needs."""

from __future__ import annotations

from typing import Any, Final

from ...activations import SavedActivations
from ...ledger import ACTIVATIONS, COMMUNICATION, GRADS, model_state
from ...recompute import Rebuild, rebuild
from ...sharding.resident import GATHERED_WEIGHTS
from ..exercise import Criterion, Exercise, Misconception, Parameters, slip
from ..judges import names_outside, numeral
from ..values import Field, Kind
from ..variants import Draw

_KEPT, _PEAK, _FILE, _ALSO = "kept_bytes", "rebuild_peak_bytes", "recovery_bytes", "also_saved"


def _rebuild(p: Parameters) -> Rebuild:
    acts = SavedActivations(
        sequences=p["sequences"],
        positions=1024,
        width=p["width"],
        layers=p["layers"],
        arrays_per_layer=12,
        bytes_per_value=2,
    )
    return rebuild(acts, arrays_per_layer=p["kept"])


def _prompt_a(p: Parameters) -> str:
    model = "GPT-2 1.5B" if p == A.parameters else "一个 GPT-2 那样的模型"
    return (
        f"{model}宽 {p['width']}，{p['layers']} 层；微批次有 {p['sequences']} 个长 1,024 的序列，"
        "每个值 2 字节。"
        f"按 ZeRO 论文的粗估每层有 12 个数组，用激活检查点以后每层只留{numeral(p['kept'])}个。"
        "反向时一次重建一层，"
        "缺的数组先补齐，用完再到下一层。\n\n"
        "前向与反向之间保存的激活有多少字节？反向时最多有多少字节的激活同时在内存里？"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.activations import SavedActivations
from course_lib.recompute import rebuild

gpt2 = SavedActivations(sequences={p["sequences"]}, positions=1024, width={p["width"]},
                        layers={p["layers"]}, arrays_per_layer=12, bytes_per_value=2)
plan = rebuild(gpt2, arrays_per_layer={p["kept"]})
kept_bytes, rebuild_peak_bytes = plan.after.total_bytes, plan.peak_bytes
kept_bytes, rebuild_peak_bytes"""
    }


def _draw_a(d: Draw) -> Parameters:
    return {
        "width": d.pick((768, 1024, 1280, 1600)),
        "layers": d.pick((12, 24, 36, 48)),
        "sequences": d.pick((4, 8, 16, 32)),
        "kept": d.whole(2, 5),
    }


A: Final = Exercise(
    id="27.6-a",
    title="GPT-2 1.5B 每层只留两个数组",
    look_back="",
    parameters={"width": 1600, "layers": 48, "sequences": 32, "kept": 2},
    fields=(
        Field(_KEPT, Kind.BYTES, "保存的激活，字节", "字节"),
        Field(_PEAK, Kind.BYTES, "反向时最多同时存在的激活，字节", "字节"),
    ),
    prompt=_prompt_a,
    brief=lambda p: f"每层 12 个数组只留 {p['kept']} 个：保存多少字节，反向时最多多少字节？",
    answer=lambda p: {_KEPT: _rebuild(p).after.total_bytes, _PEAK: _rebuild(p).peak_bytes},
    why=lambda p: (
        "保存的激活按留下的数组数算。反向到最后一层时，保存的一个也没放掉，又补齐了这一层缺的数组："
        "那里最多。"
    ),
    code=_code_a,
    criteria=(
        Criterion(
            "保存的激活",
            (_KEPT,),
            1,
            (
                slip("写成了省下的", _KEPT, lambda p: _rebuild(p).freed_bytes,
                     "问的是留下的，还是省下的？", "按每层留下的数组数来算。"),
                slip("当作一个也没省", _KEPT, lambda p: _rebuild(p).before.total_bytes,
                     "每层的十二个数组都留着吗？", "按每层留下的数组数来算。"),
                slip("只算了一层", _KEPT, lambda p: _rebuild(p).after.layer_bytes,
                     "各层留下的，要保存到什么时候？", "每一层都留着，把层数乘上。"),
            ),
            ("先算一个数组的字节数。", "乘以每层留下的个数，再乘层数。"),
        ),
        Criterion(
            "反向时最多",
            (_PEAK,),
            2,
            (
                slip("漏了正在重建的一层", _PEAK, lambda p: _rebuild(p).after.total_bytes,
                     "反向要用到缺的数组，它们补到哪里去？", "在保存的之外，加上一层补齐的部分。"),
                slip("以为各层同时重建", _PEAK, lambda p: _rebuild(p).before.total_bytes,
                     "一次重建几层？", "用完一层就放掉，再到下一层；补齐的只有一层。"),
                slip("只算了重建的部分", _PEAK, lambda p: _rebuild(p).transient_bytes,
                     "各层留下的，这时还在吗？", "把保存的激活也加上。"),
                slip("把整层又加了一遍", _PEAK,
                     lambda p: _rebuild(p).after.total_bytes + _rebuild(p).before.layer_bytes,
                     "这一层留下的那几个，是不是数了两遍？", "要补的只是缺的那几个数组。"),
            ),
            ("反向刚开始时，保存的激活全在。", "再加上正在重建的那一层缺的数组。"),
        ),
    ),
    draw=_draw_a,
    reason="省下的内存是用什么换来的？表 27.1 变了没有？",
    rubric=("说出多做一部分前向运算", "说出模型状态不变"),
)  # fmt: skip


_PROCESS: Final = ("完成步数", "随机状态与采样器", "数据游标", "数据与 tokenizer 的版本")
_OF_A_STEP: Final = (ACTIVATIONS, GATHERED_WEIGHTS, COMMUNICATION)


def _bytes(p: Parameters, **widths: Any) -> int:
    return model_state(p["parameters"], **widths).total_bytes


def _answer_b(p: Parameters) -> dict[str, Any]:
    return {_FILE: _bytes(p, grads=0), _ALSO: [name for name in p["pool"] if name in _PROCESS][:3]}


def _prompt_b(p: Parameters) -> str:
    model = "GPT-2 124M 的分配记录里有" if p["parameters"] == B.parameters["parameters"] else "一个模型有"
    return (
        f"{model} {p['parameters']:,} 个参数，训练状态照例 27.1 的字节数。更新边界上梯度已经清零，"
        "这时写一份恢复检查点，"
        "要能接着训练。\n\n其中的数组共多少字节？只有数组还不够，从下面挑出三样也要一起保存的：\n\n"
        f"{'、'.join(p['pool'])}"
    )


def _code_b(p: Parameters) -> dict[str, str]:
    pool = [f'"{name}"' for name in p["pool"]]
    lines = ", ".join(pool[:4]) + ",\n        " + ", ".join(pool[4:])
    return {
        "solution": f"""from course_lib.ledger import model_state

state = model_state({p["parameters"]:_}, weights=2, grads=2, master=4, moments=(4, 4))
recovery_bytes = sum(row.total_bytes for row in state if row.name != "梯度")
pool = [{lines}]
of_the_process = {{"完成步数", "随机状态与采样器", "数据游标", "数据与 tokenizer 的版本"}}
also_saved = [name for name in pool if name in of_the_process][:3]
recovery_bytes, also_saved"""
    }


def _draw_b(d: Draw) -> Parameters:
    parameters = d.whole(60_000_000, 900_000_000, step=500_000)
    return {"parameters": parameters, "pool": d.shuffled((*_PROCESS, *_OF_A_STEP, GRADS))}


def _two(p: Parameters, other: str) -> dict[str, Any]:
    return {_FILE: 0, _ALSO: [*_answer_b(p)[_ALSO][:2], other]}


B: Final = Exercise(
    id="27.6-b",
    title="GPT-2 124M 的恢复检查点",
    look_back="",
    parameters={"parameters": 124_475_904, "pool": [*_OF_A_STEP, GRADS, *_PROCESS]},
    fields=(
        Field(_FILE, Kind.BYTES, "恢复检查点里的数组，字节", "字节"),
        Field(_ALSO, Kind.NAMES, '三个名字，写成 ["……", "……", "……"]'),
    ),
    prompt=_prompt_b,
    brief=lambda p: f"{p['parameters']:,} 个参数：恢复检查点的数组共多少字节，还要保存哪三样？",
    answer=_answer_b,
    why=lambda p: (
        "数组是权重、主副本和两个矩，每个参数 14 字节；梯度在边界上已清零。过程状态几乎不占地方，"
        "却一样也不能省。"
    ),
    code=_code_b,
    criteria=(
        Criterion(
            "数组的字节数",
            (_FILE,),
            2,
            (
                slip("连梯度也存了", _FILE, lambda p: _bytes(p),
                     "更新边界上，梯度是什么样子？", "已经清零的东西不必保存。"),
                slip("只存了工作权重", _FILE, lambda p: 2 * p["parameters"],
                     "读回来以后，Adam 的更新历史从哪里来？", "主副本和两个矩也要存。"),
                slip("漏了主副本", _FILE, lambda p: _bytes(p, grads=0, master=0),
                     "积累在主副本里、还没有反映到工作权重上的那些更新呢？", "主副本也要存。"),
                slip("漏了两个矩", _FILE, lambda p: 6 * p["parameters"],
                     "Adam 靠什么记住更新历史？", "两个矩也要存。"),
            ),
            ("哪几样跨更新保留，而且在边界上不是零？", "先加出每个参数的字节数，再乘个数。"),
        ),
        Criterion(
            "还要保存的三样",
            (_ALSO,),
            3,
            (
                Misconception("挑了只在一步之内的东西", lambda p: _two(p, ACTIVATIONS),
                              ("停止时，这样东西还在吗？", "有一样只在一步之内存在，恢复后会重新算出来。")),
                Misconception("把梯度也存了", lambda p: _two(p, GRADS),
                              ("更新边界上，它是什么样子？", "有一样在边界上已经清零。")),
                Misconception("写少了", lambda p: {_FILE: 0, _ALSO: _answer_b(p)[_ALSO][:2]},
                              ("题目要三样，还不够。", "想一想：下一个样例由什么决定？走到第几步了？")),
            ),
            ("名字照名单上的写，挑三样。", "问自己：少了它，接下来的更新会不会变成另一条路？"),
            judge=names_outside(lambda p: set(_OF_A_STEP), lambda p: set(_PROCESS), 3),
        ),
    ),
    draw=_draw_b,
    reason="可加载的权重文件能做什么，不能做什么？",
    rubric=("说出可以用来运行模型", "说出不足以接着原来那次训练"),
)  # fmt: skip
