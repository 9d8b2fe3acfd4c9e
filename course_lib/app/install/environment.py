"""The environment in ``.venv``: exactly what the locks name, and a stamp that says so.

The stamp is removed first and written last: an install that was killed at any moment leaves no stamp and is
done again from scratch.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from ..places import ROOT, RUNTIME
from .causes import failure, inside_itself, without_module
from .settings import clean_environment
from .tools import install, run, usable_uv

VENV: Final = ROOT / ".venv"
PYTHON: Final = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP: Final = VENV / "course-stamp.txt"
READERS: Final = "requirements.lock"
TESTERS: Final = "requirements-test.lock"


def ensure(locks: Sequence[str]) -> None:
    """Install what the locks name (the readers' first), unless the stamp says that it is there already."""
    wanted = {lock: fingerprint(lock) for lock in locks}
    if in_force().issuperset(wanted.values()):
        return
    with one_at_a_time() as handle:
        have = in_force()
        if have.issuperset(wanted.values()):  # another window has just done it
            return
        STAMP.unlink(missing_ok=True)
        if wanted[READERS] not in have:
            have = set()
            make_venv(handle)
        for lock, line in wanted.items():
            if line not in have:
                install(ROOT / lock, PYTHON, handle)
        write_stamp(have.union(wanted.values(), [venv_version()]))
    print("安装完成。", flush=True)


def fingerprint(lock: str) -> str:
    """Return the stamp's line for a lock file: its name and the hash of what it holds."""
    content = (ROOT / lock).read_bytes().replace(b"\r\n", b"\n")
    return f"{lock} {hashlib.sha256(content).hexdigest()}"


def venv_version() -> str:
    """Return the line that names the version of the environment's Python; empty if that does not start."""
    code = "import sys; print('python %d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([PYTHON, "-I", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return answer.stdout.decode("ascii", "replace").strip()


def in_force() -> set[str]:
    """Return the lines of the stamp: none if there is no stamp, or if the Python it names is gone."""
    try:
        lines = set(STAMP.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return set()
    return lines if venv_version() in lines else set()


def write_stamp(lines: Iterable[str]) -> None:
    """Write the stamp in one step, after everything it vouches for."""
    beside = STAMP.with_suffix(".new")
    with beside.open("w", encoding="utf-8") as file:
        file.write("\n".join(sorted(lines)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, STAMP)


def make_venv(handle: int) -> None:
    """Make an empty environment, without pip: uv needs none, and for pip it is added later."""
    if VENV.exists() and Path(sys.prefix).resolve() == VENV.resolve():
        raise inside_itself()
    print("正在准备课程环境（首次约需下载 100 MB，之后不再重复）……", flush=True)
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.is_dir():
        shutil.rmtree(VENV)
    if importlib.util.find_spec("venv"):
        # In a process of its own, in UTF-8: under LC_ALL=C it cannot write a Chinese path into its notes.
        command = [sys.executable, "-I", "-X", "utf8", "-m", "venv", "--without-pip", str(VENV)]
    elif uv := usable_uv():
        command = [uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]
    else:
        raise without_module("venv")
    outcome = run(command, clean_environment(), handle)
    if not outcome.fine:
        raise failure(outcome.words)


@contextmanager
def one_at_a_time() -> Iterator[int]:
    """Hold a lock that the system drops when its last holder dies; yield its file handle.

    The installer inherits the handle: if we are killed and it lives on, the next start waits for it instead
    of working in the same folder.
    """
    RUNTIME.mkdir(exist_ok=True)
    with (RUNTIME / "install.lock").open("a+b") as file:
        waiting = False
        while not _try_lock(file):
            if not waiting:
                print("另一个窗口正在安装，等它结束……（按 Ctrl-C 可以放弃）", flush=True)
            waiting = True
            time.sleep(1)
        yield file.fileno()


def _try_lock(file: IO[bytes]) -> bool:
    """Take the lock without waiting and say whether that worked; a network drive may have no locks at all."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True
