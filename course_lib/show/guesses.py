"""Set a guess, or a printed figure, beside what was computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

from ..arguments import exact, text
from ..errors import CourseError
from ..exercises.values import Field, Kind, UnreadableError, tidy
from .tables import Table

_TINY: Final = 1e-9  # below, a decimal is all noughts


def plain(value: Fraction | int) -> str:
    """Write an exact number for people: separators, a decimal where it ends, else five digits.

    >>> plain(17_310_720), plain(Fraction(5, 2)), plain(Fraction(1, 3)), plain(Fraction(1, 10**6))
    ('17,310,720', '2.5', '约 0.33333', '0.000001')
    """
    value = Fraction(value)
    if value.denominator == 1:
        return f"{value.numerator:,}"
    decimal, rounded = (_rounded(value, digits) for digits in (12, 5))
    style = ",f" if abs(value) >= _TINY else "g"
    return f"{decimal:{style}}" if Fraction(decimal) == value else f"约 {rounded:{style}}"


def _rounded(value: Fraction, digits: int) -> Decimal:
    quotient = Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
    return quotient.normalize()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One Chinese sentence as the value of a cell, shown without quotation marks."""

    words: str

    def __repr__(self) -> str:
        return self.words


def reveal(guess: object, *, actual: object, unit: str = "") -> Sentence:
    """Say how a guess compares with the computed number; ``None`` means no guess was written down.

    A guess may be text with separators and units, as people write it: "17 MB", "45%", "1,000".

    >>> reveal(None, actual=17_310_720, unit="字节")
    还没有写下猜测。算得 17,310,720 字节。
    >>> reveal(16_000_000, actual=17_310_720, unit="字节")
    你猜 16,000,000 字节，算得 17,310,720 字节：少猜了 1,310,720 字节，即 7.6%。
    """
    right = exact("actual", actual)
    shown = f"算得 {_with_unit(right, unit)}"
    if guess is None:
        return Sentence(f"还没有写下猜测。{shown}。")
    number = _read(guess, unit)
    start = f"你猜 {_with_unit(number, unit)}"
    if number == right:
        return Sentence(f"{start}，正好。")
    side = "多" if number > right else "少"
    gap = abs(number - right)
    # A per cent of a per cent would be one number too many.
    missed = _with_unit(gap, "个百分点") if unit == "%" else _with_unit(gap, unit) + _share(gap, right)
    return Sentence(f"{start}，{shown}：{side}猜了 {missed}。")


def _with_unit(number: Fraction, unit: str) -> str:
    return f"{plain(number)}%" if unit == "%" else f"{plain(number)} {unit}".rstrip()


def _share(gap: Fraction, right: Fraction) -> str:
    return f"，即 {float(100 * gap / abs(right)):.1f}%" if right and gap <= 1000 * abs(right) else ""


def _read(guess: object, unit: str) -> Fraction:
    if not isinstance(guess, str):
        return exact("guess", guess)
    field = Field("guess", Kind.BYTES if unit == "字节" else Kind.NUMBER, "猜测")
    try:
        return exact("guess", field.read(tidy(guess).removesuffix(unit)))
    except UnreadableError as error:
        raise CourseError(
            f"guess 读不懂（{error}）", got=guess, remedy='请写一个数，例如 17000000 或 "17 MB"'
        ) from None


def against_print(figures: Mapping[str, tuple[object, object]], *, within: object = 0) -> Table:
    """Set computed figures beside printed ones: name → (computed, printed), and say what differs.

    ``within`` is the largest difference that still counts as equal, e.g. one unit of the last printed digit.
    """
    tolerance = exact("within", within, minimum=0)
    if not isinstance(figures, Mapping) or not figures:
        raise CourseError("figures 必须是非空字典", got=figures, remedy="例如 {'合计': (算得, 印出)}")
    rows, wrong = [], 0
    for name, pair in figures.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise CourseError("figures 的每一项必须成对", got=pair, remedy="请给 (算得, 印出)")
        computed, printed = exact("figures", pair[0]), exact("figures", pair[1])
        differs = abs(computed - printed) > tolerance
        wrong += differs
        gap = "0" if computed == printed else plain(computed - printed)
        rows.append(
            (text("figures", name), plain(computed), plain(printed), gap, "不符" if differs else "相符")
        )
    note = f"{wrong} 项不符。" if wrong else f"{len(rows)} 项全部相符。"
    return Table(("项目", "算得", "印出", "相差", "核对"), tuple(rows), note=note)
