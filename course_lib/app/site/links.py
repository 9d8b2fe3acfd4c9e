"""Where the links of an article lead: to a page, to the web on a click, or nowhere, and then it is text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

Targets = Mapping[str, tuple[str, set[str]]]  # notebook file → page, and the anchors on it

_WEB: Final = ("http", "https", "mailto")
_LOADING: Final = "script, link, iframe, object, embed, audio, video, base, meta"


def name_headings(article: Any) -> Iterator[tuple[int, str, str]]:
    """Give every heading the anchor that JupyterLab gives it; yield level, anchor and text."""
    taken: set[str] = set()
    for heading in article.find_all(["h1", "h2", "h3", "h4", "h5", "h6"]):
        text = heading.get_text().strip()
        anchor = base = text.replace(" ", "-")
        number = 0
        while anchor in taken:
            number += 1
            anchor = f"{base}-{number}"
        taken.add(anchor)
        heading["id"] = anchor
        yield int(heading.name[1]), anchor, text


def resolve_links(article: Any, *, here: str, targets: Targets) -> None:
    """Point links between notebooks to pages; take out what would lead nowhere or load something."""
    for link in article.find_all("a", href=True):
        address = target(link["href"], here=here, targets=targets)
        if address is None:
            link.unwrap()
        else:
            link["href"] = address
    for part in article.select(_LOADING):
        part.decompose()
    for picture in article.find_all("img"):
        if not picture.get("src", "").startswith("data:"):
            picture.replace_with(picture.get("alt", ""))


def target(href: str, *, here: str, targets: Targets) -> str | None:
    """Return where a link leads on the site, or None when there is no such place.

    >>> target("27.02-a.ipynb#图", here="00-start.ipynb", targets={"27.02-a.ipynb": ("27.02-a.html", {"图"})})
    '27.02-a.html#%E5%9B%BE'
    """
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return href if parts.scheme in _WEB else None
    found = targets.get(unquote(parts.path).removeprefix("./") or here)
    if found is None:
        return None
    name, anchors = found
    anchor = unquote(parts.fragment)
    page = name if parts.path else ""
    return f"{page}#{quote(anchor)}" if anchor in anchors else page or None
