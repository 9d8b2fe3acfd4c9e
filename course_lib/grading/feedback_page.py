"""One page for one student: points, verdicts, hints; nothing of the reference unless it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..exercises import Exercise
from .gradebook import Gradebook, rubric_points, short
from .page import listed, page, verdict_words, walls, words
from .records import CriterionMark, ExerciseMark, Record

_NOTHING: Final[Mapping[str, Any]] = {}


def feedback_page(
    book: Gradebook,
    record: Record,
    *,
    solutions: bool = False,
    parameters: Mapping[str, Mapping[str, Any]] = _NOTHING,
) -> str:
    """Return the page of one record as a whole HTML file.

    With ``solutions`` every exercise explains its right answer, for the student's own ``parameters`` by
    exercise id; the book's where left out.
    """
    name = book.names.get(record.student, "")
    body = list(_top(book, record, name))
    if record.problem:
        body.append(f'<div class="notice"><p>{words(record.problem)}</p></div>')
    else:
        body += [_exercise(book, record, exercise) for exercise in book.exercises]
    if solutions:
        body.append(_solutions(book, parameters))
    body.append(f'<p class="quiet">这份作业{words(walls(record.sandbox))}</p>')
    return page(f"批改结果 {name or record.owner}", body, layout="narrow")


def _top(book: Gradebook, record: Record, name: str) -> Iterator[str]:
    yield "<h1>第 27 章习题：批改结果</h1>"
    id = f"（{words(record.student)}）" if name and record.student else words(record.student)
    who = f'<span class="who">{words(name)}{id}</span>　' if name or id else ""
    yield f'<p class="quiet">{who}文件 <span class="who">{words(record.file)}</span></p>'
    yield f'<p class="sum">{short(book.total(record))} <small>/ {book.max_points} 分</small></p>'
    if record.warnings:
        yield f'<div class="notice"><p>请留意：</p>{listed(record.warnings)}</div>'


def _exercise(book: Gradebook, record: Record, exercise: Exercise) -> str:
    mark = record.mark(exercise.id)
    points = "" if mark is None else f"{short(mark.points)} / {mark.max_points} 分"
    title = f"习题 {words(exercise.id)}　{words(exercise.title)}"
    head = f'<div class="head"><h2>{title}</h2><span class="points">{points}</span></div>'
    inside = "<p>没有批改。</p>" if mark is None else _judged(mark)
    return f"<section>{head}{inside}{_text(book, record, exercise)}</section>"


def _judged(mark: ExerciseMark) -> str:
    said = f"<pre>{words(mark.said)}</pre>" if mark.said else ""
    same = all(criterion.verdict is mark.verdict and not criterion.hints for criterion in mark.criteria)
    criteria = "" if same else "".join(_criterion(criterion) for criterion in mark.criteria)
    return f"<p>{verdict_words(mark.verdict)}</p>{said}{criteria}"


def _criterion(criterion: CriterionMark) -> str:
    points = f'<span class="points quiet">{short(criterion.points)} / {criterion.max_points}</span>'
    name = f"<span>{words(criterion.name)}：{verdict_words(criterion.verdict)}</span>"
    known = f"<p>看起来是：{words(criterion.misconception)}。</p>" if criterion.misconception else ""
    return (
        f'<div class="criterion"><div class="head">{name}{points}</div>{known}{listed(criterion.hints)}</div>'
    )


def _text(book: Gradebook, record: Record, exercise: Exercise) -> str:
    """Return what became of the free text; the empty text where there is nothing to say."""
    given = book.given(record).get(exercise.id)
    most = rubric_points(exercise)
    written = bool(dict(record.texts).get(exercise.id))
    if given is not None:
        said = f"老师评了 {short(given)} / {most} 分。"
    elif written:
        said = "已收到，由老师来读；还没有评分。"
    elif exercise in book.counted:
        said = f"没有写，0 / {most} 分。"
    else:
        return ""
    return f'<div class="criterion">理由：{said}</div>'


def _solutions(book: Gradebook, parameters: Mapping[str, Mapping[str, Any]]) -> str:
    items = "".join(
        f"<p><b>习题 {words(exercise.id)}</b>　"
        f"{words(exercise.why(exercise.checked(parameters.get(exercise.id))))}</p>"
        for exercise in book.exercises
    )
    return f"<section><h2>解答</h2>{items}</section>"
