"""Exercise 6 of section 27.8: recompute makes it fit; does it make it fast?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from ...activations import SavedActivations
from ...collectives import step_seconds
from ...ledger import model_state
from ...recompute import Rebuild, Tradeoff, rebuild, tradeoff
from ..exercise import Criterion, Exercise, Misconception, Parameters, slip
from ..judges import numeral
from ..values import Field, Kind
from ..variants import Draw


def _rebuild(p: Parameters) -> Rebuild:
    acts = SavedActivations(
        sequences=p["sequences"], positions=p["positions"], width=p["width"], layers=p["layers"],
        arrays_per_layer=p["arrays_per_layer"], bytes_per_value=2,
    )  # fmt: skip
    return rebuild(acts, arrays_per_layer=p["arrays_per_layer"] // 2)


def _tradeoff(p: Parameters) -> Tradeoff:
    return tradeoff(
        state=model_state(p["parameters"]),
        plan=_rebuild(p),
        capacity_bytes=p["capacity_bytes"],
        compute_seconds=Fraction(p["compute"]),
        extra_arithmetic=Fraction(p["extra_percent"], 100),
    )


def _answer_6(p: Parameters) -> dict[str, Any]:
    trade, transfer = _tradeoff(p), Fraction(p["transfer"])
    before = step_seconds(compute=trade.seconds_before, transfer=transfer)
    after = step_seconds(compute=trade.seconds_after, transfer=transfer)
    return {
        "fits_before": trade.fits_before, "fits_after": trade.fits_after,
        "seconds_before": before, "seconds_after": after, "can_say_faster": after < before,
    }  # fmt: skip


def _fits(p: Parameters, before: int, after: int) -> dict[str, bool]:
    return {"fits_before": before <= p["capacity_bytes"], "fits_after": after <= p["capacity_bytes"]}


_CRITERIA_6: Final = (
    Criterion(
        "两次放得下吗",
        ("fits_before", "fits_after"),
        2,
        (
            Misconception(
                "只数了激活",
                lambda p: _fits(p, _rebuild(p).before.total_bytes, _rebuild(p).peak_bytes),
                ("设备里除了激活，还一直放着什么？", "把模型状态加到两边，再与容量比。"),
            ),
            Misconception(
                "当作重算没有省下内存",
                lambda p: _fits(p, _tradeoff(p).need_bytes_before, _tradeoff(p).need_bytes_before),
                (
                    "重算之后，前向与反向之间还要保存多少激活？",
                    "少存的那一半，用保存的激活加上暂存再算一次。",
                ),
            ),
            Misconception(
                "两次写反了",
                lambda p: _fits(p, _tradeoff(p).need_bytes_after, _tradeoff(p).need_bytes_before),
                ("哪一种做法保存的激活多？", "需要得多的那一种更难放下，对照一下两个名字。"),
            ),
        ),
        ("放得下，是指全部加起来不超过容量。", "全部保存：状态加激活；重算：状态加剩下的激活，再加暂存。"),
    ),
    Criterion(
        "原来每次迭代的秒数",
        ("seconds_before",),
        1,
        (
            slip(
                "漏了传输",
                "seconds_before",
                lambda p: Fraction(p["compute"]),
                "一次迭代只有算术吗？",
                "两者不重叠，时间要相加。",
            ),
            slip(
                "两段相减了",
                "seconds_before",
                lambda p: abs(Fraction(p["compute"]) - Fraction(p["transfer"])),
                "不重叠时，两段时间怎样合在一起？",
                "是相加，不是相减。",
            ),
            slip(
                "毫秒写成了秒",
                "seconds_before",
                lambda p: _answer_6(p)["seconds_before"] * 1000,
                "单位是什么？",
                "要的是秒；毫秒可以写成文字，带上单位。",
            ),
        ),
        ("算术与传输各多少秒？", "两者不重叠，加起来。"),
    ),
    Criterion(
        "重算后每次迭代的秒数",
        ("seconds_after",),
        1,
        (
            slip(
                "连传输也一起加了",
                "seconds_after",
                lambda p: _answer_6(p)["seconds_before"] * (1 + Fraction(p["extra_percent"], 100)),
                "多出来的百分数，是加在哪一段上的？",
                "题目说重算不改变传输，只有算术变长。",
            ),
            slip(
                "漏了传输",
                "seconds_after",
                lambda p: _tradeoff(p).seconds_after,
                "算术变长了，传输还在不在？",
                "重算后的算术，再加上没有变的传输。",
            ),
            slip(
                "以为时间不变",
                "seconds_after",
                lambda p: _answer_6(p)["seconds_before"],
                "重建那些值，要不要再算一遍？",
                "算术多了一截，把这一截加上。",
            ),
            slip(
                "当成省了算术",
                "seconds_after",
                lambda p: (
                    Fraction(p["compute"]) * (1 - Fraction(p["extra_percent"], 100)) + Fraction(p["transfer"])
                ),
                "重算是多做，还是少做？",
                "存得少，算得多：百分数是往上加的。",
            ),
        ),
        ("先算算术变成多少秒。", "再加上没有变的传输。"),
    ),
    Criterion(
        "能不能说更快",
        ("can_say_faster",),
        1,
        (
            slip(
                "放得下就当作更快",
                "can_say_faster",
                lambda p: _tradeoff(p).fits_after,
                "比一比你写的两个秒数。",
                "放得下是一个标准，每次迭代几秒是另一个。",
            ),
        ),
        ("比一比前后两个秒数。", "放得下与跑得快是两件事。"),
    ),
)


def _prompt_6(p: Parameters) -> str:
    work, extra = _rebuild(p), p["extra_percent"]
    return (
        f"激活检查点把保存的激活减半，算术耗时却多了 {extra}%。容量在什么条件下，这样做仍有用？"
        "为什么不能由此说每次迭代更快？\n\n"
        "**配套补充：用来判断的数字。** 下面的数字是配套材料添上的，不出自书中。\n\n"
        f"- 模型状态 {model_state(p['parameters']).total_bytes:,} 字节；{numeral(p['sequences'])}个序列，"
        f"全部保存时激活 {work.before.total_bytes:,} 字节\n"
        f"- 重算：激活 {work.after.total_bytes:,} 字节，"
        f"另有 {work.transient_bytes:,} 字节暂存正在重建的那一层\n"
        f"- 设备容量 {p['capacity_bytes']:,} 字节，不计余量和其他项\n"
        f"- 原来一次迭代：算术 {p['compute']} 秒，传输 {p['transfer']} 秒，两者不重叠；重算不改变传输"
    )


def _code_6(p: Parameters) -> dict[str, str]:
    half = p["arrays_per_layer"] // 2
    return {
        "solution": f"""from course_lib.activations import SavedActivations
