"""Section 27.3: rounding. Oracles: the chapter, Micikevicius et al. 2018, ml_dtypes, numpy's own float16."""

from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.precision import (
    BF16,
    FP16,
    FP32,
    ROUNDINGS,
    Format,
    census,
    census_by_power,
    decimal_copies,
    float_copies,
    lost,
    steps_until_visible,
    synthetic_grads,
    to_bf16,
    to_fp16,
)

PATTERNS = np.arange(65_536, dtype=np.uint16)
HIGH = np.arange(65_536, dtype=np.uint32) << 16
ROUNDERS = {"fp16": (to_fp16, np.float16), "bf16": (to_bf16, ml_dtypes.bfloat16)}
BAD = [True, "1", None, 1j, [1, "2"], [[1], [1, 2]], {1: 2}, object(), [True, 1.0], 2**53 + 1, Fraction(1, 3)]


def same(left, right):
    """Equal values, NaN where NaN, and the same sign of zero."""
    with np.errstate(invalid="ignore"):  # signalling NaN among the patterns
        left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    nan = np.isnan(left)
    return bool(
        np.array_equal(nan, np.isnan(right))
        and np.array_equal(left[~nan], right[~nan])
        and np.array_equal(np.signbit(left[~nan]), np.signbit(right[~nan]))
    )


def up_to_infinity(dtype):
    """All values of the format from 0 to infinity, in order."""
    return PATTERNS[: np.asarray(np.inf, dtype).view(np.uint16) + 1].view(dtype).astype(np.float64)


def nearest_even(values, dtype):
    """Round by looking up the two neighbours in the list of all values, sharing no arithmetic."""
    positive = up_to_infinity(dtype)
    magnitude = np.abs(values)
    above = np.clip(np.searchsorted(positive, magnitude), 1, len(positive) - 1)
    low, high = positive[above - 1], positive[above]
    high_for_middle = np.where(np.isinf(high), 2 * low - positive[above - 2], high)
    middle = low / 2 + high_for_middle / 2
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    return np.copysign(np.where(up, high, low), values)


# --- the decimal analogy -----------------------------------------------------------------------------------


def test_chapter_decimal_analogy():
    copies = decimal_copies(start=1, subtract=0.003, steps=2)
    assert [str(value) for value in copies.direct] == ["1.00", "1.00", "1.00"]
    assert [str(value) for value in copies.master] == ["1.000", "0.997", "0.994"]
    assert [str(value) for value in copies.working] == ["1.00", "1.00", "0.99"]
    assert (copies.direct_changes_at, copies.working_changes_at) == (None, 2)


def test_rounding_mode_has_a_name_and_matters():
    halves = {"start": Decimal("1.00"), "subtract": Decimal("0.005"), "steps": 1}
    ends = {mode: str(decimal_copies(**halves, rounding=mode).direct[-1]) for mode in ROUNDINGS}
    assert ends == {
        "ROUND_HALF_EVEN": "1.00",
        "ROUND_HALF_UP": "1.00",
        "ROUND_HALF_DOWN": "0.99",
        "ROUND_DOWN": "0.99",
        "ROUND_UP": "1.00",
        "ROUND_FLOOR": "0.99",
        "ROUND_CEILING": "1.00",
    }


def test_a_master_may_be_too_coarse_as_well():
    updates = {"start": 1, "subtract": Decimal("0.0004"), "steps": 13}
    assert decimal_copies(**updates, master_places=3).working_changes_at is None
    assert decimal_copies(**updates, master_places=4).working_changes_at == 13  # 1 − 13 × 0.0004 = 0.9948


def test_decimal_zero_has_no_sign():
    assert [str(value) for value in decimal_copies(start=0, subtract=0.001, steps=1).working] == [
        "0.00",
        "0.00",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"start": "1.00"},
        {"start": float("nan")},
        {"start": Fraction(1, 3)},
        {"start": 10**10},
        {"subtract": float("inf")},
        {"subtract": True},
        {"steps": -1},
        {"steps": 2.0},
        {"places": 13},
        {"master_places": 1},
        {"rounding": "half even"},
    ],
)
def test_decimal_analogy_refuses(change):
    with pytest.raises(CourseError, match=next(iter(change))):
        decimal_copies(**{"start": 1, "subtract": 0.003, "steps": 2, **change})


# --- rounding whole arrays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROUNDERS)
def test_all_patterns_stay_as_they_are(name):
    rounder, dtype = ROUNDERS[name]
    values = PATTERNS.view(dtype).astype(np.float32)
    assert same(rounder(values), values)


@pytest.mark.parametrize("name", ROUNDERS)
@pytest.mark.parametrize("low_half", [0x8000, 0x7FFF, 0x8001, 0x1000, 0x1001, 0x0FFF])
def test_ties_and_their_neighbours_for_all_float32_high_halves(name, low_half):
    rounder, dtype = ROUNDERS[name]
    values = (HIGH | np.uint32(low_half)).view(np.float32)
    with np.errstate(all="ignore"):
        assert same(rounder(values), values.astype(dtype))


