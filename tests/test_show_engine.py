"""The engine behind the explorers: stage, marks, controls, tables, font; no browser."""

import gc
import io
import os
import re
import subprocess
import sys
import threading
import tracemalloc
import unicodedata
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib import get_data_path
from matplotlib.font_manager import FontProperties, findfont
from PIL import Image

from course_lib.activations import SavedActivations
from course_lib.app.places import ROOT
from course_lib.errors import CourseError
from course_lib.ledger import model_state
from course_lib.show import Choice, Number, Stage, Switch, Table, charts, even_stops, ledger_table, log_stops
from course_lib.show.controls import parse_number, show_number
from course_lib.show.explorer import Explorer
from course_lib.show.explorers.section_27_01 import filling_up
from course_lib.show.fonts import FAMILY, FONT_FILE, use_course_font
from course_lib.show.fonts.make_font import characters
from course_lib.show.lettering import word_picture
from course_lib.show.palette import BLUE, GREEN, ORANGE, Style
from course_lib.show.png import PngWriter, halved, small_png

STYLES = {"甲": Style(BLUE), "乙": Style(ORANGE, "//"), "丙": Style(GREEN, "..")}


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))


# Importing


def test_importing_show_loads_neither_matplotlib_nor_ipywidgets():
    code = "import course_lib.show, sys; print(*{'matplotlib', 'ipywidgets', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# Pictures


def test_png_holds_the_pixels_also_when_only_some_rows_change():
    writer, picture = PngWriter(), np.zeros((50, 30, 4), np.uint8)
    dice = np.random.default_rng(27)
    for top in (0, 20, 33, 49):
        picture[top : top + 7] = dice.integers(0, 256, picture[top : top + 7].shape)
        png = writer.write(picture)
        assert np.array_equal(pixels(png), picture)
        zlib.decompress(png[41:-16])  # the sum over all bands, which image readers pass over
    assert np.array_equal(pixels(small_png(picture)), picture)


def test_a_halved_picture_is_the_mean_of_four_pixels_and_white_stays_white():
    picture = np.full((4, 6, 4), 255, np.uint8)
    picture[0, 0, :3] = picture[1, 1, :3] = (0, 100, 200)
    small = halved(picture)
    assert small.shape == (2, 3, 4)
    assert small[0, 0].tolist() == [128, 178, 228, 255]
    assert (small.reshape(-1, 4)[1:] == 255).all()


def test_the_page_tells_how_sharp_its_screen_is(small):
    full = small.image.value
    small.children[-1].value = "1"
    assert pixels(small.image.value).shape == (200, 300, 4)
    assert small._repr_mimebundle_()[1]["image/png"]["width"] == 300
    small.children[-1].value = "1.5"
    assert small.image.value == full


def bars(axes):
    chart = charts.LedgerBars(axes, STYLES)
    yield lambda: chart.show({"一": [("甲", 10), ("乙", 20)]}, capacity=25)
    yield lambda: chart.show({name: [("丙", 2_000_000)] for name in "一二三四"})


def lanes(axes):
    chart = charts.Lanes(axes, STYLES)
    spans = [
        charts.Span(lane, step, step + 0.8, "甲乙丙"[step % 3], "字")
        for lane in range(3)
        for step in range(5)
    ]
    yield lambda: (chart.show(spans, "一二三"), chart.cursor(2))
    lane, step = np.divmod(np.arange(64 * 200), 200)
    yield lambda: (
        chart.show_arrays(lane, step, step + 1, ["甲"] * len(lane), names=list(map(str, range(64)))),
    )


def memory(axes):
    chart = charts.MemoryCurve(axes, STYLES)
    yield lambda: chart.show([0, 1, 2, 3], {"甲": [5, 5, 5], "乙": [0, 9, 1]}, capacity=10, cursor=1)
    yield lambda: chart.show([0, 1], {"甲": [10**9]})


def histogram(axes):
    chart = charts.Histogram(axes, STYLES)
    yield lambda: chart.show([0, 1, 2], {"甲": [1, 2], "乙": [3, 0]})
    yield lambda: chart.show(range(41), {"丙": range(40)})


