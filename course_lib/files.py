"""Read a file, or say why not; write one so that a crash leaves the old or the new, never half of it."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import CourseError


def read_whole(path: Path, name: str) -> bytes:
    """Return a file's bytes, or raise ``CourseError`` with the cause; ``name`` says in Chinese what it is."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f"找不到{name}", got=str(path), remedy="请检查路径和文件名") from None
    except OSError as error:
        if path.is_dir():
            raise CourseError(f"{name}是一个文件夹", got=str(path), remedy="请给文件") from None
        if isinstance(error, PermissionError):
            raise CourseError(f"没有权限读{name}", got=str(path), remedy="请改这个文件的读取权限") from None
        raise CourseError(f"{name}读不出来：{error.strerror}", got=str(path), remedy="请检查路径") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a whole file in one step, folders included; a write that fails leaves nothing beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Let the system write down which names a folder holds; Windows has no such call for folders."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
