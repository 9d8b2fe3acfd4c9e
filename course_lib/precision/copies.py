"""A weight kept in three ways over several updates: in the chapter's decimals, and in real formats."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
    localcontext,
)
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import choice, exact, whole
from ..arrays import finite_float
from ..errors import CourseError
from .formats import FP16, FP32, Format, a_format

Number = TypeVar("Number", Decimal, float)

ROUNDINGS: Final = MappingProxyType(
    {
        ROUND_HALF_EVEN: "四舍六入五成双",
        ROUND_HALF_UP: "四舍五入",
        ROUND_HALF_DOWN: "五舍六入",
        ROUND_DOWN: "向零截断",
        ROUND_UP: "远离零进位",
        ROUND_FLOOR: "向下取",
        ROUND_CEILING: "向上取",
    }
)


@dataclass(frozen=True, slots=True)
class Copies(Generic[Number]):
    """One weight over several updates, kept in three ways; entry 0 of each tuple is the start.

    ``direct`` rounds to the small format after every update, ``master`` is the finer copy, ``working`` is the
    master rounded to the small format for use.
    """

    direct: tuple[Number, ...]
    master: tuple[Number, ...]
    working: tuple[Number, ...]

    @property
    def direct_changes_at(self) -> int | None:
        """First update after which the directly rounded weight has moved; None if it never does."""
        return _first_change(self.direct)

    @property
    def working_changes_at(self) -> int | None:
        """First update after which the copy rounded from the master has moved; None if it never does."""
        return _first_change(self.working)


def _first_change(values: tuple[Number, ...]) -> int | None:
    return next((step for step, value in enumerate(values) if value != values[0]), None)


def decimal_copies(
    *,
    start: object,
    subtract: object,
    steps: int,
    places: int = 2,
    master_places: int = 3,
    rounding: str = ROUND_HALF_EVEN,
) -> Copies[Decimal]:
    """Subtract the same amount ``steps`` times from a weight of ``places`` decimals and from a finer copy.

    ``rounding`` is the name of one of ``ROUNDINGS``. Source: section 27.3, exercise 4.

    >>> copies = decimal_copies(start=1, subtract=0.003, steps=2)
    >>> [str(value) for value in copies.direct], [str(value) for value in copies.working]
    (['1.00', '1.00', '1.00'], ['1.00', '1.00', '0.99'])
    """
    count = whole("steps", steps, maximum=10_000)
    coarse = Decimal(1).scaleb(-whole("places", places, maximum=12))
    fine = Decimal(1).scaleb(-whole("master_places", master_places, minimum=places, maximum=24))
    mode = choice("rounding", rounding, ROUNDINGS)
    with localcontext(Context(prec=80)):
        change = _decimal("subtract", subtract)
        # Adding zero turns a negative zero into the zero that a reader expects.
        direct = [_decimal("start", start).quantize(coarse, mode) + 0]
        master = [_decimal("start", start).quantize(fine, mode) + 0]
        for _ in range(count):
            direct.append((direct[-1] - change).quantize(coarse, mode) + 0)
            master.append((master[-1] - change).quantize(fine, mode) + 0)
        working = tuple(value.quantize(coarse, mode) + 0 for value in master)
    return Copies(tuple(direct), tuple(master), working)


def _decimal(name: str, value: object) -> Decimal:
    number = exact(name, value, minimum=-(10**9), maximum=10**9)
    if (number * 10**30).denominator != 1:
        raise CourseError(f"{name} 的小数位太多", got=value, remedy="请给不超过 30 位小数的数")
    return Decimal(number.numerator) / Decimal(number.denominator)


def float_copies(*, start: object, subtract: object, steps: int, fmt: Format = FP16) -> Copies[float]:
    """Repeat the analogy in real formats: update in FP32, then store in ``fmt``, with and without a master.

    The update and the master are FP32, as in training; overflow shows as infinity.

    >>> copies = float_copies(start=1, subtract=2**-12, steps=2)
    >>> copies.direct_changes_at, copies.working_changes_at, copies.working[2] == 1 - 2**-11
    (None, 2, True)
    """
    a_format("fmt", fmt)
    count = whole("steps", steps, maximum=10_000)
    master = _master(start, subtract, count)
    change = FP32.round(finite_float("subtract", subtract))
    direct = [fmt.round(master[0])]
    with np.errstate(over="ignore"):
        for _ in range(count):
            direct.append(fmt.round(direct[-1] - change))
    working = fmt.round(master)
    return Copies(tuple(map(float, direct)), tuple(master.tolist()), tuple(working.tolist()))


def steps_until_visible(
    *, start: object, subtract: object, fmt: Format = FP16, limit: int = 100_000
) -> int | None:
    """Return how many equal updates an FP32 master needs until its ``fmt`` copy moves; None within ``limit``.

    Without a master the count is 1 or never: what one update cannot move, the next meets unmoved.

    >>> steps_until_visible(start=1, subtract=2**-14), steps_until_visible(start=1, subtract=2**-30)
    (5, None)
    """
    a_format("fmt", fmt)
    working = fmt.round(_master(start, subtract, whole("limit", limit, minimum=1, maximum=10**6)))
    moved = np.flatnonzero(working != working[0])
    return int(moved[0]) if moved.size else None


def _master(start: object, subtract: object, steps: int) -> NDArray[np.float32]:
    values = np.full(steps + 1, FP32.round(finite_float("subtract", subtract)), dtype=np.float32)
    values[0] = FP32.round(finite_float("start", start))
    with np.errstate(over="ignore"):
        return np.asarray(np.subtract.accumulate(values), dtype=np.float32)
