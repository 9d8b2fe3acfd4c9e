"""Put a whole folder in place in one step: whoever looks sees the old site or the new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...errors import CourseError
from ...files import write_whole

MARK: Final = '<meta name="generator" content="course_lib site">'


def checked(out: Path) -> Path:
    """Return the absolute folder, or raise ``CourseError``: nothing but an older site is ever replaced."""
    found = out.expanduser().resolve()
    if found.exists() and not found.is_dir():
        raise CourseError("--out 是一个文件", got=str(out), remedy="请给一个文件夹，不在就会新建")
    if found.is_dir() and any(found.iterdir()) and not _is_site(found):
        raise CourseError("--out 里有别的东西", got=str(out), remedy="请给一个空的或新的文件夹")
    return found


def _is_site(folder: Path) -> bool:
    index = folder / "index.html"
    return index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")


def replace_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """Write all files beside ``out``, then change names; a failure leaves ``out`` as it was."""
    fresh = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        for name, content in files.items():
            write_whole(fresh / name, content)
        _swap(fresh, out)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CourseError(
            f"网页没有写成（{reason}），原有的没有动", got=str(out), remedy="请换一个可写的文件夹"
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, out: Path) -> None:
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    had = out.exists()
    if had:
        os.rename(out, old)
    try:
        os.rename(fresh, out)
    except OSError:
        if had:
            os.rename(old, out)
        raise
    shutil.rmtree(old, ignore_errors=True)