@pytest.mark.parametrize("name", ROUNDERS)
def test_a_million_random_float32(name):
    rounder, dtype = ROUNDERS[name]
    random = np.random.default_rng(27)
    bits = random.integers(0, 2**32, 500_000, dtype=np.uint32).view(np.float32)
    small = random.standard_normal(500_000) * 10 ** random.uniform(-12, 5, 500_000)
    values = np.concatenate([bits, small.astype(np.float32)])
    with np.errstate(all="ignore"):
        assert same(rounder(values), values.astype(dtype))


@pytest.mark.parametrize("name", ROUNDERS)
def test_a_million_random_float64_without_double_rounding(name):
    """ml_dtypes goes from float64 by way of float32, so the oracle here is the table of all values."""
    rounder, dtype = ROUNDERS[name]
    random = np.random.default_rng(273)
    bits = random.integers(0, 2**64, 300_000, dtype=np.uint64).view(np.float64)
    small = random.standard_normal(300_000) * 10.0 ** random.uniform(-45, 39, 300_000)
    chosen = random.choice(up_to_infinity(dtype)[:-1], 200_000) * random.choice([1, -1], 200_000)
    ties = chosen + [FP16, BF16][name == "bf16"].smallest_subnormal / 2
    near = 1 + 2.0 ** -random.integers(8, 13, 200_000)
    near_ties = chosen * near * (1 + random.integers(-1, 2, 200_000) * 2.0**-45)
    values = np.concatenate([bits[~np.isnan(bits)], small, ties, near_ties])
    assert same(rounder(values), nearest_even(values, dtype))


def test_double_rounding_case_by_hand():
    just_above_a_tie = 1 + 2**-8 + 2**-40  # float32 drops the last bit and would leave a tie
    assert to_bf16(just_above_a_tie) == 1 + 2**-7
    assert to_fp16(1 + 2**-11 + 2**-40) == 1 + 2**-10


def test_fp32_is_float32():
    values = np.random.default_rng(1).standard_normal(10_000) * 1e-38
    assert same(FP32.round(values), values.astype(np.float32))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_shape_and_type_of_the_result(shape):
    for rounder in (to_fp16, to_bf16):
        result = rounder(np.ones(shape))
        assert (result.shape, result.dtype) == (shape, np.float32)


def test_nan_and_infinities_pass_and_the_largest_overflow():
    values = [float("nan"), float("inf"), -float("inf"), -0.0]
    for rounder in (to_fp16, to_bf16):
        assert same(rounder(values), values)
    assert to_fp16([65_504, 65_519.99, 65_520, -70_000]).tolist() == [65_504, 65_504, np.inf, -np.inf]


def test_input_is_not_changed_and_lists_of_any_number_type_work():
    values = np.array([1 / 3])
    to_fp16(values)
    assert values[0] == 1 / 3
    assert to_fp16([1, np.float16(0.5), np.int8(3), Fraction(1, 4)]).tolist() == [1, 0.5, 3, 0.25]
    assert to_bf16(np.array([2**53, -5])).tolist() == [2.0**53, -5]


@pytest.mark.parametrize(
    "bad",
    [
        *BAD,
        np.array([True]),
        np.array(["1"]),
        np.array([1j]),
        np.array([2**53 + 1]),
        np.array([2**64 - 1], np.uint64),
        np.ma.masked_array([1.0, 2.0], [True, False]),
        np.broadcast_to(1.0, (10**12,)),
        range(10**9),
        10**400,
        (value for value in [1.0]),
    ],
)
def test_what_is_no_array_of_numbers(bad):
    for rounder in (to_fp16, to_bf16):
        with pytest.raises(CourseError, match="values"):
            rounder(bad)


# --- the formats -------------------------------------------------------------------------------------------


def test_limits_of_the_formats():
    assert (FP16.largest, FP16.smallest_normal, FP16.smallest_subnormal) == (65_504, 2**-14, 2**-24)
    for fmt, info in ((BF16, ml_dtypes.finfo(ml_dtypes.bfloat16)), (FP32, np.finfo(np.float32))):
        assert fmt.largest == float(info.max)
        assert fmt.smallest_normal == float(info.smallest_normal)
        assert fmt.smallest_subnormal == float(info.smallest_subnormal)
    assert (FP16.bits, BF16.bits, FP32.bits) == (16, 16, 32)


def test_spacing_halves_below_one():
    assert [FP16.spacing(at) for at in (1, 0.999, 1024, 2048, 0, 2**-20, 65_504)] == [
        2**-10, 2**-11, 1, 2, 2**-24, 2**-24, 32,
    ]  # fmt: skip
    assert (BF16.spacing(1), FP32.spacing(1), FP32.spacing(-3)) == (2**-7, 2**-23, 2**-22)


