"""A kernel for nbval that trusts it less: it notices death at once, bounds output, waits for no clock.

nbval 0.11 waits for the shell's reply alone, reads errors from iopub alone, and formats and keeps every
message. ``GradedKernel`` is nbval's own ``RunningKernel`` with those ways of talking replaced.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from queue import Empty
from types import MappingProxyType
from typing import Any, Final

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel

from .jobs import Limits
from .records import BUBBLEWRAP

COURSE: Final = Path(__file__).resolve().parents[2]
_CHANNELS: Final = ("shell", "iopub", "stdin", "hb", "control")
_HEARD: Final = ("shell", "iopub")
# What reports answers is imported before a student can put other modules in the place of those it needs.
_LAUNCH: Final = "import grader_box.answer, grader_box.application as its; its.Application.launch_instance()"
_START_SECONDS: Final = 60
_SLICE: Final = 0.05  # seconds between two looks at whether the kernel lives
_GRACE_SECONDS: Final = 3  # after an interrupt
_SPARE_BYTES: Final = 1 << 16
_REPLIES_WAITING, _OUTPUTS_WAITING = 8, 1_000  # messages that a socket holds unread
# What nbval reads of a message, by its type; of other types it needs nothing.
_FORMS: Final[Mapping[str, Mapping[str, type]]] = MappingProxyType(
    {
        "status": {"execution_state": str},
        "stream": {"name": str, "text": str},
        "error": {"ename": str, "evalue": str, "traceback": list},
        "display_data": {"data": dict, "metadata": dict},
        "execute_result": {"data": dict, "metadata": dict, "execution_count": int},
        "execute_input": {},
        "execute_reply": {"status": str},
        "kernel_info_reply": {},
    }
)


class KernelDiedError(Exception):
    """The kernel's process is gone."""


class OutputLimitError(Exception):
    """One cell sent more than it may."""


