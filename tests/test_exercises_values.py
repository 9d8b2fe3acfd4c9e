"""Answers as people write them: every type that means a number, and everything that must not pass for one."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from course_lib.exercises import EXERCISES, Verdict, check
from course_lib.exercises.values import Field, Kind, UnreadableError, literal

from .test_bad_input import BAD
from .test_exercises import RIGHT


class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Lying(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class LyingText(str):
    def __str__(self):
        return "2621440"

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Broken:
    def __getattribute__(self, name):
        raise RuntimeError("broken")


@pytest.mark.parametrize(
    "value",
    [
        2_621_440, 2_621_440.0, Fraction(2_621_440), Decimal("2621440"), np.int64(2_621_440),
        np.float32(2_621_440), np.float64(2_621_440), "2621440", "2_621_440", "2,621,440", "2,621,440 字节",
        "2.5 MiB", "2.5MiB", "2.62144 MB", "2560 KiB", "２，６２１，４４０", "2.62144e6", " 2621440 bytes ",
        "5242880/2", "2621.44 kb",
    ],
    ids=repr,
)  # fmt: skip
def test_every_way_to_write_a_number(value):
    assert check("1", activation_bytes=value).criteria[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (True, "要填数，不是 True 或 False"),
        (np.bool_(True), "要填数，不是 True 或 False"),
        (math.nan, "要填一个有限的数"),
        (math.inf, "要填一个有限的数"),
        (Decimal("NaN"), "要填一个有限的数"),
        (np.float64("nan"), "要填一个有限的数"),
        ([2_621_440], "收到的是 list"),
        (AlwaysEqual(), "收到的是 AlwaysEqual"),
        (2_621_440 + 0j, "收到的是 complex"),
        (Broken(), "这个值读不出来"),
        (b"2621440", "收到的是 bytes"),
        ("很多", "读不成数"),
        ("2.5 GHz", "单位不认识，可以写 B、MB、MiB"),
        ("1/0", "读不成数"),
        ("26,2144,0", "读不成数"),
        ("9" * 500, "太长"),
        (LyingText("甲"), "读不成数"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_is_wrong_and_told_in_a_sentence(value, sentence):
    outcome = check("1", activation_bytes=value, total_bytes=1).criteria[0]
    assert (outcome.verdict, outcome.points, outcome.misconception) == (Verdict.FAIL, 0, "")
    assert outcome.hints[0].startswith("activation_bytes ")
    assert sentence in outcome.hints[0]


def test_a_lying_number_counts_as_what_it_holds():
    assert check("1", activation_bytes=Lying(5)).criteria[0].verdict is Verdict.FAIL
    assert check("1", activation_bytes=Lying(2_621_440)).criteria[0].verdict is Verdict.PASS


def test_float_noise_and_endless_shares_are_forgiven_but_not_more():
    assert 0.1 + 0.2 + 0.01 != 0.31
    assert check("6", seconds_after=0.1 + 0.2 + 0.01).criteria[2].verdict is Verdict.PASS
    assert check("6", seconds_after="310 ms").criteria[2].verdict is Verdict.PASS
    assert check("6", seconds_after=0.3101).criteria[2].verdict is Verdict.FAIL
    for share in (Fraction(7, 39), "7/39", 7 / 39):
        assert check("27.5-b", bubble_of_total=share).criteria[1].verdict is Verdict.PASS
    assert check("27.5-b", bubble_of_total=0.179).criteria[1].verdict is Verdict.FAIL
    assert check("27.5-b", bubble_of_ideal="21.875%").criteria[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("value", "passes"),
    [
        (True, True),
        (np.bool_(True), True),
        ("是", True),
        ("true", True),
        (False, False),
        (1, False),
        ("好", False),
    ],
)
def test_truth(value, passes):
    outcome = check("6", fits_before=False, fits_after=value).criteria[0]
    assert (outcome.verdict is Verdict.PASS) == passes


@pytest.mark.parametrize(
    ("value", "sentence"),
    [("AB", "要填一个字母"), (2, "一组文字"), (["AB"], "一个字母"), ([1], "每一项都要是文字")],
)
def test_letters_are_letters(value, sentence):
    outcome = check("2", equal_weight_error=value).criteria[1]
    assert sentence in outcome.hints[0]


def test_blank_is_only_the_placeholder():
    field = Field("x", Kind.NUMBER, "数")
    assert all(map(field.is_blank, (None, "", " ", "……", "…", ["……", "……"], [None], ...)))
    assert not any(map(field.is_blank, (0, False, [], "0", ["甲", "……"], AlwaysEqual(), math.nan)))


@example(Fraction(53, 524288))  # sixteen digits as a float: one more than is read
@given(st.fractions())
def test_literals_read_back_as_the_same_number(value):
    assert Field("x", Kind.NUMBER, "数").read(literal(value)) == value


ANYTHING = st.one_of(
    BAD,
    st.integers(), st.floats(), st.decimals(), st.fractions(), st.text(), st.binary(), st.complex_numbers(),
    st.sampled_from([AlwaysEqual(), Lying(2_621_440), LyingText("B"), {"A", "D"}, {"a": 1}]),
    st.lists(st.one_of(st.text(max_size=8), st.integers(), st.sampled_from("ABCDEF")), max_size=12),
    st.recursive(st.none(), lambda inner: st.lists(inner, max_size=3) | st.tuples(inner)),
)  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("id", EXERCISES)
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(values=st.lists(ANYTHING, min_size=5, max_size=5))
def test_no_value_breaks_a_check(id, values):
    """Whatever comes: one verdict per criterion, points within bounds, never an error."""
    names = EXERCISES[id].answers
    answers = dict(zip(names, values, strict=False))
    result = check(id, **answers)
    assert len(result.criteria) == len(EXERCISES[id].criteria)
    for outcome in result.criteria:
        assert outcome.verdict in (Verdict.PASS, Verdict.PARTIAL, Verdict.FAIL, Verdict.UNANSWERED)
        assert 0 <= outcome.points <= outcome.max_points
        assert (outcome.verdict is Verdict.PASS) == (outcome.points == outcome.max_points)
    one_bad = check(id, **{**RIGHT[id], names[0]: answers[names[0]]})
    others = [c for c in EXERCISES[id].criteria if names[0] not in c.answers]
    passed = {outcome.name for outcome in one_bad.criteria if outcome.verdict is Verdict.PASS}
    assert {criterion.name for criterion in others} <= passed


def test_unreadable_is_an_error_of_its_own():
    with pytest.raises(UnreadableError, match="x 要填一个数"):
        Field("x", Kind.NUMBER, "数").read(object())
