"""Section 27.7: make it fit. The 10 MB device of section 27.1, figures from the chapter and by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from course_lib.activations import SavedActivations
from course_lib.errors import CourseError
from course_lib.ledger import ACTIVATIONS, COMMUNICATION, RECIPES, WORKSPACE, model_state
from course_lib.plan import Job, choices, fitting, make_it_fit, plan, undominated
from course_lib.recompute import REBUILT
from course_lib.sharding import GATHERED_WEIGHTS, UNSCATTERED_GRADS, ZERO_1, resident

ACTS = SavedActivations(
    sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
)
GIVEN = {
    "state": model_state(1_000_000),
    "acts": ACTS,
    "capacity_bytes": 10_000_000,
    "tokens_per_update": 1024,
    "percent": 25,
}
JOB = Job(**GIVEN)


def test_one_worker_needs_the_chapters_total():
    alone = plan(JOB, microbatch=2, accumulation=4)
    assert (alone.ledger.total_bytes, alone.need_bytes, alone.fits) == (17_310_720, 21_638_400, False)
    assert (alone.transfer_bytes, alone.extra_forward, alone.same_update) == (0, 0, True)
    assert make_it_fit(JOB, workers=1) == ()


def test_zero_1_fits_with_four_arrays_and_not_with_ten():
    ten, four = (plan(JOB, workers=4, microbatch=2, zero=1, arrays_per_layer=k) for k in (10, 4))
    assert (ten.ledger.total_bytes, ten.need_bytes, ten.fits) == (8_310_720, 10_388_400, False)
    assert (four.ledger.total_bytes, four.need_bytes, four.fits) == (7_524_288, 9_405_360, True)
    assert four.extra_forward == Fraction(3, 5)
    assert [item.bytes_per_worker for item in four.transfers] == [1_500_000, 1_500_000]
    assert {REBUILT, COMMUNICATION, WORKSPACE} <= set(four.omits)
    assert ACTIVATIONS not in four.omits


def test_the_search_finds_exactly_what_fits():
    found = {
        (one.zero, one.rebuild.after.arrays_per_layer, one.arrangement.microbatch)
        for one in fitting(JOB, workers=4)
    }
    # 8,000,000 bytes before the margin. ZeRO 1 leaves 1,000,000: with two sequences 7 arrays of 131,072
    # bytes over four layers, with one sequence all ten. Whole states leave nothing, ZeRO 2 and 3 all ten.
    expected = {(1, k, 2) for k in range(1, 8)} | {(1, k, 1) for k in range(1, 11)}
    expected |= {(zero, k, size) for zero in (2, 3) for k in range(1, 11) for size in (1, 2)}
    assert found == expected
    assert all(one.same_update and one.fits for one in fitting(JOB, workers=4))


def test_no_kept_plan_beats_another_and_every_other_is_beaten():
    def beats(a, b):
        return all(x <= y for x, y in zip(a.costs, b.costs, strict=True)) and a.costs != b.costs

    every, kept = fitting(JOB, workers=4), make_it_fit(JOB, workers=4)
    assert not any(beats(a, b) for a in kept for b in kept)
    assert all(one in kept or any(beats(better, one) for better in kept) for one in every)
    assert undominated(reversed(every)) == kept


def test_sharding_the_gradients_too_fits_without_recompute():
    """5.5 MB + 1,310,720, margin included 8,513,400; what is sent equals a plain all-reduce."""
    roomy = make_it_fit(JOB, workers=4)[-1]
    assert (roomy.zero, roomy.extra_forward, str(roomy.arrangement)) == (2, 0, "4×2×1")
    assert (roomy.need_bytes, roomy.transfer_bytes) == (8_513_400, 3_000_000)


def test_zero_3_gathers_for_every_microbatch():
    once, twice = (
        plan(JOB, workers=4, microbatch=size, accumulation=2 // size, zero=3).transfer_bytes
        for size in (2, 1)
    )
    assert (once, twice) == (4_500_000, 9_000_000)


def test_what_is_there_for_a_moment_is_counted_on_request():
    job = Job(**GIVEN, largest_layer=250_000)
    full = plan(job, workers=4, microbatch=2, zero=3, arrays_per_layer=4)
    # 4,000,000 + 524,288 saved + 196,608 rebuilt + 500,000 weights + 500,000 gradients of one layer.
    assert full.ledger.total_bytes == 5_720_896
    moments = {GATHERED_WEIGHTS, UNSCATTERED_GRADS, REBUILT}
    assert not moments & set(full.omits)
    assert moments <= set(plan(JOB, workers=4, microbatch=2, zero=3, arrays_per_layer=4).omits)
    # 7,720,896 with the margin: the chapter's answer also survives the room for rebuilding.
    assert plan(job, workers=4, microbatch=2, zero=1, arrays_per_layer=4).need_bytes == 9_651_120


def test_choices_say_what_is_transferred_and_what_changes():
    said = {choice.knob: choice for choice in choices(plan(JOB, workers=4, microbatch=2, zero=1))}
    assert list(said) == ["数值表示", "数据并行", "梯度累积", "状态分片", "重算"]
    assert "有效事件数" in said["数据并行"].meaning
    assert said["梯度累积"].transfers == said["重算"].transfers == "不传新东西"
    assert "1,500,000 字节" in said["状态分片"].transfers
    repeated = plan(JOB, workers=4, accumulation=2, zero=3, arrays_per_layer=4)
    assert "工作权重" in choices(repeated)[2].transfers
    assert "3/5" in choices(repeated)[4].transfers


def test_another_update_is_named_as_such():
    other = plan(JOB, workers=4, microbatch=2, accumulation=2)
    assert not other.same_update
    assert "16 个序列" in choices(other)[2].meaning
    assert "另一种更新" in choices(other)[2].meaning
    averaged = Job(**GIVEN, denominator="microbatches")
    assert "一样多" in choices(plan(averaged, workers=2))[1].meaning


def test_a_missing_master_copy_changes_the_update():
    job = Job(**(GIVEN | {"state": RECIPES["no-master"].ledger(1_000_000)}))
    assert "没有主权重副本" in choices(plan(job))[0].meaning
    job = Job(**(GIVEN | {"state": RECIPES["fp32"].ledger(1_000_000)}))
    assert "没有主权重副本" not in choices(plan(job))[0].meaning


def test_a_job_needs_arrays_to_keep():
    with pytest.raises(CourseError, match="acts"):
        Job(**(GIVEN | {"acts": replace(ACTS, arrays_per_layer=0)}))


def test_one_worker_cannot_shard():
    alone = plan(JOB, zero=3)
    assert alone.ledger.total_bytes == 16_000_000 + 655_360
    assert choices(alone)[3].setting == "不分片"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Job(**(GIVEN | {"tokens_per_update": 1000})), "tokens_per_update"),
        (lambda: Job(**(GIVEN | {"capacity_bytes": 1e7})), "capacity_bytes"),
        (lambda: Job(**(GIVEN | {"percent": -1})), "percent"),
        (lambda: Job(**(GIVEN | {"denominator": "tokens"})), "denominator"),
        (lambda: Job(**(GIVEN | {"acts": None})), "acts"),
        (lambda: Job(**(GIVEN | {"state": resident(model_state(10), workers=2, sharded=ZERO_1)})), "份额"),
        (lambda: Job(**GIVEN, largest_layer=0), "largest_layer"),
        (lambda: plan(None), "job"),
        (lambda: plan(JOB, zero=4), "zero"),
        (lambda: plan(JOB, workers=0), "workers"),
        (lambda: plan(JOB, arrays_per_layer=11), "arrays_per_layer"),
        (lambda: fitting(JOB, workers=3), "workers"),
        (lambda: fitting(None, workers=3), "job"),
        (lambda: undominated([JOB]), "plans"),
        (lambda: choices(JOB), "plan"),
        (
            lambda: fitting(
                Job(**(GIVEN | {"tokens_per_update": 128 * 720_720, "state": model_state(10)})), workers=4
            ),
            "太多",
        ),
        (
            lambda: plan(Job(**(GIVEN | {"state": RECIPES["scaling-book"].ledger(10)})), workers=2),
            "没有记梯度",
        ),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(CourseError, match=says):
        call()
