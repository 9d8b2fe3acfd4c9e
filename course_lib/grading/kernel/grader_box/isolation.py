"""Give one forked kernel its own walls: namespaces, private folders with a size, limits, no way back."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from collections.abc import Mapping
from typing import Any

from .syscalls import Filter

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_NOSUID, _NODEV, _NOEXEC, _RECURSIVE, _PRIVATE = 2, 4, 8, 0x4000, 0x40000
_DEATH_SIGNAL, _DUMPABLE, _DROP_FROM_BOUND, _NO_NEW_PRIVILEGES = 1, 4, 24, 38
_CAPABILITIES = 41
_LIBC = ctypes.CDLL(None, use_errno=True)

HOME = "/box"
PRIVATE = (HOME, "/dev/shm")


def _call(name: str, *arguments: Any) -> None:
    if getattr(_LIBC, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def fork_apart(is_root: bool, old_pids: int) -> int:
    """Fork a child that is the first process of its own process namespace; return as ``os.fork`` does.

    As root the namespace is made for the next fork and then given up again (``old_pids`` is a handle of our
    own). An ordinary user may do so only in a user namespace, which the child therefore gets as well.
    """
    if is_root:
        _call("unshare", _NEWPID)
        child = os.fork()
        if child:
            _call("setns", old_pids, _NEWPID)
        return child
    between = os.fork()
    if between:
        return between
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEWUSER | _NEWPID)
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(line)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)
    _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    return 0


def close_in(request: Mapping[str, Any], calls: Filter) -> None:
    """Build walls around this process; ``request`` holds ``disk_bytes``, ``user`` (0: stay), ``limits``."""
    _call("unshare", _NEWNS | _NEWIPC | _NEWNET | _NEWUTS)
    _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    size = f"size={request['disk_bytes']},nr_inodes=20000,mode=1777".encode()
    for folder in PRIVATE:
        _call("mount", b"tmpfs", folder.encode(), b"tmpfs", _NOSUID | _NODEV, size)
    _call("mount", b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC, None)
    _start_loopback()
    os.chdir(HOME)
    for number in range(_CAPABILITIES):
        _LIBC.prctl(_DROP_FROM_BOUND, number, 0, 0, 0)
    if user := request["user"]:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    for name, most in request["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    _call("capset", struct.pack("Ii", 0x20080522, 0), bytes(24))
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    calls.load()


def _start_loopback() -> None:
    """A new network namespace has its loopback down; the kernel's own pipes inside the box may use it."""
    with socket.socket() as any_socket, contextlib.suppress(OSError):
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1))


def leave_a_keeper() -> None:
    """Go on in a child: the box's first process only waits, and its end ends whatever is left in the box.

    The system lets no signal stop a first process, so that a kernel in its place would not die as others do.
    Nobody may look into the keeper, not even a process of the same user.
    """
    _LIBC.prctl(_DUMPABLE, 0, 0, 0, 0)
    child = os.fork()
    if child == 0:
        _LIBC.prctl(_DUMPABLE, 1, 0, 0, 0)
        os.setsid()
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while os.wait()[0] != child:
        pass
    os._exit(0)
