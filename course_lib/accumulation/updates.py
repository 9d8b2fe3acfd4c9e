"""Ways to turn microbatches into updates of one scalar weight: the agreed boundary, and three mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..arguments import exact, instance, sequence
from ..errors import CourseError
from .contributions import Contribution, equal_weight_mean, total, valid_positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Microbatch:
    """Targets of a one-parameter model with the loss ½(weight − target)² per event: gradient weight − target.

    ``mask`` is True where a target counts; None counts all. It is the smallest model in which a gradient
    depends on the weight it was computed at, which is what an early update changes.

    >>> Microbatch(targets=(-1, -1)).contribution(weight=0).mean_grad
    Fraction(1, 1)
    """

    targets: Sequence[Fraction | int]
    mask: Sequence[bool] | None = None

    def __post_init__(self) -> None:
        targets = tuple(exact("targets", target) for target in sequence("targets", self.targets))
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "mask", tuple(valid_positions(self.mask, targets, "targets")))

    def contribution(self, *, weight: object, parameters_version: int = 0) -> Contribution:
        """Return events and gradient sum at ``weight``."""
        at = exact("weight", weight)
        grads = [at - target for target in self.targets]
        return Contribution.from_events(grads=grads, mask=self.mask, parameters_version=parameters_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRule:
    """Plain gradient descent: clip the mean gradient to ±``clip`` (None: no clipping), step by ``rate``."""

    rate: Fraction
    clip: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", exact("rate", self.rate, above=0))
        if self.clip is not None:
            object.__setattr__(self, "clip", exact("clip", self.clip, above=0))

    def clipped(self, mean_grad: object) -> Fraction:
        """Return the mean gradient with its absolute value limited to ``clip``."""
        grad = exact("mean_grad", mean_grad)
        return grad if self.clip is None else max(-self.clip, min(self.clip, grad))

    def step(self, *, weight: object, mean_grad: object) -> Fraction:
        """Return the weight after one update."""
        return exact("weight", weight) - self.rate * self.clipped(mean_grad)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a procedure ended: the weight, and its contributions in order, each with its version."""

    weight: Fraction
    contributions: tuple[Contribution, ...]


def update_at_boundary(*, weight: object, microbatches: Sequence[Microbatch], rule: UpdateRule) -> Outcome:
    """Accumulate all microbatches at one weight, then clip and update once. The procedure of section 27.4.

    >>> batches = [Microbatch(targets=(-1,) * 2), Microbatch(targets=(-3,) * 6)]
    >>> update_at_boundary(weight=0, microbatches=batches, rule=UpdateRule(rate=0.1)).weight
    Fraction(-1, 4)
    """
    parts = _at_one_weight(weight, microbatches)
    return Outcome(_rule(rule).step(weight=weight, mean_grad=total(parts).mean_grad), parts)


def update_with_equal_weights(
    *, weight: object, microbatches: Sequence[Microbatch], rule: UpdateRule
) -> Outcome:
    """Update once, but from the mean of means: small microbatches weigh too much."""
    parts = _at_one_weight(weight, microbatches)
    return Outcome(_rule(rule).step(weight=weight, mean_grad=equal_weight_mean(parts)), parts)


def update_clipping_early(*, weight: object, microbatches: Sequence[Microbatch], rule: UpdateRule) -> Outcome:
    """Update once, but clip the mean of every microbatch before adding: clipping off the boundary."""
    parts = _at_one_weight(weight, microbatches)
    clipped = [
        Contribution.from_mean(n_events=part.n_events, mean_grad=_rule(rule).clipped(part.mean_grad))
        for part in parts
    ]
    return Outcome(rule.step(weight=weight, mean_grad=total(clipped).mean_grad), parts)


def update_early(*, weight: object, microbatches: Sequence[Microbatch], rule: UpdateRule) -> Outcome:
    """Update after every microbatch, so that later gradients start from another weight: another process.

    The contributions carry the versions 0, 1, 2, … and therefore refuse to add.

    >>> batches = [Microbatch(targets=(-1,) * 2), Microbatch(targets=(-3,) * 6)]
    >>> update_early(weight=0, microbatches=batches, rule=UpdateRule(rate=0.1)).weight
    Fraction(-39, 100)
    """
    at, parts = exact("weight", weight), []
    for version, batch in enumerate(_microbatches(microbatches)):
        parts.append(batch.contribution(weight=at, parameters_version=version))
        at = _rule(rule).step(weight=at, mean_grad=parts[-1].mean_grad)
    return Outcome(at, tuple(parts))


def _at_one_weight(weight: object, microbatches: Sequence[Microbatch]) -> tuple[Contribution, ...]:
    return tuple(batch.contribution(weight=weight) for batch in _microbatches(microbatches))


def _microbatches(values: Sequence[Microbatch]) -> list[Microbatch]:
    batches = [
        instance("microbatches", batch, Microbatch, "请用 Microbatch(targets=(-1, -3)) 的写法")
        for batch in sequence("microbatches", values)
    ]
    if not batches:
        raise CourseError("microbatches 是空的", remedy="请给至少一个微批次")
    return batches


def _rule(value: UpdateRule) -> UpdateRule:
    return instance("rule", value, UpdateRule, "请用 UpdateRule(rate=0.1) 的写法")
