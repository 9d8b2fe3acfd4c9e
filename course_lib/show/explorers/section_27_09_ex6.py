"""Section 27.9, exercise 6: recompute on a device of some capacity; to fit is one thing, speed another."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ...activations import SavedActivations
from ...collectives import step_seconds
from ...ledger import ACTIVATIONS, Ledger, model_state
from ...recompute import REBUILT, rebuild, tradeoff
from ...units import MB
from .. import Number, Table, log_stops
from ..charts import Boxes, Labels, LedgerBars, even_ticks, legend, round_up
from ..explorer import OURS, Explorer
from ..guesses import plain
from ..palette import ACTIVATIONS as ACTIVATIONS_LOOK
from ..palette import BLUE, BUFFERS, GREEN, GREY, INK, ORANGE, PAPER, RED, Style
from ..stage import Stage

STATE, WORK, EXTRA, WAIT = "模型状态", "算术", "重算多出的算术", "传输"
BYTES = {STATE: Style(BLUE, ink=PAPER), ACTIVATIONS: ACTIVATIONS_LOOK, REBUILT: BUFFERS}
TIMES = {WORK: Style(GREEN, "\\\\", ink=PAPER), EXTRA: Style(ORANGE, "//"), WAIT: Style(GREY, "..")}
BEFORE, AFTER = "全部保存", "重算"
CONTROLS = (
    Number(
        "capacity", "设备容量", 24 * MB, log_stops(10**7, 10**8, per_decade=60), "字节", "拖过两条的末端看看"
    ),
    Number("sequences", "序列数", 16, range(1, 65), "个", "每个序列 128 个位置，宽 64，四层"),
    Number("kept", "每层留几个数组", 5, range(1, 10), "个", "十个里留几个；题目是减半"),
    Number("extra", "算术增加", 30, range(0, 101), "%", "重算让算术耗时增加多少"),
    Number("compute", "原来的算术", 200, range(10, 501, 10), "毫秒", "一次迭代的前向与反向"),
    Number("transfer", "传输", 50, range(0, 501, 10), "毫秒", "不与算术重叠的传输，重算不改变它"),
)
PRESETS = {
    "容量宽裕：30 MB": {"capacity": 30 * MB},
    "重算也不够：20 MB": {"capacity": 20 * MB},
    "每层只留一个数组": {"kept": 1},
    "例 27.1 的两个序列": {"sequences": 2, "capacity": 17 * MB},
}

Outcome = namedtuple("Outcome", "answer before after")


def _compute(inputs: Any) -> Outcome:
    acts = SavedActivations(
        sequences=inputs.sequences, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )
    answer = tradeoff(
        state=model_state(1_000_000),
        plan=rebuild(acts, arrays_per_layer=inputs.kept),
        capacity_bytes=inputs.capacity,
        compute_seconds=Fraction(inputs.compute, 1000),
        extra_arithmetic=Fraction(inputs.extra, 100),
    )
    wait = Fraction(inputs.transfer) / 1000
    return Outcome(
        answer,
        step_seconds(compute=answer.seconds_before, transfer=wait),
        step_seconds(compute=answer.seconds_after, transfer=wait),
    )


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.activations import SavedActivations
from course_lib.collectives import step_seconds
from course_lib.ledger import model_state
from course_lib.recompute import rebuild, tradeoff

acts = SavedActivations(sequences={inputs.sequences}, positions=128, width=64,
                        layers=4, arrays_per_layer=10, bytes_per_value=2)
answer = tradeoff(state=model_state(1_000_000), plan=rebuild(acts, arrays_per_layer={inputs.kept}),
                  capacity_bytes={inputs.capacity:_}, compute_seconds=Fraction({inputs.compute}, 1000),
                  extra_arithmetic=Fraction({inputs.extra}, 100))
wait = {Fraction(inputs.transfer) / 1000!r}
result = (answer, step_seconds(compute=answer.seconds_before, transfer=wait),
          step_seconds(compute=answer.seconds_after, transfer=wait))
"""