class _ProcessSpecs(KernelSpecManager):
    """Knows one kernel: this interpreter, whatever is installed and whatever a notebook asks for."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        command = [sys.executable, "-c", _LAUNCH, "-f", "{connection_file}"]
        return KernelSpec(argv=[*command, "--HistoryManager.enabled=False"], language="python")


class GradedKernel(RunningKernel):  # type: ignore[misc]
    """One fresh kernel for one submission, in its box or as a plain process."""

    def __init__(self, isolation: str, limits: Limits) -> None:
        self._limits = limits
        self._folder = tempfile.mkdtemp(prefix="grade-")
        self._context = zmq.Context()
        self._context.maxmsgsize = limits.output_bytes + _SPARE_BYTES
        self.reply: dict[str, Any] = {}
        self._frames: deque[list[bytes]] = deque()
        self._sockets: dict[str, Any] = {}
        self._bytes = 0
        self._deadline = float("inf")
        try:
            self.km = self._manager(isolation)
            self._start()
        except BaseException:
            self.stop()
            raise

    def _manager(self, isolation: str) -> KernelManager:
        if isolation == BUBBLEWRAP:
            from .sandbox.provisioner import BoxedSpecs

            specs: KernelSpecManager = BoxedSpecs(self._limits)
        else:
            specs = _ProcessSpecs()
        named: dict[str, Any] = {}
        if sys.platform != "win32":  # TCP ports are lost to others now and then, paths never
            named = {"transport": "ipc", "ip": f"{self._folder}/k"}
            named |= {f"{channel}_port": n for n, channel in enumerate(_CHANNELS, start=1)}
        return KernelManager(
            kernel_name="graded", kernel_spec_manager=specs, cache_ports=False,
            connection_file=f"{self._folder}/connection.json", **named,
        )  # fmt: skip

    def _start(self) -> None:
        home = Path(self._folder, "home")
        home.mkdir()
        self.km.start_kernel(cwd=str(home), env=_environment(home))
        self.kc = self.km.client(context=self._context)
        # No control channel: it would be filled by whoever likes and read by nobody.
        self._context.rcvhwm = _REPLIES_WAITING
        self.kc.start_channels(iopub=False, stdin=False, hb=False, control=False)
        self._context.rcvhwm = _OUTPUTS_WAITING
        self.kc.start_channels(shell=False, stdin=False, hb=False, control=False)
        self._sockets = {name: getattr(self.kc, f"{name}_channel").socket for name in _HEARD}
        self._events = {
            name: socket.get_monitor_socket(zmq.EVENT_DISCONNECTED) for name, socket in self._sockets.items()
        }
        self._poller = zmq.Poller()
        for socket in self._sockets.values():
            self._poller.register(socket, zmq.POLLIN)
        self._ensure_iopub_up()

    def _ensure_iopub_up(self, seconds: float = _START_SECONDS) -> None:
        """Ask until the answer is heard on both channels: only then is no output of a next cell lost."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            asked = self.kc.kernel_info()
            self.await_reply(asked, timeout=left)
            try:
                self.await_idle(asked, _SLICE)
            except Empty:
                continue
            return
        raise Empty

    def begin_cell(self) -> None:
        """Count anew what a cell sends; it has its own time to end."""
        self.reply = {}
        self._bytes = 0
        self._deadline = time.monotonic() + self._limits.cell_seconds + 2 * _GRACE_SECONDS

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply on the shell channel; raise ``Empty`` after ``timeout`` seconds."""
        end = time.monotonic() + (timeout or 0)
        while time.monotonic() < end:
            message = self._shell_message()
            if message is None:
                self._listen(_SLICE)
            elif message["parent_header"].get("msg_id") == msg_id:
                self.reply = message["content"]
                return
        raise Empty

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message on iopub; raise ``Empty`` where none comes in time."""
        end = min(self._deadline, time.monotonic() + (timeout or 0))
        while True:
            while self._frames:
                message = self._read(self._frames.popleft())
                if message is not None:
                    return message
            if time.monotonic() >= end:
                raise Empty
            self._listen(_SLICE)

    def drain(self) -> bool:
        """Interrupt and throw away what still comes; true if the kernel is ready for another cell."""
        self.interrupt()
        end = time.monotonic() + _GRACE_SECONDS
        while (left := end - time.monotonic()) > 0:
            self._bytes = 0
            self._frames.clear()
            try:
                self._ensure_iopub_up(left)
            except OutputLimitError:
                continue
            except (Empty, KernelDiedError):
                return False
            return True
        return False

    def _listen(self, seconds: float) -> None:
        """Take what has come on iopub, unread, while it stays within bounds."""
        iopub = self._sockets["iopub"]
        ready = dict(self._poller.poll(int(seconds * 1000)))
        if iopub in ready:
            while iopub.poll(0):
                self._take(iopub.recv_multipart())
        elif not ready and not self.is_alive():
            raise KernelDiedError
        if [channel for channel in _HEARD if self._lost(channel)]:
            raise OutputLimitError

    def _lost(self, channel: str) -> bool:
        """Whether the connection ended, as it does by a message over the limit; it is then made anew."""
        event = self._events[channel]
        if not event.poll(0):
            return False
        event.recv_multipart()
        time.sleep(_SLICE)
        if not self.is_alive():
            raise KernelDiedError
        address = self._sockets[channel].last_endpoint
        self._sockets[channel].disconnect(address)
        self._sockets[channel].connect(address)
        return True

    def _take(self, frames: list[bytes]) -> None:
        self._count(frames)
        self._frames.append(frames)

    def _count(self, frames: list[bytes]) -> None:
        self._bytes += sum(map(len, frames))
        if self._bytes > self._limits.output_bytes:
            raise OutputLimitError

    def _shell_message(self) -> dict[str, Any] | None:
        shell = self._sockets["shell"]
        if not shell.poll(0):
            return None
        frames = shell.recv_multipart()
        self._count(frames)
        return self._read(frames)

    def _read(self, frames: list[bytes]) -> dict[str, Any] | None:
        """Return a message; None for what is none: kernel code holds the key and can send anything."""
        try:
            _, parts = self.kc.session.feed_identities(frames)
            message: dict[str, Any] = self.kc.session.deserialize(parts)
            return message if _is_whole(message) else None
        except Exception:
            return None

    def stop(self) -> None:
        """End the kernel at once and remove its files; once more does nothing."""
        for socket in self._sockets.values():
            socket.disable_monitor()
        self._sockets = {}
        if "kc" in self.__dict__:
            self.kc.stop_channels()
            del self.kc
        if "km" in self.__dict__:
            if self.km.has_kernel:
                self.km.shutdown_kernel(now=True)
            del self.km
        self._context.destroy(linger=0)
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_whole(message: Mapping[str, Any]) -> bool:
    """Whether a message has the form of its type; anything else is treated as if it had not come."""
    form, content = _FORMS.get(message["msg_type"]), message["content"]
    if form is None or not isinstance(content, dict) or not isinstance(message["parent_header"], dict):
        return False
    lines = content.get("traceback", ())
    whole = all(isinstance(content.get(name), kind) for name, kind in form.items())
    return whole and (message["msg_type"] != "error" or all(isinstance(line, str) for line in lines))


def _environment(home: Path) -> dict[str, str]:
    """Return what a plain process gets of the environment: only what starts Python."""
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "VIRTUAL_ENV")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "IPYTHONDIR": str(home / ".ipython"),
        "PYTHONPATH": os.pathsep.join([str(COURSE), str(Path(__file__).with_name("kernel"))]),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
