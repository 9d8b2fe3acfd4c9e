"""Every notebook in real JupyterLab: it runs, its explorers answer, a reload leaves pictures.

The tests of one notebook share one open page and go on where the last one stopped, in the order below.
"""

import pytest

from course_lib.show.controls import Number, show_number

from ..reading import START, cells, section_of, source, stored

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize(
        "opened", [path.name for path in stored()], indirect=True, scope="module", ids=lambda name: name[:5]
    ),
]
PATHS = {path.name: path for path in stored()}
BROKEN = ("Error displaying widget", "Error creating widget", "Loading widget", "model not found")
# Controls that the picture rightly does not follow, by explorer and name, and why.
WORDS_ONLY = {
    ("配套补充：同一个 Adam，10 到 20 字节", "parameters"),  # its bars are bytes per parameter
    ("一页总账：怎样让它放得下", "accumulation"),  # changes what an update means, not a byte
    ("一页总账：怎样让它放得下", "denominator"),
    ("习题 5：权重和矩都在，采样器从头来", "compared"),  # evidence: no curve moves
}
SIZES = ((1280, 720), (820, 720))
WHITE_SLAB = 0.2  # share of nearly white points that letters and lines of a dark picture never reach


def expected_pictures(page, *, walks=True):
    """How many pictures beside a text the stored notebook shows: explorers, and walkthroughs if wanted."""
    shown = [cell for cell in cells(PATHS[page.name], "code") if walks or "walk(" not in source(cell)]
    outputs = [output for cell in shown for output in cell["outputs"]]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def expected_explorers(page):
    """How many explorers the stored notebook shows."""
    return expected_pictures(page, walks=False)


