"""Section 27.5: compute, transfer and overlap in one step."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...collectives import step_seconds, transfer_seconds
from ...units import MB
from .. import Number, Table, even_stops, log_stops
from ..charts import Labels, Lanes, Rules, Span, even_ticks, legend, round_up
from ..explorer import Explorer
from ..guesses import plain
from ..palette import BLUE, GREEN, ORANGE, PAPER, RED, Style
from ..stage import Stage

SPEED = Number("speed", "链路速率", 100 * MB, log_stops(10**6, 10**12), "字节/秒", "实际速率，不是标称")
LATENCY = Number("latency_ms", "每次延迟", 0, even_stops(0, 5, 0.05), "毫秒", "每条消息的延迟", fraction=True)
OVERLAP = Number("overlap", "重叠比例", 0, even_stops(0, 1, 0.05), "", "较短一方藏住几成", fraction=True)
STEP_CONTROLS = (
    Number("compute_ms", "有用计算", 2, even_stops(0, 40, 0.5), "毫秒", "这一步的算术", fraction=True),
    Number("n_bytes", "传输负载", 1 * MB, (0, *log_stops(10**3, 10**13)), "字节", "这一步要搬运的字节"),
    SPEED,
    LATENCY,
    OVERLAP,
)
PRESETS: dict[str, dict[str, Any]] = {
    "完全重叠": {"overlap": 1},
    "计算与传输一样长，重叠一半": {"compute_ms": 10, "overlap": Fraction(1, 2)},
    "每次延迟 1 毫秒": {"latency_ms": 1},
}
ALONE, TOGETHER, WAITING = "只在计算", "两者同时", "只在传输"
LOOKS = {
    ALONE: Style(BLUE, ink=PAPER),
    TOGETHER: Style(GREEN, "\\\\", ink=PAPER),
    WAITING: Style(ORANGE, "//"),
}

Step = namedtuple("Step", "compute transfer step")


def _compute(inputs: Any) -> Step:
    work = Fraction(inputs.compute_ms) / 1000
    latency = Fraction(inputs.latency_ms) / 1000
    moved = transfer_seconds(inputs.n_bytes, bytes_per_second=inputs.speed, latency=latency)
    return Step(work, moved, step_seconds(compute=work, transfer=moved, overlap=inputs.overlap))


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.collectives import step_seconds, transfer_seconds

work = {Fraction(inputs.compute_ms) / 1000!r}
moved = transfer_seconds({inputs.n_bytes:_}, bytes_per_second={inputs.speed:_},
                         latency={Fraction(inputs.latency_ms) / 1000!r})
result = (work, moved, step_seconds(compute=work, transfer=moved, overlap={inputs.overlap!r}))
"""


def _ms(seconds: Fraction) -> str:
    return f"{plain(seconds * 1000)} 毫秒"


def _spans(step: Step) -> list[Span]:
    """The transfer starts as early as the hidden part allows; the last lane tells who is at work."""
    work, moved, total = (float(seconds * 1000) for seconds in step)
    starts = total - moved if moved >= work else work - (work + moved - total)
    ends = starts + moved
    parts = ((0, starts, ALONE), (starts, min(work, ends), TOGETHER), (min(work, ends), total, WAITING))
    if ends < work:
        parts = (*parts[:2], (ends, work, ALONE))
    last = [Span(2, start, end, kind, kind) for start, end, kind in parts if end > start]
    lanes = [Span(0, 0, work, ALONE, _ms(step.compute)), Span(1, starts, ends, WAITING, _ms(step.transfer))]
    return [span for span in lanes if span.end > span.start] + last


def _picture(stage: Stage) -> Callable[[Any, Step], None]:
    axes = stage.axes()
    lanes = Lanes(axes, LOOKS, height=0.6)
    even_ticks(axes.xaxis, "毫秒")
    end, word = Rules(axes, RED, width=2), Labels(axes, align="left")
    legend(stage, LOOKS)

    def update(inputs: Any, step: Step) -> None:
        total = float(step.step * 1000)
        limit = round_up(total * 1.25)
        lanes.show(_spans(step), ("计算", "传输", "这一步"), end=limit)
        end.show([(total, -0.5, total, 2.5)])
        word.show([(total + limit * 0.01, 2, f"至少 {_ms(step.step)}", RED)])

    return update


def _table(inputs: Any, step: Step) -> Table:
    hidden = step.compute + step.transfer - step.step
    rows = (
        ("有用计算", _ms(step.compute)),
        ("传输", _ms(step.transfer)),
        ("藏在对方后面", _ms(hidden)),
        ("这一步", _ms(step.step)),
    )
    return Table(("一步", "时间"), rows, note="没有计入争用：这是下界。")


def _sentence(inputs: Any, step: Step) -> str:
    if not step.step:
        return "既没有计算，也没有传输：这一步不花时间。"
    longer = "传输" if step.transfer >= step.compute else "计算"
    share = step.compute / step.step
    return (
        f"这一步至少 {_ms(step.step)}，其中有用计算占 {float(share):.0%}；"
        f"就算完全重叠，也不会比{longer}更短。"
    )


def step_time() -> Explorer:
    """Return the explorer: one step's compute and transfer, from no overlap to full overlap."""
    return Explorer(
        title="一步里的计算与传输",
        controls=STEP_CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 260),
    )


EXPLORERS = (step_time,)
