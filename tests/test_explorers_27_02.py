"""Explorers of 27.1 and 27.2: the chapter's figures in the book's case, and what only these pictures do."""

import numpy as np
import pytest

from course_lib.lifetimes import PhaseKind, schedule
from course_lib.show.charts.coverage import envelope, shares_taken
from course_lib.show.charts.lifelines import LayerArrays
from course_lib.show.charts.timescale import TimeScale
from course_lib.show.explorers.section_27_01 import filling_up
from course_lib.show.explorers.section_27_02 import ledger
from course_lib.show.explorers.section_27_02_lifetimes import lifetimes
from course_lib.show.explorers.section_27_02_recipes import recipes


@pytest.fixture(scope="module")
def life():
    return lifetimes()


@pytest.fixture(autouse=True)
def back_to_the_book(life):
    life.set(**life.book)


def test_ten_million_bytes_overflow_at_the_moments():
    explorer = filling_up()
    assert explorer.result.total_bytes == 17_310_720
    assert "放到一阶矩与二阶矩时溢出，共超出 7,310,720 字节" in explorer.text


def test_table_and_margin_of_the_chapter():
    explorer = ledger()
    state, need, planned = explorer.result
    assert [row.total_bytes for row in state] == [2_000_000, 2_000_000, 4_000_000, 8_000_000]
    assert (state.total_bytes, need.total_bytes, planned) == (16_000_000, 17_310_720, 21_638_400)


@pytest.mark.parametrize(
    ("knobs", "peak"),
    [
        ({}, 17_310_720),
        ({"sharding": "zero1"}, 8_310_720),
        ({"kept": 4}, 16_000_000 + 524_288 + 196_608),  # 196,608 is the layer that is being rebuilt
        ({"sharding": "zero3"}, 4_000_000 + 1_310_720 + 2 * 500_000),  # one layer's weights and gradients
    ],
)
def test_peak_of_the_lifetime_picture(life, knobs, peak):
    life.set(**life.book | knobs)
    assert life.result[0].total_bytes == peak


def test_cursor_in_the_stop_finds_nothing_but_the_file(life):
    life.set(**life.presets["停在两次运行之间"])
    assert "游标停在停止：内存里有 0 字节" in life.text
    assert [(item.name, item.total_bytes) for item in life.result[1]] == [("恢复检查点文件", 14_000_000)]


def test_cursor_counts_arrays(life):
    life.set(cursor=0.07)  # the last layer's forward or backward
    assert ("已保存激活", 40, 1_310_720) in [row[:3] for row in life.table.rows]


def test_moving_the_cursor_or_the_capacity_alone_leaves_no_trace_of_another_timeline(life):
    life.set(layers=12, kept=3)
    life.set(cursor=0.8, capacity=5_000_000)
    assert life.stage.redraw_all() == life.image.value


def test_largest_case_is_drawn_as_shades(life):
    life.set(layers=128, microbatches=512)
    assert not life.errors
    assert life.result[0].total_bytes == 16_000_000 + 128 * 327_680


@pytest.mark.parametrize(("height", "saved", "again"), [(40, 4, 6), (10, 1, 1)])
def test_a_slot_shows_single_arrays_while_they_can_be_seen(height, saved, again):
    slots = LayerArrays(10, (1, 3, 6, 8), "重算暂存").slots(height)
    assert [len(strips) for strips in slots.values()] == [saved, again]


def test_nothing_is_made_again_where_everything_is_saved():
    arrays = LayerArrays(10, tuple(range(1, 11)), "重算暂存")
    assert [len(strips) for strips in arrays.slots(40).values()] == [10, 0]
    assert [len(strips) for strips in arrays.slots(5).values()] == [1, 0]


def test_a_save_is_wide_enough_to_be_seen_beside_thousands_of_passes():
    scale = TimeScale(schedule(layers=128, microbatches=512, updates=3, save_after=2, stop=True))
    [(left, right)] = scale.spans(PhaseKind.SAVE)
    assert 0.03 < right - left < 0.05
    assert scale.tick(0) == 0
    assert scale.tick(1) == 3 * (2 * 128 * 512 + 1) + 3 - 1
    assert scale.tick((left + right) / 2) == 2 * (2 * 128 * 512 + 1)


def test_envelope_keeps_a_peak_between_two_pixels():
    times, values = np.array([0, 4, 5, 9]), np.array([1, 7, 2, 0])
    least, most = envelope(times, values, np.array([0.0, 3, 4.5, 6, 10]))
    assert least.tolist() == [1, 1, 2, 0]
    assert most.tolist() == [1, 7, 7, 2]


def test_shares_of_time_sum_to_the_lifetimes():
    start, end = np.array([0, 5, 2]), np.array([3, 6, 9])
    edges = np.array([0, 1.5, 2, 4, 9.5])
    shares = shares_taken(np.array([0, 0, 1]), start, end, lanes=2, edges=edges)
    assert (shares * np.diff(edges)).sum(axis=1).tolist() == [4, 7]


def test_same_total_but_another_ledger():
    explorer = recipes()
    assert [(line.name, line.change_bytes) for line in explorer.result] == [
        ("工作权重", 2_000_000),
        ("梯度", 2_000_000),
        ("主权重副本", -4_000_000),
    ]
    assert "总数相同，账却不同" in explorer.text
    explorer.set(right="chapter")
    assert explorer.result == ()
    assert "逐项相同" in explorer.text