def test_runs_from_top_to_bottom(opened):
    assert opened.failures() == []
    code = [cell for cell in opened.notebook()["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))


def test_speaks_chinese_and_does_not_interrupt(opened):
    menus = opened.page.locator(".lm-MenuBar-itemLabel").all_inner_texts()
    assert {"文件", "编辑", "运行", "内核"} <= {menu.split(" ")[0].split("(")[0] for menu in menus}
    assert opened.interruptions() == []


@pytest.mark.parametrize("size", SIZES[::-1], ids=str)
def test_fits_the_window(opened, size):
    opened.resize(*size)
    scrolls = (
        "jp-RenderedHTML" if size == SIZES[-1] else "nothing"
    )  # a wide table has a scroll bar of its own
    assert [wide for wide in opened.overflow() if scrolls not in wide] == []
    assert opened.cut() == []


def test_every_explorer_is_live_and_shows_what_the_library_gives(opened):
    explorers = opened.explorers()
    assert len(explorers) == expected_explorers(opened)
    for explorer in explorers:
        assert explorer.settles().words


def test_handles_have_names_and_hovering_never_says_null(opened):
    for explorer in opened.explorers():
        labels = [control.label for control in explorer.twin.controls if isinstance(control, Number)]
        handles = explorer.element.query_selector_all(".noUi-handle")
        assert [handle.get_attribute("aria-label") for handle in handles] == labels
        seen = "found => found.filter(one => one.offsetParent).map(one => one.title)"
        titles = explorer.element.eval_on_selector_all("[title]", seen)
        assert len(titles) >= len(labels)
        assert not {"", "null", "None", "undefined"} & set(titles)
        assert explorer.element.query_selector("img").get_attribute("alt") == explorer.title


@pytest.mark.parametrize("part", [".noUi-handle", "select", "button"])
def test_letters_typed_on_a_control_run_no_command(opened, part):
    """In command mode ``x`` would cut the cell, ``a`` add one, ``d d`` delete it."""
    before = len(opened.notebook()["cells"])
    for explorer in opened.explorers():
        if not (control := explorer.element.query_selector(part)):
            continue
        control.focus()
        for key in "xadd":
            opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(100)
        assert len(opened.notebook()["cells"]) == before
        assert control.evaluate("one => one === document.activeElement")


def test_every_control_answers_to_the_keyboard(opened):
    """Moved away from the first state, each control changes picture and words as the library does."""
    for explorer in opened.explorers():
        home = explorer.home()
        for control, box in explorer.controls():
            # One step may change nothing that is said (a clip above every gradient): then go to an end.
            drawn = (explorer.title, control.name) not in WORDS_ONLY
            answers = explorer.keys(control, box)
            assert any(look.errors or look.differs_from(home, picture=drawn) for look in answers), (
                control.label
            )
            explorer.home()
        for number, box in [pair for pair in explorer.controls() if isinstance(pair[0], Number)][:1]:
            other = number.stops[-1] if number.book == number.stops[0] else number.stops[0]
            explorer.type_into(box, show_number(other))
        assert explorer.home() == home


def test_every_kind_of_control_answers_to_the_mouse(opened):
    for explorer in opened.explorers():
        explorer.home()
        kinds = {type(control): (control, box) for control, box in explorer.controls()}
        for control, box in kinds.values():
            if isinstance(control, Number):
                explorer.drag(
                    control, box, 0.05 if control.book > control.stops[len(control.stops) // 2] else 0.95
                )
            else:
                explorer.click(box)
            explorer.home()


def test_presets_and_code_are_shown(opened):
    for explorer in opened.explorers():
        if len(explorer.twin.presets) > 1:
            wanted = tuple(list(explorer.twin.presets.values())[1].values())
            explorer.element.query_selector("select").select_option(index=1)
            explorer.settles(lambda look, wanted=wanted: look.values == wanted)
        explorer.element.query_selector_all("button")[1].click()
        explorer.element.wait_for_selector("pre:has-text('result')")
        assert explorer.element.query_selector("pre").inner_text().strip() == explorer.twin.code.strip()
        explorer.element.query_selector_all("button")[1].click()
        explorer.home()


def test_dark_theme_has_no_white_slab(opened):
    opened.theme("JupyterLab Dark")
    shares = opened.white_shares(".course-explorer img")
    opened.theme("JupyterLab Light")
    light = opened.white_shares(".course-explorer img")
    assert len(shares) == len(light) == expected_explorers(opened)
    assert all(share < WHITE_SLAB for share in shares)
    assert all(share > WHITE_SLAB for share in light)  # else nothing was measured


def test_console_stayed_silent(opened):
    assert opened.errors == []


def test_restart_leaves_pictures_and_says_what_to_do(opened):
    explorers = opened.explorers()
    opened.restart_kernel()
    for explorer in explorers:
        assert explorer.element.query_selector("img").evaluate("image => image.naturalWidth") > 0
        shown = explorer.element.evaluate("one => getComputedStyle(one, '::before').content")
        assert "重新运行本单元" in shown


def test_reload_and_restart_leave_a_picture_and_no_broken_widget(opened):
    expected = expected_pictures(opened)
    for happens in (opened.save, opened.reload, opened.restart_kernel):
        happens()
        text = opened.page.locator(".jp-Notebook").inner_text()
        assert not [sign for sign in BROKEN if sign in text], happens.__name__
        pictures = opened.page.query_selector_all(".jp-OutputArea-output img")
        assert len(pictures) == expected, happens.__name__


def test_stored_pictures_follow_the_dark_theme(opened):
    """The page was reloaded: what it shows now are the stored pictures, which carry their own hint."""
    assert opened.explorers() == []
    opened.theme("JupyterLab Dark")
    shares = opened.white_shares(".jp-RenderedImage img")
    opened.theme("JupyterLab Light")
    assert len(shares) == expected_pictures(opened)
    assert all(share < WHITE_SLAB for share in shares)


def test_start_page_leads_to_every_section(opened):
    if opened.name != START:
        pytest.skip("only the start page")
    for path in filter(section_of, stored()):
        assert opened.page.locator(f".jp-RenderedMarkdown a[href*='{path.name}']").count() >= 1
