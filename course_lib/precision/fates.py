"""What a format does to the values of an array: updates lost, gradients gone to zero or past the largest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..arrays import finite_array, finite_float, float_array
from ..errors import CourseError
from .formats import FP16, FP32, Format, a_format


def lost(*, weights: object, updates: object, fmt: Format = FP16) -> NDArray[np.bool_]:
    """Say for each weight whether adding its update in FP32 and storing in ``fmt`` leaves it as it was.

    A weight of 2048 times its FP16 update or more can lose it, beyond 4096 times it always does (normal
    weights). Updates of 0 are never lost. Source: Micikevicius et al. 2018, section 3.1.

    >>> lost(weights=[1, 1, 1], updates=[2**-11, -(2**-11), -(2**-12)]).tolist()
    [True, False, True]
    """
    a_format("fmt", fmt)
    stored = fmt.round(finite_array("weights", weights))
    change = FP32.round(finite_array("updates", updates))
    if stored.shape != change.shape:
        raise CourseError(
            f"weights 与 updates 的形状不同：{stored.shape} 和 {change.shape}", remedy="请让它们一一对应"
        )
    with np.errstate(over="ignore"):
        return np.asarray((fmt.round(stored + change) == stored) & (change != 0))


@dataclass(frozen=True, slots=True)
class Census:
    """How many values of an array meet each fate in a format; the fields sum to its size.

    ``zero`` were zero before; ``to_zero`` vanish, ``subnormal`` lose fraction bits, ``normal`` keep them,
    ``overflow`` become infinite; ``nonfinite`` were NaN or infinite before.
    """

    zero: int
    to_zero: int
    subnormal: int
    normal: int
    overflow: int
    nonfinite: int

    @property
    def to_zero_share(self) -> Fraction:
        """Share of the finite non-zero values that vanish."""
        return self._share(self.to_zero)

    @property
    def overflow_share(self) -> Fraction:
        """Share of the finite non-zero values that become infinite."""
        return self._share(self.overflow)

    def _share(self, part: int) -> Fraction:
        values = self.to_zero + self.subnormal + self.normal + self.overflow
        if not values:
            raise CourseError("没有非零的有限值，比例无从算起", remedy="请给至少一个非零的有限值")
        return Fraction(part, values)


def census(values: object, *, scale: object = 1, fmt: Format = FP16) -> Census:
    """Count the fates of ``values`` × ``scale`` in ``fmt``: the facts behind a histogram of gradients.

    >>> counts = census([0, 2e-8, 1e-6, 1, 1e5], scale=1)
    >>> counts.to_zero, counts.subnormal, counts.normal, counts.overflow, counts.overflow_share
    (1, 1, 1, 1, Fraction(1, 4))
    """
    a_format("fmt", fmt)
    before = float_array("values", values)
    factor = finite_float("scale", scale)
    if factor <= 0:
        raise CourseError("scale 必须大于 0", got=factor, remedy="请给正数，例如 1024")
    with np.errstate(all="ignore"):
        after = np.abs(fmt.round(before * factor))
    real = np.isfinite(before) & (before != 0)
    return Census(
        zero=int((before == 0).sum()),
        to_zero=int((real & (after == 0)).sum()),
        subnormal=int((real & (after > 0) & (after < fmt.smallest_normal)).sum()),
        normal=int((real & (after >= fmt.smallest_normal) & np.isfinite(after)).sum()),
        overflow=int((real & np.isinf(after)).sum()),
        nonfinite=int((~np.isfinite(before)).sum()),
    )


def census_by_power(values: object, *, scale: object = 1, fmt: Format = FP16) -> dict[int, Census]:
    """Group the finite non-zero ``values`` × ``scale`` by power of two and take the census of each group.

    Key n holds the magnitudes from 2**n up to 2**(n + 1) before they are stored; keys rise.

    >>> groups = census_by_power([2**-26, -3, 3.5], fmt=FP16)
    >>> [(power, group.to_zero, group.normal) for power, group in groups.items()]
    [(-26, 1, 0), (1, 0, 2)]
    """
    before = float_array("values", values)
    census(before, scale=scale, fmt=fmt)  # refuses what is no scale or no format
    real = before[np.isfinite(before) & (before != 0)]
    # Multiplied as fraction and exponent, so that neither end of float64 is met.
    (digits, powers), (factor, shift) = np.frexp(real), np.frexp(finite_float("scale", scale))
    powers = powers + shift - np.where(np.abs(digits * factor) < 0.5, 2, 1)
    return {int(power): census(real[powers == power], scale=scale, fmt=fmt) for power in np.unique(powers)}
