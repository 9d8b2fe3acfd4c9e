"""Section 27.1: decimal and binary units are different words. Expected texts typed by hand."""

import pytest

from course_lib.errors import CourseError
from course_lib.units import GB, MB, GiB, MiB, format_bytes, in_unit


def test_units_are_never_mixed():
    assert (MB, GB) == (1_000_000, 1_000_000_000)
    assert (MiB, GiB) == (1_048_576, 1_073_741_824)


@pytest.mark.parametrize(
    ("n_bytes", "unit", "text"),
    [
        (1_310_720, "MiB", "1.25 MiB"),
        (1_310_720, "MB", "1.31 MB"),
        (16_000_000, "MB", "16 MB"),
        (0, "MiB", "0 MiB"),
        (124_475_904 * 2, "MiB", "237.42 MiB"),
        (10**15, "GB", "1,000,000 GB"),
        (5_000, "MB", "0 MB"),  # half to even at the last place: 0.005 → 0.00
        (15_000, "MB", "0.02 MB"),
    ],
)
def test_in_unit(n_bytes, unit, text):
    assert in_unit(n_bytes, unit) == text


def test_exact_bytes_come_first():
    assert format_bytes(17_310_720) == "17,310,720 字节（17.31 MB，16.51 MiB）"
    assert format_bytes(999) == "999 字节"
    assert format_bytes(16 * 10**12) == "16,000,000,000,000 字节（16 TB，14.55 TiB）"


@pytest.mark.parametrize("bad", [-1, 1.5, True, "5", None])
def test_bytes_are_whole(bad):
    with pytest.raises(CourseError, match="n_bytes"):
        format_bytes(bad)


def test_an_unknown_unit_is_named():
    with pytest.raises(CourseError, match=r"Gb.*可选.*GiB"):
        in_unit(1, "Gb")
