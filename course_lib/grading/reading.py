"""Take from a submission what is asked for, and nothing else: the sources of answer cells, by their ids.

Metadata, tags, outputs, order and every other cell are ignored. Whatever the bytes hold, the outcome is a
``Submission`` or a ``CourseError`` with one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import CourseError
from ..exercises import Exercise
from ..exercises.cells import place_of

LARGEST: Final = 20_000_000  # bytes; a notebook of the course with its pictures stays under one million
_MOST_CONTAINERS: Final = 1_000_000  # small lists cost sixty times their two characters
_FORMAT: Final = 4
_LONGEST_SOURCE: Final = 500_000  # characters of an answer cell; a long honest one has a thousand
_LONGEST_TEXT: Final = 32_000  # characters of a free answer; a cell of a spreadsheet holds 32,767
_AGAIN: Final = "请让这名学生重新保存并再交一次"


@dataclass(frozen=True, slots=True)
class Submission:
    """What counts of one file: answer cells and free texts by exercise id, sentences for the teacher."""

    answers: Mapping[str, str]
    texts: Mapping[str, str]
    warnings: tuple[str, ...]


def read_submission(content: bytes, exercises: Iterable[Exercise]) -> Submission:
    """Return what the bytes of a notebook hold of these exercises; refuse what is no notebook."""
    found: dict[str, dict[str, Any]] = {}
    repeated: list[str] = []
    for cell in _cells(content):
        id = cell.get("id")
        if isinstance(id, str) and found.setdefault(id, cell) is not cell:
            repeated.append(id)
    answers: dict[str, str] = {}
    texts: dict[str, str] = {}
    warnings: list[str] = []
    for exercise in exercises:
        name = "-".join(place_of(exercise))
        answer, reason = found.get(f"{name}-answer"), found.get(f"{name}-reason")
        if answer is not None and answer.get("cell_type") != "code":
            warnings.append(f"习题 {exercise.id} 的作答格被改成了别的类型，没有运行。")
        elif answer is not None and len(source := _source(answer)) > _LONGEST_SOURCE:
            warnings.append(f"习题 {exercise.id} 的作答格有 {len(source)} 个字符，太长，没有运行。")
        elif answer is not None:
            answers[exercise.id] = source
        if f"{name}-answer" in repeated:
            warnings.append(f"习题 {exercise.id} 的作答格有不止一个，只看第一个。")
        if reason is not None:
            texts[exercise.id] = _own_words(exercise, _source(reason))
    return Submission(answers, texts, tuple(warnings))


def issued_in(content: bytes) -> dict[str, Any]:
    """Return ``metadata.course`` of a notebook, empty where there is none; its values may be anything."""
    notebook = _parse(content)
    metadata = notebook.get("metadata") if isinstance(notebook, dict) else None
    course = metadata.get("course") if isinstance(metadata, dict) else None
    return course if isinstance(course, dict) else {}


def too_large() -> CourseError:
    """Return the sentence for a file that is not read because of its size."""
    return CourseError(f"文件超过 {LARGEST // 1_000_000} MB，没有读", remedy="请清除笔记本的输出，保存后再交")


def _cells(content: bytes) -> Iterator[dict[str, Any]]:
    notebook = _parse(content)
    version = notebook.get("nbformat") if isinstance(notebook, dict) else None
    if type(version) is not int or not isinstance(notebook.get("cells"), list):
        raise CourseError("文件是 JSON，但不是笔记本", remedy=_AGAIN)
    if version != _FORMAT:
        raise CourseError(
            "笔记本的格式版本不对", got=version, remedy=f"请用 JupyterLab 打开并保存成第 {_FORMAT} 版"
        )
    for cell in notebook["cells"]:
        if isinstance(cell, dict):
            yield cell


def _parse(content: bytes) -> Any:
    if len(content) > LARGEST:
        raise too_large()
    if content.count(b"[") + content.count(b"{") > _MOST_CONTAINERS:
        raise CourseError("文件里的括号多得不像笔记本，没有读", remedy=_AGAIN)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError("文件不是 UTF-8 编码", remedy=_AGAIN) from None
    try:
        return json.loads(text)
    except RecursionError:
        raise CourseError("文件里的 JSON 套得太深", remedy=_AGAIN) from None
    except ValueError:  # also a number of more digits than Python reads
        raise CourseError("文件不是完整的 JSON", remedy=_AGAIN) from None


def _source(cell: Mapping[str, Any]) -> str:
    """Return a cell's text with plain line ends; nbformat writes a string or a list of lines."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.encode("utf-8", "replace").decode()  # JSON may hold half of a surrogate pair


def _own_words(exercise: Exercise, text: str) -> str:
    """Return a free answer without the cell's own words; empty where nothing was written."""
    start = text.find(exercise.reason)
    own = text[start + len(exercise.reason) :] if start >= 0 else text
    own = own.replace("这里留给人读，不自动评分。", "").replace("（写在这里）", "")
    own = "\n".join(own.strip().splitlines()).strip(" >\n")
    return own if len(own) <= _LONGEST_TEXT else f"{own[:_LONGEST_TEXT]}……（太长，后面的没有收）"
