"""FP16, BF16 and FP32: what each can hold, and rounding of whole arrays to it.

Rounded arrays are float32 arrays that hold only values of the format, as numpy has no BF16 of its own. NaN
and infinities are legal array values here, because the check of section 27.3 must be able to find them: NaN
stays NaN, infinities stay, and a finite value beyond the format becomes an infinity, as in hardware.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..arguments import instance, text, whole
from ..arrays import finite_float, float_array
from ..errors import CourseError


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: sign bit, exponent bits, fraction bits; subnormals and infinities as in IEEE 754.

    >>> FP16.largest, FP16.smallest_subnormal == 2**-24, BF16.largest > 3e38
    (65504.0, True, True)
    """

    name: str
    exponent_bits: int
    fraction_bits: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", text("name", self.name))
        exponent_bits = whole("exponent_bits", self.exponent_bits, minimum=2, maximum=8)
        fraction_bits = whole("fraction_bits", self.fraction_bits, minimum=1, maximum=23)
        object.__setattr__(self, "exponent_bits", exponent_bits)
        object.__setattr__(self, "fraction_bits", fraction_bits)

    @property
    def bits(self) -> int:
        """Stored bits per value."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def largest(self) -> float:
        """Largest finite value."""
        return math.ldexp(2 - math.ldexp(1, -self.fraction_bits), 1 - self._lowest_exponent)

    @property
    def smallest_normal(self) -> float:
        """Smallest positive value with all its fraction bits; below it the spacing stays the same."""
        return math.ldexp(1, self._lowest_exponent)

    @property
    def smallest_subnormal(self) -> float:
        """Smallest positive value; half of it and less rounds to zero."""
        return math.ldexp(1, self._lowest_exponent - self.fraction_bits)

    @property
    def _lowest_exponent(self) -> int:
        return 2 - (1 << (self.exponent_bits - 1))

    def round(self, values: object) -> NDArray[np.float32]:
        """Round to nearest, ties to even, straight from float64; same shape, float32, NaN stays NaN.

        Finite values of ``largest`` plus half a spacing or more become infinities.
        """
        array = float_array("values", values)
        exponents = np.maximum(np.frexp(array)[1] - 1, self._lowest_exponent) - self.fraction_bits
        with np.errstate(all="ignore"):
            rounded = np.ldexp(np.rint(np.ldexp(array, -exponents)), exponents)
            beyond = np.abs(rounded) > self.largest
            return np.asarray(np.where(beyond, np.copysign(np.inf, rounded), rounded), dtype=np.float32)

    def spacing(self, at: object) -> float:
        """Distance between neighbouring values in the power-of-two interval that contains ``at``.

        It halves below every power of two, so just below 1 it is half of ``spacing(1)``.

        >>> FP16.spacing(1.0) == 2**-10, FP16.spacing(0.75) == 2**-11
        (True, True)
        """
        value = self._inside("at", at)
        exponent = math.frexp(value)[1] - 1 if value else self._lowest_exponent
        return math.ldexp(1, max(exponent, self._lowest_exponent) - self.fraction_bits)

    def neighbours(self, at: object) -> tuple[float, float]:
        """Return the largest value of the format below ``at`` and the smallest above it.

        The neighbour beyond the largest value is infinity.

        >>> FP16.neighbours(1.0) == (1 - 2**-11, 1 + 2**-10)
        True
        """
        value = self._inside("at", at)
        centre = float(self.round(value))
        below = centre if centre < value else -self._next_up(-centre) + 0.0
        above = centre if centre > value else self._next_up(centre)
        return below, above

    def values_between(self, low: object, high: object) -> NDArray[np.float64]:
        """Return every finite value from ``low`` to ``high`` in order (16-bit formats at most).

        >>> FP16.values_between(1 - 2**-11, 1 + 2**-10).tolist() == [1 - 2**-11, 1, 1 + 2**-10]
        True
        """
        if self.bits > 16:
            raise CourseError(f"{self.name} 的值多得列不完", got=self.bits, remedy="请用至多 16 位的格式")
        first, last = finite_float("low", low), finite_float("high", high)
        field = np.arange(((1 << self.exponent_bits) - 1) << self.fraction_bits)  # the bits below the sign
        exponent = np.maximum(field >> self.fraction_bits, 1)
        hidden = np.where(field >> self.fraction_bits, 1 << self.fraction_bits, 0)
        digits = (field & ((1 << self.fraction_bits) - 1)) + hidden
        positive = np.ldexp(digits.astype(float), exponent - 1 + self._lowest_exponent - self.fraction_bits)
        values = np.concatenate([-positive[:0:-1], positive])
        return values[np.searchsorted(values, first) : np.searchsorted(values, last, side="right")]

    def _next_up(self, value: float) -> float:
        if value == self.largest:
            return math.inf
        at_power_of_two = math.frexp(value)[0] == -0.5
        return value + self.spacing(value / 2 if at_power_of_two else value)

    def _inside(self, name: str, value: object) -> float:
        number = finite_float(name, value)
        if abs(number) > self.largest:
            raise CourseError(
                f"{name} 超出 {self.name} 的范围", got=number, remedy=f"请给绝对值不超过 {self.largest} 的数"
            )
        return number


FP16: Final = Format("FP16", 5, 10)
BF16: Final = Format("BF16", 8, 7)
FP32: Final = Format("FP32", 8, 23)


def a_format(name: str, value: object) -> Format:
    """Return ``value`` if it is a ``Format``."""
    return instance(name, value, Format, "请给 FP16、BF16 或 FP32")


def to_fp16(values: object) -> NDArray[np.float32]:
    """Round to FP16, nearest even; see ``Format.round``.

    >>> to_fp16([1e-6, 2e-8, 1 - 2**-12, 70_000]).tolist()
    [1.0132789611816406e-06, 0.0, 1.0, inf]
    """
    return FP16.round(values)


def to_bf16(values: object) -> NDArray[np.float32]:
    """Round to BF16, nearest even; see ``Format.round``.

    >>> to_bf16([2e-8, 0.997, 70_000]).tolist()
    [2.0023435354232788e-08, 0.99609375, 70144.0]
    """
    return BF16.round(values)
