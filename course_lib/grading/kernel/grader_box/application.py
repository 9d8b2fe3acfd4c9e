"""The kernel's program: ipykernel's own, but no output is lost however slowly it is read."""

from __future__ import annotations

from typing import Any

from ipykernel.kernelapp import IPKernelApp


class Application(IPKernelApp):
    """ipykernel drops what is not read in time; with it would go the word that a cell has ended."""

    def init_iopub(self, context: Any) -> None:
        """Open the channel of outputs with a queue as long as the memory allows."""
        context.sndhwm = 0
        super().init_iopub(context)  # type: ignore[no-untyped-call]
