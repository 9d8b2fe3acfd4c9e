"""Pictures as PNG: packed fast for the screen, small for a notebook, and at half the size."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

_ADLER: Final = 65521


class PngWriter:
    """Write RGBA pixels as PNG, packing again only the bands of rows that changed since the last picture.

    Rows are stored as they are, so that no band depends on another. Pillow takes four times as long.
    """

    _BAND = 12  # rows

    def __init__(self) -> None:
        self._bands: list[_Band] = []

    def write(self, rgba) -> bytes:
        """Return the picture, packed fast."""
        height, width, _ = np.shape(rgba)
        rows = np.asarray(rgba).reshape(height, width * 4)
        now = [rows[top : top + self._BAND].tobytes() for top in range(0, height, self._BAND)]
        known = self._bands or [_Band(b"", b"", 0, 0)] * len(now)
        self._bands = [
            band if band.pixels == pixels else _pack(pixels, width * 4)
            for pixels, band in zip(now, known, strict=True)
        ]
        body = b"\x78\x01" + b"".join(band.packed for band in self._bands) + b"\x03\x00"
        return _png(width, height, body + struct.pack(">I", _joined_adler32(self._bands)))


class _Band(NamedTuple):
    """Some rows: their pixels, the same deflated, and Adler-32 and length of what was deflated."""

    pixels: bytes
    packed: bytes
    adler32: int
    length: int


def _pack(pixels: bytes, row_bytes: int) -> _Band:
    """Deflate rows so that they can stand behind any others."""
    raw = _unfiltered(np.frombuffer(pixels, np.uint8).reshape(-1, row_bytes))
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(raw.data) + packer.flush(zlib.Z_FULL_FLUSH)
    return _Band(pixels, packed, zlib.adler32(raw.data), raw.size)


def _joined_adler32(bands: Iterable[_Band]) -> int:
    """Return Adler-32 of all bands on end, from theirs: two sums, of bytes and of those sums."""
    low, high = 1, 0
    for band in bands:
        high = (high + band.length * (low - 1) + (band.adler32 >> 16)) % _ADLER
        low = (low + (band.adler32 & 0xFFFF) - 1) % _ADLER
    return high << 16 | low


def halved(rgba) -> np.ndarray:
    """Return the picture at half the width and height, each pixel the mean of four."""
    pixels = np.asarray(rgba).view(np.uint32)[..., 0]
    rows = _mean(pixels[0::2], pixels[1::2])
    return _mean(rows[:, 0::2], rows[:, 1::2])[..., None].view(np.uint8)


def _mean(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the means of four bytes each at once, rounded up, so that white stays white."""
    return (one | other) - (((one ^ other) & 0xFEFEFEFE) >> 1)


def small_png(rgba) -> bytes:
    """Return the picture packed as small as zlib can."""
    height, width, _ = np.shape(rgba)
    raw = _unfiltered(np.asarray(rgba).reshape(height, width * 4))
    return _png(width, height, zlib.compress(raw.data, 9))


def _unfiltered(rows: np.ndarray) -> np.ndarray:
    """Return rows as PNG wants them: each behind the number of its filter, 0 for none."""
    return np.pad(rows, ((0, 0), (1, 0)))


def _png(width: int, height: int, body: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
