"""Section 27.7: make it fit. Try every setting that means the same update, keep those that no other beats."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import itemgetter
from typing import Final

from ..accumulation import arrangements
from ..arguments import instance, sequence, whole
from ..errors import CourseError
from ..sharding import STAGES
from .ledgers import JOB_REMEDY, Job, Plan, plan

LARGEST_SEARCH: Final = 5_000


def fitting(job: Job, *, workers: int) -> tuple[Plan, ...]:
    """Return every plan that fits, all of the same update: stage × arrays × microbatch × accumulation."""
    sequences = instance("job", job, Job, JOB_REMEDY).sequences_per_update
    n_workers = whole("workers", workers, minimum=1)
    ways = [way for way in arrangements(sequences_per_update=sequences) if way.workers == n_workers]
    if not ways:
        raise CourseError(
            f"workers 不能平分一次更新的 {sequences} 个序列", got=n_workers, remedy=f"请给 {sequences} 的约数"
        )
    stages = range(len(STAGES) if n_workers > 1 else 1)
    if len(ways) * len(stages) * job.acts.arrays_per_layer > LARGEST_SEARCH:
        raise CourseError("要试的安排太多", remedy=f"请减少每层数组或序列，使安排不超过 {LARGEST_SEARCH} 种")
    tried = (
        plan(
            job,
            workers=n_workers,
            microbatch=way.microbatch,
            accumulation=way.accumulation,
            arrays_per_layer=arrays,
            zero=stage,
        )
        for way in ways
        for stage in stages
        for arrays in range(1, job.acts.arrays_per_layer + 1)
    )
    return tuple(one for one in tried if one.fits)


def undominated(plans: Iterable[Plan]) -> tuple[Plan, ...]:
    """Keep the plans that no other beats: none is as good in all ``costs`` and better in one.

    Sorted by bytes needed. Of plans with the same costs the first stays.
    """
    made = [instance("plans", one, Plan, "请用 plan(...) 得到") for one in sequence("plans", plans)]
    # By bytes needed, so that a plan can only be beaten by an earlier one: it is enough to remember, for each
    # volume sent and number of rounds, the least extra work so far.
    least: dict[tuple[Fraction, Fraction], Fraction] = {}
    front = []
    for (_, sent, extra, rounds), one in sorted(((one.costs, one) for one in made), key=itemgetter(0)):
        if not any(s <= sent and r <= rounds and least[s, r] <= extra for s, r in least):
            least[sent, rounds] = extra
            front.append(one)
    return tuple(front)


def make_it_fit(job: Job, *, workers: int) -> tuple[Plan, ...]:
    """Return the plans that fit and that no other beats, by bytes needed; empty where none fits.

    >>> from course_lib.ledger import model_state
    >>> from course_lib.activations import SavedActivations
    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> job = Job(state=model_state(1_000_000), acts=acts, capacity_bytes=10_000_000, tokens_per_update=1024)
    >>> make_it_fit(job, workers=1), make_it_fit(job, workers=4)[-1].need_bytes
    ((), 8513400)
    """
    return undominated(fitting(job, workers=workers))
