"""Notebooks as pages: nbconvert fills ``article.html.j2``, then links, headings and the frame are set.

Pages load two files beside them, the style sheet and the course's font, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from ...show.fonts import FONT_FILE
from ...show.palette import DARK_FILTER
from ..notebook_form import read
from .folder import MARK
from .links import name_headings, resolve_links

_HERE: Final = Path(__file__).parent
_COURSE: Final = "大规模训练：系统分工与资源估算"
START: Final = "00-start"
STYLE: Final = "course.css"


@dataclass(frozen=True)
class Page:
    """One notebook on its way to a page: file name, title, parsed article, headings as (level, id, text)."""

    source: str
    name: str
    title: str
    article: Any
    headings: tuple[tuple[int, str, str], ...]


def site_files(notebooks: Sequence[Path]) -> dict[str, bytes]:
    """Return the whole site, file name → bytes; the same notebooks give the same bytes."""
    pages = [_page(path) for path in notebooks]
    targets = {page.source: (page.name, {anchor for _, anchor, _ in page.headings}) for page in pages}
    for page in pages:
        resolve_links(page.article, here=page.source, targets=targets)
    files = {page.name: _framed(page, pages).encode() for page in pages}
    return files | {STYLE: _style().encode(), FONT_FILE.name: FONT_FILE.read_bytes()}


def page_name(stem: str) -> str:
    """Return the page of a notebook: the start page is what a server shows first."""
    return "index.html" if stem == START else f"{stem}.html"


def _page(path: Path) -> Page:
    from bs4 import BeautifulSoup

    from .exporter import article_exporter

    html, _ = article_exporter().from_notebook_node(
        read(path)[1], resources={"metadata": {"path": str(path.parent)}}
    )
    article = BeautifulSoup(html, "html.parser")
    headings = tuple(name_headings(article))
    title = headings[0][2] if headings else path.stem
    return Page(path.name, page_name(path.stem), title, article, headings)


def _framed(page: Page, pages: Sequence[Page]) -> str:
    """Return the whole page: head, way through the course, article, table of contents."""
    at = pages.index(page)
    before, after = (pages[at - 1] if at else None), (pages[at + 1] if at + 1 < len(pages) else None)
    parts = {
        "mark": MARK,
        "title": f"{escape(page.title)} · {_COURSE}",
        "way": _way(before, after),
        "contents": "".join(_entry(one, page) for one in pages),
        "article": str(page.article),
        "style": STYLE,
    }
    frame = (_HERE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], frame)


def _way(before: Page | None, after: Page | None) -> str:
    back = f'<a rel="prev" href="{before.name}">← {escape(before.title)}</a>' if before else "<span></span>"
    on = f'<a rel="next" href="{after.name}">{escape(after.title)} →</a>' if after else "<span></span>"
    return back + on


def _entry(one: Page, page: Page) -> str:
    """Return a line of the table of contents; the page that is open also lists its own headings."""
    if one is not page:
        return f'<li><a href="{one.name}">{escape(one.title)}</a></li>'
    own = "".join(
        f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>'
        for level, anchor, text in page.headings
        if level == 2
    )
    return f'<li><a href="{one.name}" aria-current="page">{escape(one.title)}</a><ol>{own}</ol></li>'


def _style() -> str:
    """Return the style sheet: the course's own and the colours of code, each for light and dark."""
    from pygments.formatters import HtmlFormatter

    own = (_HERE / "page.css").read_text(encoding="utf-8")
    own = own.replace("FONT_FILE", FONT_FILE.name).replace("DARK_FILTER", DARK_FILTER)
    light, dark = (
        HtmlFormatter(style=name).get_style_defs(".highlight") for name in ("default", "github-dark")
    )
    return f"{own}\n{_tokens(light)}\n@media (prefers-color-scheme: dark) {{\n{_tokens(dark)}\n}}\n"


def _tokens(rules: str) -> str:
    """Keep the rules of single tokens: ground and line numbers are the course's own."""
    return "\n".join(line for line in rules.splitlines() if re.match(r"\.highlight \.\w+ ?\{", line))
