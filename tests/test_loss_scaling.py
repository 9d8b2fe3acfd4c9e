"""Section 27.3: loss scaling. Figures from the chapter, Micikevicius et al. 2018, or by hand."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.loss_scaling import (
    DynamicScale,
    StaticScale,
    TrainState,
    Warmup,
    all_finite,
    apply_update,
    scale_from_dict,
)
from course_lib.precision import to_fp16

WARMUP = Warmup(peak=Fraction(1, 10), warmup_updates=4)


def start(scale=None):
    return TrainState.start(weights=[1.0, -2.0], scale=scale or DynamicScale(1024), schedule=WARMUP)


def test_chapter_scale_and_back():
    scale = StaticScale(1024)
    assert float(scale.scale(1e-6)) == 0.001024
    assert float(scale.unscale(0.001024)) == 1e-6


def test_scaling_makes_fp16_precise_where_it_was_subnormal():
    scale = StaticScale(1024)
    alone, scaled = float(to_fp16(1e-6)), float(scale.unscale(to_fp16(scale.scale(1e-6))))
    assert abs(alone - 1e-6) > 1.3e-8
    assert abs(scaled - 1e-6) < 1e-9


def test_lost_before_scaling_stays_lost():
    scale = StaticScale(1024)
    assert float(scale.unscale(scale.scale(to_fp16(2e-8)))) == 0
    assert float(scale.unscale(to_fp16(scale.scale(2e-8)))) == pytest.approx(2e-8, rel=2e-3)


def test_too_large_a_scale_overflows():
    assert np.isinf(to_fp16(StaticScale(2**24).scale(0.01)))
    assert not all_finite(to_fp16(StaticScale(2**24).scale([1e-6, 0.01])))


def test_static_scale_never_moves():
    scale = StaticScale(8)
    assert scale.adjust(grads_finite=True) == scale.adjust(grads_finite=False) == scale


def test_dynamic_scale_over_a_history():
    scale, history = DynamicScale(1024, growth_interval=3), []
    for finite in (True, True, False, True, True, True, True, False, False):
        scale = scale.adjust(grads_finite=finite)
        history.append((scale.loss_scale, scale.good_updates))
    assert history == [
        (1024, 1), (1024, 2), (512, 0), (512, 1), (512, 2), (1024, 0), (1024, 1), (512, 0), (256, 0),
    ]  # fmt: skip


def test_dynamic_scale_stays_within_its_bounds():
    low = DynamicScale(2, smallest=2, growth_interval=1)
    assert low.adjust(grads_finite=False).loss_scale == 2
    high = DynamicScale(48, largest=64, growth_interval=1)
    assert high.adjust(grads_finite=True).loss_scale == 64
    assert DynamicScale(5).adjust(grads_finite=False).loss_scale == 2


def test_saved_state_survives_json():
    for scale in (StaticScale(1024), DynamicScale(512, growth_interval=10, factor=4, good_updates=7)):
        again = scale_from_dict(json.loads(json.dumps(scale.to_dict())))
        assert again == scale
        assert type(again) is type(scale)


def test_a_resumed_scale_continues_as_the_unbroken_one():
    scale = DynamicScale(1024, growth_interval=5, good_updates=4)
    resumed = scale_from_dict(scale.to_dict())
    assert resumed.adjust(grads_finite=True).loss_scale == 2048
    forgotten = DynamicScale(1024, growth_interval=5)  # only the scale was saved, not the count
    assert forgotten.adjust(grads_finite=True).loss_scale == 1024


@pytest.mark.parametrize(
    "saved",
    [
        None,
        {},
        {"kind": "static"},
        {"kind": "static", "loss_scale": "8"},
        {"kind": "static", "loss_scale": 8, "extra": 1},
        {"kind": "none", "loss_scale": 8},
        {"kind": ["static"], "loss_scale": 8},
        {**DynamicScale().to_dict(), "good_updates": 2000},
        {**DynamicScale().to_dict(), "good_updates": True},
        {name: value for name, value in DynamicScale().to_dict().items() if name != "good_updates"},
    ],
)
def test_saved_state_refuses(saved):
    with pytest.raises(CourseError):
        scale_from_dict(saved)


@pytest.mark.parametrize("bad", [0, -8, True, 8.0, "8", None, float("nan"), 2**128, [8]])
def test_scales_refuse(bad):
    with pytest.raises(CourseError, match="loss_scale"):
        StaticScale(bad)
    for name in ("loss_scale", "smallest", "largest"):
        with pytest.raises(CourseError, match=name):
            DynamicScale(**{name: bad})
    for name in ("growth_interval", "factor"):
        if bad != 2**128:
            with pytest.raises(CourseError, match=name):
                DynamicScale(**{name: bad})
    for scale in (StaticScale(8), DynamicScale(8)):
        with pytest.raises(CourseError, match="grads_finite"):
            scale.adjust(grads_finite=1)
        with pytest.raises(CourseError, match="values"):
            scale.scale("1")
        with pytest.raises(CourseError, match="values"):
            scale.unscale([None])


def test_non_finite_check():
    assert all_finite(np.zeros((2, 3)), [1.0, 2.0])
    assert not all_finite(np.zeros(3), [1.0, float("nan")])
    assert not all_finite(-np.inf)
    for bad in ((), ("1",), ([True],), (None,)):
        with pytest.raises(CourseError):
            all_finite(*bad)


# --- updates made and skipped ------------------------------------------------------------------------------


def test_first_adam_update_by_hand():
    """After one step the corrected moments are g and g²: the weight moves by the rate, against the sign."""
    after = apply_update(start(), scaled_grads=[1024 * 0.5, -1024 * 0.25])
    assert after.weights == pytest.approx([1 - 0.025, -2 + 0.025], abs=1e-8)
    assert after.first_moment == pytest.approx([0.05, -0.025])
    assert after.second_moment == pytest.approx([0.00025, 0.0000625])
    assert (after.step, after.learning_rate, after.scale.good_updates) == (1, Fraction(1, 20), 1)


def test_second_adam_update_by_hand():
    """g = 1, then 0: m = 0.09 / 0.19, v = 0.000999 / 0.001999, rate 0.05."""
    after = start(StaticScale(1))
    for grads in ([1.0, 1.0], [0.0, 0.0]):
        after = apply_update(after, scaled_grads=grads)
    moved = 0.025 + 0.05 * (0.09 / 0.19) / (0.000999 / 0.001999) ** 0.5
    assert after.weights == pytest.approx([1 - moved, -2 - moved], abs=1e-8)


@pytest.mark.parametrize("bad", [float("inf"), -float("inf"), float("nan")])
def test_a_skipped_update_changes_the_scale_and_nothing_else(bad):
    before = apply_update(start(), scaled_grads=[512.0, -256.0])
    after = apply_update(before, scaled_grads=[1.0, bad])
    for name in ("weights", "first_moment", "second_moment"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    assert (after.step, after.learning_rate, after.schedule) == (1, before.learning_rate, before.schedule)
    assert (before.scale.loss_scale, after.scale.loss_scale, after.scale.good_updates) == (1024, 512, 0)


def test_a_skip_in_between_leaves_no_trace_but_the_scale():
    grads = np.array([0.5, -0.25])
    state = plain = start()
    for overflow in (False, True, False):
        scaled = state.scale.scale(grads)
        state = apply_update(state, scaled_grads=scaled * np.inf if overflow else scaled)
    for _ in range(2):
        plain = apply_update(plain, scaled_grads=plain.scale.scale(grads))
    assert np.array_equal(state.weights, plain.weights)
    assert (state.step, state.learning_rate) == (plain.step, plain.learning_rate) == (2, Fraction(3, 40))
    # Counting the skipped update as done would move bias correction and schedule ahead.
    counted = apply_update(replace(start(), step=1), scaled_grads=1024 * grads)
    assert not np.array_equal(counted.weights, apply_update(start(), scaled_grads=1024 * grads).weights)


def test_state_is_frozen_through_and_through():
    weights = np.array([1.0, 2.0])
    state = TrainState.start(weights=weights, scale=StaticScale(1), schedule=WARMUP)
    weights[0] = 9
    assert state.weights.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        state.weights[0] = 5


def test_warmup():
    assert [WARMUP.rate(step=step) for step in (0, 1, 3, 100)] == [
        Fraction(1, 40), Fraction(1, 20), Fraction(1, 10), Fraction(1, 10),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [
        lambda: apply_update(None, scaled_grads=[1.0, 1.0]),
        lambda: apply_update(start(), scaled_grads=[1.0]),
        lambda: apply_update(start(), scaled_grads=["1", "2"]),
        lambda: apply_update(start(StaticScale(1)), scaled_grads=[1e200, 1.0]),
        lambda: TrainState.start(weights=[float("nan")], scale=StaticScale(1), schedule=WARMUP),
        lambda: TrainState.start(weights=[1.0], scale=1024, schedule=WARMUP),
        lambda: TrainState.start(weights=[1.0], scale=StaticScale(1), schedule=0.1),
        lambda: replace(start(), step=-1),
        lambda: replace(start(), first_moment=[0.0]),
        lambda: replace(start(), second_moment=[-1.0, 0.0]),
        lambda: Warmup(peak=0, warmup_updates=1),
        lambda: Warmup(peak=0.1, warmup_updates=0),
        lambda: Warmup(peak=True, warmup_updates=1),
        lambda: WARMUP.rate(step=-1),
        lambda: WARMUP.rate(step=1.0),
    ],
)
def test_training_refuses(call):
    with pytest.raises(CourseError):
        call()
