"""Example 27.1 walked through in JupyterLab by keyboard alone; every step of every walk fits 1280 × 720."""

import json

import pytest

from course_lib.show.walkthroughs import all_walks

from ..reading import stored
from .harness import ANSWER, NotebookPage
from .lab import running_lab

pytestmark = pytest.mark.browser
PLACE = "() => document.querySelector('.course-walk-place').textContent"
REPLY = "() => document.querySelector('.course-walk-question').innerText"
HEIGHT = 600  # of 720: the rest is JupyterLab's


@pytest.fixture(scope="module")
def page(browser, lab):
    path = next(path for path in stored() if path.name.startswith("27.02"))
    opened = NotebookPage.open(browser, lab, path.name)
    opened.run_all()
    yield opened.page
    assert opened.errors == []
    opened.close()


def at(page, step):
    page.wait_for_function(f"() => ({PLACE})().startsWith('第 {step} 步')", timeout=ANSWER)


def test_arrow_keys_answers_and_return_lead_through(page):
    page.locator(".course-walk-next").focus()
    for step in (2, 3):
        page.keyboard.press("ArrowRight")
        at(page, step)
    page.keyboard.press("ArrowRight")  # held back: the keyboard is led to the question
    page.wait_for_function("() => document.activeElement.textContent === '放得下'", timeout=ANSWER)
    at(page, 3)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    at(page, 4)
    assert "选的是「放不下」：对。" in page.evaluate(REPLY)
    page.wait_for_function("() => document.activeElement.matches('.course-walk-next')", timeout=ANSWER)
    for step in (5, 6):
        page.keyboard.press("Enter")
        at(page, step)
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.activeElement.matches('.course-walk input')", timeout=ANSWER)
    page.keyboard.type("1.25 MiB")
    page.keyboard.press("Enter")
    at(page, 7)
    assert "正好" in page.evaluate(REPLY)


def test_the_handle_obeys_arrow_keys_and_is_held_too(page):
    at(page, 7)
    page.locator(".course-walk .noUi-handle").focus()
    page.keyboard.press("ArrowLeft")
    at(page, 6)
    for step in (7, 8):
        page.keyboard.press("ArrowRight")
        at(page, step)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.matches('.course-walk input')", timeout=ANSWER)
    at(page, 8)
    handle = page.locator(".course-walk .noUi-handle")
    page.wait_for_function(
        "() => document.querySelector('.course-walk .noUi-handle').getAttribute('aria-valuenow') === '8.0'",
        timeout=ANSWER,
    )
    assert handle.get_attribute("aria-label") == "步"


@pytest.mark.parametrize("width", [1280, 1600])
def test_all_of_it_fits_one_screen(page, width):
    page.set_viewport_size({"width": width, "height": 720})
    page.wait_for_timeout(500)
    box = page.locator(".course-walk").bounding_box()
    parts = "() => [...document.querySelector('.course-walk').children].map(one => one.offsetHeight)"
    assert box["height"] <= HEIGHT, page.evaluate(parts)
    inside = """() => { const walk = document.querySelector('.course-walk').getBoundingClientRect();
        return [...document.querySelectorAll('.course-walk button, .course-walk img, .course-walk table')]
            .map(one => one.getBoundingClientRect())
            .every(one => one.right <= walk.right + 1 && one.bottom <= walk.bottom + 1) }"""
    assert page.evaluate(inside)


@pytest.fixture(scope="module")
def all_of_them(browser, tmp_path_factory):
    """One page with every walkthrough at its last step, as wide as a slide."""
    path = tmp_path_factory.mktemp("walks") / "walks.ipynb"
    calls = [f'walk("{name}", step={len(make().steps)})' for name, make in all_walks().items()]
    cells = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": s,
        }
        for n, s in enumerate(["from course_lib.show import walk", *calls])
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    with running_lab([path]) as lab:
        opened = NotebookPage.open(browser, lab, path.name)
        opened.command("application:toggle-left-area")
        opened.run_all()
        yield opened
        assert opened.errors == [] and opened.failures() == []
        opened.close()


@pytest.mark.parametrize("number", range(len(all_walks())), ids=list(all_walks()))
def test_every_step_fits_a_slide(all_of_them, number):
    walk = all_of_them.page.locator(".course-walk").nth(number)
    steps = len(list(all_walks().values())[number]().steps)
    walk.locator(".course-walk-back").focus()
    for step in range(steps, 0, -1):
        walk.get_by_text(f"第 {step} 步，共 {steps} 步").wait_for(timeout=ANSWER)
        all_of_them.page.wait_for_timeout(100)
        cut = walk.evaluate(
            """walk => [...walk.querySelectorAll('p, td, th, button, .course-walk-title')]
                .filter(one => one.scrollWidth > one.clientWidth + 1
                    || one.getBoundingClientRect().right > walk.getBoundingClientRect().right + 1)
                .map(one => one.textContent)"""
        )
        table = walk.locator("table").bounding_box()
        picture = walk.locator(".widget-image").bounding_box()
        assert cut == [] and table["x"] + table["width"] <= picture["x"], step
        assert walk.bounding_box()["height"] <= HEIGHT, step
        all_of_them.page.keyboard.press("ArrowLeft")
