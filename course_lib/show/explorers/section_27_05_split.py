"""Section 27.5: one matrix product split by columns or by rows, its pieces, and what has to cross."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ...collectives import share
from ...parallel import Partial, split_columns, split_rows
from .. import Choice, Number, Table
from ..charts import legend
from ..charts.matrices import Matrices, Matrix
from ..explorer import OURS, Explorer
from ..palette import BLUE, GREEN, INK, ORANGE, PAPER, PINK, Style
from ..stage import Stage

COLUMNS, ROWS = "split_columns", "split_rows"
CONTROLS = (
    Choice("how", "W 怎样分", COLUMNS, {COLUMNS: "按列分", ROWS: "按行分"}, "换一种分法，看跨边界的是什么"),
    Number("workers", "工作进程", 2, range(1, 5), "个", "不能多于被分的列数或行数"),
    Number("examples", "X 的行数", 3, range(1, 5), "行", "一行是一个位置"),
    Number("inner", "X 的列数", 4, range(2, 7), "列", "也就是 W 的行数"),
    Number("outputs", "W 的列数", 4, range(2, 7), "列", "也就是输出的坐标数"),
)
PRESETS: dict[str, dict[str, Any]] = {
    "按行分，各得局部和": {"how": ROWS},
    "五列分给两个进程": {"outputs": 5},
    "四个进程，按行分": {"how": ROWS, "workers": 4, "examples": 2, "inner": 6},
}
EVERYONE = "每个进程都有"
STYLES = {
    0: Style(BLUE, ink=PAPER),
    1: Style(ORANGE, "//"),
    2: Style(GREEN, "\\\\", ink=PAPER),
    3: Style(PINK, ".."),
    EVERYONE: Style("#E4E4E4", ink=INK),
}

Split = namedtuple("Split", "pieces whole crossing crosses")


def _x(inputs: Any) -> list[list[int]]:
    return [[(row + 2 * column) % 4 for column in range(inputs.inner)] for row in range(inputs.examples)]


def _w(inputs: Any) -> list[list[int]]:
    return [
        [(3 * row + 2 * column) % 5 - 1 for column in range(inputs.outputs)] for row in range(inputs.inner)
    ]


def _compute(inputs: Any) -> Split:
    split: Partial = {COLUMNS: split_columns, ROWS: split_rows}[inputs.how](
        _x(inputs), _w(inputs), workers=inputs.workers
    )
    pieces = [piece.tolist() for piece in split.pieces]
    return Split(pieces, split.joined().tolist(), split.crossing_values, split.crosses)


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.parallel import {inputs.how}

x = {_x(inputs)}
w = {_w(inputs)}
split = {inputs.how}(x, w, workers={inputs.workers})
pieces = [piece.tolist() for piece in split.pieces]
result = (pieces, split.joined().tolist(), split.crossing_values, split.crosses)
"""


def _owners(total: int, workers: int) -> list[int]:
    shares = (share(total, workers=workers, worker=worker) for worker in range(workers))
    return [worker for worker, part in enumerate(shares) for _ in range(part.count)]


def _matrix(name: str, values: Sequence[Sequence[int]], kind: Callable[[int, int], Any]) -> Matrix:
    rows = enumerate(values)
    return Matrix(
        name, [[(kind(i, j), str(value).replace("-", "−")) for j, value in enumerate(row)] for i, row in rows]
    )


def _piece(worker: int, values: Sequence[Sequence[int]]) -> Matrix:
    return _matrix(f"进程 {worker}", values, lambda i, j: worker)


def _lines(inputs: Any, split: Split) -> list[list[Matrix | str]]:
    by_columns = inputs.how == COLUMNS
    owners = _owners(inputs.outputs if by_columns else inputs.inner, inputs.workers)
    if by_columns:
        x = _matrix("X", _x(inputs), lambda _, j: EVERYONE)
        w = _matrix("W，按列分", _w(inputs), lambda _, j: owners[j])
        y = _matrix("拼成 Y", split.whole, lambda _, j: owners[j])
    else:
        x = _matrix("X，按列分", _x(inputs), lambda _, j: owners[j])
        w = _matrix("W，按行分", _w(inputs), lambda i, _: owners[i])
        y = _matrix("加成 Y", split.whole, lambda i, j: EVERYONE)
    second: list[Matrix | str] = []
    for worker, piece in enumerate(split.pieces):
        second += [_piece(worker, piece), "｜" if by_columns else "+"]
    return [[x, "×", w], [*second[:-1], "=", y]]


def _picture(stage: Stage) -> Callable[[Any, Split], None]:
    product = Matrices(stage.axes(), STYLES)
    legend(stage, STYLES, {worker: f"进程 {worker} 的" for worker in range(4)})

    def update(inputs: Any, split: Split) -> None:
        product.show(_lines(inputs, split))

    return update


def _table(inputs: Any, split: Split) -> Table:
    rows = tuple(
        (f"进程 {worker}", f"{len(piece)} × {len(piece[0])}", len(piece) * len(piece[0]))
        for worker, piece in enumerate(split.pieces)
    )
    shape = f"X 是 {inputs.examples} × {inputs.inner}，W 是 {inputs.inner} × {inputs.outputs}。"
    whole = f"{shape}Y 共 {inputs.examples * inputs.outputs} 个数，分法不同，结果一样。"
    return Table(("谁", "算出的块", "块里的数"), rows, ("要跨边界", "", split.crossing), whole)


def _sentence(inputs: Any, split: Split) -> str:
    if inputs.workers == 1:
        return "只有一个进程：没有边界，什么都不用传。"
    kept = "每个数已经算完" if inputs.how == COLUMNS else "每个数都只是一部分和"
    return (
        f"{inputs.workers} 个进程各得到一块，{kept}；要让进程 0 拿到完整的 Y，"
        f"须传 {split.crossing} 个数：{split.crosses}。"
    )


def matrix_split() -> Explorer:
    """Return the explorer: one product, split by columns (concatenate) or by rows (add)."""
    return Explorer(
        title="一次矩阵乘法，分给几个进程",
        controls=CONTROLS,
        presets=PRESETS,
        home=OURS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 360),
    )


EXPLORERS = (matrix_split,)
