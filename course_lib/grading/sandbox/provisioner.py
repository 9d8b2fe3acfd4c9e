"""Boxed kernels as a provisioner of jupyter_client, so that nothing that starts kernels must know of them."""

from __future__ import annotations

import os
import socket
import subprocess
from importlib.metadata import EntryPoint
from typing import Any, Final, cast

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from ..jobs import Limits
from .boxes import boxes
from .watch import watch

NAME: Final = "course-sandbox"
_GROUP: Final = "jupyter_client.kernel_provisioners"
_CHANNELS: Final = ("shell", "iopub", "stdin", "hb", "control")
_FIRST_USER: Final = 61_000  # numbers that no real user has; one for each process that grades
_USERS: Final = 4_000
_END_SECONDS: Final = 10


class BoxedProvisioner(LocalProvisioner):
    """Binds the kernel's sockets out here and has a warm process fork a kernel onto them."""

    def __init__(self, **named: Any) -> None:
        self._limits = Limits(**named.pop("limits"))
        super().__init__(**named)

    async def launch_kernel(self, cmd: list[str], **named: Any) -> Any:
        """Return the connection of a kernel in its box; the command of the kernelspec is not used."""
        handles = [_listening(self._path(number)) for number in range(1, len(_CHANNELS) + 1)]
        try:
            boxed = boxes().fork(self._request(), handles)
        finally:
            for handle in handles:
                os.close(handle)
        self.process = cast("subprocess.Popen[Any]", boxed)
        self.pid, self.pgid, self.cwd = boxed.pid, None, None
        watch(boxed, self._limits)
        return self.connection_info

    async def wait(self) -> int | None:
        """Wait for the end, which is at once after a kill, without looking in steps."""
        code = self.process.wait(_END_SECONDS) if self.process else 0
        self.process = None
        return code

    def _path(self, number: int) -> str:
        return f"{self.connection_info['ip']}-{number}"

    def _request(self) -> dict[str, Any]:
        limits = self._limits
        plain = {
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in self.connection_info.items()
        }
        return {
            "connection": plain,
            "user": 0 if os.geteuid() else _FIRST_USER + os.getpid() % _USERS,
            "disk_bytes": limits.disk_bytes,
            "limits": {
                "AS": 2 * limits.memory_bytes,
                "CPU": limits.cpu_seconds,
                "NPROC": limits.processes,
                "FSIZE": limits.file_bytes,
                "NOFILE": 256,
                "CORE": 0,
            },
        }


def _listening(path: str) -> int:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path)
        bound.listen(16)
        return bound.detach()


class BoxedSpecs(KernelSpecManager):
    """Knows one kernel, ``course-sandbox``, whatever the machine has installed."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        KernelProvisionerFactory.instance().provisioners[NAME] = EntryPoint(
            NAME, f"{__name__}:BoxedProvisioner", _GROUP
        )
        config = {"limits": {name: getattr(limits, name) for name in Limits.__slots__}}
        self._spec = KernelSpec(
            argv=["boxed"], language="python", display_name=NAME,
            metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": config}},
        )  # fmt: skip

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the one kernel."""
        return self._spec