@pytest.mark.parametrize("fmt", [FP16, BF16])
def test_neighbours_walk_through_all_values(fmt):
    dtype = ROUNDERS[fmt.name.lower()][1]
    values = up_to_infinity(dtype)
    for index in range(1, len(values) - 1, 61):
        assert fmt.neighbours(values[index]) == (values[index - 1], values[index + 1])
        assert fmt.neighbours(-values[index]) == (-values[index + 1], -values[index - 1])
    assert fmt.neighbours(fmt.largest) == (values[-3], np.inf)
    assert fmt.neighbours(0) == (-values[1], values[1])


def test_neighbours_of_a_value_between():
    assert FP16.neighbours(1 + 2**-12) == (1, 1 + 2**-10)
    assert FP16.neighbours(0.1) == (0.0999755859375, 0.10003662109375)


@pytest.mark.parametrize("bad", [*BAD, float("nan"), float("inf"), 65_505, [1.0]])
def test_spacing_and_neighbours_refuse(bad):
    for verb in (FP16.spacing, FP16.neighbours):
        with pytest.raises(CourseError, match="at"):
            verb(bad)


@pytest.mark.parametrize("bad", [("", 5, 10), ("甲", 9, 10), ("甲", 5, 24), ("甲", True, 10), ("甲", 1, 1)])
def test_formats_that_do_not_fit_float32(bad):
    with pytest.raises(CourseError):
        Format(*bad)


# --- updates lost and kept ---------------------------------------------------------------------------------


def test_traps_of_real_fp16():
    """The chapter's 10⁻⁶ and 1 − 0.003 are not lost in FP16; these others are."""
    assert float(to_fp16(1e-6)) == pytest.approx(1.0133e-6, abs=5e-11)
    assert to_fp16([2**-25, -(2**-25), 2e-8]).tolist() == [0, 0, 0]
    assert to_fp16(np.nextafter(2**-25, 1)) == 2**-24
    assert to_fp16(1 - 0.003) == 0.9970703125
    assert to_fp16([1 - 2**-12, 1 - 2**-11, 1 + 2**-11]).tolist() == [1, 1 - 2**-11, 1]
    assert to_bf16(1 - 0.003) == 0.99609375  # one spacing below 1: kept, but as 0.0039


def test_master_copy_against_direct_update_in_fp16():
    copies = float_copies(start=1, subtract=2**-12, steps=4)
    assert copies.direct == (1, 1, 1, 1, 1)
    assert copies.master == (1, 1 - 2**-12, 1 - 2**-11, 1 - 3 * 2**-12, 1 - 2**-10)
    assert copies.working == (1, 1, 1 - 2**-11, 1 - 2**-10, 1 - 2**-10)  # 3 · 2⁻¹² is a tie, to even
    assert (copies.direct_changes_at, copies.working_changes_at) == (None, 2)


def test_direct_update_in_bf16_overshoots_where_it_is_not_lost():
    copies = float_copies(start=1, subtract=0.003, steps=5, fmt=BF16)
    assert copies.direct == (1, 0.99609375, 0.9921875, 0.98828125, 0.984375, 0.98046875)
    assert copies.working[5] == 0.984375  # 1 − 5 × 0.003 = 0.985


def test_steps_until_an_update_shows():
    assert steps_until_visible(start=1, subtract=2**-11) == 1
    assert steps_until_visible(start=1, subtract=2**-12) == 2
    assert steps_until_visible(start=1, subtract=2**-13) == 3  # 2 · 2⁻¹³ is the tie and stays
    assert steps_until_visible(start=1, subtract=2**-14) == 5
    assert steps_until_visible(start=1, subtract=2**-14, fmt=BF16) == 33  # 32 · 2⁻¹⁴ = 2⁻⁹ is the tie
    assert steps_until_visible(start=1, subtract=2**-14, limit=4) is None
    assert steps_until_visible(start=1, subtract=2**-26) is None  # FP32 loses it too
    assert steps_until_visible(start=1, subtract=0) is None


def test_a_ratio_of_2048_can_lose_and_beyond_4096_does():
    weights = PATTERNS.view(np.float16).astype(np.float64)
    weights = weights[(weights >= 2**-13) & (weights < 2**15)]
    for sign in (1, -1):
        assert not lost(weights=weights, updates=sign * weights / 2047).any()
        assert lost(weights=weights, updates=sign * weights / 4097).all()
    assert not lost(weights=weights, updates=np.zeros_like(weights)).any()  # nothing was there to lose
    at_2048 = lost(weights=weights, updates=weights / 2048)
    assert at_2048.any() and not at_2048.all()


