"""Bounds of a box that no limit inside it can hold: all its processes together, seen from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..jobs import Limits
from .boxes import BoxedProcess

_PAUSE: Final = 0.1  # seconds


def watch(process: BoxedProcess, limits: Limits) -> None:
    """End the box from a thread of its own once it takes more memory, processes or time than it may."""
    threading.Thread(target=_watch, args=(process, limits), daemon=True).start()


def _watch(process: BoxedProcess, limits: Limits) -> None:
    end = time.monotonic() + limits.wall_seconds
    first = _parent(process.pid)  # the box's first process, above every other one in it
    while process.poll() is None:
        members = list(_members(first))
        too_much = len(members) > limits.processes + 1 or sum(map(_memory, members)) > limits.memory_bytes
        if too_much or time.monotonic() > end:
            process.kill()
            return
        process.wait(_PAUSE)


def _parent(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return pid  # gone already
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:")), pid)


def _members(pid: int) -> Iterator[int]:
    """Yield a process and all below it; a process may have been started by any thread of its parent."""
    yield pid
    try:
        for status in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in status.read_text(encoding="ascii").split():
                yield from _members(int(child))
    except OSError:
        return  # gone meanwhile


def _memory(pid: int) -> int:
    """Return the bytes of a process, shared pages divided among those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