def _pieces(need: Ledger) -> list[tuple[str, int]]:
    own = [(row.name, row.total_bytes) for row in need if row.name in BYTES]
    return [(STATE, need.total_bytes - sum(size for _, size in own)), *own]


class _TimeBars:
    """Milliseconds of one iteration, before and after, piece by piece."""

    def __init__(self, axes) -> None:
        self._axes, self._boxes = axes, Boxes(axes, TIMES)
        self._sums = Labels(axes, align="left")
        even_ticks(axes.xaxis, "每次迭代的毫秒数", ticks=6)
        axes.set_yticks((0, 1), (BEFORE, AFTER))
        axes.set_ylim(1.6, -0.6)
        axes.tick_params(axis="y", length=0)

    def show(self, bars: Sequence[Sequence[tuple[str, Fraction]]], fits: Sequence[bool]) -> None:
        """Show two bars of (kind, milliseconds); what does not fit cannot run at all."""
        sums = [sum(float(size) for _, size in bar) for bar in bars]
        longest = round_up(max(sums))
        self._axes.set_xlim(0, longest * 1.3)
        boxes: dict[str, list] = {}
        for row, bar in enumerate(bars):
            end = 0.0
            for kind, size in bar:
                boxes.setdefault(kind, []).append((end, end + float(size), row - 0.31, row + 0.31))
                end += float(size)
        self._boxes.show(boxes)
        self._sums.show(
            (
                end + longest * 0.01,
                row,
                f"{end:g} 毫秒" + "（放不下，跑不了）" * (not fit),
                INK if fit else RED,
            )
            for row, (end, fit) in enumerate(zip(sums, fits, strict=True))
        )


def _picture(stage: Stage) -> Callable[[Any, Outcome], None]:
    top, bottom = stage.axes(2, 1)
    memory, time = LedgerBars(top, BYTES), _TimeBars(bottom)
    legend(stage, BYTES | TIMES)

    def update(inputs: Any, outcome: Outcome) -> None:
        answer = outcome.answer
        bars = {BEFORE: _pieces(answer.before), AFTER: _pieces(answer.after)}
        memory.show(bars, capacity=inputs.capacity)
        more = Fraction(inputs.compute * inputs.extra, 100)
        work, wait = (WORK, inputs.compute), (WAIT, inputs.transfer)
        time.show(((work, wait), (work, (EXTRA, more), wait)), (answer.fits_before, answer.fits_after))

    return update


def _milliseconds(seconds: Fraction) -> str:
    return f"{plain(seconds * 1000)} 毫秒"


def _table(inputs: Any, outcome: Outcome) -> Table:
    answer = outcome.answer
    rows = (
        (
            BEFORE,
            answer.need_bytes_before,
            "是" if answer.fits_before else "否",
            _milliseconds(outcome.before),
        ),
        (AFTER, answer.need_bytes_after, "是" if answer.fits_after else "否", _milliseconds(outcome.after)),
    )
    decisive = answer.decisive_capacities
    note = (
        f"容量在 {decisive.start:,} 到 {decisive.stop - 1:,} 字节之间时，重算决定能不能训练。"
        if decisive
        else ""
    )
    return Table(("做法", "估算的峰值", "放得下", "每次迭代"), rows, note=f"{note}容量与毫秒数是配套补充。")


def _sentence(inputs: Any, outcome: Outcome) -> str:
    answer = outcome.answer
    slower = f"每次迭代从 {_milliseconds(outcome.before)}变成 {_milliseconds(outcome.after)}"
    if answer.makes_it_fit:
        return f"不重算放不下，重算就放得下：训练变得可行。{slower}，没有变快。"
    if answer.fits_before:
        return f"本来就放得下，重算只是省内存：{slower}，没有变快。"
    return f"重算之后仍缺 {answer.need_bytes_after - inputs.capacity:,} 字节，放不下；谈不上每次迭代多快。"


def fits_or_fast() -> Explorer:
    """Return the explorer of exercise 6: bytes and milliseconds, before and after."""
    return Explorer(
        title="习题 6：放得下与跑得快",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 380),
    )


EXPLORERS = (fits_or_fast,)
