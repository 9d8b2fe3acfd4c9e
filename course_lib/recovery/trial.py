"""Kill a training process again and again, and see whether what it saved still continues the same run."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..arguments import truth, whole
from ..errors import CourseError

PACKAGE: Final = Path(__file__).resolve().parents[1]
LONGEST_WAIT: Final = 0.25  # seconds from the worker's first line to its end
FAR: Final = 10**6  # rounds: no worker gets there alive
MORE: Final = 5  # rounds that the last worker trains in peace
# One thread per process: killed ones start faster, and all add up in the same order.
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Trial:
    """``killed`` processes; how often what they left was ``damaged``; whether the ``final`` states agree.

    Damaged is what cannot be read, and what is read but is not the state that the uninterrupted run had then.
    ``rounds`` is how far the run came.
    """

    killed: int
    damaged: int
    final_equal: bool
    rounds: int


def kill_and_resume(kills: object, *, naive: object = False, seed: object = 0) -> Trial:
    """Start a training process, kill it after a random moment, resume; so many times, then let it finish.

    The kill is SIGKILL, on Windows TerminateProcess: nothing in the process can answer it. ``naive`` saves
    without care, as a control; after damage it has to begin anew. Saves lie in a folder that is removed.
    """
    count = whole("kills", kills, minimum=1, maximum=1000)
    how = ("naive",) if truth("naive", naive) else ()
    dice = random.Random(whole("seed", seed))
    with tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "saves"
        found = []
        for _ in range(count):
            found.append(_start_and_kill(folder, how, dice.uniform(0, LONGEST_WAIT)))
            if found[-1] is None:
                shutil.rmtree(folder)
        return _judge(found, folder, how)


Seen = tuple[int, str] | None  # round and digest; None for what could not be read


def _judge(found: list[Seen], folder: Path, how: tuple[str, ...]) -> Trial:
    """Let the last worker finish, and hold everything seen against a run that nobody stops."""
    first = _lines(folder, 0, how)[0]
    if first is None:
        shutil.rmtree(folder)
    last = (first[0] if first else 0) + MORE
    end = _lines(folder, last, how)[-1]
    furthest = max([last, *(seen[0] for seen in found if seen)])
    truths = set(_lines(Path("-"), furthest, ()))
    # What the first worker found is a beginning, not a resumption.
    damaged = sum(seen not in truths for seen in [*found[1:], first])
    return Trial(len(found), damaged, end in truths, last)


def _start_and_kill(folder: Path, how: tuple[str, ...], wait: float) -> Seen:
    with _worker(folder, FAR, how) as process:
        try:
            assert process.stdout
            seen = _read(process.stdout.readline())
            if seen:
                time.sleep(wait)
        finally:
            process.kill()
    return seen


def _lines(folder: Path, last: int, how: tuple[str, ...]) -> list[Seen]:
    with _worker(folder, last, how) as process:
        said, _ = process.communicate()
    return [_read(line) for line in said.splitlines()]


def _read(line: str) -> Seen:
    if line.startswith("damaged"):
        return None
    words = line.split()
    if len(words) != 2:
        raise CourseError("训练进程没有启动起来", got=line, remedy="请检查内存与杀毒软件，再试一次")
    return int(words[0]), words[1]


def _worker(folder: Path, last: int, how: tuple[str, ...]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"{PACKAGE.name}.recovery.worker", str(folder), str(last), *how]
    return subprocess.Popen(
        command, cwd=PACKAGE.parent, env=os.environ | _ONE_THREAD, stdout=subprocess.PIPE, encoding="utf-8"
    )