def number_line(axes):
    chart = charts.NumberLine(axes)
    yield lambda: chart.show({"FP16": [1, 2, 3]}, {"FP16": (1.4, 1, "1.4 变成 1")}, (0, 4))
    yield lambda: chart.show({"FP16": [1], "BF16": [1, 3]}, {}, (0, 8))


def grid(axes):
    chart = charts.Grid(axes, STYLES)
    yield lambda: chart.show([[("甲", "1"), ("乙", "")], [("丙", "x")]], ["一", "二"], ["a", "b"])
    yield lambda: chart.show([[("甲", "")] * 9] * 5)


def scatter(axes):
    chart = charts.Scatter(axes, STYLES)
    yield lambda: chart.show({"甲": [(1, 2, "一")], "乙": [(3, 4, "")]}, chosen=(1, 2), limit=2)
    yield lambda: chart.show({"丙": [(n, n, str(n)) for n in range(20)]})


def curves(axes):
    lines, points, rules = charts.Curves(axes, STYLES), charts.Points(axes, STYLES), charts.Rules(axes)
    axes.set(xlim=(0, 10), ylim=(0, 10))
    yield lambda: (lines.show({"甲": ([1, 2, 3], [3, 2, 1])}), points.show({"乙": [(2, 2)]}), rules.show([]))
    yield lambda: (lines.show({}), points.show({}), rules.show([(0, 0, 9, 9)]))


CHARTS = (bars, lanes, memory, histogram, number_line, grid, scatter, curves)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_draws_any_number_of_things_and_leaves_no_residue(chart):
    stage = Stage(400, 240)
    with stage.style:
        first, second = chart(stage.axes())
        first()
        stage.freeze()
    before = stage.png()
    assert stage.redraw_all() == before
    second()
    stage.draw()
    changed = stage.png()
    assert changed != before
    assert stage.redraw_all() == changed
    first()
    stage.draw()
    assert stage.png() == before


def test_many_spans_are_painted_where_they_are():
    stage = Stage(400, 200)
    lanes = charts.Lanes(axes := stage.axes(), {"甲": Style("#ff0000"), "乙": Style("#0000ff")})
    halves = np.tile([0, 1000], 800)
    lane = np.repeat(np.arange(2), 800)
    start = np.concatenate([np.arange(800)] * 2)
    lanes.show_arrays(lane, start, start + 1, np.where(start < 400, "甲", "乙"), names=["一", "二"])
    stage.freeze()
    box, picture = axes.bbox, pixels(stage.png())
    row = picture[int(picture.shape[0] - (box.y0 + box.y1) / 2) + 20]
    assert len(halves) > 1500
    assert tuple(row[int(box.x0 + box.width * 0.25)][:3]) == (255, 0, 0)
    assert tuple(row[int(box.x0 + box.width * 0.75)][:3]) == (0, 0, 255)


def test_boxes_fill_whole_pixels_leave_a_gap_and_never_vanish():
    stage = Stage(300, 200)
    stage.figure.set_layout_engine("none")
    axes = stage.figure.add_axes((0, 0, 1, 1))
    charts.plain(axes)
    axes.set(xlim=(0, 300), ylim=(0, 200))
    marks = charts.Boxes(axes, {"甲": Style("#ff0000")}, linewidth=0.72)  # two pixels: one on each side
    shown = [(10, 20, 0, 100), (20, 30, 0, 100), (50, 50.1, 0, 100), (290, 400, 0, 100), (400, 500, 0, 100)]
    marks.show({"甲": shown})
    stage.freeze()
    row = pixels(stage.png())[300]
    red = np.flatnonzero((row[:, :3] == (255, 0, 0)).all(axis=1))
    assert red.tolist() == [*range(21, 39), *range(41, 59), 100, *range(581, 599)]


