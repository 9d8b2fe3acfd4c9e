"""nbconvert's HTML exporter with the course's own template, and formulas that need no script."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from .formulas import mathml

_LONGEST: Final = 12  # lines of code that stand open on a page


class _Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        """Return a formula in a line of text."""
        return mathml(body)

    def block_math(self, body: str) -> str:
        """Return a formula of its own."""
        return mathml(body, block=True)


def _markdown(source: str) -> str:
    return MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True)).render(source)


def _folded(cell: Any) -> bool:
    """Whether a page folds this cell's code: where a picture is the point, and where it is long."""
    pictures = any("image/png" in output.get("data", {}) for output in cell["outputs"])
    return pictures or cell["source"].count("\n") >= _LONGEST


def _two_lines(text: str) -> tuple[str, str, str]:
    """Split an explorer's text: its title, its sentence, its table."""
    title, _, rest = text.strip("\n").partition("\n")
    sentence, _, table = rest.partition("\n")
    return title, sentence, table


@cache
def article_exporter() -> Any:
    """Return the exporter of an article: the cells of a notebook, without head and frame."""
    template = Path(__file__).with_name("article.html.j2").read_text(encoding="utf-8")
    exporter = HTMLExporter(raw_template=template)  # type: ignore[no-untyped-call]
    for name, filter_ in (("markdown", _markdown), ("folded", _folded), ("explorer_text", _two_lines)):
        exporter.register_filter(name, filter_)  # type: ignore[no-untyped-call]
    return exporter
