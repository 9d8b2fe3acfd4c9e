"""Example 27.1 walked through in JupyterLab by keyboard alone, at 1280 × 720."""

import pytest

from ..reading import stored
from .harness import ANSWER, NotebookPage

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
