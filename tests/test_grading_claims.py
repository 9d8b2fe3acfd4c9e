"""What a kernel claims is read strictly: it may be anything, and nothing costly is computed from it."""

from decimal import Decimal
from fractions import Fraction

import pytest

from course_lib.exercises import EXERCISES
from course_lib.grading.claims import ClaimError, claimed
from course_lib.grading.kernel.grader_box.answer import MIME, plain

ONE = EXERCISES["1"]


def outputs(value, **other):
    values = {"activation_bytes": value, "total_bytes": ["none", ""]}
    return [{"data": {MIME: {"id": "1", "values": values, **other}}}]


@pytest.mark.parametrize(
    "value",
    [1, -1, 2.5, True, "1.25 MiB", None, Fraction(1, 3), Decimal("0.1"), [1, "a"], 10**3000, ...],
    ids=lambda value: str(value)[:12],
)
def test_a_value_survives_the_way(value):
    found = claimed(outputs(plain(value)), ONE)["activation_bytes"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        ["fraction", "1e999999999"], ["fraction", "1/0"],
        ["decimal", "1E999999999"], ["decimal", "1E-999999999"],
        ["decimal", "x"], ["int", "9" * 5000], ["int", "1e9"], ["float", "a"], ["list", [["list", []]]],
        ["nothing", "1"], ["int", 1], ["int"], "int", None, 7, {"int": "1"}, ["list", 5], [["int"], "1"],
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_a_claim_of_any_other_form_is_refused_at_once(value):
    with pytest.raises(ClaimError):
        claimed(outputs(value), ONE)


OTHERS = ([], outputs(["int", "1"]) * 2, outputs(["int", "1"], id="2"), [{"data": {MIME: 3}}])


@pytest.mark.parametrize("found", OTHERS)
def test_one_claim_and_no_more_of_this_exercise(found):
    with pytest.raises(ClaimError):
        claimed(found, ONE)


def test_of_a_foreign_type_only_the_name_comes():
    found = claimed(outputs(["other", "AlwaysEqual"]), ONE)["activation_bytes"]
    assert type(found).__name__ == "AlwaysEqual" and found != 1