def test_a_pattern_has_no_seam_where_two_boxes_meet():
    stage = Stage(400, 300)
    stage.figure.set_layout_engine("none")
    axes = stage.figure.add_axes((0, 0, 1, 1))
    charts.plain(axes)
    axes.set(xlim=(0, 400), ylim=(0, 300))
    marks = charts.Boxes(axes, STYLES, linewidth=0)
    marks.show({"乙": [(0, 400, 0, 300)]})
    stage.freeze()
    whole = stage.png()
    marks.show({"乙": [(0, 170, 0, 300), (170, 400, 0, 110), (170, 400, 110, 300)]})
    stage.draw()
    assert stage.png() == whole


def test_an_axis_that_moves_is_drawn_anew():
    stage = Stage(300, 200)
    curve = charts.MemoryCurve(stage.axes(), STYLES)
    curve.show([0, 1], {"甲": [10]})
    stage.freeze()
    curve.show([0, 1], {"甲": [10_000]})
    stage.draw()
    assert stage.redraw_all() == stage.png()


# Controls


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("1,310,720", 1_310_720), ("1_000_000", 1_000_000), ("1e6", 1_000_000), ("7.5B", 7_500_000_000),
        ("100万", 1_000_000), ("３ 亿", 300_000_000), ("1/3", Fraction(1, 3)), ("25%", Fraction(1, 4)),
        ("0.1", Fraction(1, 10)), ("80g", 80_000_000_000), ("１／２", Fraction(1, 2)),
        ("７．５Ｂ", 7_500_000_000), ("１ｅ６", 1_000_000), ("−5", -5), ("－5", -5),
    ],
)  # fmt: skip
def test_typed_numbers_are_read(typed, value):
    assert parse_number("x", typed) == value


@pytest.mark.parametrize(
    "typed", ["", "abc", "nan", "inf", "1/0", "--3", "B", "1e999999999", "万", "9" * 5000]
)
def test_unreadable_numbers_get_a_sentence(typed):
    with pytest.raises(CourseError, match="x"):
        parse_number("x", typed)


def test_stops_and_readout():
    stops = log_stops(10**6, 10**12)
    assert stops[0] == 10**6 and stops[-1] == 10**12 and 100 < len(stops) < 200
    assert list(stops) == sorted(set(stops))
    assert even_stops(0, 1, 0.25) == (0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1)
    assert [show_number(n) for n in (1_000_000, Fraction(7, 2), Fraction(2, 3))] == [
        "1,000,000",
        "3.5",
        "2/3",
    ]


@pytest.fixture
def small():
    """An explorer with every kind of control; n = 13 is refused by name, n = 14 breaks."""

    def compute(inputs):
        if inputs.n == 13:
            raise CourseError("n 不能是 13", got=13, remedy="请给别的数")
        return inputs.n // (14 - inputs.n) if inputs.n >= 14 else inputs.n

    def picture(stage):
        curve = charts.Curves(axes := stage.axes(), {"甲": Style(BLUE)})
        axes.set(xlim=(0, 20), ylim=(0, 20))
        return lambda inputs, result: curve.show({"甲": ([0, 20], [result, result])})

    return Explorer(
        title="试验",
        controls=(
            Number("n", "个数", 4, range(1, 15)),
            Number("size", "大小", 10**6, log_stops(10**3, 10**9)),
            Choice("mode", "方式", "a", {"a": "甲", "b": "乙"}),
            Switch("save", "保存", False),
        ),
        compute=compute,
        picture=picture,
        table=lambda inputs, result: Table(("名", "数"), (("n", result),)),
        sentence=lambda inputs, result: f"{inputs.n} {inputs.size} {inputs.mode} {inputs.save} <b>",
        code=lambda inputs: f"result = {inputs.n}",
        presets={"七": {"n": 7, "mode": "b"}},
        size=(300, 200),
    )


def views(explorer, name):
    knob = explorer.knobs[name]
    return knob._handle, knob._typed


def test_dragging_and_typing_move_one_value(small):
    handle, typed = views(small, "size")
    typed.value = "1,234,567"
    assert small.inputs.size == 1_234_567
    assert typed.value == "1,234,567"
    handle.value = 0
    assert small.inputs.size == 1000
    assert typed.value == "1,000"
    handle, typed = views(small, "n")
    handle.value = 9
    assert (small.inputs.n, typed.value) == (9, "9")


