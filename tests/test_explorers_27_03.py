"""Explorers of section 27.3 in the states that the chapter and published numbers speak of."""

import pytest

from course_lib.show.explorers.section_27_03_copies import decimal_master, real_master
from course_lib.show.explorers.section_27_03_line import number_line
from course_lib.show.explorers.section_27_03_scale import loss_scale


def at_preset(explorer, name):
    explorer.set(**explorer.presets[name])
    assert explorer.errors == ()
    return explorer


def test_decimal_analogy_of_the_chapter():
    rows = decimal_master().table.rows
    assert rows == (
        ("0", "1.00", "1.000", "1.00"),
        ("1", "1.00", "0.997", "1.00"),
        ("2", "1.00", "0.994", "0.99"),
    )


def test_a_long_table_is_cut_but_keeps_the_last_update():
    rows = at_preset(decimal_master(), "减 20 次").table.rows
    assert len(rows) == 12
    assert rows[-1] == ("20", "1.00", "0.940", "0.94")


def test_real_loss_stands_still_without_a_master():
    copies = at_preset(real_master(), "FP16，每次减 2^-12").result
    assert copies.direct_changes_at is None
    assert copies.working[20] == 1 - 20 * 2**-12


def test_book_weight_is_not_lost_in_either_format():
    explorer = number_line()
    assert [row[:2] for row in explorer.result] == [(1, 0.9970703125), (1, 0.99609375)]
    assert explorer.table.rows[-1] == ("结果", "变化保住", "变化保住")


@pytest.mark.parametrize(
    ("preset", "fates"),
    [
        ("1 − 2^-11：留得住", ["变化保住", "变化丢失"]),
        ("1 ＋ 2^-11：留不住", ["变化丢失", "变化丢失"]),
        ("1 − 2^-12：留不住", ["变化丢失", "变化丢失"]),
        ("梯度 0.000001", ["存得下", "存得下"]),
        ("梯度 0.00000002", ["归零", "存得下"]),
        ("FP16 的尽头", ["溢出", "变化丢失"]),
    ],
)
def test_traps_of_real_formats(preset, fates):
    assert list(at_preset(number_line(), preset).table.rows[-1][1:]) == fates


def test_the_book_s_gradient_under_its_loss_scale():
    explorer = loss_scale()
    assert "0.000001 放大成 0.001024" in explorer.text
    assert "配套补充" in explorer.text
    assert explorer.result[0].to_zero == explorer.result[0].overflow == 0


def test_each_end_of_the_scale_loses_something_and_nothing_is_counted_twice():
    for preset, lost in (("不缩放", "to_zero"), ("倍数过大", "overflow")):
        counts, groups = at_preset(loss_scale(), preset).result
        assert getattr(counts, lost) > 0
        assert sum(getattr(group, lost) for group in groups.values()) == getattr(counts, lost)
