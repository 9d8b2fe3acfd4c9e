"""Find the notebooks in a zip without extracting anything, whatever the zip says of itself."""

from __future__ import annotations

import calendar
import stat
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from ..errors import CourseError
from .found import HAND_IN, PACKED, SUFFIX, Found, Refused, is_left_by_systems, not_regular
from .reading import LARGEST, too_large

_AGAIN: Final = "请解压到一个文件夹，再给这个文件夹"
_UTF8_NAME: Final = 0x800
_ENCRYPTED: Final = 0x1
_UNIX: Final = 3
_BOUNDED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack more than they are asked for


def in_zip(path: Path) -> Iterator[Found | Refused]:
    """Yield what a zip holds; raise ``CourseError`` where it cannot be read as one."""
    try:
        archive = zipfile.ZipFile(path)
        entries = archive.infolist()
    except PermissionError:
        raise CourseError("没有权限读这个 zip", got=str(path), remedy="请改它的读取权限") from None
    except Exception:  # bytes that are no zip break the reader in any way
        raise CourseError("这不是 zip，或者不完整", got=str(path), remedy=_AGAIN) from None
    for entry in entries:
        name = _name(entry)
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        if not parts or is_left_by_systems(parts):
            continue
        if ".." in parts or name.startswith("/") or parts[0][1:2] == ":":
            yield Refused(name, "压缩包里的这个名字指到了外面，没有读。请让这名学生再交一次。")
        elif not name.endswith("/") and parts[-1].lower().endswith(SUFFIX):
            yield Found("/".join(parts), _modified(entry), partial(_read, archive, entry))
        elif parts[-1].lower().endswith(PACKED) and not name.endswith("/"):
            yield Refused(name, f"这是压缩包里的压缩包，没有打开。{HAND_IN}。")
        elif stat.S_ISLNK(_mode(entry)):
            yield Refused(name, str(not_regular(_mode(entry))))


def _name(entry: zipfile.ZipInfo) -> str:
    """Return an entry's name; where it does not say which encoding, UTF-8 or else GBK, as Windows writes.

    A few short Chinese names in GBK are UTF-8 as well, but of two-byte signs only.
    """
    name = entry.orig_filename
    if not entry.flag_bits & _UTF8_NAME:
        raw = name.encode("cp437")
        utf8, gbk = _decoded(raw, "utf-8"), _decoded(raw, "gb18030")
        is_utf8 = utf8 and (entry.create_system == _UNIX or max(utf8) >= "\u0800")
        name = utf8 if is_utf8 else gbk or name
    return name.replace("\\", "/")


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return ""


def _modified(entry: zipfile.ZipInfo) -> int:
    try:
        return calendar.timegm((*entry.date_time, 0, 0, 0))
    except ValueError:  # month 0
        return 0


def _mode(entry: zipfile.ZipInfo) -> int:
    return entry.external_attr >> 16 if entry.create_system == _UNIX else 0


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if stat.S_IFMT(_mode(entry)) not in (0, stat.S_IFREG):
        raise not_regular(_mode(entry))
    if entry.flag_bits & _ENCRYPTED:
        raise CourseError("压缩包里的这个文件加了密码", remedy="请让这名学生交没有密码的")
    if entry.compress_type not in _BOUNDED:
        raise CourseError("压缩包里的这个文件用了少见的压缩方法", remedy=_AGAIN)
    try:
        with archive.open(entry) as file:
            content = file.read(LARGEST + 1)
    except Exception:  # a hostile zip breaks the reader in any way
        raise CourseError("压缩包里的这个文件坏了", remedy="请让这名学生再交一次") from None
    if len(content) > LARGEST:
        raise too_large()
    return content
