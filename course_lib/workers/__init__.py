"""Section 27.5, by hand (配套实测): several workers in one process train the companion's model together.

Every array that crosses from one worker to another goes through ``transport``, which counts its bytes; the
arithmetic is the trainer's own. Read ``transport``, ``rings`` (collectives as movements), then the four
divisions: ``replicas`` (examples, and shards of states), ``tensor`` (matrices), ``stages`` (layers).
``runs`` compares them with one worker, ``shares`` measures what each keeps.
"""

from .runs import Outcome, alone, data_parallel, pipeline, tensor_parallel
from .shares import Shares, measured_shares
from .transport import Link, Transport

__all__ = [
    "Link",
    "Outcome",
    "Shares",
    "Transport",
    "alone",
    "data_parallel",
    "measured_shares",
    "pipeline",
    "tensor_parallel",
]
