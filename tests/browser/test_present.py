"""Every notebook as slides at 1280 × 720: each slide's boxes measured, explorers alive, nothing left behind.

``COURSE_SHOTS=FOLDER`` keeps a photograph of every slide.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from course_lib.app.present import EXTENSION

from ..reading import stored
from .harness import NotebookPage
from .lab import running_lab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_spec(EXTENSION) is None, reason="jupyterlab-slideshow is not installed"),
]

WIDTH, HEIGHT = 1280, 720
SCROLLS = {"27.07-make-it-fit.ipynb"}  # one table is longer than a slide and scrolls in its own box
_STARTS = """() => { const cells = jupyterapp.shell.currentWidget.context.model.toJSON().cells;
    return [...cells.keys()].filter(at =>
        ['slide', 'subslide'].includes(cells[at].metadata.slideshow?.slide_type)) }"""
_GO = "at => { jupyterapp.shell.currentWidget.content.activeCellIndex = at }"
_SLIDE = """() => { const shown = [...document.querySelectorAll('.jp-Cell.jp-deck-mod-onscreen')];
    const boxes = shown.map(cell => cell.getBoundingClientRect());
    const parts = shown.flatMap(cell => [...cell.querySelectorAll('.jp-OutputArea-output *')]);
    const cut = parts.filter(part => part.offsetParent && part.clientWidth
        && part.scrollWidth > part.clientWidth + 2
        && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(part).overflowX));
    const long = parts.filter(part => part.offsetParent && part.scrollHeight > part.clientHeight + 2
        && ['auto', 'scroll'].includes(getComputedStyle(part).overflowY));
    return { top: Math.min(...boxes.map(box => box.top)), bottom: Math.max(...boxes.map(box => box.bottom)),
        right: Math.max(...boxes.map(box => box.right)),
        long: long.map(part => part.className + ' ' + part.textContent.slice(0, 30)),
        cut: cut.map(part => part.className + ' ' + part.textContent.slice(0, 30)) } }"""


@pytest.fixture(scope="module")
def presented():
    home = Path.home() / ".jupyter"
    before = _content(home)
    with running_lab(stored(), "present", "27.2") as running:
        yield running
    assert _content(home) == before


def _content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [path.name for path in stored()])
def test_every_slide_fits(browser, presented, name):
    page = NotebookPage.open(browser, presented, name, width=WIDTH, height=HEIGHT)
    page.run_all()
    page.page.wait_for_selector(".jp-Deck", state="attached")
    trouble = []
    for at in page.page.evaluate(_STARTS):
        page.page.evaluate(_GO, at)
        page.page.wait_for_timeout(150)
        seen = page.page.evaluate(_SLIDE)
        if folder := os.environ.get("COURSE_SHOTS"):
            page.page.screenshot(path=Path(folder) / f"slide-{name[:5]}-{at:02d}.png")
        if seen["top"] < -1 or seen["bottom"] > HEIGHT + 1 or seen["right"] > WIDTH + 1 or seen["cut"]:
            trouble.append((at, seen))
        if seen["long"] and name not in SCROLLS:
            trouble.append((at, seen["long"]))
    failures, errors = page.failures(), page.errors
    page.close()
    assert (trouble, failures, errors) == ([], [], [])


def test_an_explorer_on_a_slide_is_alive(browser, presented):
    page = NotebookPage.open(browser, presented, "27.01-model-fits-step-may-not.ipynb")
    page.run_all()
    at = "widgets => widgets.findIndex(cell => cell.node.querySelector('.course-explorer'))"
    page.page.evaluate(_GO, page.page.evaluate(f"({at})(jupyterapp.shell.currentWidget.content.widgets)"))
    page.page.wait_for_timeout(500)
    for explorer in page.explorers():
        for control, box in explorer.controls():
            for _ in explorer.keys(control, box):
                break
            break
    page.close()
