"""Further exercises for section 27.4: three microbatches with padding, and how an update is arranged."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from ...accumulation import Arrangement, Contribution, arrangements, equal_weight_mean, total
from ..exercise import Criterion, Exercise, Parameters, slip
from ..judges import numeral
from ..values import Field, Kind
from ..variants import Draw

_EVENTS, _MEAN = "gpt2_events", "gpt2_mean_grad"
_ROUNDS, _HELD, _TOKENS = "accumulation_rounds", "sequences_at_once", "tokens_per_update"
_POSITIONS: Final = 1024


def _parts(p: Parameters) -> list[Contribution]:
    pairs = zip(p["events"], p["means"], strict=True)
    return [Contribution.from_mean(n_events=events, mean_grad=mean) for events, mean in pairs]


def _sum(p: Parameters) -> Fraction:
    return total(_parts(p)).grad_sum


def _joined(values: list[int]) -> str:
    return "、".join(str(value).replace("-", "−") for value in values)


def _prompt_a(p: Parameters) -> str:
    return (
        f"按 GPT-2 的长度，三个微批次各有一个 {_POSITIONS:,} 个位置的序列。去掉填充，有效事件分别是 "
        f"{_joined(p['events'])} 个；它们报告的平均梯度是 {_joined(p['means'])}。\n\n"
        "合起来有多少个有效事件？合并后的平均梯度是多少？"
    )


def _code_a(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.accumulation import Contribution, total

parts = [Contribution.from_mean(n_events=events, mean_grad=mean)
         for events, mean in zip({p["events"]}, {p["means"]})]
gpt2_events, gpt2_mean_grad = total(parts).n_events, total(parts).mean_grad
gpt2_events, gpt2_mean_grad"""
    }


_COUNTS: Final = ((1024, 512, 512), (1024, 768, 256), (896, 640, 512), (960, 832, 256), (1024, 896, 128))


def _draw_a(d: Draw) -> Parameters:
    return {"events": d.shuffled(d.pick(_COUNTS)), "means": [d.whole(-6, 9) for _ in range(3)]}


A: Final = Exercise(
    id="27.4-a",
    title="三个带填充的微批次",
    look_back="",
    parameters={"events": [1024, 512, 512], "means": [2, 4, 6]},
    fields=(
        Field(_EVENTS, Kind.NUMBER, "有效事件的总数", "个"),
        Field(_MEAN, Kind.NUMBER, "合并后的平均梯度"),
    ),
    prompt=_prompt_a,
    brief=lambda p: f"有效事件 {_joined(p['events'])}，平均梯度 {_joined(p['means'])}：合并后是多少？",
    answer=lambda p: {_EVENTS: total(_parts(p)).n_events, _MEAN: total(_parts(p)).mean_grad},
    why=lambda p: "填充不进入损失，也就不进分母。每份均值乘自己的有效事件数，加起来，再除以有效事件的总数。",
    code=_code_a,
    criteria=(
        Criterion(
            "有效事件的总数",
            (_EVENTS,),
            1,
            (
                slip("连填充也数了", _EVENTS, lambda p: 3 * _POSITIONS,
                     "填充的位置对损失有贡献吗？", "被 Mask 排除的位置不是事件。"),
                slip("数了微批次", _EVENTS, lambda p: 3,
                     "数的是什么？", "微批次只是容器，要数其中的有效事件。"),
                slip("只取了最长的一份", _EVENTS, lambda p: max(p["events"]),
                     "三份都参加这次更新吗？", "三份的有效事件相加。"),
            ),
            ("把三份的有效事件加起来。", "填充不算。"),
        ),
        Criterion(
            "合并后的平均梯度",
            (_MEAN,),
            2,
            (
                slip("等权平均", _MEAN, lambda p: equal_weight_mean(_parts(p)),
                     "三份的有效事件一样多吗？", "先把每份均值还原成总和，再相加。"),
                slip("总和没有再除", _MEAN, _sum,
                     "你算的是总和；要的是平均。", "还差一步除法。"),
                slip("除以了连填充在内的位置数", _MEAN, lambda p: _sum(p) / (3 * _POSITIONS),
                     "分子对了，看看分母。", "分母里混进了填充的位置。"),
                slip("除以了微批次数", _MEAN, lambda p: _sum(p) / 3,
                     "分子对了，看看分母。", "分母数有效事件，不数微批次。"),
            ),
            ("均值乘以有效事件数，就是那一份的总和。", "三份总和相加，除以有效事件的总数。"),
        ),
    ),
    draw=_draw_a,
    reason="假如填充也进了分母，合并的梯度会偏向哪里？",
    rubric=("说出分母变大，梯度整体变小", "指出分子没有随之变"),
)  # fmt: skip


@lru_cache(maxsize=1000)
def _found(sequences: int, workers: int, microbatch: int) -> Arrangement:
    ways = arrangements(sequences_per_update=sequences)
    return next(way for way in ways if (way.workers, way.microbatch) == (workers, microbatch))


def _arrangement(p: Parameters) -> Arrangement:
    return _found(p["sequences"], p["workers"], p["microbatch"])


