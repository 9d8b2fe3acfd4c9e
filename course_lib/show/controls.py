"""Controls as values: what can be moved, between which bounds, and what the book says.

A ``Number`` is dragged over its stops and typed exactly, a ``Choice`` picked from a list, a ``Switch`` set or
not. They know nothing of widgets; ``show.widgets`` makes those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import log10
from typing import Any, Final

from ..arguments import choice, exact, truth, whole
from ..errors import CourseError
from ..units import UNITS

# What a typed number may end in. B is a billion parameters, as in "7.5B".
_SUFFIXES: Final[Mapping[str, int | Fraction]] = {
    "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12,
    "万": 10**4, "亿": 10**8, "%": Fraction(1, 100),
}  # fmt: skip
_BYTE_SUFFIXES: Final[Mapping[str, int | Fraction]] = {**_SUFFIXES, **UNITS}
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}([,_]\d{3})+(\.\d+)?")

# An input method may leave any of these: full-width forms of ASCII, and the minus of typesetting.
_HALF_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2212: "-"}


def log_stops(least: int, most: int, *, per_decade: int = 24) -> tuple[int, ...]:
    """Return whole numbers from ``least`` to ``most``, evenly spaced on a log scale, of two or three digits.

    >>> log_stops(1_000, 100_000, per_decade=3)
    (1000, 2200, 4600, 10000, 22000, 46000, 100000)
    """
    steps = round(log10(most / least) * per_decade)
    exact_stops = (least * (most / least) ** (step / steps) for step in range(steps + 1))
    rounded = (int(Decimal(f"{stop:.{1 if per_decade < 30 else 2}e}")) for stop in exact_stops)
    return tuple(sorted({least, most, *(stop for stop in rounded if least < stop < most)}))


def powers_of_two(least: int, most: int) -> tuple[int, ...]:
    """Return the powers of two from ``least`` to ``most``.

    >>> powers_of_two(1, 16)
    (1, 2, 4, 8, 16)
    """
    return tuple(2**n for n in range(most.bit_length() + 1) if least <= 2**n <= most)


def even_stops(
    least: float | Fraction, most: float | Fraction, step: float | Fraction
) -> tuple[Fraction, ...]:
    """Return exact stops ``step`` apart; a float is the decimal that it prints as.

    >>> [str(stop) for stop in even_stops(0, 1, 0.25)]
    ['0', '1/4', '1/2', '3/4', '1']
    """
    first, last, width = (exact("stops", value) for value in (least, most, step))
    return tuple(first + n * width for n in range(int((last - first) / width) + 1))


def parse_number(name: str, typed: str, *, unit: str = "") -> int | Fraction:
    """Read what a person types: 1,000,000 or 1_000_000, 1e6, 7.5B, 100万, 1/3, 25%, full-width digits too.

    Where ``unit`` is 字节, also 10 MB and 1.25 MiB. Wrongly grouped digits are refused: 1,5 is no 15.

    >>> parse_number("workers", "１，０００"), parse_number("parameters", "7.5B"), parse_number("x", "1/3")
    (1000, 7500000000, Fraction(1, 3))
    >>> parse_number("capacity", "1.25 MiB", unit="字节")
    1310720
    """
    plain = re.sub(r"\s", "", typed.translate(_HALF_WIDTH)).removesuffix(unit)
    number, factor = _split_suffix(plain, _BYTE_SUFFIXES if unit == "字节" else _SUFFIXES)
    if _GROUPED.fullmatch(number):
        number = re.sub("[,_]", "", number)
    try:
        if "_" in number:
            raise ValueError(number)
        value = exact(name, Fraction(number) if "/" in number else Decimal(number)) * factor
    except (ValueError, InvalidOperation, ZeroDivisionError) as error:
        raise CourseError(
            f"{name} 读不懂", got=typed, remedy="请输入数字，例如 1000000、1e6、7.5B 或 100万"
        ) from error
    return int(value) if value.denominator == 1 else value


def _split_suffix(typed: str, suffixes: Mapping[str, int | Fraction]) -> tuple[str, int | Fraction]:
    for suffix in sorted(suffixes, key=len, reverse=True):
        if typed.upper().endswith(suffix.upper()):
            return typed[: -len(suffix)], suffixes[suffix]
    return typed, 1


def show_number(value: int | Fraction) -> str:
    """Write a number as the readout shows it: thousands separated, a share as a decimal where it ends.

    >>> show_number(1_000_000), show_number(Fraction(1, 4)), show_number(Fraction(1, 3))
    ('1,000,000', '0.25', '1/3')
    """
    value = Fraction(value)
    if value.denominator == 1:
        return f"{value.numerator:,}"
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{Decimal(value.numerator) / Decimal(value.denominator):,f}" if rest == 1 else str(value)


@dataclass(frozen=True, slots=True)
class Number:
    """A number: ``stops`` are what dragging reaches; any other between the first and the last can be typed.

    ``name`` is the argument in the library call, ``label`` Chinese, ``book`` the chapter's value;
    ``fraction`` allows values that are not whole.
    """

    name: str
    label: str
    book: Any
    stops: Sequence[Any]
    unit: str = ""
    hint: str = ""
    fraction: bool = False

    def check(self, value: object) -> int | Fraction:
        """Return a legal value, or raise ``CourseError``."""
        least, most = self.stops[0], self.stops[-1]
        if self.fraction:
            return exact(self.name, value, minimum=least, maximum=most)
        return whole(self.name, value, minimum=least, maximum=most)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several: ``options`` maps what the library takes to what the reader sees."""

    name: str
    label: str
    book: str
    options: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""

    def check(self, value: object) -> str:
        """Return one of the options, or raise ``CourseError``."""
        return choice(self.name, value, self.options)


@dataclass(frozen=True, slots=True)
class Switch:
    """Yes or no."""

    name: str
    label: str
    book: bool
    hint: str = ""

    def check(self, value: object) -> bool:
        """Return a bool, or raise ``CourseError``."""
        return truth(self.name, value)


Control = Number | Choice | Switch
