"""Read what people write as an answer, whatever its type, and never fail on it.

A ``Field`` is one name to fill and says how its value is read. ``Field.read`` returns a plain value of our
own (``Fraction``, ``bool``, ``str`` or a tuple of ``str``), so that nothing a reader's object does in
``__eq__`` or ``__repr__`` can decide a verdict. It raises ``UnreadableError`` with a Chinese sentence for
everything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import Final

from ..arguments import exact
from ..errors import CourseError
from ..units import UNITS

Value = Fraction | bool | str | tuple[str, ...]
Literal = int | float | str | bool | list[str]

_LONGEST: Final = 200  # characters, or names in a list: more is a slip
_PLAIN: Final = MappingProxyType({"": Fraction(1), "%": Fraction(1, 100)})
_BYTES: Final = MappingProxyType(
    {"": Fraction(1), "字节": Fraction(1), "BYTES": Fraction(1), "BYTE": Fraction(1)}
    | {unit.upper(): Fraction(size) for unit, size in UNITS.items()}
)
_SECONDS: Final = MappingProxyType(
    {"": Fraction(1), "S": Fraction(1), "秒": Fraction(1), "MS": Fraction(1, 1000), "毫秒": Fraction(1, 1000)}
)
_NUMBER: Final = re.compile(r"([+-]?[0-9.]+(?:E[+-]?[0-9]{1,3})?(?:/[0-9]+)?)([A-Z%一-鿿]*)")
_YES: Final = frozenset({"TRUE", "是", "对", "能", "会", "YES"})
_NO: Final = frozenset({"FALSE", "否", "不", "错", "不能", "不会", "NO"})


class UnreadableError(Exception):
    """A value that is no answer of the wanted kind; the text is a Chinese sentence for the reader."""


class Kind(Enum):
    """What a name to fill holds."""

    NUMBER = "数"
    BYTES = "字节数"
    SECONDS = "秒数"
    TRUTH = "True 或 False"
    LETTER = "一个字母"
    LETTERS = "一组字母"
    NAMES = "一组名字"


_UNITS_OF: Final[Mapping[Kind, Mapping[str, Fraction]]] = MappingProxyType(
    {Kind.NUMBER: _PLAIN, Kind.BYTES: _BYTES, Kind.SECONDS: _SECONDS}
)


@dataclass(frozen=True, slots=True)
class Field:
    """One name to fill: ``label`` is Chinese and stands beside it, ``unit`` is shown by a form."""

    name: str
    kind: Kind
    label: str
    unit: str = ""

    def is_blank(self, value: object) -> bool:
        """True for the placeholder: ``None``, empty text, or only the dots of an example.

        >>> Field("mean_grad", Kind.NUMBER, "平均梯度").is_blank(None)
        True
        """
        try:
            if isinstance(value, str):
                return not tidy(value).strip(".…")
            if isinstance(value, (list, tuple)):
                few = list(islice(value, _LONGEST))
                return bool(few) and all(item is None or self._is_blank_text(item) for item in few)
        except Exception:  # a reader's own class: reading it will say what is wrong
            return False
        return value is None or value is Ellipsis

    def _is_blank_text(self, value: object) -> bool:
        return isinstance(value, str) and self.is_blank(value)

    def read(self, value: object) -> Value:
        """Return the value as the library's own type; raise ``UnreadableError`` with a sentence.

        >>> Field("activation_bytes", Kind.BYTES, "激活").read("1.25 MiB")
        Fraction(1310720, 1)
        """
        try:
            if self.kind is Kind.TRUTH:
                return _truth(value)
            if self.kind is Kind.LETTER:
                return _one_letter(value)
            if self.kind in (Kind.LETTERS, Kind.NAMES):
                return _names(value, letters=self.kind is Kind.LETTERS)
            return _number(value, _UNITS_OF[self.kind])
        except UnreadableError as error:
            raise UnreadableError(f"{self.name} {error}。") from None
        except Exception:  # a reader's own class may break in any way
            raise UnreadableError(f"{self.name} 要的是{self.kind.value}，这个值读不出来。") from None


def tidy(text: str) -> str:
    """Return text with full-width and typographic signs as plain ones and without spaces.

    >>> tidy("１，０００ 字节")
    '1,000字节'
    """
    plain = str.__str__(text)  # what a subclass makes of itself does not count
    if len(plain) > _LONGEST:
        raise UnreadableError("太长，读不出来")
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", plain)).replace("−", "-")


def _number(value: object, units: Mapping[str, Fraction]) -> Fraction:
    if isinstance(value, str):
        return _number_in_text(tidy(value), units)
    try:
        number = exact("value", value)
    except CourseError:
        raise UnreadableError(_what_is_wrong(value)) from None
    return number if type(value) in (int, Fraction, Decimal) else _snap(number)


def _snap(number: Fraction) -> Fraction:
    """Forget the last digit of a float: 0.1 + 0.2 is meant to be 0.3."""
    if number.denominator == 1:
        return number
    return Fraction(f"{Decimal(number.numerator) / Decimal(number.denominator):.15g}")


def _what_is_wrong(value: object) -> str:
    if type(value).__name__ in ("bool", "bool_"):
        return "要填数，不是 True 或 False"
    if isinstance(value, (float, Decimal)) or hasattr(value, "dtype"):
        return "要填一个有限的数"
    return f"要填一个数，收到的是 {type(value).__name__[:40]}"


def _number_in_text(text: str, units: Mapping[str, Fraction]) -> Fraction:
    found = _NUMBER.fullmatch(re.sub(r"(?<=\d)(?:_(?=\d)|,(?=\d{3}(?!\d)))", "", text).upper())
    if not found:
        raise UnreadableError("读不成数，可以写成 1250000、2.5 或 3/4 这样")
    if found[2] not in units:
        known = "、".join(name for name in ("B", "MB", "MiB", "秒", "ms", "%") if name.upper() in units)
        raise UnreadableError(f"的单位不认识，可以写 {known}，或不写单位")
    try:
        return exact("value", Fraction(found[1])) * units[found[2]]
    except (ValueError, ZeroDivisionError):
        raise UnreadableError("读不成数，可以写成 1250000、2.5 或 3/4 这样") from None


def same_number(given: Fraction, right: Fraction) -> bool:
    """Compare exactly, except that a share without an end may come as a float of twelve right digits.

    >>> same_number(_number(1 / 3, _PLAIN), Fraction(1, 3)), same_number(Fraction(33, 100), Fraction(1, 3))
    (True, False)
    """
    endless = isinstance(literal(right), str)
    return given == right or (endless and abs(given - right) <= abs(right) / 10**12)


def _truth(value: object) -> bool:
    if isinstance(value, str):
        word = tidy(value).upper()
        if word in _YES | _NO:
            return word in _YES
    elif type(value).__name__ in ("bool", "bool_") and type(value).__module__ in ("builtins", "numpy"):
        return bool(value)
    raise UnreadableError("要填 True 或 False")


def _one_letter(value: object) -> str:
    letters = _names(value, letters=True)
    if len(letters) != 1:
        raise UnreadableError('要填一个字母，写成 "A" 这样')
    return letters[0]


def _names(value: object, *, letters: bool) -> tuple[str, ...]:
    """Return the names in order, each once; text is cut at commas, letters also without."""
    if isinstance(value, str):
        text = tidy(value)
        items: list[object] = list(re.split(r"[,、;]", text))
        if letters and re.fullmatch(r"[A-Za-z]{2,26}", text):
            items = list(text)
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = list(islice(value, _LONGEST + 1))
    else:
        raise UnreadableError('要填一组文字，写成 ["……", "……"] 这样')
    if len(items) > _LONGEST:
        raise UnreadableError("列得太多，读不出来")
    return tuple(dict.fromkeys(_name(item, letters) for item in items if item != ""))


def _name(item: object, letters: bool) -> str:
    if not isinstance(item, str):
        raise UnreadableError("里的每一项都要是文字，加上引号")
    name = tidy(item)
    if letters and not re.fullmatch(r"[A-Za-z]", name):
        raise UnreadableError('里的每一项都要是一个字母，写成 ["A", "B"] 这样')
    return name.upper() if letters else name


def literal(value: Fraction | Decimal | bool | str | tuple[str, ...] | list[str]) -> Literal:
    """Write a value as a literal that a notebook can hold and that reads back as the same value.

    >>> literal(Fraction(31, 100)), literal(Fraction(1, 3)), literal(Fraction(7))
    (0.31, '1/3', 7)
    """
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, tuple)):
        return list(value)
    number = Fraction(value)
    if number.denominator == 1:
        return int(number)
    short = float(number)
    return short if _snap(Fraction(str(short))) == number else str(number)
