"""Run uv and pip: with visible progress in Chinese, and only where they can do no harm."""

from __future__ import annotations

import collections
import importlib.util
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from ..places import ROOT
from .causes import DISK_FULL, failure, without_module
from .settings import clean_environment, pip_environment, uv_environment, uv_is_redirected

HEARTBEAT_SECONDS: Final = 15


class Outcome(NamedTuple):
    """How a tool ended: whether it succeeded, and its last words."""

    fine: bool
    words: list[str]


def install(lock: Path, python: Path, handle: int) -> None:
    """Install one lock for ``python`` with a usable uv, or, where there is none or it fails, with pip."""
    print(f"正在安装 {lock.name} 里的软件包……", flush=True)
    source = ["--require-hashes", "--only-binary=:all:", "-r", str(lock)]
    if uv := usable_uv():
        # Like pip: what is compiled now is not compiled by the first start.
        command = [
            uv,
            "pip",
            "install",
            "--compile-bytecode",
            "--project",
            str(ROOT),
            "--python",
            str(python),
        ]
        outcome = run([*command, *source], uv_environment(), handle)
        if outcome.fine:
            return
        if DISK_FULL.seen_in(outcome.words):
            raise failure(outcome.words)
        print("uv 没有装成，改用 pip 再试一次……", flush=True)
    pip = pip_command(python, handle)
    environment = pip_environment(pip)
    outcome = run([*pip, "install", *source], environment, handle)
    if not outcome.fine:
        no_index = environment.get("PIP_NO_INDEX", "0").lower() not in ("0", "false", "no", "off")
        raise failure(outcome.words, no_index=no_index)


def usable_uv() -> str | None:
    """Return the path of a uv that answers and that no settings file sends elsewhere."""
    uv = shutil.which("uv")
    if not uv or uv_is_redirected():
        return None
    try:
        answer = subprocess.run([uv, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return uv if answer.returncode == 0 else None


def pip_command(python: Path, handle: int) -> list[str]:
    """Return the command that is pip for the environment: its own, or that of the Python we run on."""
    if importlib.util.find_spec("ensurepip"):
        outcome = run([str(python), "-I", "-m", "ensurepip"], clean_environment(), handle)
        if outcome.fine:
            return [str(python), "-I", "-m", "pip"]
        if DISK_FULL.seen_in(outcome.words):
            raise failure(outcome.words)
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", str(python)]
    raise without_module("ensurepip")


def run(command: Sequence[str], environment: Mapping[str, str], handle: int) -> Outcome:
    """Run a command, show its progress and return how it ended; it inherits the install lock ``handle``."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=() if os.name == "nt" else (handle,),
    )
    assert process.stdout is not None
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True).start()
    try:
        words = _follow(lines)
        return Outcome(process.wait() == 0, words)
    finally:
        if process.poll() is None:
            process.kill()


def _read_lines(pipe: IO[bytes], lines: queue.Queue[str | None]) -> None:
    for line in pipe:
        lines.put(line.decode("utf-8", "replace").rstrip())
    lines.put(None)


def _follow(lines: queue.Queue[str | None]) -> list[str]:
    """Show progress until the output ends, with a sign of life in long silences; return the last lines."""
    words: collections.deque[str] = collections.deque(maxlen=400)
    started = time.monotonic()
    while True:
        try:
            line = lines.get(timeout=HEARTBEAT_SECONDS)
        except queue.Empty:
            print(f"  ……仍在进行，已用 {time.monotonic() - started:.0f} 秒", flush=True)
            continue
        if line is None:
            return list(words)
        words.append(line)
        if said := in_chinese(line):
            print(f"  {said}", flush=True)


def in_chinese(line: str) -> str | None:
    """Return what a line of pip or uv reports about progress, if it does.

    >>> in_chinese("  Downloading numpy-2.4.0-cp311-cp311-win_amd64.whl (12.6 MB)")
    '下载 numpy (12.6 MB)'
    """
    fetched = re.match(r"\s*(Downloading|Using cached)\s+(\S+)(?:\s+(\(.+\)))?", line)
    if fetched and not fetched[2].endswith(".metadata"):
        verb = "下载" if fetched[1] == "Downloading" else "取自缓存"
        name = fetched[2].rpartition("/")[2].split("-")[0]
        return f"{verb} {name} {fetched[3] or ''}".rstrip()
    if line.startswith("Installing collected packages"):
        return f"正在写入 {line.count(',') + 1} 个软件包……"
    return None
