"""What people type into the boxes of an explorer. Expected values typed by hand."""

from fractions import Fraction

import pytest

from course_lib.errors import CourseError
from course_lib.show.controls import parse_number


@pytest.mark.parametrize(
    ("typed", "n_bytes"),
    [
        ("10 MB", 10_000_000),
        ("1.25MiB", 1_310_720),
        ("80G", 80_000_000_000),
        ("80 GB", 80_000_000_000),
        ("10,000,000 字节", 10_000_000),
        ("１０ＭＢ", 10_000_000),
        ("512B", 512),
        ("1000万", 10_000_000),
    ],
)
def test_bytes_with_their_unit(typed, n_bytes):
    assert parse_number("capacity", typed, unit="字节") == n_bytes


def test_a_share_and_a_count():
    assert parse_number("overlap", "25%") == Fraction(1, 4)
    assert parse_number("layers", "12 层", unit="层") == 12
    assert parse_number("parameters", "7.5B", unit="个") == 7_500_000_000


@pytest.mark.parametrize("typed", ["1,000,00", "1,5", "10_00", "1,,000", "MB", "", "十"])
def test_what_cannot_be_meant_is_refused(typed):
    with pytest.raises(CourseError, match="capacity"):
        parse_number("capacity", typed, unit="字节")