def test_what_cannot_be_typed_is_explained_at_its_control(small):
    handle, typed = views(small, "size")
    before = small.image.value
    for wrong in ("abc", "1", "1.5", "1e30"):
        typed.value = wrong
        assert small.knobs["size"].error.value
        assert small.inputs.size == 10**6
    assert small.image.value == before
    handle.value = 3
    assert small.errors == ()


def test_refusals_of_the_library_appear_under_the_control_they_name(small):
    before = small.image.value
    views(small, "n")[0].value = 13
    assert "不能是 13" in small.knobs["n"].error.value
    assert small.image.value == before
    views(small, "n")[0].value = 14
    assert small.errors[0].startswith("这里算不下去：ZeroDivisionError")
    views(small, "n")[0].value = 5
    assert small.errors == ()
    assert small.image.value != before


def test_presets_book_and_code(small):
    small._preset.value = "七"
    assert (small.inputs.n, small.inputs.mode) == (7, "b")
    small.set(save=True)
    assert small._preset.value == "自己的设定"
    button, _, show = small.children[1].children
    show.value = True
    assert "result = 7" in small._shown_code.value
    small.set(n=8)
    assert "result = 8" in small._shown_code.value
    button.click()
    assert small.inputs._asdict() == small.book
    assert small._preset.value == "书中的例子"


def test_controls_have_names_and_room(small):
    for knob in small.knobs.values():
        view = knob.box.children[0].children[0]
        assert view.tooltip and view.style.description_width.endswith("em")
        assert float(view.style.description_width[:-2]) > len(knob.control.label)


def test_html_is_escaped(small):
    assert "&lt;b&gt;" in small.words.value


def test_one_explorer_feeds_another(small):
    target = filling_up()
    small.feeds(target, sequences=lambda inputs, result: result)
    assert target.inputs.sequences == 4
    small.set(n=9)
    assert target.inputs.sequences == 9


def test_explorers_that_feed_each_other_stop_after_one_round(small):
    other = filling_up()
    small.feeds(other, sequences=lambda inputs, result: inputs.n + 1)
    other.feeds(small, n=lambda inputs, result: inputs.sequences + 1)
    assert (small.inputs.n, other.inputs.sequences) == (6, 7)
    small.set(n=2)
    assert (small.inputs.n, other.inputs.sequences) == (4, 3)


def test_a_feed_that_fails_is_explained_and_one_that_never_worked_is_forgotten(small):
    with pytest.raises(CourseError, match="没有这个控件"):
        small.feeds(filling_up(), nothing=lambda inputs, result: 1)
    small.set(n=5)
    assert small.errors == ()
    small.feeds(filling_up(), sequences=lambda inputs, result: 12 // (6 - inputs.n))
    small.set(n=6)
    assert small.errors[0].startswith("这里算不下去：ZeroDivisionError")


def test_unknown_control_is_refused(small):
    with pytest.raises(CourseError, match="没有这个控件"):
        small.set(n=9, nothing=1)
    assert (small.knobs["n"].value, small.inputs.n) == (4, 4)


def test_values_are_taken_together_or_not_at_all(small):
    small.set(n=9, size=-1)
    assert (small.knobs["n"].value, views(small, "n")[1].value, small.inputs.n) == (4, "4", 4)
    assert [name for name, knob in small.knobs.items() if knob.error.value] == ["size"]


def test_what_was_typed_in_vain_goes_with_its_explanation(small):
    typed = views(small, "size")[1]
    typed.value = "abc"
    small.set(n=9)
    assert (small.errors, typed.value, small.inputs.size) == ((), "1,000,000", 10**6)


def test_changes_from_several_threads_leave_one_state(small):
    other = filling_up()
    small.feeds(other, sequences=lambda inputs, result: inputs.n)
    ways = [
        threading.Thread(target=lambda n=n: [small.set(n=n), small.set(size=1000 * n)]) for n in range(1, 9)
    ]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    assert small.inputs._asdict() == {name: knob.value for name, knob in small.knobs.items()}
    assert small.inputs.n == other.inputs.sequences
    assert small.stage.redraw_all() == small.image.value


def test_the_stored_picture_is_of_the_present_state(small):
    first = small._repr_mimebundle_()[0]["image/png"]
    small.set(n=9)
    assert small._repr_mimebundle_()[0]["image/png"] != first
    small.set(**small.book)
    assert small._repr_mimebundle_()[0]["image/png"] == first


def test_memory_stays_flat(small):
    def turn(times):
        for n in range(times):
            small.set(n=1 + n % 12, size=1000 + n)
        gc.collect()

    turn(60)
    tracemalloc.start()
    turn(10)
    before = tracemalloc.get_traced_memory()[0]
    turn(100)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000


# Tables


def test_ledger_table_says_the_same_in_both_forms():
    acts = SavedActivations(
        sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )
    bundle = ledger_table(model_state(1_000_000) + acts.ledger())._repr_mimebundle_()
    for form in ("text/html", "text/plain"):
        for fact in ("一阶矩与二阶矩", "4 + 4", "8,000,000", "17,310,720", "16.51 MiB", "未计入", "内存碎片"):
            assert fact in bundle[form]
    first, *rest = bundle["text/plain"].splitlines()[:3]
    width = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in rest]
    assert first.startswith("对象") and width[0] == width[1]


