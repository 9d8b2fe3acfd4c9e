"""Read stored notebooks the way the tests judge them: cells, paragraphs, headings, links."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
START = "00-start.ipynb"

Cell = dict[str, Any]


def stored() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def section_of(path: Path) -> str:
    """``27.05-split.ipynb`` → ``27.5``; empty for the start page."""
    found = re.match(r"27\.(\d\d)-", path.name)
    return f"27.{int(found[1])}" if found else ""


def notebook_of(section: str) -> Path | None:
    return next((path for path in stored() if section_of(path) == section), None)


def cells(path: Path, kind: str) -> list[Cell]:
    return [
        cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind
    ]


def source(cell: Cell) -> str:
    return "".join(cell["source"])


def markdown(path: Path) -> list[str]:
    return [source(cell) for cell in cells(path, "markdown")]


def paragraphs(text: str) -> list[str]:
    """Split markdown at blank lines and before every list item."""
    return [part for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)", text) if part.strip()]


def prose(text: str) -> str:
    """Drop code and formulas from markdown: what is left are words."""
    return re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", " ", text, flags=re.S)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(\s*<?([^)\s>]+)", text) + re.findall(r"""(?:href|src)=["']([^"']+)""", text)


def unlabelled(texts: list[str], names: re.Pattern[str]) -> list[str]:
    """Return the matches of ``names`` in cells that neither say 配套 nor stand under a heading that does."""
    found, label_level = [], 0
    for text in texts:
        for line in text.splitlines():
            heading = re.match(r"(#+)\s", line)
            if heading and "配套" in line:
                label_level = len(heading[1])
            elif heading and label_level >= len(heading[1]):
                label_level = 0
            if not label_level and "配套" not in text:
                found += names.findall(line)
    return found
