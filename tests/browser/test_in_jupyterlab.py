"""Every notebook in real JupyterLab: it runs, its explorers answer, a reload leaves pictures.

The tests of one notebook share one open page and go on where the last one stopped, in the order below.
"""

import pytest

from ..reading import START, cells, section_of, stored

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize(
        "opened", [path.name for path in stored()], indirect=True, scope="module", ids=lambda name: name[:5]
    ),
]
PATHS = {path.name: path for path in stored()}
BROKEN = ("Error displaying widget", "Error creating widget", "Loading widget", "model not found")


def expected_explorers(page):
    """How many explorers the stored notebook shows: their cells hold a picture beside a text."""
    outputs = [output for cell in cells(PATHS[page.name], "code") for output in cell["outputs"]]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_runs_from_top_to_bottom(opened):
    assert opened.failures() == []
    code = [cell for cell in opened.notebook()["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))


def test_speaks_chinese_and_does_not_interrupt(opened):
    menus = opened.page.locator(".lm-MenuBar-itemLabel").all_inner_texts()
    assert {"文件", "编辑", "运行", "内核"} <= {menu.split(" ")[0].split("(")[0] for menu in menus}
    assert opened.interruptions() == []


def test_fits_the_window(opened):
    assert opened.overflow() == []


def test_every_explorer_is_live(opened):
    explorers = opened.explorers()
    assert len(explorers) == expected_explorers(opened)
    for explorer in explorers:
        assert explorer.query_selector("img").evaluate("image => image.naturalWidth") > 0
        assert explorer.query_selector("[role=status]").inner_text().strip()


def test_every_slider_answers_to_the_keyboard(opened):
    """A key away from the book's case moves picture and words, the button goes back to it."""
    for explorer in opened.explorers():
        opened.back_to_book(explorer)
        book = opened.words_of(explorer)
        for handle in explorer.query_selector_all(".noUi-handle"):
            name = handle.evaluate("handle => handle.closest('.widget-inline-hbox')?.textContent")
            # One step may change nothing that is said (a clip above every gradient): then go to an end.
            assert any(opened.answers_to(explorer, handle, key) for key in ("ArrowRight", "Home", "End")), (
                name
            )
            opened.back_to_book(explorer)
            assert opened.words_of(explorer) == book, name


def test_console_stayed_silent(opened):
    assert opened.errors == []


def test_reload_and_restart_leave_a_picture_and_no_broken_widget(opened):
    expected = expected_explorers(opened)
    for happens in (opened.restart_kernel, opened.save, opened.reload, opened.restart_kernel):
        happens()
        text = opened.page.locator(".jp-Notebook").inner_text()
        assert not [sign for sign in BROKEN if sign in text], happens.__name__
        pictures = opened.page.query_selector_all(".jp-OutputArea-output img")
        assert len(pictures) == expected, happens.__name__


def test_start_page_leads_to_every_section(opened):
    if opened.name != START:
        pytest.skip("only the start page")
    for path in filter(section_of, stored()):
        assert opened.page.locator(f".jp-RenderedMarkdown a[href*='{path.name}']").count() >= 1
