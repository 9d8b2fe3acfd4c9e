"""Read from the allocator how many bytes numpy holds: ``tracemalloc`` in numpy's own domain.

So they are the bytes that arrays asked for and nothing else; fragmentation, the interpreter and what a
notebook displays are not in them, because only differences within one function are taken.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..trainer import Array, Watch

_NUMPY: Final = np.lib.tracemalloc_domain
NOBODY: Final = Watch()


@dataclass(frozen=True, slots=True)
class Reading:
    """One phase of a measured step: bytes at its end, the most within it, the work of its matrix products."""

    phase: str
    n_bytes: int
    peak_bytes: int
    flops: int


@dataclass(slots=True)
class Meter(Watch):
    """Takes a reading at every boundary and passes everything on to ``also``."""

    also: Watch = NOBODY
    readings: list[Reading] = field(default_factory=list)
    _zero: int = 0
    _others: int = 0
    _flops: int = 0

    def begin(self) -> None:
        """Take what is there now as zero."""
        self._zero = numpy_bytes()
        self._begin_phase(self._zero)

    def boundary(self, phase: str) -> None:
        """Note a reading.

        The peak is that of all domains less what Python held when the phase began: its objects hardly change.
        """
        highest, now = tracemalloc.get_traced_memory()[1] - self._others, numpy_bytes()
        peak = max(highest, now) - self._zero
        self.readings.append(Reading(phase, now - self._zero, peak, self._flops))
        self.also.boundary(phase)
        self._begin_phase(now)

    def array(self, name: str, layer: int | None, array: Array) -> None:
        """Pass on."""
        self.also.array(name, layer, array)

    def flops(self, count: int) -> None:
        """Add up the work of the phase."""
        self._flops += count
        self.also.flops(count)

    def _begin_phase(self, now: int) -> None:
        self._flops = 0
        self._others = tracemalloc.get_traced_memory()[0] - now
        tracemalloc.reset_peak()


def numpy_bytes() -> int:
    """Return the bytes that numpy holds now, of what was made since tracing began."""
    traces = tracemalloc.take_snapshot().traces
    return sum(trace.size for trace in traces if trace.domain == _NUMPY)


@contextmanager
def tracing() -> Iterator[None]:
    """Trace allocations within this block; a trace that runs already goes on."""
    running = tracemalloc.is_tracing()
    if running:
        gc.collect()  # arrays of before are in such a trace: none of them may go while it is read
    else:
        tracemalloc.start()
    try:
        yield
    finally:
        if not running:
            tracemalloc.stop()
