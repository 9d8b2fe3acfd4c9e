"""Read a class list as teachers keep it: any common encoding and separator, with or without a header.

Ids are text and stay as written: ``0429`` keeps its zero, twenty digits keep every digit.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import CourseError

_SEPARATORS: Final = "\t;,"
_ID_HEADS: Final = frozenset(
    {"学号", "学生编号", "编号", "id", "student", "student_id", "student id", "number"}
)
_NAME_HEADS: Final = frozenset({"姓名", "名字", "name", "full name", "student name"})


@dataclass(frozen=True, slots=True)
class Student:
    """One line of a class list."""

    id: str
    name: str = ""


def read_class_list(path: Path) -> list[Student]:
    """Return the students in order; raise ``CourseError`` that names the line where something is wrong."""
    lines = _decode(path).splitlines()
    separator = max(_SEPARATORS, key=lambda sign: sum(line.count(sign) for line in lines))
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    id_at, name_at, first = _columns(rows[0]) if rows else (0, 1, 0)
    students: dict[str, Student] = {}
    for number, row in enumerate(rows[first:], start=first + 1):
        if not any(row):
            continue
        student = _student(row, id_at, name_at, number)
        if student.id in students:
            raise CourseError(
                f"名单第 {number} 行的学号重复", got=student.id, remedy="请让每个学号只出现一次"
            )
        students[student.id] = student
    if not students:
        raise CourseError(
            "名单里没有学生", got=path.name, remedy="请给一个 csv 文件，每行一个学号，可以再加姓名"
        )
    return list(students.values())


def _decode(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise CourseError("名单的编码读不懂", got=path.name, remedy="请在表格软件里另存为「CSV UTF-8」")


def _columns(head: list[str]) -> tuple[int, int, int]:
    """Return the columns of id and name, and the number of header lines."""
    words = [cell.lower() for cell in head]
    ids = [at for at, word in enumerate(words) if word in _ID_HEADS]
    names = [at for at, word in enumerate(words) if word in _NAME_HEADS]
    if not ids:
        return 0, 1, 0
    return ids[0], names[0] if names else -1, 1


def _student(row: list[str], id_at: int, name_at: int, number: int) -> Student:
    id = row[id_at] if id_at < len(row) else ""
    if not id or any(ord(sign) < 32 for sign in id):
        raise CourseError(f"名单第 {number} 行没有学号", got=row, remedy="请补上学号，或删掉这一行")
    return Student(id, row[name_at] if 0 <= name_at < len(row) else "")
