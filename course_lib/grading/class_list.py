"""Read a class list as teachers keep it: any common encoding and separator, with or without a header.

Ids are text and stay as written: ``0429`` keeps its zero, twenty digits keep every digit. One line is one
student; what could be read in two ways is refused with a sentence that names the row.
"""

from __future__ import annotations

import csv
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import CourseError
from ..files import read_whole

_SEPARATORS: Final = ",\t;"
_ID_HEADS: Final = (  # the first that stands in a header is the column of ids; spaces and case do not count
    *("学号", "学生学号", "学生编号", "学籍号", "studentid", "student_id", "studentnumber"),
    *("student", "id", "编号", "number"),
)
_NAME_HEADS: Final = ("姓名", "学生姓名", "名字", "fullname", "studentname", "student_name", "name")
_TITLE_ROWS: Final = 10  # how far down a header may stand
_NO_TEXT: Final = {
    b"PK\x03\x04": "名单是 Excel 工作簿，不是 csv",
    b"\xd0\xcf\x11\xe0": "名单是旧式 Excel 工作簿，不是 csv",
    b"<": "名单是网页，不是 csv",
}
_AS_CSV: Final = "请在表格软件里打开，另存为「CSV UTF-8」"
_ADD_HEADER: Final = "请在最上面加一行表头：学号,姓名"
_ROUNDED: Final = re.compile(r"[+-]?\d(\.\d+)?e\+\d+|\d+\.0*", re.IGNORECASE)
_ID_LIKE: Final = re.compile(r"[\w-]*\d[\w-]*", re.ASCII)
_AS_FORMULA: Final = re.compile(r'="([^"]*)"')  # how some systems keep the zeros of an id in Excel
Row = list[str]


@dataclass(frozen=True, slots=True)
class Student:
    """One line of a class list."""

    id: str
    name: str = ""


def file_name(student: Student) -> str:
    """Return a name that every file system takes, different for different ids.

    >>> file_name(Student("0429")), file_name(Student("a/b"))
    ('0429', 'a_b-c14cddc0')
    """
    plain = re.sub(r"[^0-9A-Za-z_-]", "_", student.id)[:60]
    if plain == student.id:
        return plain
    return f"{plain}-{hashlib.sha256(student.id.encode()).hexdigest()[:8]}"


def same_id(id: str) -> str:
    """Return what two spellings of one id have in common: case and full width make no other student.

    >>> same_id("ＡＢ1") == same_id("ab1")
    True
    """
    return unicodedata.normalize("NFKC", id).casefold()


def read_class_list(path: Path) -> list[Student]:
    """Return the students in order; raise ``CourseError`` that names the row where something is wrong."""
    lines = re.split(r"\r\n|\r|\n", _decode(path))
    separator = _separator(lines)
    rows = [_cells(line, separator, number) for number, line in enumerate(lines, start=1)]
    head = _header(rows)
    if head:
        id_at, name_at = _columns(rows[head - 1])
        _refuse_students_above(rows[: head - 1], id_at)
    else:
        id_at, name_at = 0, 1
        _refuse_unclear([row for row in rows if any(row)])
    return _students(rows, head, id_at, name_at) or _refuse_empty(path)


def _decode(path: Path) -> str:
    content = read_whole(path, "名单")
    for start, problem in _NO_TEXT.items():
        if content.lstrip().startswith(start):
            raise CourseError(problem, got=path.name, remedy=_AS_CSV)
    for encoding in ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "gb18030"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise CourseError("名单的编码读不懂", got=path.name, remedy=_AS_CSV)


