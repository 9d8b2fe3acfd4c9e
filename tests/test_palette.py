"""Colours hold on white paper, in the dark theme and in grey print.

A share of 1 is white. Contrast is WCAG's: 1 for equal shades, 21 for black on white.
"""

import re
from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from course_lib.app.places import ROOT
from course_lib.show import palette
from course_lib.show.palette import Style

INKS = {"INK", "QUIET"}
GROUNDS = {"PAPER", "BEYOND", "FREE", "IDLE"}  # meant to stay behind
COLOURS = {name: value for name, value in vars(palette).items() if re.fullmatch(r"#\w{6}", str(value))} | {
    name: value.color for name, value in vars(palette).items() if isinstance(value, Style)
}
STYLES = {name: value for name, value in vars(palette).items() if isinstance(value, Style)}

# The weights of red, green and blue in the filters of CSS.
HUE_WEIGHTS = (0.213, 0.715, 0.072)


def light(colour):
    return to_rgb(colour)


def dark(colour):
    """What ``invert(.93) hue-rotate(180deg)`` makes of a colour, by the filter standard's matrices."""
    turned = [0.93 - 0.86 * part for part in to_rgb(colour)]
    middle = sum(weight * part for weight, part in zip(HUE_WEIGHTS, turned, strict=True))
    return tuple(min(1, max(0, 2 * middle - part)) for part in turned)


def grey(colour):
    red, green, blue = to_rgb(colour)
    return (0.299 * red + 0.587 * green + 0.114 * blue,) * 3


LOOKS = (light, dark, grey)


def luminance(shares):
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other, look):
    low, high = sorted(luminance(look(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_wcags():
    assert contrast("#000000", "#ffffff", light) == pytest.approx(21)
    assert contrast("#777777", "#ffffff", light) == pytest.approx(4.48, abs=0.01)


def test_the_filter_is_the_one_that_is_computed_here():
    assert palette.DARK_FILTER == "invert(.93) hue-rotate(180deg)"
    assert [round(255 * part) for part in dark("#ffffff")] == [18, 18, 18]
    assert [round(255 * part) for part in dark("#0072B2")] == [75, 173, 228]  # still a blue


def test_stored_pictures_are_turned_round_by_the_same_filter():
    css = (ROOT / "course_lib" / "app" / "jupyter" / "custom" / "custom.css").read_text(encoding="utf-8")
    assert f"filter: {palette.DARK_FILTER};" in css


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", sorted(set(COLOURS) - GROUNDS - INKS))
def test_a_fill_stands_out_from_the_paper(name, look):
    assert contrast(COLOURS[name], palette.PAPER, look) >= 2


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", sorted(STYLES))
def test_words_on_a_fill_can_be_read(name, look):
    assert contrast(STYLES[name].color, STYLES[name].ink, look) >= 3


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("ink", sorted(INKS))
def test_words_on_paper_and_on_the_ground_beyond_a_limit_can_be_read(ink, look):
    assert contrast(COLOURS[ink], palette.PAPER, look) >= 4.5
    assert contrast(COLOURS[ink], palette.BEYOND, look) >= 4.4


@pytest.mark.parametrize("legend", [palette.OF_ROW, palette.OF_LIFETIME])
def test_grey_print_tells_neighbours_by_pattern_or_by_shade(legend):
    for one, other in combinations(legend.values(), 2):
        assert one.hatch != other.hatch or contrast(one.color, other.color, grey) >= 2
