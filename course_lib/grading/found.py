"""What was found among the submissions: a notebook that can be read, or a sentence why not."""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..errors import CourseError

SUFFIX: Final = ".ipynb"
_LEFT_BY_SYSTEMS: Final = ("__MACOSX", ".ipynb_checkpoints")
PACKED: Final = (".zip", ".rar", ".7z", ".tar", ".gz")
HAND_IN: Final = "请让这名学生交笔记本文件本身"
_KINDS: Final = ((stat.S_ISLNK, "链接"), (stat.S_ISFIFO, "管道"), (stat.S_ISSOCK, "套接字"),
                 (stat.S_ISCHR, "设备"), (stat.S_ISBLK, "设备"), (stat.S_ISDIR, "文件夹"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """One notebook: its name below the submissions, with ``/``, as it is, and when it was changed.

    ``modified`` only orders files of one hand-in. ``read()`` gives the bytes, at most ``reading.LARGEST``, or
    raises ``CourseError`` with one sentence.
    """

    raw: str
    modified: int
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The name as it can be shown."""
        return printable(self.raw)


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that was handed in and is not graded, with the sentence that says why."""

    raw: str
    reason: str
    modified: int = 0

    @property
    def name(self) -> str:
        """The name as it can be shown."""
        return printable(self.raw)


def printable(name: str) -> str:
    """Return a name that can be shown and written, different for different names.

    >>> printable("一班/a b\\n\\udcff\\\\.ipynb")
    '一班/a b\\\\n\\\\udcff\\\\\\\\.ipynb'
    """
    return "".join(
        sign if sign != "\\" and (sign.isprintable() or unicodedata.category(sign) == "Zs")
        else sign.encode("unicode_escape").decode()
        for sign in name
    )  # fmt: skip


def is_left_by_systems(parts: tuple[str, ...]) -> bool:
    """Say whether a name is what macOS and Jupyter leave beside people's files."""
    return any(part in _LEFT_BY_SYSTEMS for part in parts) or parts[-1].startswith("._")


def not_regular(mode: int) -> CourseError:
    """Return the sentence for what is no regular file."""
    kind = next((word for is_kind, word in _KINDS if is_kind(mode)), "特殊文件")
    return CourseError(f"这是{kind}，没有打开", remedy=HAND_IN)
