"""The site in Chromium with the network off: from the disk and from a server on this machine.

``COURSE_SHOTS=FOLDER`` keeps a photograph of every page, light and dark, wide and narrow.
"""

import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from course_lib.app.site.folder import replace_folder
from course_lib.app.site.pages import page_name, site_files

from ..reading import stored

pytestmark = pytest.mark.browser

SIZES = {"wide": (1366, 768), "phone": (390, 844)}
PAGES = [page_name(path.stem) for path in stored()]
_SEEN = """() => { const seen = document.documentElement, boxes = [], words = /[\\u3400-\\u9fff]/;
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = new Range();
    for (let text = texts.nextNode(); text; text = texts.nextNode()) { // a box is narrower than a character
        const at = text.data.search(words);
        if (at < 0 || !text.parentElement.checkVisibility()) continue;
        range.setStart(text, at); range.setEnd(text, at + 1);
        const wide = parseFloat(getComputedStyle(text.parentElement).fontSize) * .95;
        if (range.getBoundingClientRect().width < wide) boxes.push(text.data.slice(0, 40)) }
    const outside = [...document.querySelectorAll('main *, header *, nav *')].filter(part => part.offsetParent
        && !part.closest('.table, pre, .words table, math')
        && part.getBoundingClientRect().right > innerWidth + 1);
    return { boxes, wider: seen.scrollWidth - innerWidth,
        outside: outside.map(part => part.outerHTML.slice(0, 80)),
        empty: [...document.images].filter(one => !(one.complete && one.naturalWidth)).length,
        pictures: document.images.length,
        fonts: [...document.fonts].map(one => one.status) } }"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("web") / "site"
    replace_folder(out, site_files(stored()))
    return out


@pytest.fixture(scope="module")
def addresses(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"file": site.as_uri(), "server": f"http://127.0.0.1:{server.server_port}"}
    server.shutdown()
    server.server_close()


@pytest.fixture(
    scope="module", params=[(size, theme) for size in SIZES for theme in ("light", "dark")], ids="-".join
)
def view(request, browser):
    """A page of one size and theme; what goes wrong in it is noted, what leaves this machine is stopped."""
    size, theme = request.param
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, locale="zh-CN"
    )
    page, trouble = context.new_page(), []
    page.on(
        "console",
        lambda message: trouble.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda one: trouble.append(one.url))
    page.on("response", lambda one: trouble.append(f"{one.status} {one.url}") if one.status >= 400 else None)
    context.route("**/*", lambda route: route.continue_() if _near(route.request.url) else route.abort())
    yield page, trouble, f"{size}-{theme}"
    context.close()


def _near(url):
    return url.startswith(("file:", "data:", "http://127.0.0.1:"))


@pytest.mark.parametrize("way", ["file", "server"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_without_a_network(view, addresses, name, way):
    page, trouble, look = view
    if way == "file":
        page.context.set_offline(True)
    page.goto(f"{addresses[way]}/{quote(name)}")
    page.context.set_offline(False)
    page.evaluate("() => document.fonts.ready")
    seen = page.evaluate(_SEEN)
    if folder := os.environ.get("COURSE_SHOTS"):
        page.screenshot(path=Path(folder) / f"site-{name.removesuffix('.html')}-{look}.png", full_page=True)
    assert (trouble, seen["boxes"], seen["outside"], seen["empty"]) == ([], [], [], 0)
    assert seen["wider"] <= 0
    assert "loaded" in seen["fonts"]
    assert "error" not in seen["fonts"]


def test_a_reader_walks_through_the_course_by_its_links(browser, addresses):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.goto(f"{addresses['file']}/index.html")
    walked = [page.title()]
    while found := page.query_selector("a[rel=next]"):
        found.click()
        page.wait_for_load_state()
        walked.append(page.title())
    assert len(set(walked)) == len(PAGES)
    page.click(".contents ol ol li:last-child a")
    heading = page.query_selector("h2:last-of-type, article h2 >> nth=-1")
    assert heading.bounding_box()["y"] < 768
    context.close()
