"""Whose file is it: by the id in its names, else by what the teacher's secret signed in the notebook.

Nobody's file is dropped: it is listed with the reason. Of two files of one student the later counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from ..exercises import Exercise, draw, is_signed
from .class_list import Student, file_name, same_id
from .found import SUFFIX, Found, Refused, printable
from .reading import issued_in
from .submissions import find_notebooks

_SECTIONS: Final = tuple(f"27.{number:02d}" for number in range(1, 11))  # of the course's own file names
_COPY: Final = re.compile(r" ?\(\d+\)$")  # what a browser adds to a second download
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Assigned:
    """A file and its student; ``read()`` gives the bytes.

    ``problem`` is a sentence where the file could not be read at all. ``parameters`` by exercise id are the
    student's own numbers, empty where the book's hold; ``warnings`` are sentences for the teacher.
    """

    student: str
    name: str
    file: str
    modified: int
    read: Callable[[], bytes]
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was handed in: one file for each student who did, in the order of the list or of their ids.

    ``superseded`` are earlier attempts, which do not count; ``unmatched`` fit nobody; ``problems`` were not
    taken as submissions at all; ``missing`` handed in nothing.
    """

    counted: tuple[Assigned, ...]
    superseded: tuple[Assigned, ...]
    unmatched: tuple[Refused, ...]
    problems: tuple[Refused, ...]
    missing: tuple[Student, ...]


@dataclass(frozen=True, slots=True)
class _Issued:
    """What a notebook says of its origin; ``to`` only where the signature is valid."""

    to: str = ""
    personal: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class _Class:
    """The class list made ready for looking up; ``forms`` are what may stand for a student in a name."""

    students: Mapping[str, Student]
    forms: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, students: Iterable[Student]) -> _Class:
        known = {same_id(student.id): student for student in students}
        forms = {same_id(section): "" for section in _SECTIONS}
        forms |= {same_id(file_name(student)): key for key, student in known.items()}
        forms |= {key: key for key in known}
        return cls(known, sorted(forms.items(), key=lambda form: (-len(form[0]), form[0])))

    def named_in(self, name: str) -> list[Student]:
        """Return the students whose ids stand in a file's name or the names of its folders."""
        *folders, last = name.split("/")
        stem = last[: -len(SUFFIX)]
        found = {key for part in (*folders, _COPY.sub("", stem) or stem) for key in self._in_part(part)}
        return [student for key, student in self.students.items() if key in found]

    def _in_part(self, part: str) -> Iterator[str]:
        text = same_id(part)
        for form, key in self.forms:  # longest first; what was found makes no shorter one
            if form in text:
                rest = _whole(form).sub("\0", text)
                if rest != text and key:
                    yield key
                text = rest


def _whole(form: str) -> re.Pattern[str]:
    """Return a pattern for this form where it is not part of a longer run of letters or digits.

    Letters of scripts without case, such as Chinese, make runs of their own: ``0429张三`` holds 0429.
    """
    return re.compile(f"{_no_run(form[0], '<!')}{re.escape(form)}{_no_run(form[-1], '!')}")


_CASELESS: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def _no_run(edge: str, look: str) -> str:
    if not edge.isalnum():
        return ""
    return f"(?{look}[{_CASELESS}])" if re.match(f"[{_CASELESS}]", edge) else f"(?{look}[^\\W_{_CASELESS}])"


def collect(
    submissions: Path,
    *,
    students: Sequence[Student] | None = None,
    secret: bytes | None = None,
    exercises: Sequence[Exercise] = (),
    out: Path | None = None,
) -> Collected:
    """Return whose files lie in a folder or zip, the same for every order of the file system.

    ``exercises`` are those whose numbers are drawn with the secret; ``out`` is not looked into.
    """
    listed = None if students is None else _Class.of(students)
    attempts: dict[str, list[tuple[Assigned, _Issued]]] = {}
    unmatched, problems = [], []
    for item in find_notebooks(submissions, out=out):
        if isinstance(item, Refused):
            problems.append(item)
            continue
        issued = _issued(item, secret)
        owned = _alone(item, issued) if listed is None else _owner(listed, item, issued)
        if isinstance(owned, Refused):
            unmatched.append(owned)
        else:
            attempts.setdefault(owned.student, []).append((owned, issued))
    order = sorted(attempts) if students is None else [s.id for s in students if s.id in attempts]
    counted, superseded = [], []
    for student in order:
        *earlier, (last, issued) = sorted(attempts[student], key=_later)
        superseded += [one for one, _ in earlier]
        drawn = exercises if students is not None or issued.to else ()
        counted.append(_with_earlier(_with_numbers(last, issued, secret, drawn), [one for one, _ in earlier]))
    return Collected(
        tuple(counted), tuple(superseded), tuple(unmatched), tuple(problems),
        tuple(student for student in students or () if student.id not in attempts),
    )  # fmt: skip


