"""Guesses and printed figures beside the computed ones."""

from fractions import Fraction

import pytest

from course_lib.errors import CourseError
from course_lib.show import against_print, reveal
from course_lib.show.guesses import plain


def test_reveal_names_direction_and_share():
    assert repr(reveal(4, actual=Fraction(5, 2))) == "你猜 4，算得 2.5：多猜了 1.5，即 60.0%。"
    assert repr(reveal(Fraction(5, 2), actual=2.5)) == "你猜 2.5，正好。"
    assert repr(reveal(1, actual=0, unit="MB")) == "你猜 1 MB，算得 0 MB：多猜了 1 MB。"


def test_small_numbers_are_written_out():
    written = [plain(Fraction(1, 10**6)), plain(Fraction(1, 2**14)), plain(Fraction(12345, 10))]
    assert written == ["0.000001", "0.00006103515625", "1,234.5"]
    assert plain(Fraction(-2, 3 * 10**6)) == "约 -0.00000066667"
    assert plain(Fraction(1, 10**30)) == "1e-30"


@pytest.mark.parametrize(
    ("guess", "unit", "says"),
    [
        ("17 MB", "字节", "你猜 17,000,000 字节"),
        ("１，０００", "个", "你猜 1,000 个"),
        ("45%", "%", "你猜 45%"),
        ("4.5MB", "MB", "你猜 4.5 MB"),
    ],
)
def test_a_guess_may_be_written_as_people_write(guess, unit, says):
    assert repr(reveal(guess, actual=1, unit=unit)).startswith(says)


def test_per_cent_are_compared_in_points():
    assert repr(reveal(60, actual=45, unit="%")) == "你猜 60%，算得 45%：多猜了 15 个百分点。"


def test_a_wild_guess_gets_no_ratio():
    assert repr(reveal(10**31, actual=7)).endswith("多猜了 9,999,999,999,999,999,999,999,999,999,993。")
    assert "约" in repr(reveal(Fraction(10**390, 7), actual=7))


def test_against_print_counts_what_differs():
    table = against_print({"甲": (Fraction(413, 10), 41.3), "乙": (7, 8)})
    assert table.rows == (("甲", "41.3", "41.3", "0", "相符"), ("乙", "7", "8", "-1", "不符"))
    assert table.note == "1 项不符。"
    assert against_print({"乙": (7, 8)}, within=1).note == "1 项全部相符。"


@pytest.mark.parametrize("bad", ["三", "", float("nan"), True, [1]])
def test_a_guess_must_be_a_number(bad):
    with pytest.raises(CourseError, match="guess"):
        reveal(bad, actual=1)


@pytest.mark.parametrize("bad", [{}, None, {"甲": 3}, {"甲": (1, 2, 3)}, {"": (1, 1)}])
def test_figures_come_in_pairs(bad):
    with pytest.raises(CourseError, match="figures"):
        against_print(bad)
