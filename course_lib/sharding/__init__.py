"""Section 27.5: who keeps what (example 27.3), and what that transfers.

``resident``: one worker's ledger, the temporary gather peak, what moves to host memory.
``transfers``: the collectives of one update. ``pieces``: real values in shards that only fit back whole.
"""

from .pieces import Shard, gather, scatter
from .resident import (
    GATHERED_WEIGHTS,
    MODEL_STATES,
    STAGES,
    UNSCATTERED_GRADS,
    ZERO_1,
    ZERO_2,
    ZERO_3,
    ShardRow,
    gathered,
    ideal_bytes,
    offload,
    resident,
    whole_ledger,
)
from .transfers import StepTransfer, step_transfers, step_volume

__all__ = [
    "GATHERED_WEIGHTS",
    "MODEL_STATES",
    "STAGES",
    "UNSCATTERED_GRADS",
    "ZERO_1",
    "ZERO_2",
    "ZERO_3",
    "Shard",
    "ShardRow",
    "StepTransfer",
    "gather",
    "gathered",
    "ideal_bytes",
    "offload",
    "resident",
    "scatter",
    "step_transfers",
    "step_volume",
    "whole_ledger",
]
