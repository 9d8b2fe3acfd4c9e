"""One page for the teacher: the whole class as a table and two pictures, and everything that needs a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from ..exercises import Exercise
from .class_figures import mistakes_figure, spreads_figure
from .gradebook import Gradebook, rubric_points, short
from .page import listed, page, walls, words
from .records import PROCESS, Record

_NO_LINKS: Final[Mapping[str, str]] = {}

Aside = tuple[str, str]  # a file, and a sentence about it


def class_page(
    book: Gradebook,
    *,
    unread: Sequence[Aside] = (),
    not_counted: Sequence[Aside] = (),
    noticed: Sequence[Aside] = (),
    links: Mapping[str, str] = _NO_LINKS,
) -> str:
    """Return ``class.html``. Files come with a sentence each (it may be empty):

    ``unread`` have no record because they could not even be opened, ``not_counted`` are attempts in place of
    which another one counts, ``noticed`` is for the teacher's eyes alone. Records without a student, and
    records with a problem, are listed by themselves. ``links`` are feedback pages by ``Record.owner``.
    """
    strays = [(record.file, record.problem) for record in book.ordered if not record.student]
    broken = [(_who(record), record.problem) for record in book.ordered if record.problem and record.student]
    warned = [(_who(record), sentence) for record in book.ordered for sentence in record.warnings]
    body = [
        *_top(book),
        _section("对不上名单的文件", strays),
        _section("没能读出来的文件", (*broken, *unread)),
        _section("没有计分的提交", not_counted),
        _section("批改时留意到的", (*noticed, *warned)),
        _table(book, links),
        spreads_figure(book),
        mistakes_figure(book),
    ]
    return page("班级结果", filter(None, body), layout="wide")


def _who(record: Record) -> str:
    return f"{record.file}（{record.student}）" if record.student else record.file


def _top(book: Gradebook) -> Iterator[str]:
    yield "<h1>第 27 章习题：班级结果</h1>"
    absent = f"，名单上还有 {len(book.absent)} 人没有交" if book.absent else ""
    yield f"<p>批改了 {len(book.records)} 份作业{absent}。满分 {book.max_points} 分。</p>"
    counted = "、".join(exercise.id for exercise in book.counted)
    if counted:
        yield f'<p class="quiet">习题 {words(counted)} 的得分与满分都含老师给理由的分。</p>'
    for sandbox, number in sorted(Counter(record.sandbox for record in book.records).items()):
        look = "notice" if sandbox == PROCESS else "quiet"
        yield f'<p class="{look}">{number} 份{words(walls(sandbox))}</p>'


def _section(title: str, asides: Iterable[Aside]) -> str:
    found = listed(f"{file}：{sentence}" if sentence else file for file, sentence in asides)
    return f'<div class="notice"><b>{title}</b>{found}</div>' if found else ""


def _most(book: Gradebook, exercise: Exercise) -> int:
    return exercise.max_points + (rubric_points(exercise) if exercise in book.counted else 0)


def _table(book: Gradebook, links: Mapping[str, str]) -> str:
    heads = "".join(
        f'<th scope="col" title="{words(exercise.title)}">{words(exercise.id)}'
        f' <span class="quiet">/{_most(book, exercise)}</span></th>'
        for exercise in book.exercises
    )
    rows = [(not record.student, record.owner, _row(book, record, links)) for record in book.ordered]
    rows += [(False, id, _absent(book, id)) for id in book.absent]
    lines = "".join(row for _, _, row in sorted(rows))
    return (
        '<section><h2>每人每题</h2><div class="scroll"><table><thead><tr><th scope="col">学生</th>'
        f'{heads}<th scope="col">总分 <span class="quiet">/{book.max_points}</span></th></tr></thead>'
        f"<tbody>{lines}</tbody>{_means(book)}</table></div></section>"
    )


def _student(name: str, id: str) -> str:
    return f'<span class="who">{words(id)}</span> <span class="who">{words(name)}</span>'.strip()


def _row(book: Gradebook, record: Record, links: Mapping[str, str]) -> str:
    who = _student(book.names.get(record.student, ""), record.owner)
    link = links.get(record.owner)
    first = f'<a href="{words(link)}">{who}</a>' if link else who
    cells = "".join(_cell(book, record, exercise) for exercise in book.exercises)
    if record.problem:
        cells = _across(book, "没能读出来")
    return f"<tr><td>{first}</td>{cells}<td><b>{short(book.total(record))}</b></td></tr>"


def _cell(book: Gradebook, record: Record, exercise: Exercise) -> str:
    """Return points on a ground that is the darker, the more of them there are; a title says the verdict."""
    points, mark = book.points(record, exercise), record.mark(exercise.id)
    if points is None:
        return "<td></td>"
    share = points / _most(book, exercise) if _most(book, exercise) else Fraction(0)
    title = f' title="{words(mark.verdict.label)}"' if mark else ""
    return (
        f'<td{title} style="background:rgb(var(--tint) / {round(float(share) * 34)}%)">{short(points)}</td>'
    )


def _absent(book: Gradebook, id: str) -> str:
    who = _student(book.names[id], id)
    return f"<tr><td>{who}</td>{_across(book, '没有交')}<td>0</td></tr>"


def _across(book: Gradebook, said: str) -> str:
    return f'<td class="quiet" colspan="{len(book.exercises)}">{said}</td>'


def _means(book: Gradebook) -> str:
    """Return the means over the files that could be read."""
    read = [record for record in book.ordered if not record.problem]
    if not read:
        return ""
    sums = [sum((book.points(r, e) or Fraction(0) for r in read), Fraction(0)) for e in book.exercises]
    total = sum((book.total(record) for record in read), Fraction(0))
    cells = "".join(f"<th>{short(each / len(read))}</th>" for each in (*sums, total))
    return f"<tfoot><tr><th>平均（{len(read)} 份读出来的）</th>{cells}</tr></tfoot>"
