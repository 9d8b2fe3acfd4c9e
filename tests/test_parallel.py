"""Section 27.5: what is split. Figures from the chapter and from Narayanan et al. 2021."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accumulation import Contribution
from course_lib.errors import CourseError
from course_lib.parallel import (
    BACKWARD,
    FORWARD,
    SCHEDULES,
    bubble_fraction,
    bubble_overhead,
    data_parallel,
    pipeline_schedule,
    split_columns,
    split_rows,
    training_seconds,
)

X = [[1, 2, 3, 4], [5, 6, 7, 8]]
W = [[1, 0, 2], [0, 1, 3], [1, 1, 4], [2, 0, 5]]
XW = [[12, 5, 40], [28, 13, 96]]  # by hand


def test_columns_concatenate():
    split = split_columns(X, W, workers=2)
    assert [piece.tolist() for piece in split.pieces] == [[[12, 5], [28, 13]], [[40], [96]]]
    assert (split.joined().tolist(), split.join, split.crossing_values) == (XW, "concatenate", 2)
    assert "拼接" in split.crosses


def test_rows_add():
    split = split_rows(X, W, workers=2)
    assert [piece.tolist() for piece in split.pieces] == [[[1, 2, 8], [5, 6, 28]], [[11, 3, 32], [23, 7, 68]]]
    assert (split.joined().tolist(), split.join, split.crossing_values) == (XW, "add", 6)
    assert "相加" in split.crosses


def test_columns_then_rows_cross_once():
    """A worker's columns of the first product are the columns its rows of the second one need."""
    first = split_columns(X, W, workers=2)
    second = split_rows(first, [[1], [10], [100]], workers=2)
    assert [piece.tolist() for piece in second.pieces] == [[[62], [158]], [[4000], [9600]]]
    assert second.joined().tolist() == [[4062], [9758]]
    with pytest.raises(CourseError, match="局部和"):
        split_rows(second, [[1]], workers=1)
    with pytest.raises(CourseError, match="份数"):
        split_rows(first, [[1], [10], [100]], workers=3)


matrices = st.tuples(*[st.integers(1, 5)] * 3).flatmap(
    lambda s: st.tuples(
        *(
            st.lists(st.lists(st.integers(-(2**20), 2**20), min_size=n, max_size=n), min_size=m, max_size=m)
            for m, n in ((s[0], s[1]), (s[1], s[2]))
        )
    )
)


@given(matrices, st.data())
def test_both_splits_are_the_product(pair, data):
    x, w = pair
    whole = (np.array(x, dtype=object) @ np.array(w, dtype=object)).tolist()
    columns = split_columns(x, w, workers=data.draw(st.integers(1, len(w[0]))))
    rows = split_rows(x, w, workers=data.draw(st.integers(1, len(w))))
    assert columns.joined().tolist() == rows.joined().tolist() == whole


@pytest.mark.parametrize(
    ("x", "w", "workers", "says"),
    [
        ([[1, 2]], [[1], [2]], 2, "列数"),
        ([[1, 2]], [[1]], 1, "不能相乘"),
        ([[1, 2], [3]], [[1], [2]], 1, "长度不一致"),
        ([[1.5]], [[1]], 1, "x 必须是整数"),
        ([[True]], [[1]], 1, "x 必须是整数"),
        ([[2**21]], [[1]], 1, "x 超出范围"),
        ([[]], [[1]], 1, "空矩阵"),
        (None, [[1]], 1, "x 必须是一串值"),
        (np.array(1), [[1]], 1, "x 无法逐项读取"),
        ([[1]], [[1]], 0, "workers"),
    ],
)
def test_bad_products(x, w, workers, says):
    with pytest.raises(CourseError, match=says):
        split_columns(x, w, workers=workers)


def test_row_splits_check_sizes_too():
    with pytest.raises(CourseError, match="行数"):
        split_rows([[1, 2]], [[1], [2]], workers=3)
    with pytest.raises(CourseError, match="不能相乘"):
        split_rows([[1]], [[1], [2]], workers=1)


def test_data_parallel_is_example_27_2():
    a = Contribution.from_mean(n_events=2, mean_grad=1)
    b = Contribution.from_mean(n_events=6, mean_grad=3)
    step = data_parallel([[a], [b]])
    assert [part.grad_sum for part in step.local] == [2, 18]
    assert (step.total.n_events, step.total.grad_sum, step.total.mean_grad) == (8, 20, Fraction(5, 2))
    assert data_parallel([[a, b]]).total == step.total
    for bad in ([], [[a], []], None, [[1]], [a]):
        with pytest.raises(CourseError):
            data_parallel(bad)