def _answer_b(p: Parameters) -> dict[str, Any]:
    way = _arrangement(p)
    tokens = way.sequences_per_update * p["positions"]
    return {_ROUNDS: way.accumulation, _HELD: way.microbatch, _TOKENS: tokens}


def _prompt_b(p: Parameters) -> str:
    return (
        f"按 GPT-3 的长度，一次更新要汇总 {p['sequences']:,} 个等长的序列，"
        f"每个 {p['positions']:,} 个位置，没有填充。"
        f"数据并行用 {p['workers']} 个工作进程，每个进程的本地微批次是{numeral(p['microbatch'])}个序列。\n\n"
        "每个进程要累积几次才更新？一个进程同时保存几个序列的激活？一次更新汇总了多少个 token？"
    )


def _code_b(p: Parameters) -> dict[str, str]:
    return {
        "solution": f"""from course_lib.accumulation import arrangements

ways = arrangements(sequences_per_update={p["sequences"]})
way = next(w for w in ways if (w.workers, w.microbatch) == ({p["workers"]}, {p["microbatch"]}))
accumulation_rounds, sequences_at_once = way.accumulation, way.microbatch
tokens_per_update = way.sequences_per_update * {p["positions"]}
accumulation_rounds, sequences_at_once, tokens_per_update"""
    }


def _draw_b(d: Draw) -> Parameters:
    workers, microbatch, rounds = d.pick((8, 16, 32, 48, 96)), d.pick((2, 4, 8)), d.whole(3, 12)
    return {
        "sequences": workers * microbatch * rounds,
        "positions": d.pick((1024, 2048, 4096)),
        "workers": workers,
        "microbatch": microbatch,
    }


B: Final = Exercise(
    id="27.4-b",
    title="一次更新，分成几轮",
    look_back="",
    parameters={"sequences": 1536, "positions": 2048, "workers": 64, "microbatch": 4},
    fields=(
        Field(_ROUNDS, Kind.NUMBER, "每个进程累积几次", "次"),
        Field(_HELD, Kind.NUMBER, "一个进程同时保存几个序列的激活", "个"),
        Field(_TOKENS, Kind.NUMBER, "一次更新汇总多少 token", "个"),
    ),
    prompt=_prompt_b,
    brief=lambda p: f"{p['sequences']:,} 个序列，{p['workers']} 个进程，微批次 {p['microbatch']}：累积几次？",
    answer=_answer_b,
    why=lambda p: "进程数、微批次、累积次数三者之积是一次更新的序列数。激活只随微批次，不随累积次数。",
    code=_code_b,
    criteria=(
        Criterion(
            "累积几次",
            (_ROUNDS,),
            1,
            (
                slip("忘了进程数", _ROUNDS, lambda p: p["sequences"] // p["microbatch"],
                     "这些序列由几个进程分担？", "一轮里，所有进程各处理一个微批次。"),
                slip("忘了微批次", _ROUNDS, lambda p: p["sequences"] // p["workers"],
                     "一个进程一轮处理几个序列？", "你得到的是每个进程的序列数，再除以微批次。"),
                slip("写成了一轮的序列数", _ROUNDS, lambda p: p["workers"] * p["microbatch"],
                     "这是一轮处理的序列数。", "一次更新要几轮，才凑够全部序列？"),
            ),
            ("一轮里所有进程共处理几个序列？", "全部序列除以一轮的序列。"),
        ),
        Criterion(
            "同时保存几个序列的激活",
            (_HELD,),
            1,
            (
                slip("把各轮都算上了", _HELD, lambda p: p["sequences"] // p["workers"],
                     "上一轮的激活，反向做完还在吗？", "各轮先后进行，激活用完就放掉。"),
                slip("把各进程都算上了", _HELD, lambda p: p["workers"] * p["microbatch"],
                     "问的是一个进程。", "别的进程的激活在别的设备上。"),
                slip("写成了全部序列", _HELD, lambda p: p["sequences"],
                     "一次更新的序列同时在内存里吗？", "累积正是为了不必同时保存它们。"),
            ),
            ("累积省下的是什么？", "同一时刻只有一个微批次的激活。"),
        ),
        Criterion(
            "一次更新的 token",
            (_TOKENS,),
            1,
            (
                slip("只算了一个进程", _TOKENS, lambda p: p["sequences"] // p["workers"] * p["positions"],
                     "梯度从几个进程汇总？", "把各进程的都算上。"),
                slip("只算了一轮", _TOKENS, lambda p: p["workers"] * p["microbatch"] * p["positions"],
                     "一轮之后就更新吗？", "要等累积够了各轮。"),
                slip("写成了序列数", _TOKENS, lambda p: p["sequences"],
                     "一个序列有多少个位置？", "序列数乘以每个序列的位置数。"),
            ),
            ("一次更新有多少个序列？", "乘以每个序列的位置数。"),
        ),
    ),
    draw=_draw_b,
    reason="进程数加倍、累积次数减半，哪些变了，哪些不变？",
    rubric=("说出一次更新汇总的序列不变", "说出每个进程同时保存的激活不变"),
)  # fmt: skip
