"""``manual.csv``: free texts for a person, who enters points that the next run merges.

A spreadsheet turns 0429 into 429, long ids into 2.02301E+16, and saves in other encodings and with other
separators. So no row is found by what it shows: its last cell bears a mark made from whose text it is and
which exercise, and one of the text that was shown, in letters that every spreadsheet leaves alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from string import ascii_uppercase
from typing import Final
from unicodedata import normalize

from ..errors import CourseError
from ..exercises import Exercise
from .gradebook import Gradebook, rubric_points
from .records import Record
from .spreadsheets import read_rows, unquoted, write_rows

FILE: Final = "manual.csv"
LONGEST: Final = 10_000  # characters shown of one text; a cell of Excel holds 32,767
COLUMNS: Final = ("文件", "学号", "姓名", "习题", "理由原文", "得分", "备注", "行标记（请勿改）")
CHANGED: Final = "给分以后文字改过，请再看一遍；看过就清空这一格。"
GONE: Final = "这次没有收到这份文字；得分留着，没有计入。"

_POINTS, _NOTE, _MARK = (COLUMNS.index(name) for name in ("得分", "备注", "行标记（请勿改）"))
_MARKED: Final = re.compile(r"row_([0-9a-f]{16})_([0-9a-f]{8})")
_NUMBER: Final = re.compile(r"\d{1,6}(?:[.,]\d{0,6})?")
_WANTED: Final = "请只写一个数字，例如 2 或 1.5；还没有评的留空"


@dataclass(frozen=True, slots=True)
class ManualRow:
    """One free text: ``key`` says whose and which, ``text_key`` which text; no ``points`` yet is None.

    ``shown`` are the cells before the points, as a person sees them.
    """

    key: str
    text_key: str
    shown: tuple[str, ...]
    points: Fraction | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the row as it is written."""
        points = "" if self.points is None else _written(self.points)
        return (*self.shown, points, self.note, f"row_{self.key}_{self.text_key}")


@dataclass(frozen=True, slots=True)
class _Entered:
    """What a person left in one row; ``place`` names the row and the cell of the points in sentences."""

    key: str
    text_key: str
    shown: tuple[str, ...]
    points: Fraction | None
    note: str
    place: str


@dataclass(frozen=True, slots=True)
class Manual:
    """All rows, and the points that count: by ``Record.owner`` and exercise id, for a ``Gradebook``."""

    rows: tuple[ManualRow, ...]
    points: Mapping[str, Mapping[str, Fraction]]

    def csv(self) -> bytes:
        """Return the bytes of ``manual.csv``."""
        return write_rows([COLUMNS, *(row.cells() for row in self.rows)])


def merge_manual(book: Gradebook, before: bytes = b"") -> Manual:
    """Return a row for every free text, with the points and notes that a person entered in ``before``.

    A text that changed since keeps its points and says so in its note, until a person empties that. Points
    whose text is no longer there stay in the file and do not count. Raises ``CourseError`` that names row and
    cell where points are no number, negative, or more than the rubric has lines.
    """
    entered = _entered(before)
    rows: list[ManualRow] = []
    points: dict[str, dict[str, Fraction]] = {}
    for record, exercise, text in _texts(book):
        row = _row(book, record, exercise, text)
        found = entered.pop(row.key, None)
        if found is not None:
            _check_largest(found, exercise)
            row = _merged(row, found)
        if text or row.points is not None:
            rows.append(row)
        if row.points is not None:
            points.setdefault(record.owner, {})[exercise.id] = row.points
    left = [_gone(found) for _, found in sorted(entered.items()) if found.points is not None]
    return Manual((*rows, *left), points)


def _texts(book: Gradebook) -> Iterator[tuple[Record, Exercise, str]]:
    for record in book.ordered:
        texts = dict(record.texts)
        for exercise in book.exercises:
            yield record, exercise, texts.get(exercise.id, "")


