"""Check what callers hand in, once for all number modules.

Every function takes the argument's name, so that the message can say which one was wrong, and returns the
value in the one type the library computes with: ``int`` for counts and bytes, ``Fraction`` for shares,
means and times. ``bool`` is never a number here: ``True`` workers is a slip, not a one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from numbers import Integral, Rational, Real
from operator import index
from typing import Any, TypeVar, overload

from .errors import CourseError

T = TypeVar("T")

# Counts beyond this are slips, not models: it keeps every product printable and every message short.
LARGEST_COUNT = 10**30
# Items that are read one by one: more than this belongs in an array, and an endless series must end.
LARGEST_SEQUENCE = 10**5


def is_a(value: object, *kinds: type) -> bool:
    """Say whether the real type of ``value`` is one of ``kinds``; ``__class__`` may claim any, or raise."""
    return issubclass(type(value), kinds)


def _plain_int(value: Any) -> int | None:
    if is_a(value, bool) or not is_a(value, Integral):
        return None
    try:
        return index(value)
    except Exception:  # what only claims to be whole may fail in any way when it is asked for its value
        return None


def _plain_text(value: Any) -> str | None:
    return str.__str__(value) if is_a(value, str) else None


def whole(name: str, value: object, *, minimum: int = 0, maximum: int = LARGEST_COUNT) -> int:
    """Return a count or a number of bytes as ``int``; refuse bool, float, text and values out of range.

    >>> whole("layers", 4, minimum=1)
    4
    >>> whole("layers", 4.0, minimum=1)
    Traceback (most recent call last):
    course_lib.errors.CourseError: layers 必须是整数；收到 4.0。请给 1 到 10**30 之间的整数，例如 4。
    """
    limit = "10**30" if maximum == LARGEST_COUNT else str(maximum)
    number = _plain_int(value)
    if number is None:
        example = f"，例如 {max(minimum, min(4, maximum))}"
        raise CourseError(
            f"{name} 必须是整数", got=value, remedy=f"请给 {minimum} 到 {limit} 之间的整数{example}"
        )
    if not minimum <= number <= maximum:
        raise CourseError(f"{name} 超出范围", got=number, remedy=f"请给 {minimum} 到 {limit} 之间的整数")
    return number


def exact(
    name: str,
    value: object,
    *,
    minimum: Fraction | int | None = None,
    above: Fraction | int | None = None,
    maximum: Fraction | int | None = None,
) -> Fraction:
    """Return a finite real number as ``Fraction``; a float is taken as the decimal that it prints as.

    ``minimum`` and ``maximum`` are allowed themselves, ``above`` is not.

    >>> exact("overlap", 0.1, minimum=0, maximum=1)
    Fraction(1, 10)
    """
    number = _to_fraction(name, value)
    rules = []
    if minimum is not None:
        rules.append((number >= minimum, f"不小于 {minimum}"))
    if above is not None:
        rules.append((number > above, f"大于 {above}"))
    if maximum is not None:
        rules.append((number <= maximum, f"不大于 {maximum}"))
    if not all(holds for holds, _ in rules):
        raise CourseError(
            f"{name} 超出范围", got=value, remedy="请给" + "、".join(rule for _, rule in rules) + "的数"
        )
    return number


def _to_fraction(name: str, value: object) -> Fraction:
    wanted = "请给有限的整数、小数、Fraction 或 Decimal"
    try:
        number = _ratio_or_decimal(value)
    except Exception as error:  # what only claims to be a number may fail in any way
        raise CourseError(f"{name} 必须是数", got=value, remedy=wanted) from error
    if isinstance(number, Decimal):
        if not number.is_finite():
            raise CourseError(f"{name} 必须是有限的数", got=value, remedy=wanted)
        if abs(number.adjusted()) > 400:
            raise CourseError(f"{name} 大小超出可用范围", got=value, remedy="请给 1e-400 到 1e400 之间的数")
        number = Fraction(number)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 4000:
        raise CourseError(f"{name} 大小超出可用范围", got=value, remedy="请给 1e-400 到 1e400 之间的数")
    return number


def _ratio_or_decimal(value: Any) -> Fraction | Decimal:
    if is_a(value, bool):
        raise TypeError("bool is no number here")
    if is_a(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if is_a(value, Decimal):
        return Decimal(value)
    if not is_a(value, Real):
        raise TypeError("not a number")
    # The shortest decimal, for float and numpy scalars alike: 0.1 means one tenth.
    return Decimal(float.__repr__(value) if is_a(value, float) else str(value))


def choice(name: str, value: object, options: Iterable[str]) -> str:
    """Return ``value`` if it is one of the named options; the message lists them all."""
    known = tuple(options)
    plain = _plain_text(value)
    if plain is None or plain not in known:
        raise CourseError(f"{name} 不在可选范围内", got=value, remedy="可选：" + "、".join(known))
    return plain


def truth(name: str, value: object) -> bool:
    """Return a plain ``bool``; refuse 0, 1 and other stand-ins."""
    if not is_a(value, bool):
        raise CourseError(f"{name} 必须是 True 或 False", got=value, remedy="请给 True 或 False")
    return value is True


def text(name: str, value: object) -> str:
    """Return a non-empty ``str``."""
    plain = _plain_text(value)
    if plain is None or not plain.strip():
        raise CourseError(f"{name} 必须是非空文字", got=value, remedy="请给一段文字")
    return plain


def instance(name: str, value: Any, kind: type[T], remedy: str) -> T:
    """Return ``value`` if it is a ``kind`` of the library; ``remedy`` says in Chinese how to make one."""
    if not is_a(value, kind):
        raise CourseError(f"{name} 必须是 {kind.__name__}", got=value, remedy=remedy)
    found: T = value
    return found


@overload
def sequence(name: str, values: Iterable[T]) -> tuple[T, ...]: ...
@overload
def sequence(name: str, values: object) -> tuple[object, ...]: ...
def sequence(name: str, values: Any) -> tuple[object, ...]:
    """Return the items of a tuple, list, array or other finite series; text is one value, not a series."""
    wanted = "请给元组或列表"
    if is_a(values, str, bytes, bytearray) or not is_a(values, Iterable):
        raise CourseError(f"{name} 必须是一串值", got=values, remedy=wanted)
    try:
        items = tuple(islice(values, LARGEST_SEQUENCE + 1))
    except Exception as error:  # a 0-d array or a reader's own class may fail in any way when iterated
        raise CourseError(f"{name} 无法逐项读取", got=values, remedy=wanted) from error
    if len(items) > LARGEST_SEQUENCE:
        raise CourseError(f"{name} 太长", remedy=f"最多 {LARGEST_SEQUENCE} 项")
    return items


def same_length(**sequences: Collection[object]) -> int:
    """Return the common length of the named sequences; refuse unequal ones, naming each length."""
    lengths = {name: len(values) for name, values in sequences.items()}
    if len(set(lengths.values())) > 1:
        listed = "，".join(f"{name} 有 {length} 个" for name, length in lengths.items())
        raise CourseError(f"长度不一致：{listed}", remedy="请让它们一一对应")
    return next(iter(lengths.values()))