def test_overflow_in_copies_is_infinite_without_a_warning():
    copies = float_copies(start=65_504, subtract=-1e38, steps=5)
    assert copies.direct[1:] == (np.inf,) * 5
    assert copies.master[-1] == np.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: float_copies(start=float("nan"), subtract=0.1, steps=1),
        lambda: float_copies(start=1, subtract=[0.1], steps=1),
        lambda: float_copies(start=1, subtract=0.1, steps=10_001),
        lambda: float_copies(start=1, subtract=0.1, steps=1, fmt="FP16"),
        lambda: steps_until_visible(start=1, subtract=0.1, limit=0),
        lambda: steps_until_visible(start=1, subtract=0.1, limit=10**7),
        lambda: lost(weights=[1, 2], updates=[1]),
        lambda: lost(weights=[float("inf")], updates=[1]),
        lambda: lost(weights=[1], updates=[float("nan")]),
    ],
)
def test_updates_refuse(call):
    with pytest.raises(CourseError):
        call()


# --- what a scale does to many values ----------------------------------------------------------------------


def test_census_by_hand():
    values = [0, float("nan"), -2e-8, 1e-6, 0.5, -1e5, float("-inf")]
    counts = census(values)
    assert (counts.zero, counts.to_zero, counts.subnormal, counts.normal) == (1, 1, 1, 1)
    assert (counts.overflow, counts.nonfinite) == (1, 2)
    assert (counts.to_zero_share, counts.overflow_share) == (Fraction(1, 4), Fraction(1, 4))
    scaled = census(values, scale=1024)
    assert (scaled.to_zero, scaled.subnormal, scaled.normal, scaled.overflow) == (0, 1, 2, 1)
    assert census(values, fmt=BF16).normal == 4


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), True, "8", [8]])
def test_census_refuses_a_scale(scale):
    with pytest.raises(CourseError, match="scale"):
        census([1.0], scale=scale)


def test_share_of_nothing_is_refused():
    with pytest.raises(CourseError, match="没有非零"):
        _ = census([0.0]).to_zero_share


@pytest.mark.parametrize(("fmt", "name"), [(FP16, "fp16"), (BF16, "bf16")])
def test_values_between_are_all_finite_patterns(fmt, name):
    with np.errstate(invalid="ignore"):
        held = np.unique(PATTERNS.view(ROUNDERS[name][1]).astype(np.float64))
    held = held[np.isfinite(held)]
    assert np.array_equal(fmt.values_between(-fmt.largest, fmt.largest), held)
    assert fmt.values_between(0.999, 1.001).tolist() == [
        value for value in held.tolist() if 0.999 <= value <= 1.001
    ]
    assert fmt.values_between(2, 1).tolist() == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: FP32.values_between(0, 1),
        lambda: FP16.values_between(float("nan"), 1),
        lambda: FP16.values_between(0, "1"),
    ],
)
def test_values_between_refuses(call):
    with pytest.raises(CourseError):
        call()


def test_census_by_power_by_hand():
    """2^-25 ties to zero, 3 · 2^-26 becomes 2^-24; 65,520 overflows, though below 2^16."""
    groups = census_by_power([0, 2**-25, 3 * 2**-26, 65_519, 65_520, float("nan")])
    assert list(groups) == [-25, 15]
    assert (groups[-25].to_zero, groups[-25].subnormal) == (1, 1)
    assert (groups[15].normal, groups[15].overflow) == (1, 1)


def test_census_by_power_moves_with_the_scale_and_reaches_both_ends():
    assert list(census_by_power([1e-6], scale=1024)) == [-10]  # 0.001024 lies between 2^-10 and 2^-9
    assert list(census_by_power([1e-6, 1])) == [-20, 0]
    assert census_by_power([2.0**1000], scale=2.0**1000)[2000].overflow == 1
    assert census_by_power([2.0**-1000], scale=2.0**-1000)[-2000].to_zero == 1
    assert census_by_power([]) == {}


def test_synthetic_grads_are_quantiles_by_hand():
    """Quartile midpoints of three: 1/6, 1/2, 5/6; the normal curve puts 5/6 at 0.9674 deviations."""
    grads = synthetic_grads(typical=1, spread=1, count=3)
    assert grads[1] == 1
    assert np.log2(grads[[0, 2]]) == pytest.approx([-0.96742, 0.96742], abs=1e-5)
    assert synthetic_grads(typical=0.5, spread=0).tolist() == [0.5] * 2000


@pytest.mark.parametrize(
    "given",
    [
        {"typical": 0},
        {"typical": float("nan")},
        {"typical": 1, "spread": -1},
        {"typical": 1, "spread": True},
        {"typical": 1, "count": 0},
        {"typical": 1, "count": 2.0},
    ],
)
def test_synthetic_grads_refuse(given):
    with pytest.raises(CourseError):
        synthetic_grads(**given)
