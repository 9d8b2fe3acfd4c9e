"""The two pictures of a class, embedded in its page with their numbers as words beside them."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ..exercises import Exercise
from ..show.spreads import Spread
from .gradebook import Gradebook
from .page import words

_MOST: Final = 12  # misconceptions drawn
_BARS: Final = 8  # of one histogram


def spreads_figure(book: Gradebook) -> str:
    """Return how the points of every exercise spread, as HTML; the empty text where nothing was graded."""
    spreads = [_spread(book, exercise) for exercise in book.exercises]
    if not any(sum(spread.counts) for spread in spreads):
        return ""
    from ..show.class_pictures import points_picture  # loads matplotlib

    told = "；".join(f"{spread.title}，{_told(spread)}" for spread in spreads)
    note = "柱上的数是人数；不含老师给理由的分，也不含没能读出来的文件。"
    return _figure("每题得分的分布", note, points_picture(spreads), told)


def _spread(book: Gradebook, exercise: Exercise) -> Spread:
    """Return how many reached each number of points, or each stretch of it where there are many."""
    step = -(-(exercise.max_points + 1) // _BARS)
    starts = range(0, exercise.max_points + 1, step)
    ends = [min(start + step - 1, exercise.max_points) for start in starts]
    labels = (str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True))
    reached = Counter(int(mark.points) // step for mark in book.marks(exercise))
    counts = tuple(reached[bar] for bar in range(len(starts)))
    return Spread(f"习题 {exercise.id}：{exercise.title}", tuple(labels), counts)


def _told(spread: Spread) -> str:
    pairs = zip(spread.labels, spread.counts, strict=True)
    return "，".join(f"{label} 分 {count} 人" for label, count in pairs if count)


def mistakes_figure(book: Gradebook) -> str:
    """Return the commonest misconceptions as HTML."""
    found = Counter(
        f"习题 {exercise.id}：{name}" for exercise in book.exercises for name in _seen(book, exercise)
    )
    if not found:
        return "<section><h2>最常见的误解</h2><p>没有认出题目里写明的误解。</p></section>"
    from ..show.class_pictures import mistakes_picture  # loads matplotlib

    common = found.most_common(_MOST)
    more = f"共 {len(found)} 种，画出最多的 {_MOST} 种。" if len(found) > _MOST else ""
    told = "；".join(f"{name} {count} 人" for name, count in common)
    note = f"从答案认出来的，一份作业里同一种只算一次。{more}"
    return _figure("最常见的误解", note, mistakes_picture(common), told)


def _seen(book: Gradebook, exercise: Exercise) -> Iterator[str]:
    """Yield the misconceptions seen in an exercise, once for each student who has it."""
    for mark in book.marks(exercise):
        yield from dict.fromkeys(c.misconception for c in mark.criteria if c.misconception)


def _figure(title: str, note: str, picture: bytes, told: str) -> str:
    source = f"data:image/png;base64,{b64encode(picture).decode()}"
    image = f'<img src="{source}" alt="{words(told, longest=4000)}">'
    return f'<section><h2>{title}</h2><p class="quiet">{note}</p><div class="scroll">{image}</div></section>'