def test_bubble_has_two_denominators():
    assert bubble_overhead(stages=8, microbatches=32) == Fraction(7, 32)
    assert float(bubble_overhead(stages=8, microbatches=32)) == 0.21875
    assert round(float(bubble_fraction(stages=8, microbatches=32)), 5) == 0.17949
    assert bubble_overhead(stages=8, microbatches=32, chunks=2) == Fraction(7, 64)
    assert bubble_fraction(stages=8, microbatches=32, chunks=2) == Fraction(7, 71)
    assert bubble_fraction(stages=1, microbatches=1) == 0


def test_training_time_of_two_published_models():
    gpt3 = training_seconds(
        parameters=175 * 10**9, tokens=300 * 10**9, workers=1024, flops_per_second=140 * 10**12
    )
    trillion = training_seconds(
        parameters=10**12, tokens=450 * 10**9, workers=3072, flops_per_second=163 * 10**12
    )
    assert abs(gpt3 / 86_400 - 34) < 34 * 0.03
    assert abs(trillion / 86_400 - 84) < 84 * 0.03


def test_training_time_without_recompute_drops_one_forward_of_four():
    both = [
        training_seconds(parameters=1000, tokens=100, workers=2, flops_per_second=50, recompute=again)
        for again in (True, False)
    ]
    assert both == [8000, 6000]


def test_1f1b_of_two_stages_drawn_by_hand():
    """f = 1, b = 2. Stage 0: F0 F1 . B0 F2 B1 . B2; stage 1: . F0 B0 F1 B1 F2 B2."""
    schedule = pipeline_schedule("1f1b", stages=2, microbatches=3)
    assert schedule.start[:, :, FORWARD].tolist() == [[0, 1, 6], [1, 4, 7]]
    assert schedule.start[:, :, BACKWARD].tolist() == [[4, 7, 10], [2, 5, 8]]
    assert (schedule.total_seconds, schedule.update_seconds) == (12, 12)
    assert schedule.peak_in_flight.tolist() == [2, 1]
    assert schedule.idle_seconds == (3, 3)


def test_gpipe_of_two_stages_drawn_by_hand():
    schedule = pipeline_schedule("gpipe", stages=2, microbatches=2)
    assert schedule.start[:, :, FORWARD].tolist() == [[0, 1], [1, 2]]
    assert schedule.start[:, :, BACKWARD].tolist() == [[5, 7], [3, 5]]
    assert (schedule.total_seconds, schedule.peak_in_flight.tolist()) == (9, [2, 2])


def test_interleaving_shortens_the_bubble_and_keeps_more_parts():
    """Narayanan et al., figure 4: 4 stages, 8 microbatches, 2 chunks; a bubble of 3·(f + b) / 2."""
    plain = pipeline_schedule("1f1b", stages=4, microbatches=8)
    schedule = pipeline_schedule("interleaved", stages=4, microbatches=8, chunks=2)
    assert plain.idle_seconds == (9,) * 4
    assert schedule.idle_seconds == (Fraction(9, 2),) * 4
    assert schedule.start.shape == (8, 8, 2)
    # In whole stages: 5.5, 4.5, 3.5, 2.5 against 4, 3, 2, 1.
    assert schedule.peak_in_flight.tolist() == [11, 9, 7, 5]
    assert plain.peak_in_flight.tolist() == [4, 3, 2, 1]


@st.composite
def schedules(draw):
    kind = draw(st.sampled_from(SCHEDULES))
    stages = draw(st.integers(1, 6))
    chunks = draw(st.integers(2, 4)) if kind == "interleaved" else 1
    factor = stages if kind == "interleaved" else 1
    forward, backward = draw(st.sampled_from([(1, 2), (1, 1), (Fraction(3, 2), 1), (2, Fraction(7, 3))]))
    microbatches = factor * draw(st.integers(1, 9))
    return pipeline_schedule(
        kind, stages=stages, microbatches=microbatches, chunks=chunks, forward=forward, backward=backward
    ), forward + backward


