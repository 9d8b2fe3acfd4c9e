"""Section 27.5: who keeps what. Figures from example 27.3, ZeRO table 1 and DeepSpeed's estimator."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.activations import SavedActivations
from course_lib.errors import CourseError
from course_lib.ledger import (
    ACTIVATIONS,
    COMMUNICATION,
    GRADS,
    MASTER,
    MOMENTS,
    RECIPES,
    WEIGHTS,
    model_state,
)
from course_lib.sharding import (
    GATHERED_WEIGHTS,
    UNSCATTERED_GRADS,
    ZERO_1,
    ZERO_2,
    ZERO_3,
    Shard,
    ShardRow,
    gather,
    gathered,
    ideal_bytes,
    offload,
    resident,
    scatter,
    step_transfers,
    step_volume,
)

STATE = model_state(1_000_000, weights=2, grads=2, master=4, moments=(4, 4))
ACTS = SavedActivations(
    sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
)
STAGES = (ZERO_1, ZERO_2, ZERO_3)


def test_example_27_3():
    kept = [resident(STATE, workers=4, sharded=stage).total_bytes for stage in STAGES]
    assert kept == [7_000_000, 5_500_000, 4_000_000]
    first = resident(STATE, workers=4, sharded=ZERO_1)
    assert [row.total_bytes for row in first] == [2_000_000, 2_000_000, 1_000_000, 2_000_000]
    assert (first + ACTS.ledger()).total_bytes == 8_310_720


@pytest.mark.parametrize(
    ("recipe", "megabytes"), [("chapter", (7, 5.5, 4)), ("megatron", (9, 6, 4.5)), ("fp32", (10, 7, 4))]
)
def test_other_bookkeepings_on_four_workers(recipe, megabytes):
    state = RECIPES[recipe].ledger(1_000_000)
    kept = [resident(state, workers=4, sharded=stage).total_bytes for stage in STAGES]
    assert kept == [round(size * 10**6) for size in megabytes]


ZERO_TABLE_1 = {
    1: "120 120 120  2048 2048 2048  16000 16000 16000",
    4: "52.5 41.3 30  896 704 512  7000 5500 4000",
    64: "31.4 16.6 1.88  536 284 32  4187 2218 250",
    1024: "30.1 15.1 0.12  513 257 2  4011 2013 15.6",
}


@pytest.mark.parametrize("workers", ZERO_TABLE_1)
def test_zero_table_1_to_the_last_printed_digit(workers):
    """36 figures in decimal GB; the paper rounds some and truncates others."""
    printed = iter(ZERO_TABLE_1[workers].split())
    for parameters in (7_500_000_000, 128_000_000_000, 1_000_000_000_000):
        state = model_state(parameters)
        for stage in STAGES:
            figure = next(printed)
            unit = Fraction(1, 10 ** len(figure.partition(".")[2]))
            ideal = ideal_bytes(state, workers=workers, sharded=stage) / 10**9
            real = Fraction(resident(state, workers=workers, sharded=stage).total_bytes, 10**9)
            assert abs(ideal - Fraction(figure)) < unit
            assert abs(real - Fraction(figure)) < unit


def test_deepspeed_estimator_of_zero_3():
    """2,851M parameters, largest layer 32M, 8 GPUs: 6.09, 0.78 and 0.12 in GiB (printed "GB")."""
    state = RECIPES["megatron"].ledger(2_851_000_000)
    peak = gathered(state, sharded=ZERO_3, largest_layer=32_000_000)
    kept = resident(state, workers=8, sharded=ZERO_3)
    gib = 2**30
    assert round((kept + peak).total_bytes / gib, 2) == 6.09
    assert round((offload(kept, names=ZERO_2) + peak).total_bytes / gib, 2) == 0.78
    assert round((offload(kept, names=ZERO_3) + peak).total_bytes / gib, 2) == 0.12


@given(st.integers(1, 10**12), st.integers(1, 40), st.sampled_from(STAGES))
def test_all_workers_together_keep_each_sharded_row_once(parameters, workers, stage):
    state = model_state(parameters)
    kept = [resident(state, workers=workers, sharded=stage, worker=worker) for worker in range(workers)]
    for row in state:
        copies = 1 if row.name in stage else workers
        assert sum(ledger[row.name].total_bytes for ledger in kept) == copies * row.total_bytes
    totals = [ledger.total_bytes for ledger in kept]
    ideal = ideal_bytes(state, workers=workers, sharded=stage)
    assert totals[0] == max(totals)
    assert sum(totals) == ideal * workers


def test_a_share_that_does_not_divide():
    first, last = (resident(model_state(10), workers=4, sharded=ZERO_3, worker=worker) for worker in (0, 3))
    assert (first.total_bytes, last.total_bytes) == (48, 32)
    assert ideal_bytes(model_state(10), workers=4, sharded=ZERO_3) == 40
    row = first[MASTER]
    assert isinstance(row, ShardRow)
    assert (row.count, row.whole_count, row.ideal_bytes) == (3, 10, 10)


def test_a_sharded_ledger_still_says_what_it_omits():
    first, second, third = (resident(STATE, workers=4, sharded=stage) for stage in STAGES)
    assert first.omits == STATE.omits
    assert set(second.omits) - set(first.omits) == {UNSCATTERED_GRADS}
    assert set(third.omits) - set(first.omits) == {UNSCATTERED_GRADS, GATHERED_WEIGHTS}
    peak = third + gathered(third, sharded=ZERO_3, largest_layer=250_000)
    assert peak.total_bytes == 4_000_000 + 500_000 + 500_000
    assert GATHERED_WEIGHTS not in peak.omits
    assert COMMUNICATION in peak.omits
    assert "主权重副本（移到主机内存）" in offload(STATE, names=ZERO_1).omits


def test_one_worker_keeps_everything():
    assert resident(STATE, workers=1, sharded=ZERO_3) == STATE
    assert step_transfers(STATE, workers=1, sharded=ZERO_3) == ()


def test_a_shard_is_not_sharded_again():
    once = resident(STATE, workers=4, sharded=ZERO_1)
    with pytest.raises(CourseError, match="已经是一个进程的份额"):
        resident(once, workers=4, sharded=ZERO_3)
    with pytest.raises(CourseError, match="已经是一个进程的份额"):
        step_transfers(once, workers=4, sharded=ZERO_3)


def test_volumes_of_the_zero_paper():
    volumes = [step_volume(1_000_000, sharded=stage) for stage in (frozenset(), *STAGES)]
    assert volumes == [2_000_000, 2_000_000, 2_000_000, 3_000_000]


def test_accumulation_repeats_what_a_worker_does_not_keep():
    """Sharded gradients are scattered, sharded weights gathered twice, for every microbatch."""
    volumes = [step_volume(10, sharded=stage, microbatches=4) for stage in (frozenset(), *STAGES)]
    assert volumes == [20, 20, 50, 120]
    moved = {
        (item.ring.kind, item.what, item.times, item.bytes_per_worker)
        for item in step_transfers(STATE, workers=4, sharded=ZERO_2, microbatches=4)
    }
    assert moved == {("reduce_scatter", GRADS, 4, 6_000_000), ("all_gather", WEIGHTS, 1, 1_500_000)}


def test_transfers_use_the_widths_of_the_ledger():
    state = RECIPES["megatron"].ledger(1_000_000)
    moved = step_transfers(state, workers=4, sharded=ZERO_1)
    assert [item.bytes_per_worker for item in moved] == [3_000_000, 1_500_000]
    with pytest.raises(CourseError, match="没有记梯度"):
        step_transfers(RECIPES["scaling-book"].ledger(10), workers=4)


def test_real_values_go_round():
    shards = scatter("梯度", [1, 2.5, Fraction(1, 3), 4, 5], workers=3)
    assert [len(shard.values) for shard in shards] == [2, 2, 1]
    assert gather(reversed(shards)) == (1, Fraction(5, 2), Fraction(1, 3), 4, 5)


def test_foreign_shards_are_refused():
    ours, theirs = scatter("梯度", [1, 2, 3, 4], workers=2), scatter("权重", [1, 2, 3, 4], workers=2)
    wider = scatter("梯度", [1, 2, 3, 4], workers=4)
    for mixed in ((ours[0], theirs[1]), (ours[0], wider[1])):
        with pytest.raises(CourseError, match="不属于同一整体"):
            gather(mixed)
    for wrong in ((ours[0],), (ours[0], ours[0]), (*ours, ours[1])):
        with pytest.raises(CourseError, match="缺失或重复"):
            gather(wrong)
    with pytest.raises(CourseError, match="份额"):
        Shard("梯度", 0, 2, 4, (1,))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: resident(STATE, workers=0, sharded=ZERO_1), "workers"),
        (lambda: resident(STATE, workers=4, sharded=ZERO_1, worker=4), "worker"),
        (lambda: resident(STATE, workers=4, sharded={ACTIVATIONS}), "sharded"),
        (lambda: resident(STATE, workers=4, sharded="ZERO_1"), "sharded"),
        (lambda: resident(STATE, workers=4, sharded=[[]]), "sharded"),
        (lambda: resident(None, workers=4, sharded=ZERO_1), "state"),
        (lambda: gathered(STATE, sharded=ZERO_3, largest_layer=1_000_001), "largest_layer"),
        (lambda: gathered(STATE, sharded=ZERO_3, largest_layer=0), "largest_layer"),
        (lambda: step_volume(0), "parameters"),
        (lambda: step_transfers(STATE, workers=2, microbatches=0), "microbatches"),
        (lambda: scatter("", [1], workers=1), "label"),
        (lambda: scatter("梯度", [float("nan")], workers=1), "values"),
        (lambda: gather([]), "shards|不属于"),
        (lambda: gather([1]), "shards"),
        (lambda: offload(STATE, names={MOMENTS, "x"}), "names"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(CourseError, match=says):
        call()
