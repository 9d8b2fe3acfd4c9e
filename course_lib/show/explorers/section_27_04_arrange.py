"""Section 27.4: eight sequences of one update, spread over workers and rounds of accumulation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from ...accumulation import Arrangement, Contribution, arrangements, equal_weight_mean, total
from .. import Choice, Number, Table
from ..charts import Boxes, Labels, Rules, legend
from ..charts.axes import name_lanes
from ..controls import show_number
from ..explorer import Explorer
from ..palette import BLUE, INK, PAPER, RED, Style
from ..stage import Stage

SEQUENCES: Final = 8
WAYS: Final = {str(way): way for way in arrangements(sequences_per_update=SEQUENCES)}
_TOKENS, _PADDING = "有效 token", "补齐用的填充"
_LOOKS: Final = {_TOKENS: Style(BLUE, ink=PAPER), _PADDING: Style("#D9D9D9", "..")}
CONTROLS = (
    Choice(
        "way",
        "安排",
        "1×2×4",
        {
            name: f"{way.workers} 个进程，本地 {way.microbatch}，累积 {way.accumulation}"
            for name, way in WAYS.items()
        },
    ),
    Number("longest", "最长的序列", 128, range(16, 513, 8), "token", "第 1 个序列的长度"),
    Number("shorter", "每个比前一个短", 0, range(0, 33), "token", "最短的序列至少留 1 个 token"),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "两个进程，各累积 2 次": {"way": "2×2×2"},
    "八个进程，不累积": {"way": "8×1×1"},
    "长度不等": {"shorter": 16},
    "长度不等，两个进程": {"way": "2×2×2", "shorter": 16},
}


def _lengths(inputs: Any) -> list[int]:
    return [max(inputs.longest - n * inputs.shorter, 1) for n in range(SEQUENCES)]


def _compute(inputs: Any) -> tuple:
    way, lengths = WAYS[inputs.way], _lengths(inputs)
    each = [Contribution.from_mean(n_events=length, mean_grad=n) for n, length in enumerate(lengths, start=1)]
    microbatches = [total(batch) for rounds in way.split(each) for batch in rounds]
    return way.token_counts(lengths), total(microbatches), equal_weight_mean(microbatches)


def _code(inputs: Any) -> str:
    way = WAYS[inputs.way]
    return f"""\
from course_lib.accumulation import Arrangement, Contribution, equal_weight_mean, total

way = Arrangement(workers={way.workers}, microbatch={way.microbatch}, accumulation={way.accumulation})
lengths = {_lengths(inputs)}
each = [Contribution.from_mean(n_events=length, mean_grad=n) for n, length in enumerate(lengths, start=1)]
microbatches = [total(batch) for rounds in way.split(each) for batch in rounds]
result = (way.token_counts(lengths), total(microbatches), equal_weight_mean(microbatches))
"""


def _boxes(way: Arrangement, lengths: list[int]) -> dict[str, list[tuple[float, ...]]]:
    """A microbatch is a block of rows, one row per sequence, as wide as its longest sequence allows."""
    boxes: dict[str, list[tuple[float, ...]]] = {_TOKENS: [], _PADDING: []}
    wide, tall = 0.86 / max(lengths), 0.64 / way.microbatch
    for worker, rounds in enumerate(way.split(lengths)):
        for turn, batch in enumerate(rounds):
            for row, length in enumerate(batch):
                left, y = turn + 0.07, worker - 0.32 + row * tall
                end, edge = left + length * wide, left + max(batch) * wide
                boxes[_TOKENS].append((left, end, y, y + tall))
                if edge > end:
                    boxes[_PADDING].append((end, edge, y, y + tall))
    return boxes


def _picture(stage: Stage) -> Callable[[Any, tuple], None]:
    axes = stage.axes()
    shapes, boundary = Boxes(axes, _LOOKS), Rules(axes, RED, width=3)
    counts = Labels(axes, size=9.5, vertical="center", plate=PAPER)
    words = Labels(axes, size=10, align="left", plate=PAPER)
    axes.xaxis.set_animated(True)
    axes.set_xlabel("每个进程处理过的微批次")
    axes.yaxis.set_animated(True)
    axes.tick_params(axis="y", length=0)
    legend(stage, _LOOKS)

    def update(inputs: Any, result: tuple) -> None:
        way, lengths = WAYS[inputs.way], _lengths(inputs)
        axes.set(xlim=(0, way.accumulation * 1.2), ylim=(way.workers - 0.4, -0.7))
        axes.set_xticks(range(way.accumulation + 1))
        axes.set_xlabel(f"每个进程处理过的微批次，每个含 {way.microbatch} 个序列（一行一个）")
        name_lanes(axes.yaxis, tuple(f"进程 {n + 1}" for n in range(way.workers)))
        shapes.show(_boxes(way, lengths))
        counts.show(
            (turn + 0.07 + 0.43 * max(batch) / max(lengths), worker, f"{sum(batch):,}", INK)
            for worker, rounds in enumerate(way.split(lengths))
            for turn, batch in enumerate(rounds)
        )
        end = way.accumulation
        boundary.show([(end, -0.5, end, way.workers - 0.5)])
        beside, line = end * 1.015, (way.workers + 0.3) * 0.04
        middle = (way.workers - 1) / 2
        words.show(
            [
                (beside, middle - line, "更新一次", RED),
                (beside, middle + line, f"{result[1].n_events:,} token", RED),
            ]
        )

    return update


def _table(inputs: Any, result: tuple) -> Table:
    """The longer side goes down the page, so that the table stays narrow."""
    tokens, both, _ = result
    down = [f"进程 {n + 1}" for n in range(len(tokens))]
    across = [f"第 {n + 1} 次" for n in range(len(tokens[0]))]
    if len(across) > len(down):
        tokens, down, across = tuple(zip(*tokens, strict=True)), across, down
    rows = tuple((name, *counts, sum(counts)) for name, counts in zip(down, tokens, strict=True))
    sums = tuple(sum(column) for column in zip(*tokens, strict=True))
    return Table(("有效 token", *across, "合计"), rows, ("合计", *sums, both.n_events))


def _sentence(inputs: Any, result: tuple) -> str:
    way, (_, both, equal) = WAYS[inputs.way], result
    return (
        f"{way.workers} 个进程 × 本地 {way.microbatch} × 累积 {way.accumulation} = {SEQUENCES} 个序列，"
        f"共 {both.n_events:,} 个有效 token 决定一次更新；每个进程同时只保存 {way.microbatch} 个序列的激活。"
        f"配套补充：若第 k 个序列的平均梯度是 k，按 token 加权得 {_written(both.mean_grad)}，"
        f"等权平均各微批次得 {_written(equal)}。"
    )


def _written(number: Fraction) -> str:
    return show_number(number) if len(show_number(number)) < 8 else f"约 {float(number):.4g}"


def eight_sequences() -> Explorer:
    """Return the explorer: one update of eight sequences in every worker × microbatch × accumulation."""
    return Explorer(
        title="八个序列，一次更新，十种安排",
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 340),
    )


EXPLORERS = (eight_sequences,)
