"""Runs inside bubblewrap and never runs student code: imports once, then forks one kernel for each request.

``python -m grader_box.forkserver FD``: the handle of a seqpacket socket. A request is JSON (``connection``,
``limits``, ``disk_bytes``, ``user``) with six handles: the five listening sockets of a kernel, already bound
outside, and a socket on which the child reports that its walls stand.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import shutil
import signal
import socket
import sys
from typing import Any

from .isolation import HOME, close_in, fork_apart, leave_a_keeper
from .syscalls import Filter

_FONTS = ("/course/matplotlib", f"{HOME}/.matplotlib")
_WARM = """
numpy numpy.random numpy.linalg matplotlib.pyplot matplotlib_inline.backend_inline ipykernel.kernelapp
ipykernel.ipkernel ipykernel.zmqshell ipykernel.debugger IPython.core.completer IPython.core.completerlib
IPython.core.debugger IPython.extensions.storemagic comm psutil tornado.platform.asyncio tornado.queues
tornado.locks pdb pydoc faulthandler encodings.idna fractions decimal statistics
course_lib.plan course_lib.lifetimes course_lib.accumulation course_lib.precision course_lib.loss_scaling
grader_box.answer grader_box.application
"""


def main() -> None:
    """Import, say so, serve until the other end closes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # where memory runs out, the box goes before the grader
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a third of a kernel's start, for nothing
    shutil.copytree(*_FONTS)  # matplotlib wants to be able to write there
    for name in _WARM.split():
        importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("threads before a fork")
    calls = Filter()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY)
    while True:
        data, handles, _, _ = socket.recv_fds(control, 1 << 16, 6)
        if not data:
            return
        _serve(json.loads(data), handles, control, own_pids, calls)


def _serve(
    request: dict[str, Any], handles: list[int], control: socket.socket, own_pids: int, calls: Filter
) -> None:
    child = fork_apart(os.getuid() == 0, own_pids)
    if child:
        for handle in handles:
            os.close(handle)
        return
    report = socket.socket(fileno=handles.pop())
    control.close()
    os.close(own_pids)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        _be_a_kernel(request, handles, report, calls)
    except BaseException as error:  # the other end waits for a word
        with contextlib.suppress(OSError):
            report.send(f"{type(error).__name__}: {error}".encode()[:1000])
    os._exit(1)


def _be_a_kernel(request: dict[str, Any], handles: list[int], report: socket.socket, calls: Filter) -> None:
    close_in(request, calls)
    leave_a_keeper()
    random.seed()
    importlib.import_module("numpy").random.seed()  # else every student draws the same
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    connection = request["connection"]
    _bind_to({f"ipc://{connection['ip']}-{n}": handle for n, handle in enumerate(handles, start=1)})
    with open(f"{HOME}/.connection.json", "w", encoding="utf-8") as file:
        json.dump(connection, file)
    report.send(b"up")
    report.close()
    application = importlib.import_module("grader_box.application").Application.instance()
    application.initialize(["-f", file.name, "--HistoryManager.enabled=False"])
    # The warm import ran without a shell, so that pictures are not yet inline.
    importlib.import_module("matplotlib_inline.backend_inline")._enable_matplotlib_integration()
    application.start()


def _bind_to(paths: dict[str, int]) -> None:
    """Let sockets that were bound outside serve for these addresses: the box can write to no host folder."""
    zmq = importlib.import_module("zmq")
    bind = zmq.Socket.bind

    def bind_or_take(self: Any, address: str) -> Any:
        if address in paths:
            self.setsockopt(zmq.USE_FD, paths.pop(address))
        return bind(self, address)

    zmq.Socket.bind = bind_or_take


if __name__ == "__main__":
    main()
