"""Section 27.5: example 27.3, shares of four workers, and the transfer that comes with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from ...collectives import step_seconds, transfer_seconds
from ...ledger import ACTIVATIONS, GRADS, MASTER, MOMENTS, WEIGHTS, Ledger, model_state
from ...sharding import ZERO_1, ZERO_2, ZERO_3, resident
from ..charts import Labels, Lanes, Rules, Span, even_ticks, legend
from ..guesses import plain
from ..palette import BLUE, OF_ROW, ORANGE, PAPER, RED, Style
from ..stage import Stage
from .givens import CAPACITY, FITS, PARAMETERS, WORKERS, chapter_activations, fits
from .pictures import Bars, ledger_bars
from .steps import Question, Step, Walk

_STYLES: Final = {name: OF_ROW[name] for name in (WEIGHTS, GRADS, MASTER, MOMENTS, ACTIVATIONS)}
_BARS: Final = ("整份", "分主副本、矩", "再分梯度", "四样全分")
YES_NO: Final = ("是", "不是")


def _bars(*ledgers: Ledger) -> Bars:
    pieces = [tuple((row.name, row.total_bytes) for row in ledger) for ledger in ledgers]
    return tuple(zip(_BARS, [*pieces, (), (), (), ()], strict=False))


def _split(ledger: Ledger, names: frozenset[str]) -> int:
    return sum(row.total_bytes for row in ledger if row.name in names)


def _first_split(state: Ledger, one: Ledger) -> tuple[Step, ...]:
    rest = Ledger(tuple(row for row in one if row.name in ZERO_1))
    whole, share = _split(state, ZERO_1), rest.total_bytes
    kept = f"{state[WEIGHTS].total_bytes:,} + {state[GRADS].total_bytes:,}"
    return (
        Step(
            "一份完整的模型状态",
            f"{PARAMETERS:,} × {state.bytes_per_parameter(PARAMETERS)} = {state.total_bytes:,} 字节",
            f"{WORKERS} 个进程各留整份，就是同样的东西存 {WORKERS} 遍。",
            (_BARS[0], state.total_bytes),
            _bars(state),
        ),
        Step(
            "先分最大的一块",
            f"{whole:,} ÷ {WORKERS} = {share:,} 字节",
            "主副本和两个矩只在更新时用，分开保管，前向与反向照常。",
            ("主副本与矩的一份", share),
            _bars(state, rest),
        ),
        Step(
            "一个进程留多少",
            f"{kept} + {share:,} = {one.total_bytes:,} 字节",
            "工作权重和梯度还是整份，所以不是四分之一。",
            (_BARS[1], one.total_bytes),
            _bars(state, one),
            Question("只分主副本与矩，每个进程的模型状态共多少字节？", one.total_bytes, "字节"),
        ),
    )


def _with_activations(state: Ledger, one: Ledger) -> Step:
    acts = chapter_activations().ledger()
    need = one + acts
    left = CAPACITY - need.total_bytes
    return Step(
        "加上本地激活",
        f"{one.total_bytes:,} + {acts.total_bytes:,} = {need.total_bytes:,} 字节",
        f"激活来自自己的样例，不在分片之列。设备还剩 {left:,} 字节，缓冲区和余量都还没有数。",
        ("连同激活", need.total_bytes),
        _bars(state, need),
        Question(f"再加激活，{CAPACITY:,} 字节的设备放得下吗？", fits(need.total_bytes), options=FITS),
    )


def _further_splits(state: Ledger, one: Ledger) -> tuple[Step, ...]:
    two, three = (resident(state, workers=WORKERS, sharded=zero) for zero in (ZERO_2, ZERO_3))
    whole, held = state[WEIGHTS].total_bytes, one + chapter_activations().ledger()
    last = _bars(state, held, two, three)
    return (
        Step(
            "梯度也分",
            f"{whole:,} + {_split(state, ZERO_2):,} ÷ {WORKERS} = {two.total_bytes:,} 字节",
            "这是另一种安排，只数模型状态；上一行的数不能搬过来用。",
            (_BARS[2], two.total_bytes),
            _bars(state, held, two),
            Question("梯度也平分，每个进程的模型状态共多少字节？", two.total_bytes, "字节"),
        ),
        Step(
            "工作权重也分",
            f"{_split(state, ZERO_3):,} ÷ {WORKERS} = {three.total_bytes:,} 字节",
            f"四样全分，到这里才是 {Fraction(1, WORKERS)}，而且说的是长期保留的份额。",
            (_BARS[3], three.total_bytes),
            last,
        ),
        Step(
            "份额不是峰值",
            f"未计入：{'、'.join(three.omits[-2:])}",
            "算到某一层，要把这层的权重临时收齐；本地不再留的，改由通信送来。",
            (),
            last,
            Question(f"{three.total_bytes:,} 字节就是内存峰值吗？", YES_NO[1], options=YES_NO),
        ),
    )


def example_3() -> Walk:
    """Return example 27.3."""
    state = model_state(PARAMETERS)
    one = resident(state, workers=WORKERS, sharded=ZERO_1)
    steps = (*_first_split(state, one), _with_activations(state, one), *_further_splits(state, one))
    picture = ledger_bars(_STYLES, reach=state.total_bytes, capacity=CAPACITY)
    return Walk("例 27.3：副本分给四个进程", ("一个进程", "字节"), steps, picture)


N_BYTES: Final = 1_000_000
SPEED: Final = 100_000_000
COMPUTE: Final = Fraction(2, 1000)
_WORK, _MOVE = "有用计算", "传输"
_LOOKS: Final = {_WORK: Style(BLUE, ink=PAPER), _MOVE: Style(ORANGE, "//")}
_LANES: Final = tuple(_LOOKS)
Times = tuple[Fraction, Fraction, Fraction, Fraction]  # compute, start and length of the transfer, end


def _lanes(stage: Stage):
    axes = stage.axes()
    lanes, end = Lanes(axes, _LOOKS, height=0.6), Rules(axes, RED, width=2)
    word = Labels(axes, align="left", size=10)
    even_ticks(axes.xaxis, "毫秒")
    legend(stage, _LOOKS)

    def update(times: Times) -> None:
        work, start, moved, last = (float(each * 1000) for each in times)
        spans = [Span(0, 0, work, _WORK), Span(1, start, start + moved, _MOVE)]
        lanes.show([span for span in spans if span.end > span.start], _LANES, end=16)
        end.show([(last, -0.5, last, 1.5)])
        word.show([(last + 0.2, 0.5, f"{_ms(times[3])}", RED)])

    return update


def _ms(seconds: Fraction) -> str:
    return f"{plain(seconds * 1000)} 毫秒"


def _alone(moved: Fraction) -> tuple[Step, ...]:
    formula = f"{N_BYTES:,} ÷ {SPEED:,} = {plain(moved)} 秒 = {_ms(moved)}"
    return (
        Step(
            _WORK,
            _ms(COMPUTE),
            "这是给定的：一次迭代里真正在做算术的时间。",
            (_WORK, _ms(COMPUTE)),
            (COMPUTE, COMPUTE, Fraction(0), COMPUTE),
        ),
        Step(
            _MOVE,
            formula,
            "只是负载本身，延迟与争用都没有算。",
            (_MOVE, _ms(moved)),
            (Fraction(0), Fraction(0), moved, moved),
            Question(f"{N_BYTES:,} 字节，每秒传 {SPEED:,} 字节，要几毫秒？", moved * 1000, "毫秒"),
        ),
    )


def _together(moved: Fraction) -> tuple[Step, ...]:
    apart = step_seconds(compute=COMPUTE, transfer=moved)
    hidden = step_seconds(compute=COMPUTE, transfer=moved, overlap=1)
    options = tuple(_ms(each) for each in (COMPUTE, moved, apart))
    return (
        Step(
            "不能重叠",
            f"{plain(COMPUTE * 1000)} + {plain(moved * 1000)} = {_ms(apart)}",
            "算完才能传，两段首尾相接。",
            ("不重叠", _ms(apart)),
            (COMPUTE, COMPUTE, moved, apart),
            Question("传输不能与计算重叠，这次迭代至少几毫秒？", apart * 1000, "毫秒"),
        ),
        Step(
            "完全重叠",
            f"max({plain(COMPUTE * 1000)}, {plain(moved * 1000)}) = {_ms(hidden)}",
            "藏住的是较短的计算，较长的传输一点也没有变短。",
            ("完全重叠", _ms(hidden)),
            (COMPUTE, Fraction(0), moved, hidden),
            Question("两者能完全重叠，这次迭代至少多久？", _ms(hidden), options=options),
        ),
        Step(
            "瓶颈在哪里",
            f"{plain(COMPUTE * 1000)} ÷ {plain(apart * 1000)} = {COMPUTE / apart}",
            f"有用计算只占 {COMPUTE / apart}。{_ms(apart)}还是下界：延迟与争用没有计入，实际只会更长。",
            (),
            (COMPUTE, COMPUTE, moved, apart),
        ),
    )


def transfer() -> Walk:
    """Return the transfer of a million bytes beside two milliseconds of computing."""
    moved = transfer_seconds(N_BYTES, bytes_per_second=SPEED)
    steps = (*_alone(moved), *_together(moved))
    return Walk("传输：瓶颈移到通信", ("一次迭代", "时间"), steps, _lanes)


WALKS: Final = {"27.3": example_3, "transfer": transfer}