def _later(attempt: tuple[Assigned, _Issued]) -> tuple[bool, int, int, str]:
    """Order attempts by time; before all others count those signed for this very student.

    Behind stand those that are signed for nobody, for somebody else, or cannot be read: anyone can write a
    classmate's id into a file name.
    """
    one, issued = attempt
    signed = 1 if not issued.to else 2 if same_id(issued.to) == same_id(one.student) else 0
    return not one.problem, signed, one.modified, one.file


def _issued(found: Found, secret: bytes | None) -> _Issued:
    """Read a notebook once for its metadata; its bytes are not kept."""
    try:
        content = found.read()
    except CourseError as error:
        return _Issued(problem=str(error))
    try:
        about = issued_in(content)
    except CourseError:
        return _Issued(broken=True)  # the grader says what is wrong with it
    student, parameters = about.get("student"), about.get("parameters")
    valid = secret is not None and is_signed(student, parameters, secret, about.get("signature"))
    to = student if valid and isinstance(student, str) else ""
    return _Issued(to, bool(about), parameters if valid and isinstance(parameters, dict) else {})


def _owner(listed: _Class, found: Found, issued: _Issued) -> Assigned | Refused:
    named = listed.named_in(found.raw)
    signed = listed.students.get(same_id(issued.to)) if issued.to else None
    ids = "、".join(student.id for student in named[:_SHOWN])
    if len(named) != 1 and signed is None:
        names = f"文件名里有不止一个学号（{ids}）" if named else "文件名里没有名单上的学号"
        stranger = f"笔记本是发给 {printable(issued.to)} 的，不在名单上"
        why = issued.problem.rstrip("。") or (stranger if issued.to else "笔记本里也没有有效的签名")
        return Refused(found.raw, f"{names}，{why}。请把学号写进文件名，再批改一次。")
    student = named[0] if len(named) == 1 else signed
    assert student is not None
    warnings: tuple[str, ...] = ()
    if len(named) > 1:
        warnings = (f"文件名里有不止一个学号（{ids}），按笔记本的签名算作 {student.id} 的。",)
    elif issued.to and same_id(issued.to) != same_id(student.id):
        warnings = (
            f"按文件名算作 {student.id} 的，笔记本却是发给 {printable(issued.to)} 的（签名有效），请查一下。",
        )
    return _assigned(student.id, student.name, found, issued, warnings)


def _alone(found: Found, issued: _Issued) -> Assigned:
    """Without a class list a file belongs to whom it was issued to, else to its own name."""
    return _assigned(issued.to or found.name[: -len(SUFFIX)] or found.name, "", found, issued, ())


def _assigned(student: str, name: str, found: Found, issued: _Issued, warnings: tuple[str, ...]) -> Assigned:
    return Assigned(
        student, name, found.name, found.modified, found.read, warnings=warnings, problem=issued.problem
    )


def _with_numbers(
    one: Assigned, issued: _Issued, secret: bytes | None, exercises: Sequence[Exercise]
) -> Assigned:
    """Return the file with its student's own numbers, and a warning where the notebook shows others."""
    if secret is None:
        said = "笔记本里有个人题设，但没有给密钥，按教材的题设批改。" if issued.personal else ""
        return replace(one, warnings=(*one.warnings, said) if said else one.warnings)
    own = {exercise.id: draw(exercise, one.student, secret) for exercise in exercises}
    whose = f" {one.student} 自己" if own else "教材"
    if one.problem or issued.broken or (issued.to and same_id(issued.to) != same_id(one.student)):
        return replace(one, parameters=own)
    if issued.to:
        said = "" if _agree(own, issued.parameters) else "笔记本里的题设签名有效，却与现在抽出的不同"
    else:
        said = "笔记本里的个人题设没有有效的签名" if issued.personal else "笔记本里没有个人题设"
    warning = (f"{said}；按{whose}的题设批改，请核对。",) if said else ()
    return replace(one, parameters=own, warnings=(*one.warnings, *warning))


def _agree(own: Mapping[str, Any], signed: Mapping[str, Any]) -> bool:
    return all(
        json.dumps(own[id], sort_keys=True) == json.dumps(signed[id], sort_keys=True)
        for id in own.keys() & signed.keys()
    )


def _with_earlier(last: Assigned, earlier: Sequence[Assigned]) -> Assigned:
    if not earlier:
        return last
    names = "、".join(_short(one.file) for one in earlier[-_SHOWN:])
    more = "等" if len(earlier) > _SHOWN else ""
    said = f"另有 {len(earlier)} 份较早的没有计入：{names}{more}。"
    return replace(last, warnings=(*last.warnings, said))


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:40]}…{name[-39:]}"
