"""Report variables of the notebook as plain data. What is reported is a claim; it is judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

MIME = "application/vnd.course.answer+json"
_LONGEST = 201  # one more than is read, so that what is too long is seen to be so
_MOST_DIGITS = 4000  # Python writes no longer whole number


def tell(id: str, names: Sequence[str]) -> None:
    """Publish the values of these variables, beside a text for nbval."""
    from ipykernel.zmqshell import ZMQInteractiveShell

    shell: Any = ZMQInteractiveShell.instance()
    values = {name: plain(shell.user_ns.get(name)) for name in names}
    data = {MIME: {"id": id, "values": values}, "text/plain": f"习题 {id}"}
    shell.display_pub.publish(data=data)


def plain(value: object) -> list[Any]:
    """Return a value as ``[kind, text or items]``, exact, whatever its class does when asked.

    >>> plain(1_310_720), plain(0.1), plain(["甲", 2])
    (['int', '1310720'], ['float', '0.1'], ['list', [['text', '甲'], ['int', '2']]])
    """
    try:
        return _plain(value)
    except Exception:  # a class of the student's may break in any way
        return ["other", type(value).__name__[:40]]


def _plain(value: object) -> list[Any]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return ["list", [_item(item) for item in islice(value, _LONGEST)]]
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 1:
        return ["list", [_item(item) for item in islice(iter(value), _LONGEST)]]  # type: ignore[call-overload]
    return _item(value)


def _item(value: Any) -> list[Any]:
    kind = type(value)
    if value is None:
        return ["none", ""]
    if value is Ellipsis:
        return ["ellipsis", ""]
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        if value.dtype.kind == "f":  # the short decimal that it prints as, not that of the wider type
            return ["float", str(value.item() if value.itemsize == 8 else value)]
        value = value.item()
        kind = type(value)
    if isinstance(value, str):
        return ["text", str.__str__(value)[:_LONGEST]]
    if kind is bool:
        return ["bool", str(value)]
    if kind is int:
        return ["int", str(value)] if value.bit_length() < 3 * _MOST_DIGITS else ["other", "int"]
    if kind in (float, Decimal):
        return [kind.__name__.lower(), str(value)[:_MOST_DIGITS]]
    if kind is Fraction:
        return ["fraction", str(value)[:_MOST_DIGITS]]
    return ["other", kind.__name__[:40]]
