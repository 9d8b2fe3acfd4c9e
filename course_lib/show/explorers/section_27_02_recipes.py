"""Section 27.2, added by the companion: why tools say 10 to 20 bytes per parameter of the same Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ledger import GRAD_BUFFER, GRADS, MASTER, MOMENTS, RECIPES, WEIGHTS, Difference, Ledger, diff
from .. import Choice, Number, Table, log_stops
from ..charts import Boxes, Labels, Rules, legend
from ..explorer import OURS, Explorer
from ..palette import INK, OF_ROW, QUIET
from ..stage import Stage

ITEMS = (WEIGHTS, GRADS, GRAD_BUFFER, MASTER, MOMENTS)
ORDER = tuple(sorted(RECIPES, key=lambda key: RECIPES[key].bytes_per_parameter))
_LABELS = {key: f"{RECIPES[key].bytes_per_parameter} 字节：{RECIPES[key].title}" for key in ORDER}
_MOST = max(recipe.bytes_per_parameter for recipe in RECIPES.values())
CONTROLS = (
    Choice("left", "甲", "chapter", _LABELS),
    Choice("right", "乙", "fp32", _LABELS),
    Number("parameters", "参数量 N", 1_000_000, log_stops(10**4, 10**12), "个"),
)
PRESETS = {
    "同是 16 字节，项目不同": {},
    "本章与 20 字节": {"right": "playbook"},
    "最少与最多": {"left": "scaling-book", "right": "playbook"},
}


def _both(inputs: Any) -> tuple[Ledger, Ledger]:
    return RECIPES[inputs.left].ledger(inputs.parameters), RECIPES[inputs.right].ledger(inputs.parameters)


def _compute(inputs: Any) -> tuple[Difference, ...]:
    return diff(*_both(inputs))


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.ledger import RECIPES, diff

left = RECIPES["{inputs.left}"].ledger({inputs.parameters:_})
right = RECIPES["{inputs.right}"].ledger({inputs.parameters:_})
result = diff(left, right)
left.total_bytes, right.total_bytes
"""


def _cells(start: int, count: int, row: int) -> list[tuple[float, float, float, float]]:
    """Return one box per byte."""
    return [(start + n + 0.04, start + n + 0.96, row - 0.36, row + 0.36) for n in range(count)]


def _show_recipes(axes) -> None:
    """Draw all bookkeepings once: a cell is a byte."""
    boxes: dict[str, list] = {}
    for row, key in enumerate(ORDER):
        start = 0
        for item in RECIPES[key].ledger(1):
            boxes.setdefault(item.name, []).extend(_cells(start, item.total_bytes, row))
            start += item.total_bytes
    Boxes(axes, OF_ROW).show(boxes)
    axes.set(xlim=(-0.2, _MOST + 1.5), ylim=(len(ORDER) - 0.5, -0.5), xticks=[])
    axes.set_yticks(range(len(ORDER)), [_LABELS[key] for key in ORDER])


def _picture(stage: Stage) -> Callable[[Any, Any], None]:
    above, below = stage.axes(2, 1, height_ratios=(len(ORDER), len(ITEMS) + 0.5))
    for axes in (above, below):
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    legend(stage, {item: OF_ROW[item] for item in ITEMS})
    _show_recipes(above)
    frames = Rules(above, INK, width=2)
    tags = Labels(above, size=10, align="left")
    below.set(xlim=(-9.2, _MOST - 7.5), ylim=(len(ITEMS) - 0.5, -1), xticks=[])
    below.set_yticks(range(len(ITEMS)), ITEMS)
    zero, cells = Rules(below, QUIET, width=1), Boxes(below, OF_ROW)
    words = Labels(below, size=9)
    zero.show([(0, -0.6, 0, len(ITEMS) - 0.5)])

    def update(inputs: Any, lines: tuple[Difference, ...]) -> None:
        rows = {"甲": ORDER.index(inputs.left), "乙": ORDER.index(inputs.right)}
        sizes = [RECIPES[key].bytes_per_parameter for key in ORDER]
        frames.show([side for row in rows.values() for side in _frame(row, sizes[row])])
        chosen = {row: "、".join(tag for tag, at in rows.items() if at == row) for row in rows.values()}
        tags.show((sizes[row] + 0.35, row, tag) for row, tag in chosen.items())
        changes = {line.name: line.change_bytes // inputs.parameters for line in lines}
        cells.show({item: _cells(min(0, n), abs(n), ITEMS.index(item)) for item, n in changes.items()})
        words.show(_change_words(changes))

    return update


def _frame(row: int, size: int) -> list[tuple[float, float, float, float]]:
    low, high = row - 0.44, row + 0.44
    left, right = -0.06, size + 0.06
    return [
        (left, low, right, low),
        (right, low, right, high),
        (right, high, left, high),
        (left, high, left, low),
    ]


def _change_words(changes: dict[str, int]) -> list[tuple]:
    words: list[tuple] = [(-2.5, -0.85, "乙比甲少", QUIET), (2.5, -0.85, "乙比甲多", QUIET)]
    for row, item in enumerate(ITEMS):
        n = changes.get(item, 0)
        words.append(
            (n + (0.6 if n > 0 else -0.6), row, f"{n:+d}".replace("-", "−"))
            if n
            else (0.9, row, "相同", QUIET)
        )
    return words


def _table(inputs: Any, lines: tuple[Difference, ...]) -> Table:
    left, right = _both(inputs)
    rows = tuple((line.name, line.left_bytes, line.right_bytes, line.change_bytes) for line in lines)
    total = ("合计", left.total_bytes, right.total_bytes, right.total_bytes - left.total_bytes)
    sides = (("甲", RECIPES[inputs.left]), ("乙", RECIPES[inputs.right]))
    note = "".join(
        f"{tag}：{recipe.title}（{recipe.source}）"
        + (f"，没有计入{'、'.join(recipe.not_counted)}" if recipe.not_counted else "")
        + "。"
        for tag, recipe in sides
    )
    return Table(("不同的项目", "甲的字节", "乙的字节", "乙 − 甲"), rows, total, note)


def _sentence(inputs: Any, lines: tuple[Difference, ...]) -> str:
    left, right = (RECIPES[key].bytes_per_parameter for key in (inputs.left, inputs.right))
    sums = f"甲每个参数 {left} 字节，乙 {right} 字节"
    if not lines:
        return f"{sums}：两本账逐项相同。"
    names = "、".join(line.name for line in lines)
    same = "总数相同，账却不同" if left == right else "总数不同"
    return f"{sums}：{same}，差在{names}。"


def recipes() -> Explorer:
    """Return the explorer: six bookkeepings byte by byte, two of them compared item by item."""
    return Explorer(
        title="配套补充：同一个 Adam，10 到 20 字节",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 400),
    )


EXPLORERS = (recipes,)
