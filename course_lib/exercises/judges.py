"""Judging what is not a number: names out of a pool, and claims sorted into two piles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from fractions import Fraction
from typing import Final

from .exercise import Judge, Judged, Parameters, Read
from .values import tidy

_NUMERALS: Final = "零一两三四五六七八九十"


def numeral(count: int) -> str:
    """Write a small count as Chinese does before a measure word.

    >>> numeral(2), numeral(4), numeral(12), numeral(24)
    ('两', '四', '十二', ' 24 ')
    """
    if count < len(_NUMERALS):
        return _NUMERALS[count]
    return "十" + "一二三四五六七八九"[count - 11] if count < 20 else f" {count} "


def _names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def names_outside(
    inside: Callable[[Parameters], Set[str]], outside: Callable[[Parameters], Set[str]], wanted: int
) -> Judge:
    """Judge a list of names: every valid set of ``wanted`` names is right, every wrong name takes one away.

    The mark says of which kinds the wrong names are: already counted, on the list but elsewhere, unknown.
    """

    def judge(parameters: Parameters, given: Read, right: Read) -> Judged:
        (value,) = given.values()
        pool = _tidied(parameters["pool"])
        names, counted, valid = _names(value), _tidied(inside(parameters)), _tidied(outside(parameters))
        good = [name for name in names if name in valid and name in pool]
        wrong = [name for name in names if name not in good]
        kinds = {_kind(name, counted, pool) for name in wrong}
        if len(good) < wanted and not wrong:
            kinds.add("too few")
        share = Fraction(max(0, min(wanted, len(good)) - len(wrong)), wanted)
        return Judged(share, frozenset(kinds))

    return judge


def _tidied(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(tidy, names))


def _kind(name: str, counted: Set[str], pool: Set[str]) -> str:
    if name not in pool:
        return "unknown"
    return "counted" if name in counted else "elsewhere"


def placed(letters: Callable[[Parameters], Sequence[str]]) -> Judge:
    """Judge where some claims were put: each that lies in its right pile, and in no other, counts alike."""

    def judge(parameters: Parameters, given: Read, right: Read) -> Judged:
        watched = letters(parameters)
        where = [_pile(letter, given) for letter in watched]
        due = [_pile(letter, right) for letter in watched]
        equal = sum(mine == theirs for mine, theirs in zip(where, due, strict=True))
        return Judged(Fraction(equal, len(watched)), tuple(where))

    return judge


def _pile(letter: str, given: Read) -> frozenset[str]:
    return frozenset(name for name, value in given.items() if letter in _names(value))
