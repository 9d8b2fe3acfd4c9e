"""Exercises as a new reader meets them: answered by code and by form, and seen on the start page."""

import json

import pytest

from ..reading import FOLDER
from ..test_exercises import RIGHT
from ..test_exercises_notebooks import filled, source_of
from .harness import NotebookPage
from .lab import running_lab

pytestmark = pytest.mark.browser
QUESTIONS = "27.08-exercises.ipynb"
WRONG = {
    "1": "activation_bytes = '2.5 MiB'\ntotal_bytes = 34_621_440",
    "2": "mean_grad = 0\nequal_weight_error = 'C'",
    "3": "missing_items = ['已保存激活', '内存碎片', '梯度']",
    "4": "\n".join(source_of("4").splitlines()[:4]) + "\nworking_after_2 = True",
    "5": "supported = 'ABCDEF'\nnot_supported = []",
    "6": source_of("6", {**RIGHT["6"], "seconds_after": 0.325}),
}


@pytest.fixture(scope="module")
def course():
    with running_lab([FOLDER / "00-start.ipynb", FOLDER / QUESTIONS]) as lab:
        yield lab


def answered(course, browser, answers):
    """Run the reader's copy with these answers; return the page and the points under each check."""
    filled(course.work, answers)
    page = NotebookPage.open(browser, course, QUESTIONS)
    page.run_all()
    assert page.failures() == [] and page.overflow() == [] and page.errors == []
    checks = [cell for cell in page.notebook()["cells"] if cell["id"].endswith("-check")]
    return page, [float(cell["outputs"][1]["data"]["text/plain"]) for cell in checks]


def test_by_code_wrong_then_right(course, browser):
    page, points = answered(course, browser, WRONG)
    said = page.page.locator(".jp-Notebook").inner_text()
    assert points == [2, 0, 1, 4, 2, 4]
    assert "序列变多，参数的个数变了吗？" in said
    assert "2,621,440" not in said and "18,621,440" not in said
    page.close()
    page, points = answered(course, browser, {id: source_of(id) for id in "123456"})
    assert points == [4, 3, 3, 5, 6, 5]
    assert page.page.locator(".jp-Notebook").inner_text().count("全对") == 6
    page.close()


def fill(entry, answer):
    """Give one answer by the widgets of its kind: a box to type in, boxes to tick, buttons to press."""
    if entry.locator("input[type=text]").count():
        entry.locator("input[type=text]").fill(str(answer))
        entry.locator("input[type=text]").press("Tab")
    elif isinstance(answer, list):
        for name in answer:
            entry.get_by_label(name, exact=True).check()
    else:
        word = {True: "是", False: "否"}.get(answer, answer)
        entry.get_by_role("button", name=word, exact=True).click()


def test_all_six_by_form(course, browser):
    page, _ = answered(course, browser, {})
    for id in "123456":
        page.page.locator(".widget-dropdown select").last.select_option(index=int(id) - 1)
        form = page.page.locator(".course-form", has_text=f"习题 {id}　")
        form.get_by_role("button", name="检查").click()
        form.get_by_text("还没有作答").first.wait_for()
        entries = form.locator(":scope > .widget-vbox").all()
        for entry, answer in zip(entries, RIGHT[id].values(), strict=True):
            fill(entry, answer)
        form.get_by_role("button", name="检查").click()
        form.get_by_text("全对").wait_for()
    assert page.errors == []
    page.close()


def test_by_form_and_then_on_the_start_page(course, browser):
    (course.work / ".course-progress.json").unlink(missing_ok=True)
    page, _ = answered(course, browser, {})
    form = page.page.locator(".course-form").last
    form.scroll_into_view_if_needed()
    for value, points in (("34,621,440", "得了 2 分"), ("18,621,440", "得了 4 分")):
        for entry, text in zip(form.locator("input[type=text]").all(), ("2.5 MiB", value), strict=True):
            entry.fill(text)
            entry.press("Tab")
        form.get_by_role("button", name="检查").click()
        form.get_by_text(points).wait_for()
    page.close()
    kept = json.loads((course.work / ".course-progress.json").read_text(encoding="utf-8"))
    assert (kept["exercises"]["1"]["attempts"], kept["exercises"]["1"]["points"]) == (2, 4)
    start = NotebookPage.open(browser, course, "00-start.ipynb")
    start.run_all()
    row = start.page.locator("tr", has_text="微批次加倍").inner_text()
    assert "4 / 4" in row and "做完" in row
    start.close()
