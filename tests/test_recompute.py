"""Section 27.6: recompute. Expected figures from the chapter or by hand from its 32,768-byte arrays."""

from fractions import Fraction

import pytest

from course_lib.activations import SavedActivations
from course_lib.errors import CourseError
from course_lib.ledger import ACTIVATIONS, diff, model_state
from course_lib.recompute import (
    REBUILT,
    Rebuild,
    keep_arrays,
    rebuild,
    selective_extra_flops,
    tradeoff,
)

ACTS = SavedActivations(
    sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
)
STATE = model_state(1_000_000)


def test_four_of_ten_arrays():
    kept = keep_arrays(ACTS, arrays_per_layer=4)
    assert (kept.arrays, kept.array_bytes, kept.total_bytes) == (16, 32_768, 524_288)
    assert ACTS.total_bytes == 1_310_720


def test_cost_of_four_of_ten():
    plan = rebuild(ACTS, arrays_per_layer=4)
    assert plan.kept == (1, 3, 6, 8)
    assert plan.freed_bytes == 786_432
    assert plan.transient_bytes == 196_608  # six arrays of one layer
    assert plan.peak_bytes == 720_896
    assert plan.extra_forward == Fraction(3, 5)
    assert plan.extra_arithmetic == Fraction(1, 5)


def test_room_for_rebuilding_is_named_until_it_is_counted():
    plan = rebuild(ACTS, arrays_per_layer=4)
    assert REBUILT in plan.ledger().omits
    assert REBUILT not in plan.peak_ledger().omits
    assert plan.ledger().total_bytes == 524_288
    assert plan.peak_ledger().total_bytes == 720_896
    assert REBUILT not in rebuild(ACTS, arrays_per_layer=10).peak_ledger().omits


def test_keeping_only_the_input():
    plan = rebuild(ACTS, arrays_per_layer=1)
    assert plan.kept == (1,)
    assert plan.after.total_bytes == 131_072
    assert plan.peak_bytes == 131_072 + 294_912
    assert (plan.extra_forward, plan.extra_arithmetic) == (Fraction(9, 10), Fraction(3, 10))


def test_keeping_everything_costs_nothing():
    plan = rebuild(ACTS, arrays_per_layer=10)
    assert (plan.freed_bytes, plan.transient_bytes, plan.extra_forward) == (0, 0, 0)


def test_selective_recompute_of_gpt3():
    """Korthikanti et al. print 2.7%, truncated from 2.78%."""
    assert round(float(selective_extra_flops(positions=2048, width=12288)) * 100, 2) == 2.78


def exercise_6(capacity_bytes):
    """Half the arrays, 30% more arithmetic: 16,655,360 bytes and room for 5 arrays against 17,310,720."""
    return tradeoff(
        state=STATE,
        plan=rebuild(ACTS, arrays_per_layer=5),
        capacity_bytes=capacity_bytes,
        compute_seconds=Fraction(2, 1000),
        extra_arithmetic=0.3,
    )


@pytest.mark.parametrize(
    ("capacity", "before", "after"),
    [
        (16_819_199, False, False),
        (16_819_200, False, True),
        (17_310_719, False, True),
        (17_310_720, True, True),
    ],
)
def test_exercise_6_fits_before_and_after(capacity, before, after):
    answer = exercise_6(capacity)
    assert (answer.fits_before, answer.fits_after) == (before, after)
    assert answer.makes_it_fit == (after and not before) == (capacity in answer.decisive_capacities)


def test_exercise_6_is_slower_in_either_case():
    answer = exercise_6(17_310_720)
    assert (answer.seconds_before, answer.seconds_after) == (Fraction(2, 1000), Fraction(26, 10_000))


def test_margin_counts_in_the_comparison():
    answer = tradeoff(
        state=STATE,
        plan=rebuild(ACTS, arrays_per_layer=4),
        capacity_bytes=21_000_000,
        compute_seconds=1,
        percent=25,
    )
    assert (answer.need_bytes_before, answer.need_bytes_after) == (21_638_400, 20_901_120)
    assert answer.makes_it_fit
    assert answer.seconds_after == Fraction(6, 5)


def test_recompute_leaves_the_model_state_unchanged():
    answer = exercise_6(1)
    assert [row for row in answer.after if row in STATE.rows] == list(STATE.rows)
    changed = [(line.name, line.change_bytes) for line in diff(answer.before, answer.after)]
    assert changed == [(ACTIVATIONS, -655_360), (REBUILT, 163_840)]


def test_a_single_layer_gains_nothing():
    one_layer = SavedActivations(
        sequences=2, positions=128, width=64, layers=1, arrays_per_layer=10, bytes_per_value=2
    )
    answer = tradeoff(
        state=STATE, plan=rebuild(one_layer, arrays_per_layer=1), capacity_bytes=1, compute_seconds=1
    )
    assert len(answer.decisive_capacities) == 0


@pytest.mark.parametrize("bad", [0, 11, -1, 4.0, True, "4", None, float("nan")])
def test_bad_numbers_of_arrays(bad):
    with pytest.raises(CourseError, match="arrays_per_layer"):
        keep_arrays(ACTS, arrays_per_layer=bad)


def test_bad_activations():
    nothing = SavedActivations(
        sequences=2, positions=128, width=64, layers=4, arrays_per_layer=0, bytes_per_value=2
    )
    for bad in (nothing, None, 40):
        with pytest.raises(CourseError, match="acts"):
            keep_arrays(bad, arrays_per_layer=1)


def test_a_rebuild_of_other_activations_is_refused():
    other = SavedActivations(
        sequences=1, positions=128, width=64, layers=4, arrays_per_layer=4, bytes_per_value=2
    )
    with pytest.raises(CourseError, match="after"):
        Rebuild(ACTS, other, Fraction(1))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"capacity_bytes": -1}, "capacity_bytes"),
        ({"compute_seconds": float("inf")}, "compute_seconds"),
        ({"percent": None}, "percent"),
        ({"extra_arithmetic": -0.1}, "extra_arithmetic"),
        ({"plan": ACTS}, "plan"),
        ({"state": STATE + ACTS.ledger()}, "state"),
        ({"state": 16_000_000}, "state"),
    ],
)
def test_bad_tradeoffs(change, named):
    good = {
        "state": STATE,
        "plan": rebuild(ACTS, arrays_per_layer=5),
        "capacity_bytes": 1,
        "compute_seconds": 1,
    }
    with pytest.raises(CourseError, match=named):
        tradeoff(**{**good, **change})


def test_bad_selective_sizes():
    with pytest.raises(CourseError, match="width"):
        selective_extra_flops(positions=2048, width=0)
