"""The real trainer: its gradients against finite differences, recompute bit by bit, masks, refusals."""

import math

import numpy as np
import pytest

from course_lib import trainer
from course_lib.errors import CourseError
from course_lib.step_ledger import POLICIES, StepPlan, StepShape
from course_lib.trainer import Batch, random_batch, start, train_step
from course_lib.trainer.passes import forward
from course_lib.trainer.workbench import Watch, Workbench

TINY = StepShape(sequences=2, positions=6, width=8, layers=2, heads=2, vocabulary=11)


def plan(dtype="float64", keep=10, shape=TINY):
    return StepPlan(shape=shape, dtype=dtype, keep=keep)


def masked():
    batch = random_batch(TINY, seed=1)
    valid = batch.valid.copy()
    valid[0, 2:] = False
    return Batch(batch.tokens, batch.targets, valid)


def gradients(chosen, batch, loss_scale=1.0):
    state = start(chosen, seed=3)
    found = trainer.gradients(state, batch, loss_scale=loss_scale)
    assert not any(grad.any() for grad in state.grads.values())
    return found


def test_gradients_against_finite_differences():
    batch, state = masked(), start(plan(), seed=3)
    grads, random, step = gradients(plan(), batch), np.random.default_rng(0), 1e-5
    for name, weights in state.weights.items():
        for _ in range(3):
            index = tuple(random.integers(0, size) for size in weights.shape)
            kept, losses = weights[index], []
            for moved in (kept + step, kept - step):
                weights[index] = moved
                losses.append(forward(Workbench(state, Watch()), batch).loss)
            weights[index] = kept
            slope = (losses[0] - losses[1]) / (2 * step)
            assert math.isclose(slope, grads[name][index], rel_tol=1e-5, abs_tol=1e-9), (name, index)


@pytest.mark.parametrize("keep", [4, 1])
def test_recompute_gives_the_same_gradients_bit_by_bit(keep):
    everything, rebuilt = gradients(plan(), masked()), gradients(plan(keep=keep), masked())
    assert all(np.array_equal(everything[name], rebuilt[name]) for name in everything)


@pytest.mark.parametrize("keep", [4, 1])
def test_in_mixed_precision_recompute_starts_from_a_rounded_input(keep):
    """The stored x is FP16 while the stream is FP32, so what is made again differs in its last bits."""
    everything, rebuilt = (
        gradients(plan("float16", kept), random_batch(TINY), loss_scale=1024.0) for kept in (10, keep)
    )
    assert any(not np.array_equal(everything[name], rebuilt[name]) for name in everything)
    for name, grad in everything.items():
        close = np.linalg.norm(rebuilt[name].astype(float) - grad) <= 0.02 * np.linalg.norm(
            grad.astype(float)
        )
        assert close, name


def test_mixed_precision_follows_float64():
    exact, mixed = gradients(plan(), masked()), gradients(plan("float16"), masked(), loss_scale=1024.0)
    for name, grad in exact.items():
        error = np.linalg.norm(mixed[name].astype(float) / 1024 - grad)
        assert error <= 0.02 * np.linalg.norm(grad) + 1e-6, name


def test_masked_targets_do_not_count():
    batch = masked()
    other = batch.targets.copy()
    other[~batch.valid] = (other[~batch.valid] + 1) % TINY.vocabulary
    first = gradients(plan(), batch)
    second = gradients(plan(), Batch(batch.tokens, other, batch.valid))
    assert batch.events == 8
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("dtype", POLICIES)
def test_learns_what_it_sees_again_and_again(dtype):
    state, batch, losses = start(plan(dtype)), random_batch(TINY), []
    for _ in range(40):
        step = train_step(state, batch, rate=0.01, loss_scale=1024)
        state = step.state
        losses.append(step.loss)
    assert abs(losses[0] - math.log(11)) < 0.2  # at first every token is equally likely
    assert losses[-1] < 1
    assert (state.updates, step.updated) == (40, True)


def test_master_copy_and_weights_agree():
    state = start(plan("float16"))
    after = train_step(state, random_batch(TINY)).state
    assert all(
        np.array_equal(after.weights[name], master.astype(np.float16))
        for name, master in after.master.items()
    )


def test_overflowing_gradients_skip_the_update():
    state = start(plan("float16"))
    before = {name: values.copy() for name, values in state.weights.items()}
    step = train_step(state, random_batch(TINY), loss_scale=2**32)
    assert (step.updated, step.state.updates) == (False, 0)
    assert all(np.array_equal(before[name], values) for name, values in step.state.weights.items())
    assert not any(grad.any() for grad in step.state.grads.values())


def test_loss_that_is_not_finite_changes_nothing():
    state = start(plan())
    state.weights["gain"][:] = np.nan
    before = state.weights["tokens"].copy()
    with pytest.raises(CourseError, match="损失不是有限的数"):
        train_step(state, random_batch(TINY))
    assert np.array_equal(before, state.weights["tokens"])


GOOD = random_batch(TINY)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: Batch([], [], []), "非空"),
        (lambda: Batch(np.zeros((0, 6), int), np.zeros((0, 6), int), np.zeros((0, 6), bool)), "非空"),
        (lambda: Batch(GOOD.tokens, GOOD.targets, np.zeros_like(GOOD.valid)), "所有位置都被 Mask 排除"),
        (lambda: Batch(GOOD.tokens, GOOD.targets[:, 1:], GOOD.valid), "形状"),
        (lambda: Batch(GOOD.tokens, GOOD.targets, [1, 0]), "形状"),
        (lambda: Batch(GOOD.tokens, GOOD.targets, [[True], [True, False]]), "valid"),
        (lambda: Batch(GOOD.tokens + 0.5, GOOD.targets, GOOD.valid), "整数"),
        (lambda: Batch(GOOD.tokens - 99, GOOD.targets, GOOD.valid), "不小于 0"),
        (lambda: Batch(np.full((2, 6), 2**63, np.uint64), GOOD.targets, GOOD.valid), "小于"),
        (lambda: Batch([[1], [1, 2]], GOOD.targets, GOOD.valid), "读不成数组"),
        (lambda: train_step(start(plan()), random_batch(StepShape())), "形状与模型不符"),
        (lambda: train_step(start(plan()), Batch(GOOD.tokens + 11, GOOD.targets, GOOD.valid)), "词表"),
        (lambda: train_step(start(plan()), GOOD, loss_scale=0), "loss_scale"),
        (lambda: train_step(start(plan()), GOOD, rate=math.nan), "rate"),
        (lambda: train_step(None, GOOD), "state"),
        (lambda: train_step(start(plan()), None), "batch"),
        (lambda: start(plan(shape=StepShape(vocabulary=10**9))), "2 GiB"),
        (lambda: start(None), "plan"),
        (lambda: random_batch(StepShape(positions=10**9)), "太多"),
        (lambda: random_batch(TINY, seed=-1), "seed"),
    ],
)
def test_bad_input_gets_a_sentence(wrong, sentence):
    with pytest.raises(CourseError, match=sentence):
        wrong()
