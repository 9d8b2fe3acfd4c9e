"""Exercise 3 of section 27.8: what 4 MB leave out."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from ...ledger import (
    ACTIVATIONS,
    ATTENTION_SCORES,
    COMMUNICATION,
    EMBEDDINGS,
    FRAGMENTATION,
    GRADS,
    LOGITS,
    MASTER,
    MOMENTS,
    WEIGHTS,
    WORKSPACE,
    Ledger,
    model_state,
)
from ...sharding import ZERO_3, resident
from ...sharding.resident import GATHERED_WEIGHTS, UNSCATTERED_GRADS
from ...units import MB
from ..exercise import Criterion, Exercise, Misconception, Parameters
from ..judges import names_outside, numeral
from ..values import Field, Kind
from ..variants import Draw

_STATE: Final = "model_state({parameters:_}, weights=2, grads=2, master=4, moments=(4, 4))"


@lru_cache(maxsize=100)
def _share_of(parameters: int, workers: int) -> Ledger:
    state = model_state(parameters, weights=2, grads=2, master=4, moments=(4, 4))
    return resident(state, workers=workers, sharded=ZERO_3)


def _share(p: Parameters) -> Ledger:
    return _share_of(p["parameters"], p["workers"])


def _elsewhere(workers: int) -> str:
    return f"另外{numeral(workers - 1)}个进程的份额"


def _inside(p: Parameters) -> set[str]:
    return {row.name for row in _share(p)}


def _megabytes(p: Parameters) -> str:
    return f"{_share(p).total_bytes / MB:g} MB"


def _answer_3(p: Parameters) -> dict[str, Any]:
    return {"missing_items": [name for name in p["pool"] if name in _share(p).omits][:3]}


def _prompt_3(p: Parameters) -> str:
    share = _megabytes(p)
    book = p["parameters"] == EXERCISE_3.parameters["parameters"]
    model = "例 27.1 的" if book else f"一个模型有 {p['parameters']:,} 个参数，每个参数的状态占 16 字节。它的"
    return (
        f"{model}全部模型状态分给{numeral(p['workers'])}个进程，每个进程长期保留 {share}。"
        f"有人就把 {share} 写成「内存峰值」。\n\n"
        f"从下面挑出三样没有算进这 {share}、却会占用同一进程内存的东西。"
        f"名单里有些已经在 {share} 里了，还有一样根本不在这个进程里。\n\n{'、'.join(p['pool'])}"
    )


def _code_3(p: Parameters) -> dict[str, str]:
    pool = [f'"{name}"' for name in p["pool"]]
    half = (len(pool) + 1) // 2
    lines = ", ".join(pool[:half]) + ",\n        " + ", ".join(pool[half:])
    return {
        "solution": f"""from course_lib.ledger import model_state
from course_lib.sharding import ZERO_3, resident

state = {_STATE.format(**p)}
share = resident(state, workers={p["workers"]}, sharded=ZERO_3)
share.total_bytes, [row.name for row in share]""",
        "missing": f"""pool = [{lines}]
missing = [name for name in pool if name in share.omits]
missing_items = missing[:3]
missing, missing_items""",
    }


_OUTSIDE: Final = (ACTIVATIONS, GATHERED_WEIGHTS, UNSCATTERED_GRADS, COMMUNICATION, WORKSPACE, FRAGMENTATION)
_MORE: Final = (ATTENTION_SCORES, EMBEDDINGS, LOGITS)
_KEPT: Final = (WEIGHTS, GRADS, MASTER, MOMENTS)


def _draw_3(d: Draw) -> Parameters:
    workers = d.pick((2, 4, 5, 8))
    names = [*_KEPT, *d.shuffled(_OUTSIDE + _MORE, d.whole(4, 6)), _elsewhere(workers)]
    return {
        "parameters": d.whole(500_000, 5_000_000, step=500_000),
        "workers": workers,
        "pool": d.shuffled(names),
    }


def _first(p: Parameters, names: set[str], count: int) -> list[str]:
    return [name for name in p["pool"] if name in names][:count]


EXERCISE_3: Final = Exercise(
    id="3",
    title="4 MB 漏了什么",
    look_back="[27.5 的长期份额](27.05-dividing-the-work.ipynb)",
    parameters={
        "parameters": 1_000_000,
        "workers": 4,
        "pool": [*_KEPT, *_OUTSIDE, "另外三个进程的份额"],
    },
    fields=(Field("missing_items", Kind.NAMES, '三个名字，写成 ["……", "……", "……"]'),),
    prompt=_prompt_3,
    brief=lambda p: (
        f"{numeral(p['workers'])}个进程全状态分片的 {_megabytes(p)}，被写成内存峰值。说出三个漏项。"
    ),
    answer=_answer_3,
    why=lambda p: (
        "长期份额里已经有权重、梯度、主副本和矩各自的一片，再报一次就重了；别的进程的份额不占这里的内存。"
        "其余几样都要另算，任取三样都对。"
    ),
    code=_code_3,
    criteria=(
        Criterion(
            "三个漏项",
            ("missing_items",),
            3,
            (
                Misconception(
                    "把已经算进去的又报一次",
                    lambda p: {"missing_items": _first(p, _inside(p), 3)},
                    (
                        "先想一想：分给各进程的「全部模型状态」包括哪几样？",
                        "模型状态的每一类，这个进程都已经留了自己的一片；漏项要到模型状态之外去找。",
                    ),
                ),
                Misconception(
                    "把别的进程的份额算进来",
                    lambda p: {
                        "missing_items": [*_first(p, set(_share(p).omits), 2), _elsewhere(p["workers"])]
                    },
                    ("问的是这一个进程的内存。", "别的进程留着的东西，放在谁的内存里？"),
                ),
                Misconception(
                    "把模型状态和别的进程都报了上来",
                    lambda p: {"missing_items": [*_first(p, _inside(p), 2), _elsewhere(p["workers"])]},
                    (
                        "逐样问两个问题：在不在这个进程里？是不是已经算过了？",
                        "先划掉模型状态的各类，再划掉不在这里的那一样，剩下的都可以选。",
                    ),
                ),
                Misconception(
                    "写少了",
                    lambda p: {"missing_items": _first(p, set(_share(p).omits), 2)},
                    ("题目要三样，还不够。", "想一想算某一层的那一刻，还有什么临时放在内存里。"),
                ),
            ),
            ("名字照名单上的写，挑三样。", "逐样问：它在不在这个进程里？是不是已经算进长期份额了？"),
            judge=names_outside(_inside, lambda p: set(_share(p).omits), 3),
        ),
    ),
    draw=_draw_3,
    reason="为什么你挑的三样不在长期份额里？",
    rubric=(
        "说明长期份额是模型状态的一片",
        "至少对一样说出它何时出现、何时消失",
        "指出估算的合计仍不是实测的峰值",
    ),
)
