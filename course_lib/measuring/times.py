"""How long a real training step takes on this machine (配套实测): the one figure here that is not exact."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

from ..arguments import instance, sequence, whole
from ..step_ledger import StepPlan
from ..trainer import Batch, State, random_batch, start, train_step


def step_seconds(plans: Sequence[StepPlan], *, rounds: int = 5) -> tuple[float, ...]:
    """Return for every plan the median wall time of one step in seconds, initialisation left out.

    The plans take turns, one step each a round, so that a machine that is busy for a while is so for all of
    them. One round more comes first and does not count.
    """
    wanted = [
        instance("plans", plan, StepPlan, "请给 StepPlan() 这样的安排") for plan in sequence("plans", plans)
    ]
    rounds = whole("rounds", rounds, minimum=1)
    runs = [(start(plan), random_batch(plan.shape)) for plan in wanted]
    times = [[_timed(*run) for run in runs] for _ in range(rounds + 1)]
    return tuple(median(column) for column in zip(*times[1:], strict=True))


def _timed(state: State, batch: Batch) -> float:
    begin = time.perf_counter()
    train_step(state, batch, loss_scale=1024)
    return time.perf_counter() - begin