def test_a_table_is_escaped():
    assert ">&lt;i&gt;</td>" in Table(("a",), (("<i>",),)).html()


def test_words_stand_left_and_numbers_right_without_any_style_sheet():
    rows = (("甲", 5, "1.25", "1/40", "约 0.33"), ("一句放不进一行的说明", 70, "−0.5%", "", "无"))
    html = Table(("名", "数", "小数", "分数", "约数"), rows, ("合计", 75, "", "", "")).html()
    cells = re.findall(r'<t[dh][^>]* style="text-align:(left|right)(;white-space:nowrap)?">([^<]*)<', html)
    sides = {text: side for side, _, text in cells if text}
    assert [text for text, side in sides.items() if side == "left"] == [
        "名", "甲", "一句放不进一行的说明", "无", "合计",
    ]  # fmt: skip
    assert [text for _, kept, text in cells if not kept] == ["一句放不进一行的说明"]


def test_ledger_table_refuses_other_things():
    with pytest.raises(CourseError, match="ledger"):
        ledger_table(16_000_000)


# Font


def test_font_is_the_one_that_its_script_makes():
    held = set(TTFont(FONT_FILE)["cmap"].getBestCmap())
    missing = [char for char in characters() if ord(char) not in held]
    assert len(held) > 6763
    assert missing == []


def test_fonts_hold_every_character_that_the_course_writes():
    """The package and the notebooks; what neither our font holds nor matplotlib's own would be a box."""
    fallback = Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    held = {code for file in (FONT_FILE, fallback) for code in TTFont(file)["cmap"].getBestCmap()}
    files = [*(ROOT / "course_lib").rglob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")]
    written = set().union(*(file.read_text(encoding="utf-8") for file in files))
    never_drawn = {char for char in written if char.isspace()} | {"\u9fff"}  # the end of a range in a pattern
    assert sorted(char for char in written - never_drawn if ord(char) not in held) == []


def test_font_carries_its_licence_and_not_the_reserved_name():
    names = {
        record.toUnicode() for record in TTFont(FONT_FILE)["name"].names if record.nameID in (1, 3, 4, 6)
    }
    assert names and not any("Source" in name or "Noto" in name for name in names)
    assert "SIL OPEN FONT LICENSE Version 1.1" in FONT_FILE.with_name("OFL.txt").read_text(encoding="utf-8")


def test_words_are_written_in_the_course_font_and_miss_no_glyph_unseen():
    use_course_font()
    assert Path(findfont(FontProperties(family=FAMILY), fallback_to_default=False)) == FONT_FILE
    with pytest.warns(UserWarning, match="Glyph"):
        word_picture("\U00020000", 9, 200, "#000000", "")


def test_starting_prints_nothing(tmp_path):
    """Not even where matplotlib must build its font cache first."""
    code = "from course_lib.show.explorers.section_27_01 import filling_up; filling_up()"
    environment = dict(os.environ, MPLCONFIGDIR=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("", "")