from course_lib.ledger import model_state
from course_lib.recompute import rebuild, tradeoff

acts16 = SavedActivations(sequences={p["sequences"]}, positions={p["positions"]}, width={p["width"]},
                          layers={p["layers"]}, arrays_per_layer={p["arrays_per_layer"]}, bytes_per_value=2)
answer = tradeoff(state=model_state({p["parameters"]:_}), plan=rebuild(acts16, arrays_per_layer={half}),
                  capacity_bytes={p["capacity_bytes"]:_}, compute_seconds={float(p["compute"])},
                  extra_arithmetic={p["extra_percent"] / 100})
fits_before, fits_after = answer.fits_before, answer.fits_after
answer.need_bytes_before, fits_before, answer.need_bytes_after, fits_after""",
        "seconds": f"""from course_lib.collectives import step_seconds

seconds_before = step_seconds(compute=answer.seconds_before, transfer={float(p["transfer"])})
seconds_after = step_seconds(compute=answer.seconds_after, transfer={float(p["transfer"])})
can_say_faster = seconds_after < seconds_before
float(seconds_before), float(seconds_after), can_say_faster""",
    }


def _draw_6(d: Draw) -> Parameters:
    p = {
        "parameters": d.whole(600_000, 1_600_000, step=100_000),
        "sequences": d.pick((8, 12, 16)),
        "positions": 128,
        "width": d.pick((64, 96)),
        "layers": d.whole(4, 8),
        "arrays_per_layer": d.pick((8, 10, 12)),
        "compute": f"{d.whole(10, 60, step=2) / 100:.2f}",
        "transfer": f"{d.whole(2, 9) / 100:.2f}",
        "extra_percent": d.pick((20, 25, 30, 40)),
    }
    needs = _tradeoff(p | {"capacity_bytes": 0}).decisive_capacities
    steps = d.whole(1, len(needs) // 10_000 - 1)
    return p | {"capacity_bytes": (needs.start // 10_000 + steps) * 10_000}


_BOOK: Final = {
    "parameters": 1_000_000, "sequences": 16, "positions": 128, "width": 64,
    "layers": 4, "arrays_per_layer": 10, "compute": "0.20",
    "transfer": "0.05", "extra_percent": 30, "capacity_bytes": 24_000_000,
}  # fmt: skip

EXERCISE_6: Final = Exercise(
    id="6",
    title="放得下与跑得快",
    look_back="[27.6 的重算](27.06-recompute-and-recovery.ipynb)",
    parameters=_BOOK,
    fields=(
        Field("fits_before", Kind.TRUTH, "全部保存时放得下吗：True 或 False"),
        Field("fits_after", Kind.TRUTH, "重算后放得下吗：True 或 False"),
        Field("seconds_before", Kind.SECONDS, "原来每次迭代的秒数", "秒"),
        Field("seconds_after", Kind.SECONDS, "重算后每次迭代的秒数", "秒"),
        Field("can_say_faster", Kind.TRUTH, "能说每次迭代变快了吗：True 或 False"),
    ),
    prompt=_prompt_6,
    brief=lambda p: (
        f"激活减半，算术多 {p['extra_percent']}%。什么容量条件下仍有用，为什么不能说更快？（数字是配套补充）"
    ),
    answer=_answer_6,
    why=lambda p: (
        "容量落在两个需求之间时，重算让训练变得可行。百分数只加在算术上，传输照旧，所以每次迭代更慢。"
    ),
    code=_code_6,
    criteria=_CRITERIA_6,
    draw=_draw_6,
    reason="容量要满足什么条件？放得下为什么不等于更快？",
    rubric=("条件写成容量在两个需求之间", "把重建一层的暂存算在内", "说出两个标准：放得下与每次迭代的时间"),
)
