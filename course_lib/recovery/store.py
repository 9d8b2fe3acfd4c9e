"""Save a run over several files and load the newest save that is whole.

A save is a folder of its own: ``shard-0-of-4.bin`` …, and last of all ``manifest.json``, which names every
shard with its size and hash. No earlier save is touched before that manifest stands. Every shard begins with
a line that names the save it belongs to, so that files of two saves never pass for one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..arguments import instance, text, whole
from ..collectives import share
from ..errors import CourseError
from ..files import sync_folder, write_whole
from .parts import Parts, put_together, take_apart, versions
from .runs import Setup, TrainingRun

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
KEPT: Final = 2  # complete saves; an older one goes only after a newer one stands
_AGAIN: Final = "请用另一个完整的检查点恢复"


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A resumed run, the save that it came from, and why newer saves were refused: (name, reason)."""

    run: TrainingRun
    save: Path
    refused: tuple[tuple[str, str], ...]


def save(run: TrainingRun, folder: object, *, shards: object = 4) -> Path:
    """Write one save and return its folder. Raises ``CourseError`` where the system refuses.

    Earlier saves are then as they were: full disk, read-only folder and a killed process leave at most an
    unfinished folder without a manifest.
    """
    parts = take_apart(run)
    count = whole("shards", shards, minimum=1, maximum=1024)
    identity = secrets.token_hex(4)
    place = _path(folder) / f"save-{run.rounds:08d}-{identity}"
    try:
        place.mkdir(parents=True)
        written = [
            _write(place, f"shard-{number}-of-{count}.bin", content)
            for number, content in enumerate(_shards(parts, identity, count))
        ]
        sync_folder(place.parent)
        content = {
            "format": FORMAT,
            "save": identity,
            "versions": versions(run.setup),
            "facts": parts.facts,
            "arrays": [[name, each.dtype.str, list(each.shape)] for name, each in parts.arrays.items()],
            "shards": written,
        }
        write_whole(place / MANIFEST, _sealed(content))
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise CourseError(
            f"检查点没有写成（{error.strerror or error}），更早的检查点没有动",
            remedy="请检查磁盘空间和文件夹的写入权限",
        ) from error
    _forget_older(place)
    return place


def load(folder: object, *, setup: Setup) -> Loaded:
    """Return the newest save that is whole and of this setup; newer ones are refused with a reason.

    Raises ``CourseError`` with every reason where no save will do.
    """
    instance("setup", setup, Setup, "请用 Setup(...) 写明配置与版本")
    refused: list[tuple[str, str]] = []
    for place in saves(folder):
        try:
            return Loaded(read(place, setup=setup), place, tuple(refused))
        except CourseError as error:
            refused.append((place.name, str(error)))
    reasons = "；".join(f"{name}：{reason.rstrip('。')}" for name, reason in refused)
    raise CourseError(
        f"没有可用的恢复检查点。{reasons or '这里一次也没有保存过'}", remedy="请换一个文件夹，或从头训练"
    )


def saves(folder: object) -> list[Path]:
    """Return the folders of all saves, finished or not, the newest first."""
    try:
        return sorted(_path(folder).glob("save-*-*"), reverse=True)
    except OSError as error:
        raise CourseError("folder 读不了", got=folder, remedy="请给一个能读的文件夹") from error


def read(place: Path, *, setup: Setup) -> TrainingRun:
    """Return the run of one save. Raises ``CourseError`` that names what is missing, altered or foreign."""
    manifest = _manifest(place)
    if manifest["format"] != FORMAT:
        raise CourseError("文件格式是另一个版本", got=manifest["format"], remedy=f"这里读得懂版本 {FORMAT}")
    for name, wanted in versions(setup).items():
        if manifest["versions"].get(name) != wanted:
            raise CourseError(
                f"{name}与保存时不同：那时是 {manifest['versions'].get(name)}，现在是 {wanted}",
                remedy="请用保存时的配置与版本恢复",
            )
    payload = b"".join(_shard(place, manifest, *each) for each in manifest["shards"])
    return put_together(setup, Parts(dict(_arrays(payload, manifest["arrays"])), manifest["facts"]))


def _shards(parts: Parts, identity: str, count: int) -> Iterator[bytes]:
    payload = b"".join(np.ascontiguousarray(each).tobytes() for each in parts.arrays.values())
    for number in range(count):
        mine = share(len(payload), workers=count, worker=number)
        yield _label(identity, f"shard-{number}-of-{count}.bin") + payload[mine.start : mine.stop]


def _label(identity: str, name: str) -> bytes:
    return f"{identity} {name}\n".encode()


def _write(place: Path, name: str, content: bytes) -> list[Any]:
    write_whole(place / name, content)
    return [name, len(content), hashlib.sha256(content).hexdigest()]


def _sealed(content: dict[str, Any]) -> bytes:
    words = json.dumps(content, ensure_ascii=False, indent=1)
    return f"{hashlib.sha256(words.encode()).hexdigest()}\n{words}".encode()


def _manifest(place: Path) -> dict[str, Any]:
    seal, _, words = _bytes(place / MANIFEST, "清单还没有写，保存中途停了").partition(b"\n")
    if hashlib.sha256(words).hexdigest().encode() != seal:
        raise CourseError("清单被改过或没有写全", remedy=_AGAIN)
    found: dict[str, Any] = json.loads(words)
    return found


def _shard(place: Path, manifest: dict[str, Any], name: str, size: int, wanted: str) -> bytes:
    content = _bytes(place / name, f"缺少分片 {name}")
    label = _label(manifest["save"], name)
    if len(content) < size and label.startswith(content[: len(label)]):
        raise CourseError(f"分片 {name} 不完整：应有 {size:,} 字节，只有 {len(content):,}", remedy=_AGAIN)
    if not content.startswith(label):
        raise CourseError(f"分片 {name} 属于另一次保存，或不是这个位置的", remedy=_AGAIN)
    if hashlib.sha256(content).hexdigest() != wanted:
        raise CourseError(f"分片 {name} 被改过：哈希与清单不符", remedy=_AGAIN)
    return content[len(label) :]


def _bytes(path: Path, missing: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CourseError(missing, remedy=_AGAIN) from error


def _arrays(payload: bytes, listed: list[Any]) -> Iterator[tuple[str, Any]]:
    at = 0
    for name, kind, shape in listed:
        size = prod(shape) * np.dtype(kind).itemsize
        yield name, np.frombuffer(payload[at : at + size], kind).reshape(shape)
        at += size


def _forget_older(place: Path) -> None:
    """Remove what is older than the last complete saves; a manifest goes first, as it came last."""
    older = [each for each in saves(place.parent) if each.name < place.name]
    complete = [each for each in older if (each / MANIFEST).exists()][: KEPT - 1]
    for each in older:
        if each not in complete:
            with suppress(OSError):  # a file that another program holds open stays, and harms nobody
                (each / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(each, ignore_errors=True)


def _path(folder: object) -> Path:
    name = text("folder", str(folder) if isinstance(folder, Path) else folder)
    if "\0" in name:
        raise CourseError("folder 不是文件夹的名字", got=name, remedy="请给一个文件夹的路径")
    return Path(name)