@given(schedules())
def test_a_schedule_is_possible_and_as_short_as_the_formula(case):
    schedule, per_microbatch = case
    start, end, chunks = schedule.start, schedule.end, schedule.chunks
    parts, microbatches, _ = start.shape
    stages = schedule.stages
    assert start.min() == 0
    assert (start[1:, :, FORWARD] >= end[:-1, :, FORWARD]).all()
    assert (start[:-1, :, BACKWARD] >= end[1:, :, BACKWARD]).all()
    assert (start[-1, :, BACKWARD] >= end[-1, :, FORWARD]).all()
    for stage in range(stages):
        mine = [part for part in range(parts) if part % stages == stage]
        spans = sorted(zip(start[mine].ravel(), end[mine].ravel(), strict=True))
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        held = 0
        moments = sorted(
            [(int(t), 1) for t in start[mine, :, FORWARD].ravel()]
            + [(int(t), -1) for t in end[mine, :, BACKWARD].ravel()]
        )
        peak = max((held := held + change) for _, change in moments)
        assert schedule.peak_in_flight[stage] == peak
        warm_up = 2 * (stages - 1 - stage) + (chunks - 1) * stages
        expected = {"gpipe": microbatches, "1f1b": stages - stage, "interleaved": warm_up + 1}
        assert peak == min(expected[schedule.kind], microbatches * chunks)
    bubble = Fraction(stages - 1, chunks) * per_microbatch
    assert schedule.total_seconds == microbatches * per_microbatch + bubble
    assert schedule.idle_seconds == (bubble,) * stages
    assert bubble / schedule.total_seconds == bubble_fraction(
        stages=stages, microbatches=microbatches, chunks=chunks
    )


@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 3), st.integers(1, 3))
def test_1f1b_is_what_stages_do_that_start_as_soon_as_they_can(stages, microbatches, forward, backward):
    """Play the order of each stage event by event: start when the stage is free and the input is there."""
    orders = []
    for stage in range(stages):
        early = min(stages - 1 - stage, microbatches)
        order = [(FORWARD, i) for i in range(early)]
        for i in range(microbatches):
            order += [(FORWARD, i + early)] * (i + early < microbatches) + [(BACKWARD, i)]
        orders.append(order)
    begun, ended, free = {}, {}, [0] * stages
    while any(orders):
        for stage, order in enumerate(orders):
            if not order:
                continue
            way, i = order[0]
            needs = (stage - 1, i, FORWARD) if way == FORWARD else (stage + 1, i, BACKWARD)
            if needs[0] in range(stages) and needs not in ended:
                continue
            begun[stage, i, way] = max(free[stage], ended.get(needs, 0))
            free[stage] = ended[stage, i, way] = begun[stage, i, way] + (forward, backward)[way]
            order.pop(0)
    schedule = pipeline_schedule(
        "1f1b", stages=stages, microbatches=microbatches, forward=forward, backward=backward
    )
    assert {key: int(schedule.start[key]) for key in begun} == begun


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "zigzag"}, "kind"),
        ({"stages": 0}, "stages"),
        ({"stages": True}, "stages"),
        ({"microbatches": 2.0}, "microbatches"),
        ({"microbatches": 10**9}, "太大"),
        ({"chunks": 2}, "chunks"),
        ({"kind": "interleaved"}, "chunks"),
        ({"kind": "interleaved", "chunks": 2, "microbatches": 6}, "整数倍"),
        ({"forward": 0}, "forward"),
        ({"backward": float("nan")}, "backward"),
        ({"forward": Fraction(1, 10**18 + 9)}, "刻度"),
        ({"backward": 10**20}, "刻度"),
    ],
)
def test_bad_schedules(change, says):
    good = {"kind": "1f1b", "stages": 4, "microbatches": 8}
    with pytest.raises(CourseError, match=says):
        pipeline_schedule(**(good | change))


def test_chained_products_beyond_64_bits_are_refused():
    """Entries of 2**20: columns hold 4 · 2**40, and 4 of those times 2**20 are 2**64, which wraps to 0."""
    columns = split_columns([[2**20] * 4], [[2**20] * 4] * 4, workers=4)
    with pytest.raises(CourseError, match="64 位"):
        split_rows(columns, [[2**20]] * 4, workers=4)
    assert split_rows(columns, [[2**18]] * 4, workers=4).joined().tolist() == [[2**62]]
