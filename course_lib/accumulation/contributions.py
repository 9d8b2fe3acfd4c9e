"""What a microbatch adds to an update: a count of events and a sum of gradients, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from ..arguments import exact, instance, same_length, sequence, truth, whole
from ..errors import CourseError


@dataclass(frozen=True, slots=True)
class Contribution:
    """What some events add to one update: their number, and the sum of their gradients for one parameter.

    ``parameters_version`` counts the updates made before these gradients were computed; contributions of
    different versions refuse to add. No events (a microbatch of padding only) is legal and adds nothing.

    >>> a = Contribution.from_mean(n_events=2, mean_grad=1)
    >>> b = Contribution.from_mean(n_events=6, mean_grad=3)
    >>> (a + b).n_events, (a + b).grad_sum, (a + b).mean_grad
    (8, Fraction(20, 1), Fraction(5, 2))
    """

    n_events: int
    grad_sum: Fraction
    parameters_version: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_events", whole("n_events", self.n_events))
        object.__setattr__(self, "grad_sum", exact("grad_sum", self.grad_sum))
        object.__setattr__(self, "parameters_version", whole("parameters_version", self.parameters_version))
        if not self.n_events and self.grad_sum:
            raise CourseError(
                "没有有效事件，就不会有梯度",
                got=self.grad_sum,
                remedy="请把 n_events 改为正整数，或把梯度改为 0",
            )

    @classmethod
    def from_mean(cls, *, n_events: int, mean_grad: object, parameters_version: int = 0) -> Contribution:
        """Restore the sum from a reported mean: n · g."""
        count, mean = whole("n_events", n_events), exact("mean_grad", mean_grad)
        # Without events the mean itself is kept as the sum, so that a mean other than 0 is refused.
        return cls(count, mean * count if count else mean, parameters_version)

    @classmethod
    def from_events(
        cls, *, grads: Sequence[object], mask: Sequence[bool] | None = None, parameters_version: int = 0
    ) -> Contribution:
        """Count and add per-event gradients; ``mask`` is True where a position is a real event, not padding.

        >>> Contribution.from_events(grads=[1, 3, 100], mask=[True, True, False]).mean_grad
        Fraction(2, 1)
        """
        values = [exact("grads", grad) for grad in sequence("grads", grads)]
        valid = valid_positions(mask, values, "grads")
        kept = [value for value, counts in zip(values, valid, strict=True) if counts]
        return cls(len(kept), _sum("grads 之和", kept), parameters_version)

    @property
    def mean_grad(self) -> Fraction:
        """``grad_sum`` / ``n_events``; raises ``CourseError`` where there is no event."""
        if not self.n_events:
            raise CourseError(
                "n_events 合计为 0，平均梯度没有意义", remedy="请确认至少有一个事件没有被 Mask 排除"
            )
        return self.grad_sum / self.n_events

    def __add__(self, other: object) -> Contribution:
        more = _contribution("相加的另一方", other)
        if more.parameters_version != self.parameters_version:
            raise CourseError(
                f"两份贡献的参数版本不同：{self.parameters_version} 和 {more.parameters_version}",
                remedy="请在参数不变时算完一次更新的全部贡献，再相加",
            )
        return Contribution(
            self.n_events + more.n_events, self.grad_sum + more.grad_sum, self.parameters_version
        )


def _contribution(name: str, value: object) -> Contribution:
    return instance(name, value, Contribution, "请用 Contribution.from_mean(n_events=2, mean_grad=1) 的写法")


def valid_positions(mask: Sequence[bool] | None, values: Sequence[object], name: str) -> list[bool]:
    """Return the mask of ``values`` as a list; None means that every position counts."""
    if mask is None:
        return [True] * len(values)
    valid = [truth("mask", counts) for counts in sequence("mask", mask)]
    same_length(**{name: values, "mask": valid})
    return valid


def total(contributions: Sequence[Contribution]) -> Contribution:
    """Add contributions of one parameters version; ``total(...).mean_grad`` is Σ nᵢgᵢ / Σ nᵢ."""
    first, *rest = _contributions(contributions)
    return sum(rest, start=first)


def equal_weight_mean(contributions: Sequence[Contribution]) -> Fraction:
    """Average the reported means as if every microbatch had the same number of events: the mistake.

    >>> parts = [Contribution(2, 2), Contribution(6, 18)]
    >>> equal_weight_mean(parts), total(parts).mean_grad
    (Fraction(2, 1), Fraction(5, 2))
    """
    means = [part.mean_grad for part in _contributions(contributions)]
    return _sum("contributions 的均值之和", means) / len(means)


def _sum(name: str, values: list[Fraction]) -> Fraction:
    """Add one by one and refuse a sum that is out of range at once: denominators grow without end."""
    return reduce(lambda so_far, value: exact(name, so_far + value), values, Fraction(0))


def _contributions(values: Sequence[Contribution]) -> list[Contribution]:
    parts = [_contribution("contributions", part) for part in sequence("contributions", values)]
    if not parts:
        raise CourseError("contributions 是空的", remedy="请给至少一份贡献")
    return parts
