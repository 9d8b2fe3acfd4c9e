"""Find the notebooks that were handed in: in a folder, or in the zip of a learning-management system.

Nothing is extracted, no link is followed, nothing but regular files is opened. Bytes are read when they are
asked for, one file at a time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..errors import CourseError
from .archives import in_zip
from .found import HAND_IN, PACKED, SUFFIX, Found, Refused, is_left_by_systems, not_regular
from .reading import LARGEST, too_large


def find_notebooks(submissions: Path, *, out: Path | None = None) -> list[Found | Refused]:
    """Return every ``.ipynb`` of a folder or zip, sorted by name, and what was refused.

    ``out`` is left out where it lies inside. Raises ``CourseError`` where there is nothing to grade.
    """
    if not os.path.exists(submissions):
        raise CourseError("找不到要批改的文件夹或 zip", got=str(submissions), remedy="请检查路径")
    if not submissions.is_dir() and not submissions.is_file():
        raise CourseError("这不是文件夹，也不是 zip", got=str(submissions), remedy="请检查路径")
    found = list(_in_folder(submissions, out) if submissions.is_dir() else in_zip(submissions))
    if not found:
        raise CourseError(
            f"里面没有 {SUFFIX} 文件", got=str(submissions), remedy="请给装着学生作业的文件夹，或下载来的 zip"
        )
    return sorted(found, key=lambda item: (item.raw, item.modified))


def _in_folder(root: Path, out: Path | None) -> Iterator[Found | Refused]:
    skipped = _place(out) if out else None
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError as error:
            if not folder:
                raise CourseError("这个文件夹打不开", got=str(root), remedy="请检查权限") from None
            yield Refused(folder, f"这个文件夹打不开：{error.strerror}。请检查权限。")
            continue
        for entry in entries:
            below = f"{folder}/{entry.name}" if folder else entry.name
            if is_left_by_systems((entry.name,)):
                continue
            if _is_own_folder(entry):
                if skipped is None or _place(Path(entry.path)) != skipped:
                    folders.append(below)
            elif entry.name.lower().endswith(SUFFIX):
                yield Found(below, _modified(entry), partial(_read, entry.path))
            elif entry.name.lower().endswith(PACKED):
                yield Refused(below, f"这是压缩包，没有打开。{HAND_IN}。")
            elif entry.is_symlink() or not entry.is_file(follow_symlinks=False):
                yield Refused(below, f"这是链接或特殊文件，没有跟进去。{HAND_IN}。")


def _place(folder: Path) -> tuple[int, int] | None:
    """Return what makes a folder the same one under any name; nothing where it does not exist."""
    try:
        about = folder.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    """Say whether this is a folder and no link to one; Windows has junctions, known from Python 3.12 on."""
    is_junction = getattr(entry, "is_junction", lambda: False)
    return entry.is_dir(follow_symlinks=False) and not is_junction()


def _modified(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _read(path: str) -> bytes:
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            raise not_regular(mode)
        with open(path, "rb", opener=_without_links) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise not_regular(about.st_mode)
            content = b"" if about.st_size > LARGEST else file.read(about.st_size + 1)
    except OSError as error:
        raise CourseError(
            f"文件打不开：{error.strerror}", remedy="请检查它的权限，或请学生再交一次"
        ) from None
    if about.st_size > LARGEST or len(content) > LARGEST:
        raise too_large()
    return content


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
