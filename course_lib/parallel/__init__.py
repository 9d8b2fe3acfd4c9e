"""Section 27.5: what is split among workers, and into what.

``split``: one matrix product by columns or rows (tensor parallelism), the examples (data parallelism).
``pipeline``: the layers, as schedules of start and end times, their bubble and what stays in flight.
"""

from .pipeline import (
    BACKWARD,
    FORWARD,
    SCHEDULES,
    UPDATE_RULE,
    Schedule,
    bubble_fraction,
    bubble_overhead,
    pipeline_schedule,
    training_seconds,
)
from .split import DataParallelStep, Partial, data_parallel, split_columns, split_rows

__all__ = [
    "BACKWARD",
    "FORWARD",
    "SCHEDULES",
    "UPDATE_RULE",
    "DataParallelStep",
    "Partial",
    "Schedule",
    "bubble_fraction",
    "bubble_overhead",
    "data_parallel",
    "pipeline_schedule",
    "split_columns",
    "split_rows",
    "training_seconds",
]
