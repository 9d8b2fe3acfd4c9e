"""Section 27.1: bytes, in decimal and in binary units, never mixed.

``MB`` is 10**6 bytes, as in the chapter and the ZeRO paper; ``MiB`` is 2**20 bytes, as in most tools (some
of which print it as "MB" or "GB"). The exact number of bytes is always printed first.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from .arguments import choice, whole

KB: Final = 10**3
MB: Final = 10**6
GB: Final = 10**9
TB: Final = 10**12
KiB: Final = 2**10
MiB: Final = 2**20
GiB: Final = 2**30
TiB: Final = 2**40

UNITS: Final = {
    "B": 1, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "KiB": KiB, "MiB": MiB, "GiB": GiB, "TiB": TiB,
}  # fmt: skip
_DECIMAL: Final = ("TB", "GB", "MB", "KB")


def in_unit(n_bytes: int, unit: str, *, places: int = 2) -> str:
    """Write ``n_bytes`` in one unit, rounded half to even to at most ``places`` decimals.

    >>> in_unit(1_310_720, "MiB"), in_unit(1_310_720, "MB")
    ('1.25 MiB', '1.31 MB')
    """
    size = UNITS[choice("unit", unit, UNITS)]
    digits = whole("places", places, maximum=12)
    scaled = round(Fraction(whole("n_bytes", n_bytes) * 10**digits, size))
    head, tail = divmod(scaled, 10**digits)
    number = f"{head:,}.{tail:0{digits}d}" if digits else f"{head:,}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}"


def format_bytes(n_bytes: int) -> str:
    """Write bytes exactly first, then in the decimal and the binary unit that fit.

    >>> format_bytes(1_310_720)
    '1,310,720 字节（1.31 MB，1.25 MiB）'
    >>> format_bytes(512)
    '512 字节'
    """
    number = whole("n_bytes", n_bytes)
    exact_text = f"{number:,} 字节"
    for decimal in _DECIMAL:
        if number >= UNITS[decimal]:
            binary = decimal[0] + "iB"
            return f"{exact_text}（{in_unit(number, decimal)}，{in_unit(number, binary)}）"
    return exact_text
