"""Section 27.2: what lives how long (figure 27.1).

``Timeline`` holds any objects with an allocation and a release, from whichever schedule they come: its
memory curve, its peak with the objects alive then, and what is alive at a given moment. ``training_timeline``
makes one for the training steps of one process. Recompute and sharding are unknown here: they hand in other
activations or another ledger, and pipeline schedules hand in their start and end times.
"""

from .lanes import Lane
from .phases import Phase, PhaseKind, Phases, schedule
from .timeline import Alive, Curve, Peak, Timeline
from .training import training_timeline

__all__ = [
    "Alive",
    "Curve",
    "Lane",
    "Peak",
    "Phase",
    "PhaseKind",
    "Phases",
    "Timeline",
    "schedule",
    "training_timeline",
]
