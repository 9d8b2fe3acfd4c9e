"""Set a guess, or a printed figure, beside what was computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from ..arguments import exact, text
from ..errors import CourseError
from .tables import Table

_TINY: Final = 1e-9  # below, a decimal is all noughts


def plain(value: Fraction | int) -> str:
    """Write an exact number for people: separators, a decimal where it ends, else four digits.

    >>> plain(17_310_720), plain(Fraction(5, 2)), plain(Fraction(1, 3)), plain(Fraction(1, 10**6))
    ('17,310,720', '2.5', '约 0.3333', '0.000001')
    """
    value = Fraction(value)
    if value.denominator == 1:
        return f"{value.numerator:,}"
    decimal, rounded = (Decimal(f"{float(value):.{digits}g}") for digits in (12, 4))
    style = ",f" if abs(value) >= _TINY else "g"
    return f"{decimal:{style}}" if Fraction(decimal) == value else f"约 {rounded:{style}}"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One Chinese sentence as the value of a cell, shown without quotation marks."""

    words: str

    def __repr__(self) -> str:
        return self.words


def reveal(guess: object, *, actual: object, unit: str = "") -> Sentence:
    """Say how a guess compares with the computed number; ``None`` means no guess was written down.

    >>> reveal(None, actual=17_310_720, unit="字节")
    还没有写下猜测。算得 17,310,720 字节。
    >>> reveal(16_000_000, actual=17_310_720, unit="字节")
    你猜 16,000,000 字节，算得 17,310,720 字节：少猜了 1,310,720 字节，即 7.6%。
    """
    right = exact("actual", actual)
    shown = f"算得 {plain(right)} {unit}".rstrip()
    if guess is None:
        return Sentence(f"还没有写下猜测。{shown}。")
    number = exact("guess", guess)
    start = f"你猜 {plain(number)} {unit}".rstrip()
    if number == right:
        return Sentence(f"{start}，正好。")
    side = "多" if number > right else "少"
    gap = abs(number - right)
    share = f"，即 {float(gap / abs(right)):.1%}" if right else ""
    return Sentence(f"{start}，{shown}：{side}猜了 {plain(gap)} {unit}".rstrip() + f"{share}。")


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