def _separator(lines: Sequence[str]) -> str:
    """Return the sign that stands in most lines; what is between quotes does not count."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    return max(_SEPARATORS, key=lambda sign: sum(sign in line for line in bare))


def _cells(line: str, separator: str, number: int) -> Row:
    """Return the cells of one line; a quote that is open at its end is refused, else it swallows the next."""
    try:
        rows = list(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error as error:
        if "limit" in str(error):
            problem = f"名单第 {number} 行有一格超过 {csv.field_size_limit()} 个字"
            raise CourseError(problem, remedy="请检查这一行的引号，或删掉这一格") from None
        raise CourseError(
            f"名单第 {number} 行的引号没有配对",
            got=line,
            remedy="请补上引号，或去掉格子里的换行",
        ) from None
    return [cell.strip() for cell in rows[0]] if rows else []


def _heads(row: Row) -> list[str]:
    return ["".join(unicodedata.normalize("NFKC", cell).casefold().split()) for cell in row]


def _header(rows: Sequence[Row]) -> int:
    """Return the number of the header's row, counted from 1; 0 where there is none."""
    for number, row in enumerate(rows[:_TITLE_ROWS], start=1):
        words = set(_heads(row))
        if words & set(_ID_HEADS):
            return number
        if words & {*_NAME_HEADS, "序号"}:
            raise CourseError(
                f"名单第 {number} 行像表头，却没有学号一列",
                got=row,
                remedy="请给一列「学号」",
            )
    return 0


def _columns(head: Row) -> tuple[int, int]:
    """Return the columns of id and name; -1 where there are no names."""
    words = _heads(head)
    id_at = next(words.index(word) for word in _ID_HEADS if word in words)
    return id_at, next((words.index(word) for word in _NAME_HEADS if word in words), -1)


def _refuse_students_above(rows: Sequence[Row], id_at: int) -> None:
    for number, row in enumerate(rows, start=1):
        if sum(map(bool, row)) > 1 and id_at < len(row) and _ID_LIKE.fullmatch(row[id_at]):
            raise CourseError(
                f"名单第 {number} 行在表头上面，却像一个学生", got=row, remedy="请把表头移到所有学生的上面"
            )


def _refuse_unclear(rows: Sequence[Row]) -> None:
    """Without a header the first column must be the ids: no running number, no names beside the ids."""
    firsts = [row[0] for row in rows]
    if not rows or not all(len(row) > 1 and _ID_LIKE.fullmatch(row[1]) for row in rows):
        return
    running = firsts == [str(number) for number in range(1, len(rows) + 1)]
    if running or not any(map(_ID_LIKE.fullmatch, firsts)):
        kind = "序号" if running else "姓名"
        raise CourseError(f"名单没有表头，第 1 列像{kind}，第 2 列像学号", got=rows[0], remedy=_ADD_HEADER)


def _students(rows: Sequence[Row], head: int, id_at: int, name_at: int) -> list[Student]:
    students: dict[str, tuple[int, Student]] = {}
    for number, row in enumerate(rows[head:], start=head + 1):
        if not any(row):
            continue
        student = Student(_id(row, id_at, number), row[name_at] if 0 <= name_at < len(row) else "")
        first, other = students.setdefault(same_id(student.id), (number, student))
        if other is not student:
            alike = "相同" if other.id == student.id else "只差大小写或全角半角"
            raise CourseError(
                f"名单第 {number} 行的学号重复，与第 {first} 行{alike}", got=student.id,
                remedy="请让每个学号只出现一次",
            )  # fmt: skip
    return [student for _, student in students.values()]


def _id(row: Row, id_at: int, number: int) -> str:
    cell = row[id_at] if id_at < len(row) else ""
    formula = _AS_FORMULA.fullmatch(cell)
    id = formula[1].strip() if formula else cell
    if not id or any(unicodedata.category(sign) in ("Cc", "Cs") for sign in id):
        raise CourseError(f"名单第 {number} 行没有学号", got=row, remedy="请补上学号，或删掉这一行")
    if _ROUNDED.fullmatch(id):
        raise CourseError(
            f"名单第 {number} 行第 {id_at + 1} 格的学号被表格软件改成了小数或科学计数，位数丢了", got=id,
            remedy="请把这一列设成「文本」格式，重新填学号，再存成 csv",
        )  # fmt: skip
    return id


def _refuse_empty(path: Path) -> list[Student]:
    raise CourseError("名单里没有学生", got=path.name, remedy="请给一个 csv 文件，每行一个学号，可以再加姓名")
