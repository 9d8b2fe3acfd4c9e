"""Read what a kernel says the answers are. It is a claim by a process that may lie; nothing here runs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from ..exercises import Exercise
from .kernel.grader_box.answer import MIME

_LONGEST: Final = 4_300
# A short text may stand for a number of a thousand million digits: only plain forms are computed out here.
_FRACTION: Final = re.compile(r"-?[0-9]+(?:/[0-9]+)?")
_LARGEST_EXPONENT: Final = 999


def _fraction(text: str) -> Fraction:
    if not _FRACTION.fullmatch(text):
        raise ValueError
    return Fraction(text)


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if number.is_finite() and not -_LARGEST_EXPONENT < number.adjusted() < _LARGEST_EXPONENT:
        raise ValueError
    return number


_READERS: Final[Mapping[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "none": lambda text: None,
        "ellipsis": lambda text: Ellipsis,
        "int": int,
        "float": float,
        "decimal": _decimal,
        "fraction": _fraction,
        "text": str,
        "bool": lambda text: text == "True",
        # Only the name of a foreign type is kept: the sentence for the student shows it.
        "other": lambda text: type(text[:40] or "object", (), {})(),
    }
)


class ClaimError(Exception):
    """What came is not one claim of the wanted form."""


def claimed(outputs: list[Any], exercise: Exercise) -> dict[str, Any]:
    """Return the answers by name from the outputs of a check cell; refuse any other form."""
    claims = [
        data[MIME] for output in outputs if isinstance(data := output.get("data"), dict) and MIME in data
    ]
    if len(claims) != 1:
        raise ClaimError(f"{len(claims)} 份回答，应当恰好一份")
    claim = claims[0]
    values = claim.get("values") if isinstance(claim, dict) else None
    if not isinstance(values, dict) or claim.get("id") != exercise.id or set(values) != set(exercise.answers):
        raise ClaimError("回答的格式不对")
    try:
        return {name: _value(value) for name, value in values.items()}
    except (TypeError, ValueError, ArithmeticError, KeyError):
        raise ClaimError("回答的格式不对") from None


def _value(value: Any) -> Any:
    kind, content = value
    if kind == "list":
        return [_item(item) for item in content]
    return _item(value)


def _item(item: Any) -> Any:
    kind, text = item
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ValueError
    return _READERS[kind](text)
