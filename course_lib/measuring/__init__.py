"""Sections 27.2 and 27.6: a real training step, measured (配套实测), beside what its ledger predicts.

``reconcile`` compares bytes at every phase boundary and the peak; ``measured_timeline`` notes when every
array is made and let go, for the pictures of ``lifetimes``; ``step_seconds`` takes the time. One process is
measured, on this machine's CPU.
"""

from .allocator import Meter, Reading
from .lives import Diary, measured_timeline
from .reconciliation import Line, Reconciliation, reconcile
from .times import step_seconds

__all__ = [
    "Diary",
    "Line",
    "Meter",
    "Reading",
    "Reconciliation",
    "measured_timeline",
    "reconcile",
    "step_seconds",
]
