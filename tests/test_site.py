"""The site: every notebook a page, every link leads somewhere, nothing is loaded from elsewhere."""

import base64
import json
import os
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from course_lib.app.cli import main
from course_lib.app.site import folder
from course_lib.app.site.formulas import mathml
from course_lib.app.site.links import resolve_links, target
from course_lib.app.site.pages import page_name, site_files
from course_lib.errors import CourseError

from .reading import stored

LOADS = {"src", "srcset", "data", "poster", "action", "background"}


@dataclass
class Read(HTMLParser):
    """What a page has: anchors, links, what it loads, pictures with their words, tags, plain words."""

    text: str
    anchors: set = field(default_factory=set)
    links: list = field(default_factory=list)
    loads: list = field(default_factory=list)
    pictures: list = field(default_factory=list)
    tags: list = field(default_factory=list)
    words: str = ""

    def __post_init__(self):
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self.anchors |= {attributes["id"]} if "id" in attributes else set()
        if tag == "a":
            self.links.append(attributes["href"])
        elif "href" in attributes:
            self.loads.append(attributes["href"])
        self.loads += [value for name, value in attrs if name in LOADS]
        if tag == "img":
            self.pictures.append(attributes)

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def files():
    return site_files(stored())


@pytest.fixture(scope="module")
def pages(files):
    return {name: Read(content.decode()) for name, content in files.items() if name.endswith(".html")}


def test_every_notebook_is_a_page(files, pages):
    assert set(pages) == {page_name(path.stem) for path in stored()}
    assert len(pages) == 11
    assert set(files) - set(pages) == {"course.css", "CourseHeiSC-Regular.otf"}


def test_every_link_and_anchor_is_there(pages):
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", (name, link)
                continue
            there = pages[unquote(parts.path) or name]
            assert not parts.fragment or unquote(parts.fragment) in there.anchors, (name, link)


def test_every_page_reaches_all_others_and_its_neighbours(pages):
    order = [page_name(path.stem) for path in stored()]
    for at, name in enumerate(order):
        assert set(order) <= {*pages[name].links, name}
        assert pages[name].text.count('rel="prev"') == (at > 0)
        assert pages[name].text.count('rel="next"') == (at + 1 < len(order))


def test_nothing_is_loaded_from_elsewhere(files, pages):
    for name, page in pages.items():
        near = [url for url in page.loads if not url.startswith("data:")]
        assert near == ["course.css"], name
        assert "script" not in page.tags
    style = files["course.css"].decode()
    assert "http" not in style
    assert "@import" not in style
    assert set(re.findall(r"url\((.*?)\)", style)) == {'"CourseHeiSC-Regular.otf"'}


def test_every_stored_picture_is_on_its_page(pages):
    for path in stored():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
        wanted = ["".join(data["image/png"]).strip() for data in outputs if "image/png" in data]
        page = pages[page_name(path.stem)]
        shown = [picture["src"].removeprefix("data:image/png;base64,") for picture in page.pictures]
        assert shown == wanted
        assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in shown)
        assert all(len(picture["alt"]) > 15 for picture in page.pictures)


def test_what_a_reader_sees_is_whole(pages):
    for name, page in pages.items():
        assert '<html lang="zh-CN">' in page.text
        assert "Error displaying widget" not in page.text
        assert "$" not in page.words.replace("$OUT", ""), name
        assert "VBox(" not in page.words
        assert page.tags.count("h1") == 1


def test_the_same_notebooks_give_the_same_bytes(files):
    assert site_files(stored()) == files


@pytest.mark.parametrize(
    ("href", "wanted"),
    [
        ("b.ipynb", "b.html"),
        ("./b.ipynb#图-1", "b.html#%E5%9B%BE-1"),
        ("b.ipynb#%E5%9B%BE-1", "b.html#%E5%9B%BE-1"),
        ("b.ipynb#gone", "b.html"),
        ("#here", "#here"),
        ("#gone", None),
        ("../docs/glossary.md", None),
        ("c.ipynb", None),
        ("https://example.org/a", "https://example.org/a"),
        ("javascript:alert(1)", None),
        ("//example.org/a", None),
    ],
)
def test_where_a_link_leads(href, wanted):
    targets = {"a.ipynb": ("a.html", {"here"}), "b.ipynb": ("b.html", {"图-1"})}
    assert target(href, here="a.ipynb", targets=targets) == wanted


def test_a_link_to_nowhere_becomes_its_words_and_what_loads_goes():
    from bs4 import BeautifulSoup

    article = BeautifulSoup(
        '<p><a href="../docs/x.md">术语</a><img src="x.png" alt="图"><script src="https://e.org"></script></p>',
        "html.parser",
    )
    resolve_links(article, here="a.ipynb", targets={})
    assert str(article) == "<p>术语图</p>"


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        ("10^6", "<msup><mn>10</mn><mn>6</mn></msup>"),
        ("n_i", "<msub><mi>n</mi><mi>i</mi></msub>"),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"a\times b", "<mi>a</mi><mo>×</mo><mi>b</mi>"),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"a<\text{字节}", "<mi>a</mi><mo>&lt;</mo><mtext>字节</mtext>"),
    ],
)
def test_formulas(tex, wanted):
    assert mathml(tex) == f"<math>{wanted}</math>"


@pytest.mark.parametrize("tex", [r"\unknown", "x^", "{x", "x}", "^2", "é", r"\frac{1}", "x_{"])
def test_a_formula_that_is_not_known_is_refused_by_name(tex):
    with pytest.raises(CourseError) as told:
        mathml(tex)
    assert tex in str(told.value).replace("\\\\", "\\")


def refused(out, capsys):
    assert main(["site", "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    return told.err


def test_out_that_is_a_file_or_holds_other_things(tmp_path, capsys):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert "是一个文件" in refused(tmp_path / "file", capsys)
    assert "里有别的东西" in refused(tmp_path, capsys)
    assert "没有写成" in refused(tmp_path / "file" / "site", capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder that even root cannot write to")
def test_out_that_cannot_be_written(capsys):
    assert "没有写成" in refused("/proc/site", capsys)


def test_a_site_is_replaced_whole(tmp_path):
    out = tmp_path / "site"
    folder.replace_folder(out, {"index.html": folder.MARK.encode(), "old.html": b""})
    assert folder.checked(out) == out.resolve()
    folder.replace_folder(out, {"index.html": folder.MARK.encode()})
    assert [path.name for path in out.iterdir()] == ["index.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("failing", range(4))
def test_a_failed_write_leaves_the_old_site(tmp_path, monkeypatch, failing):
    out = tmp_path / "site"
    folder.replace_folder(out, {"index.html": b"old"})
    calls, real = [], os.rename

    def fail_now(*names):
        calls.append(names)
        if len(calls) == failing + 1:
            raise OSError(28, "No space left on device")
        return real(*names)

    # Two files are written with os.replace, then two renames put the folder in place.
    monkeypatch.setattr(os, "replace", fail_now)
    monkeypatch.setattr(os, "rename", fail_now)
    with pytest.raises(CourseError, match="原有的没有动"):
        folder.replace_folder(out, {"index.html": b"new", "a.html": b"new"})
    assert (out / "index.html").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
