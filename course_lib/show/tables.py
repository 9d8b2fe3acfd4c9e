"""Tables for people, and the same in plain text for screen readers, tests and pages without scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final
from unicodedata import east_asian_width

from ..arguments import instance
from ..ledger import Ledger, Row
from ..units import format_bytes

_NUMBER: Final = re.compile(r"(?:约 )?[-−+]?\d[\d,./]*(?:e[-+]?\d+)?%?")
_SHORT: Final = 4  # characters that a narrow window does not break


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names. Cells are text, or ``int`` for counts and bytes, written with separators.

    ``total`` is a last row set apart; ``note`` a sentence below. Shown by Jupyter as HTML and as plain text.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    total: tuple[str | int, ...] = ()
    note: str = ""

    def html(self) -> str:
        """Return the HTML table: no ids; sides are set on each cell, as JupyterLab puts all to the right."""
        first = self.rows[0] if self.rows else self.columns
        heads = zip(self.columns, first, strict=True)
        head = "".join(_cell(name, 'th scope="col"', _is_number(below)) for name, below in heads)
        lines = [
            f"<tr>{''.join(_cell(cell, 'td', _is_number(cell)) for cell in row)}</tr>" for row in self.rows
        ]
        foot = "".join(_cell(cell, "th", _is_number(cell)) for cell in self.total)
        below = f"<tfoot><tr>{foot}</tr></tfoot>" if foot else ""
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>{below}</table>{note}"

    def text(self) -> str:
        """Return the table as aligned text; a Chinese character is two columns wide."""
        rows = [self.columns, *self.rows, *([self.total] if self.total else [])]
        cells = [[_written(cell) for cell in row] for row in rows]
        widths = [max(_width(row[i]) for row in cells if i < len(row)) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                _pad(cell, width, right=isinstance(raw, int))
                for cell, width, raw in zip(shown, widths, row, strict=True)
            )
            for shown, row in zip(cells, rows, strict=True)
        ]
        return "\n".join(line.rstrip() for line in [*lines, *([self.note] if self.note else [])])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text()}


def ledger_table(ledger: Ledger, *, per_value: bool = True) -> Table:
    """Return a ledger as a table: what is kept, why, bytes each, bytes in total, and what is not counted."""
    instance("ledger", ledger, Ledger, "请给一本账，例如 model_state(1_000_000)")
    columns = ("对象", "为什么保留", "存活时间", *(("每个值的字节",) if per_value else ()), "总字节")
    rows = tuple(_ledger_row(row, per_value) for row in ledger)
    blanks = ("",) * (len(columns) - 3)
    omits = f"未计入：{'、'.join(ledger.omits)}。" if ledger.omits else ""
    note = f"合计 {format_bytes(ledger.total_bytes)}。{omits}"
    return Table(columns, rows, ("合计", *blanks, "", ledger.total_bytes), note)


def _ledger_row(row: Row, per_value: bool) -> tuple[str | int, ...]:
    widths = (" + ".join(map(str, row.bytes_each)),) if per_value else ()
    return (row.name, row.why, row.lifetime.value, *widths, row.total_bytes)


def _written(cell: str | int) -> str:
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_number(cell: str | int) -> bool:
    return isinstance(cell, int) or _NUMBER.fullmatch(cell) is not None


def _cell(cell: str | int, tag: str, right: bool) -> str:
    written = _written(cell)
    style = "text-align:right" if right else "text-align:left"
    if right or len(written) <= _SHORT:
        style += ";white-space:nowrap"
    return f'<{tag} style="{style}">{escape(written)}</{tag.split()[0]}>'


def _width(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _pad(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
