"""CSV as spreadsheets write and read it: nothing in it runs, and whatever comes back is read.

Written as UTF-8 with BOM and CRLF between rows, so that Excel shows Chinese. Read in any encoding and with
any separator that Excel saves.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from ..errors import CourseError

_BOM: Final = "\ufeff"
# Excel in Chinese and Japanese also runs what begins with the full-width signs.
_RUNS: Final = frozenset("=+-@＝＋－＠")
_RUNS_AT_ONCE: Final = frozenset("\t\r\n")
_SEPARATORS: Final = ",;\t"
_KEPT_CONTROLS: Final = frozenset("\t\n")


def harmless(text: str) -> str:
    """Return text that no spreadsheet runs as a formula: an apostrophe is put before what would.

    >>> harmless("=1+1"), harmless("0429")
    ("'=1+1", '0429')
    """
    runs = text[:1] in _RUNS_AT_ONCE if text else False
    return f"'{text}" if runs or text.lstrip()[:1] in _RUNS else text


def unquoted(cell: str) -> str:
    """Return what stood in a cell before ``harmless`` put an apostrophe before it."""
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def printable(text: str) -> str:
    """Return text without control characters, which Excel and browsers refuse; LF and tab stay."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    return "".join(sign if sign in _KEPT_CONTROLS or ord(sign) >= 32 else "\ufffd" for sign in plain)


def write_rows(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as the bytes of a CSV file; every cell is made harmless."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerows([harmless(printable(cell)) for cell in row] for row in rows)
    return (_BOM + file.getvalue()).encode()


def read_rows(content: bytes, name: str, column: str) -> list[list[str]]:
    """Return the rows of a CSV file that has a column of this name.

    ``name`` stands for the file in sentences. The first row has the names of the columns; Excel's own first
    line ``sep=;`` is left out.
    """
    text = _decode(content, name)
    for separator in _SEPARATORS:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        except csv.Error:
            continue
        if rows and rows[0] and rows[0][0].lower() == "sep=":
            del rows[0]
        if rows and column in [cell.strip() for cell in rows[0]]:
            return rows
    raise CourseError(
        f"{name} 的第一行里没有「{column}」这一列", remedy="请照原样留着第一行，在表格软件里另存为 CSV"
    )


def _decode(content: bytes, name: str) -> str:
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise CourseError(f"{name} 的编码读不懂", remedy="请在表格软件里另存为「CSV UTF-8」")
