"""The command that puts a process behind bubblewrap's walls: what it sees, what it may write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...show.fonts import font_list_folder

COURSE: Final = Path(__file__).resolve().parents[2]  # course_lib
INSIDE: Final = "/course"
# Questions with their answers, this grader, the command line: none of a student's business.
_HIDDEN: Final = ("exercises", "grading", "app")
_SYSTEM: Final = ("bin", "sbin", "lib", "lib32", "lib64")
_FROM_ETC: Final = ("ld.so.cache", "fonts", "localtime", "alternatives")
_FOR_ROOT: Final = ("SYS_ADMIN", "NET_ADMIN", "SETUID", "SETGID", "SETPCAP", "SYS_RESOURCE")


def command(*program: str) -> list[str]:
    """Return bubblewrap's command line around a program.

    The system is read-only; home folders, ``/etc`` and every folder but the interpreter's and the course's
    number library are not there; no network, own processes, nothing of the environment.
    """
    return [
        "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--hostname", "box", "--clearenv",
        *_privileges(), *_mounts(), *_environment(), "--chdir", "/", "--", *program,
    ]  # fmt: skip


def _privileges() -> Iterator[str]:
    """Yield what the warm process needs to wall in its children; they keep none of it."""
    if os.geteuid():
        yield from ("--unshare-user", "--uid", "1000", "--gid", "1000")
        return
    yield from ("--cap-drop", "ALL")
    for name in _FOR_ROOT:
        yield from ("--cap-add", f"CAP_{name}")


def _mounts() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm")
    yield from (
        "--perms",
        "0755",
        "--size",
        "16000000",
        "--tmpfs",
        "/box",
        "--perms",
        "0755",
        "--dir",
        "/tmp",
    )
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in _FROM_ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    made: set[str] = set()
    for prefix in dict.fromkeys((os.path.realpath(sys.base_prefix), sys.prefix)):
        yield from _bound(prefix, prefix, made)
    for entry in sorted(COURSE.iterdir()):
        if entry.name not in _HIDDEN:
            yield from _bound(str(entry), f"{INSIDE}/course_lib/{entry.name}", made)
    if COURSE.is_relative_to(sys.prefix):  # installed: the bind above shows all of it a second time
        for name in _HIDDEN:
            yield from ("--tmpfs", str(COURSE / name))
    inner = COURSE / "grading" / "kernel" / "grader_box"
    yield from _bound(str(inner), f"{INSIDE}/grader_box", made)
    yield from _pictures(made)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _bound(source: str, target: str, made: set[str]) -> Iterator[str]:
    """Yield a read-only bind; bubblewrap would make missing parents that only root may enter."""
    for parent in [*map(str, Path(target).parents)][-2::-1]:
        if parent not in made and not parent.startswith("/usr"):
            made.add(parent)
            yield from ("--perms", "0755", "--dir", parent)
    yield from ("--ro-bind", source, target)


def _pictures(made: set[str]) -> Iterator[str]:
    """Yield matplotlib's list of fonts, which takes a second to make anew."""
    yield from _bound(str(font_list_folder()), f"{INSIDE}/matplotlib", made)


def _environment() -> Iterator[str]:
    for name, value in {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "HOME": "/box",
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": INSIDE,
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "TMPDIR": "/box",
        "MPLCONFIGDIR": "/box/.matplotlib",
        "IPYTHONDIR": "/box/.ipython",
    }.items():
        yield from ("--setenv", name, value)
