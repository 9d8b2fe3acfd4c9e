"""Give the reader a copy of the notebooks to work on, and never overwrite that work.

``work/`` holds the copies and a small list of the shipped versions they came from. A copy that still equals
the version it came from is replaced by a later one; a copy that the reader changed stays, and the later
version is put beside it under a name of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..errors import CourseError
from ..files import write_whole

MANIFEST: Final = ".course-versions.json"


def prepare(*, shipped: Path, work: Path) -> list[str]:
    """Bring ``work`` up to date with ``shipped`` and return the Chinese sentences to tell the reader.

    Every file is written in one step and the list of versions last: a start that is killed is simply done
    again by the next one. Raises ``CourseError`` where there is nothing to copy.
    """
    names = [path.relative_to(shipped).as_posix() for path in _files(shipped)]
    if not names:
        raise CourseError(
            "找不到课程的笔记本", got=str(shipped), remedy="请重新下载完整的课程文件夹，再从那里启动"
        )
    versions = _read_versions(work / MANIFEST)
    sentences = []
    for name in names:
        sentence = _bring_up_to_date(name, (shipped / name).read_bytes(), work, versions)
        if sentence:
            sentences.append(sentence)
    write_whole(work / MANIFEST, json.dumps(versions, indent=1, sort_keys=True).encode())
    return sentences


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts):
            yield path


def _bring_up_to_date(name: str, content: bytes, work: Path, versions: dict[str, str]) -> str | None:
    """Copy one file, or put it beside the reader's; note its version; return what the reader must know."""
    new, known = _digest(content), versions.get(name)
    path = work / name
    here = _digest(path.read_bytes()) if path.exists() else None
    versions[name] = new
    if here == new or (here is not None and known == new):
        return None
    if here is None or here == known:
        write_whole(path, content)
        return f"{name} 已换成新版（你没有改过它）。" if here else None
    beside = _free_name(name, new, work, versions)
    versions[beside] = new
    write_whole(work / beside, content)
    return f"{name} 有新版：你的那份没有动，新版放在旁边，叫 {beside}。"


def _free_name(name: str, new: str, work: Path, versions: dict[str, str]) -> str:
    """Return a name for a later version that is free, or holds a version that the reader has not touched."""
    stem, dot, ending = name.rpartition(".")
    number = 1
    while True:
        beside = f"{stem}.new{'' if number == 1 else f'-{number}'}{dot}{ending}"
        path = work / beside
        if not path.exists() or _digest(path.read_bytes()) in (new, versions.get(beside)):
            return beside
        number += 1


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_versions(path: Path) -> dict[str, str]:
    """Return the noted versions; an unreadable list counts as empty, then every changed copy is kept."""
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(noted, dict):
        return {}
    return {str(name): str(version) for name, version in noted.items()}