def _row(book: Gradebook, record: Record, exercise: Exercise, text: str) -> ManualRow:
    shown = (
        record.file,
        record.student,
        book.names.get(record.student, ""),
        f"习题 {exercise.id}　{exercise.title}（满分 {rubric_points(exercise)}）",
        _cut(text),
    )
    return ManualRow(_digest(record.owner, exercise.id)[:16], _digest(text)[:8], shown)


def _digest(*words: str) -> str:
    return sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n……（原文共 {len(text)} 个字符，这里只有前 {LONGEST} 个，其余请看作业文件）"


def _written(points: Fraction) -> str:
    """Return points as they were entered; they are decimals of at most six places."""
    return f"{float(points):.6f}".rstrip("0").rstrip(".")


def _merged(row: ManualRow, found: _Entered) -> ManualRow:
    note = found.note.removeprefix(GONE).strip()
    if found.points is not None and found.text_key != row.text_key and not note.startswith(CHANGED):
        note = f"{CHANGED}{note}"
    return replace(row, points=found.points, note=note)


def _gone(found: _Entered) -> ManualRow:
    note = found.note if found.note.startswith(GONE) else f"{GONE}{found.note}"
    return ManualRow(found.key, found.text_key, found.shown, found.points, note)


def _entered(before: bytes) -> dict[str, _Entered]:
    if not before.strip():
        return {}
    rows = read_rows(before, FILE, COLUMNS[_POINTS])
    columns = [cell.strip() for cell in rows[0]]
    found: dict[str, _Entered] = {}
    for number, cells in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        entry = _entry(dict(zip(columns, cells, strict=False)), number, columns.index(COLUMNS[_POINTS]))
        other = found.setdefault(entry.key, entry)
        if other.points != entry.points:
            raise CourseError(
                f"{other.place} 与 {entry.place} 是同一份文字，得分却不同", remedy="请只留下一行"
            )
    return found


def _entry(row: Mapping[str, str], number: int, points_at: int) -> _Entered:
    place = f"{FILE} 第 {number} 行「{COLUMNS[_POINTS]}」（单元格 {_letters(points_at)}{number}）"
    marked = _MARKED.fullmatch(row.get(COLUMNS[_MARK], "").strip().lower())
    if marked is None:
        raise CourseError(
            f"{FILE} 第 {number} 行的「{COLUMNS[_MARK]}」被改动或删掉了，认不出是谁的哪道题",
            got=row.get(COLUMNS[_MARK], ""),
            remedy="请从备份里把这一格抄回来，或删掉这一行，再批改时会重新生成（得分要再填一次）",
        )
    shown = tuple(unquoted(row.get(name, "")) for name in COLUMNS[:_POINTS])
    note = unquoted(row.get(COLUMNS[_NOTE], "").strip())
    return _Entered(marked[1], marked[2], shown, _number(row.get(COLUMNS[_POINTS], ""), place), note, place)


def _letters(column: int) -> str:
    """Return what a spreadsheet writes above a column: A to Z, then AA."""
    more, last = divmod(column, len(ascii_uppercase))
    return (_letters(more - 1) if more else "") + ascii_uppercase[last]


def _number(cell: str, place: str) -> Fraction | None:
    written = normalize("NFKC", cell).strip().removeprefix("'").strip().removesuffix("分").strip()
    if not written:
        return None
    if re.fullmatch(r"[-−]\s*[\d.,]+", written):
        raise CourseError(f"{place}不能是负数", got=cell, remedy=_WANTED)
    if not _NUMBER.fullmatch(written):
        raise CourseError(f"{place}不是数", got=cell, remedy=_WANTED)
    return Fraction(written.replace(",", ".").removesuffix("."))


def _check_largest(found: _Entered, exercise: Exercise) -> None:
    most = rubric_points(exercise)
    if found.points is not None and found.points > most:
        raise CourseError(
            f"{found.place}超过满分",
            got=_written(found.points),
            remedy=f"习题 {exercise.id} 的理由最多 {most} 分，一条评分要点一分",
        )
