"""What two bytes take from the real trainer: counts that follow from sizes, shares with room to spare."""

from fractions import Fraction

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.loss_scaling import DynamicScale
from course_lib.precision import BF16, FP16, FP32, census, lost
from course_lib.step_ledger import StepPlan, StepShape
from course_lib.vanishing import attempts, real_gradients, real_update, unmoved_share

CHAPTER = StepPlan()
TINY = StepPlan(shape=StepShape(layers=1, width=32, heads=4, positions=32, vocabulary=256))


@pytest.fixture(scope="module")
def alone():
    return real_gradients(CHAPTER)


@pytest.fixture(scope="module")
def one_of_256():
    return real_gradients(CHAPTER, events=65_536)


def test_logit_gradients_are_shares_less_one(alone):
    """Per token they sum to zero, and the wanted token's is about −1/256 at first."""
    rows = alone.logits.reshape(256, 12_387)
    assert np.abs(rows.sum(axis=1)).max() < 1e-6
    assert rows.min(axis=1) == pytest.approx(-1 / 256, rel=0.001)
    assert (alone.logits.size, alone.weights.size) == (3_171_072, 1_000_000)


def test_a_mean_over_256_tokens_loses_no_logit_gradient(alone):
    """The textbook's story does not show: not even without loss scaling."""
    assert [census(alone.logits, scale=scale).to_zero for scale in (1, 16, 1024, 65_536)] == [0, 0, 0, 0]
    assert census(alone.weights).to_zero_share < Fraction(1, 100)


def test_one_microbatch_of_256_loses_all_but_the_wanted_tokens(one_of_256):
    """Each of 256 positions has 12,386 tokens that were not wanted."""
    counts = {scale: census(one_of_256.logits, scale=scale) for scale in (1, 16, 1024, 65_536)}
    assert counts[1].to_zero == 256 * 12_386 == 3_170_816
    assert 0.99 < counts[16].to_zero_share < 1
    assert (counts[1024].to_zero, counts[65_536].to_zero) == (0, 0)
    assert (counts[65_536].overflow, census(one_of_256.logits, scale=2**34).overflow) == (0, 256)


def test_weight_gradients_mostly_survive_even_then(one_of_256):
    assert 0.05 < census(one_of_256.weights).to_zero_share < 0.15
    assert census(one_of_256.weights, scale=1024).to_zero_share < Fraction(1, 100)


def test_a_scale_that_is_too_high_comes_down_without_an_update():
    made = attempts(TINY, scale=DynamicScale(2**26), batches=12)
    updated = [attempt.updated for attempt in made]
    first = updated.index(True)
    assert first > 2
    assert updated == [False] * first + [True] * (12 - first)
    assert [attempt.loss_scale for attempt in made[: first + 1]] == [2 ** (26 - n) for n in range(first + 1)]


def test_smaller_updates_are_lost_and_bf16_loses_more():
    shares = {}
    for rate in (0.001, 0.0001, 0.00001):
        update = real_update(TINY, rate=rate)
        assert np.abs(update.updates).max() == pytest.approx(rate, rel=0.01)  # Adam's first step
        moved = update.updates != 0
        for fmt in (FP16, BF16, FP32):
            shares[fmt.name, rate] = lost(**update._asdict(), fmt=fmt)[moved].mean()
    assert shares["FP16", 0.001] < 0.01
    for rate in (0.001, 0.0001, 0.00001):
        assert shares["FP16", rate] < shares["BF16", rate]
        assert shares["FP32", rate] == 0
    assert shares["BF16", 0.00001] > 0.9


def test_a_master_copy_moves_what_would_stay():
    with_master = unmoved_share(TINY, rate=0.00001, updates=20)
    without = StepPlan(shape=TINY.shape, dtype="float16-no-master")
    assert with_master < Fraction(1, 20)
    assert Fraction(2, 5) < unmoved_share(without, rate=0.00001, updates=20) < Fraction(3, 5)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: real_gradients(None), "plan"),
        (lambda: real_gradients(TINY, events=0), "events"),
        (lambda: real_gradients(TINY, events=True), "events"),
        (lambda: real_update(None, rate=1), "plan"),
        (lambda: real_update(TINY, rate=float("nan")), "rate"),
        (lambda: attempts(TINY, scale=3, batches=1), "scale"),
        (lambda: attempts(TINY, scale=DynamicScale(), batches=0), "batches"),
        (lambda: attempts(TINY, scale=DynamicScale(2**40, largest=2**40), batches=1), "loss_scale"),
        (lambda: unmoved_share(TINY, rate=0.1, updates=0), "updates"),
    ],
)
def test_bad_input_gets_a_sentence(wrong, sentence):
    with pytest.raises(CourseError, match=sentence):
        wrong()
