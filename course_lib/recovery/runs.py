"""A training run as one value: the trainer's state and everything else that decides what comes next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ..arguments import instance, text, whole
from ..errors import CourseError
from ..loss_scaling import DynamicScale, StaticScale, Warmup
from ..step_ledger import StepPlan, StepShape
from ..trainer import Array, Batch, State, start, train_step

SEQUENCES: Final = 40  # in the made-up data, read in a new random order every time round
LEFT_OUT: Final = 0.1  # share of positions that a draw excludes from the loss, anew for every batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What must be the same before and after a stop: configuration, schedule, and versions by name.

    ``scale`` is the loss scale to begin with. Raises ``CourseError`` for a batch larger than the data.
    """

    plan: StepPlan
    seed: int = 0
    schedule: Warmup
    scale: StaticScale
    data: str = "数数 1"
    tokenizer: str = "整数 1"

    def __post_init__(self) -> None:
        instance("plan", self.plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法")
        instance("schedule", self.schedule, Warmup, "请给 Warmup(peak=0.01, warmup_updates=8)")
        instance("scale", self.scale, StaticScale, "请给 StaticScale(1024) 或 DynamicScale()")
        object.__setattr__(self, "seed", whole("seed", self.seed, maximum=2**32))
        for name in ("data", "tokenizer"):
            object.__setattr__(self, name, text(name, getattr(self, name)))
        if self.plan.shape.sequences > SEQUENCES:
            raise CourseError(
                "一批的序列比数据还多",
                got=self.plan.shape.sequences,
                remedy=f"请让 sequences 不超过 {SEQUENCES}",
            )


SMALL: Final = Setup(
    plan=StepPlan(
        shape=StepShape(sequences=4, positions=8, width=16, layers=1, heads=2, vocabulary=16), dtype="float16"
    ),
    schedule=Warmup(peak=Fraction(1, 50), warmup_updates=12),
    scale=DynamicScale(2**15, growth_interval=10),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingRun:
    """Everything that one round reads and writes. The arrays of ``state`` are overwritten, as in the trainer.

    ``rounds`` counts batches consumed, ``scheduled`` the updates that the schedule has seen; both go on by
    one with every update, and only the first with a skipped one. ``order`` is the sampler's present shuffle,
    ``cursor`` how far it has been read. ``random`` draws the next shuffle and what each batch leaves out.
    """

    setup: Setup
    state: State
    scale: StaticScale
    random: np.random.Generator
    order: Array
    cursor: int = 0
    scheduled: int = 0
    rounds: int = 0


def begin(setup: Setup) -> TrainingRun:
    """Return a run before its first round."""
    chosen = instance("setup", setup, Setup, "请用 Setup(...) 写明配置与版本")
    random = np.random.default_rng(chosen.seed)
    return TrainingRun(
        setup=chosen,
        state=start(chosen.plan, seed=chosen.seed),
        scale=chosen.scale,
        random=random,
        order=random.permutation(SEQUENCES),
    )


def advance(run: TrainingRun, *, rounds: object = 1) -> TrainingRun:
    """Return the run after so many more rounds: one batch, one update or one skipped update each.

    >>> advance(begin(SMALL), rounds=3).rounds
    3
    """
    now = instance("run", run, TrainingRun, "请用 begin(...) 或 load(...) 得到")
    for _ in range(whole("rounds", rounds, maximum=10**6)):
        now = _one_round(now)
    return now


def _one_round(run: TrainingRun) -> TrainingRun:
    size, order, cursor = run.setup.plan.shape.sequences, run.order, run.cursor
    if cursor + size > len(order):
        order, cursor = run.random.permutation(SEQUENCES), 0
    batch = batch_of(run.setup, order[cursor : cursor + size], run.random)
    rate = run.setup.schedule.rate(step=run.scheduled)
    step = train_step(run.state, batch, rate=rate, loss_scale=run.scale.loss_scale)
    return replace(
        run,
        state=step.state,
        scale=run.scale.adjust(grads_finite=step.updated),
        order=order,
        cursor=cursor + size,
        scheduled=run.scheduled + step.updated,
        rounds=run.rounds + 1,
    )


def batch_of(setup: Setup, rows: Any, random: np.random.Generator | None = None) -> Batch:
    """Return sequences by number as a batch; a draw leaves positions out of the loss, but never all."""
    text_of = _data(setup.plan.shape)[rows]
    tokens, targets = text_of[:, :-1], text_of[:, 1:]
    valid = np.ones(tokens.shape, dtype=bool)
    if random is not None:
        valid[:, 1:] = random.random(valid[:, 1:].shape) >= LEFT_OUT
    return Batch(tokens, targets, valid)


def _data(shape: StepShape) -> Array:
    """Return made-up sequences, (S, T + 1): each counts on by a step of its own, one token in four amiss."""
    random, size = np.random.default_rng(27), (SEQUENCES, shape.positions + 1)
    first, stride = random.integers(0, shape.vocabulary, (2, SEQUENCES, 1))
    counted = (first + (1 + stride % 3) * np.arange(size[1])) % shape.vocabulary
    return np.where(random.random(size) < 0.25, random.integers(0, shape.vocabulary, size), counted)
