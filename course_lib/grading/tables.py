"""The tables that leave the grader: for people, for scripts, for Moodle and for Canvas.

How points given by people count is said in ``gradebook``: the cell of an exercise holds the points judged
plus those given to its text, so that a row adds up to its total; ``grades.json`` keeps the two apart, and its
totals are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from .gradebook import Gradebook, short
from .records import CriterionMark, ExerciseMark, Record
from .spreadsheets import write_rows

ASSIGNMENT: Final = "第 27 章习题"
_CANVAS_COLUMNS: Final = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def grades_csv(book: Gradebook) -> bytes:
    """Return ``grades.csv``: student, one column for each exercise, total.

    Whoever of the class list handed in nothing has empty cells and a total of 0; a file that fits nobody has
    an empty student.
    """
    head = ("student", *(exercise.id for exercise in book.exercises), "total")
    rows = [(record.student, _row(book, record)) for record in book.ordered]
    rows += [(id, ("",) * len(book.exercises) + ("0",)) for id in book.absent]
    rows.sort(key=lambda row: (not row[0], row[0]))
    return write_rows([head, *((student, *cells) for student, cells in rows)])


def _row(book: Gradebook, record: Record) -> tuple[str, ...]:
    points = (book.points(record, exercise) for exercise in book.exercises)
    cells = ("" if reached is None else str(short(reached)) for reached in points)
    return (*cells, str(short(book.total(record))))


def grades_json(book: Gradebook) -> bytes:
    """Return ``grades.json``: one entry for each record, sorted by student."""
    plain = [_entry(book, record) for record in book.ordered]
    return (json.dumps(plain, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _entry(book: Gradebook, record: Record) -> dict[str, Any]:
    given = book.given(record)
    return {
        "student": record.student,
        "file": record.file,
        "total": short(book.total(record)),
        "max": book.max_points,
        "sandbox": record.sandbox,
        "exercises": [_exercise(mark) for mark in record.exercises],
        "manual": {e.id: short(given[e.id]) for e in book.exercises if e.id in given},
    }


def _exercise(mark: ExerciseMark) -> dict[str, Any]:
    return {
        "id": mark.id,
        "points": short(mark.points),
        "max": mark.max_points,
        "verdict": mark.verdict.value,
        "criteria": [_criterion(criterion) for criterion in mark.criteria],
    }


def _criterion(criterion: CriterionMark) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "verdict": criterion.verdict.value,
        "points": short(criterion.points),
        "max": criterion.max_points,
        "misconception": criterion.misconception,
    }


def moodle_csv(book: Gradebook, *, assignment: str = ASSIGNMENT) -> bytes:
    """Return ``export-moodle.csv``: ID number and points, for Moodle's grade import.

    In the import, map ``ID number`` to the user's ID number and the other column to the grade item. Who
    handed in nothing has an empty cell, which Moodle reads as not graded.
    """
    return write_rows([("ID number", assignment), *((id, points) for id, _, points in _students(book))])


def canvas_csv(book: Gradebook, *, assignment: str = ASSIGNMENT) -> bytes:
    """Return ``export-canvas.csv``: Canvas's five fixed columns, then one assignment, for its gradebook.

    The second row has the points possible. Canvas finds students by ``SIS User ID``, then ``SIS Login ID``;
    both bear the id of the class list. ``ID`` is Canvas's own number, unknown here. Who handed in nothing has
    an empty cell.
    """
    possible = ("    Points Possible", "", "", "", "", str(book.max_points))
    rows = ((name or id, "", id, id, "", points) for id, name, points in _students(book))
    return write_rows([(*_CANVAS_COLUMNS, assignment), possible, *rows])


def _students(book: Gradebook) -> Iterator[tuple[str, str, str]]:
    """Yield id, name and total as text, sorted by id; what fits nobody is left out."""
    totals = {record.student: str(short(book.total(record))) for record in book.ordered}
    for id in sorted({*totals, *book.names} - {""}):
        yield id, book.names.get(id, ""), totals.get(id, "")
