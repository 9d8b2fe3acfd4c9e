"""The warm process inside bubblewrap, one for each process that grades, and the kernels forked from it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...errors import CourseError
from .box import command

_START_SECONDS: Final = 60
_FORK_SECONDS: Final = 20


class BoxedProcess:
    """A kernel in its box, seen from outside as ``subprocess.Popen`` is: what jupyter_client asks of it."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        # Names this very process, whoever gets its number later. Two threads look at it, so that it is closed
        # only when nobody holds this object any more.
        self._handle = os.pidfd_open(pid)

    def __del__(self) -> None:
        os.close(self._handle)

    def poll(self) -> int | None:
        """Return ``None`` while it lives; its own exit status stays in the box."""
        if self._ended_within(0):
            self.returncode = -signal.SIGKILL
        return self.returncode

    def _ended_within(self, seconds: float | None) -> bool:
        looked = select.poll()
        looked.register(self._handle, select.POLLIN)
        return bool(looked.poll(None if seconds is None else seconds * 1000))

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; ``None`` if that did not come in time."""
        self._ended_within(timeout)
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel; its end takes all other processes of the box with it."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """End the box."""
        self.send_signal(signal.SIGKILL)

    terminate = kill


class Boxes:
    """Makes kernels by forking a process that has imported everything and runs nothing itself."""

    def __init__(self) -> None:
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = (f"{sys.prefix}/bin/python", "-m", "grader_box.forkserver", str(inner.fileno()))
        self._process = subprocess.Popen(
            command(*program), pass_fds=[inner.fileno()], env={"PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        inner.close()
        self._control.settimeout(_START_SECONDS)
        if self._control.recv(16) != b"ready":
            self._process.kill()
            said = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise CourseError("沙箱里的 Python 起不来", got=said[-1:], remedy="请检查环境的安装，再运行一次")

    @property
    def alive(self) -> bool:
        """Whether it still serves."""
        return self._process.poll() is None

    def fork(self, request: Mapping[str, Any], sockets: Sequence[int]) -> BoxedProcess:
        """Return a new kernel in walls of its own, on sockets that are already bound and listening."""
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with mine, theirs:
            mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            mine.settimeout(_FORK_SECONDS)
            socket.send_fds(self._control, [json.dumps(request).encode()], [*sockets, theirs.fileno()])
            theirs.close()
            try:
                word, ancillary, _, _ = mine.recvmsg(1024, socket.CMSG_SPACE(12))
            except TimeoutError:
                word, ancillary = "没有回音".encode(), []
        if word != b"up":
            raise CourseError(
                "沙箱没能隔离出一个内核",
                got=word.decode(errors="replace"),
                remedy="请看教师页「沙箱起不来」一节",
            )
        # The system writes the sender's number as it is known out here.
        return BoxedProcess(struct.unpack("3i", ancillary[0][2])[0])

    def close(self) -> None:
        """End it, and every kernel with it."""
        self._control.close()
        self._process.kill()
        self._process.communicate()


_open: list[Boxes] = []


def boxes() -> Boxes:
    """Return this process's own, started where there is none yet or it has died."""
    if not _open or not _open[-1].alive:
        _open[:] = [Boxes()]
    return _open[-1]
