"""Section 27.4: example 27.2, exercise 2, eight sequences. Figures from the chapter or by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accumulation import (
    Arrangement,
    Contribution,
    Microbatch,
    UpdateRule,
    arrangements,
    equal_weight_mean,
    total,
    update_at_boundary,
    update_clipping_early,
    update_early,
    update_with_equal_weights,
)
from course_lib.errors import CourseError

BAD_NUMBERS = [True, "1", None, float("nan"), float("inf"), 1j, [1], object()]
PROCEDURES = [update_at_boundary, update_with_equal_weights, update_clipping_early, update_early]

# With weight 0 these give example 27.2: two events of gradient 1, six of gradient 3.
EXAMPLE = [Microbatch(targets=(-1,) * 2), Microbatch(targets=(-3,) * 6)]


def test_example_27_2():
    a = Contribution.from_mean(n_events=2, mean_grad=1)
    b = Contribution.from_mean(n_events=6, mean_grad=3)
    assert (a.grad_sum, b.grad_sum) == (2, 18)
    assert ((a + b).n_events, (a + b).grad_sum, (a + b).mean_grad) == (8, Fraction(20), Fraction(5, 2))
    assert isinstance((a + b).grad_sum, Fraction)
    assert equal_weight_mean([a, b]) == 2


def test_exercise_2():
    parts = [
        Contribution.from_mean(n_events=3, mean_grad=2),
        Contribution.from_mean(n_events=1, mean_grad=-2),
    ]
    assert (total(parts).grad_sum, total(parts).n_events, total(parts).mean_grad) == (4, 4, 1)
    assert equal_weight_mean(parts) == 0


def test_equal_counts_make_equal_weights_right():
    parts = [Contribution.from_mean(n_events=4, mean_grad=grad) for grad in (1, 2, 6)]
    assert equal_weight_mean(parts) == total(parts).mean_grad == 3


def test_mask_excludes_padding():
    part = Contribution.from_events(grads=[1, 2, 0.5, 99], mask=[True, True, True, False])
    assert (part.n_events, part.grad_sum) == (3, Fraction(7, 2))
    assert Contribution.from_events(grads=(1, 2)).mean_grad == Fraction(3, 2)


def test_no_event_adds_nothing_but_has_no_mean():
    nothing = Contribution.from_events(grads=[5, 7], mask=[False, False])
    assert (nothing.n_events, nothing.grad_sum) == (0, 0)
    assert nothing + Contribution(2, 6) == Contribution(2, 6)
    for empty in (nothing, nothing + nothing, Contribution.from_mean(n_events=0, mean_grad=0)):
        with pytest.raises(CourseError, match="n_events 合计为 0"):
            _ = empty.mean_grad
    with pytest.raises(CourseError, match="没有有效事件"):
        Contribution.from_mean(n_events=0, mean_grad=1)


def test_versions_refuse_to_add():
    early = Contribution.from_mean(n_events=2, mean_grad=1)
    late = Contribution.from_mean(n_events=6, mean_grad=3, parameters_version=1)
    with pytest.raises(CourseError, match="参数版本不同：0 和 1"):
        early + late
    with pytest.raises(CourseError, match="参数版本不同"):
        total([early, late])
    assert (late + late).parameters_version == 1


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_contribution_refuses(bad):
    for call in (
        lambda: Contribution.from_mean(n_events=bad, mean_grad=1),
        lambda: Contribution.from_mean(n_events=2, mean_grad=bad),
        lambda: Contribution.from_mean(n_events=2, mean_grad=1, parameters_version=bad),
        lambda: Contribution(2, bad),
        lambda: Contribution.from_events(grads=[1, bad]),
        lambda: Contribution.from_events(grads=bad if bad != [1] else "11"),
        lambda: Contribution.from_events(grads=[1, 2], mask=[True, bad if bad is not True else 1]),
        lambda: Contribution(2, 1) + bad,
        lambda: total(bad),
        lambda: equal_weight_mean([bad]),
    ):
        with pytest.raises(CourseError):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: total([]),
        lambda: equal_weight_mean([]),
        lambda: Contribution.from_events(grads=[1, 2], mask=[True]),
        lambda: Contribution.from_mean(n_events=-1, mean_grad=1),
        lambda: equal_weight_mean([Contribution(0, 0), Contribution(2, 2)]),
    ],
)
def test_lists_of_contributions_refuse(call):
    with pytest.raises(CourseError):
        call()


@given(st.lists(st.lists(st.fractions(), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_mean_does_not_depend_on_the_cut(microbatches):
    parts = [Contribution.from_events(grads=grads) for grads in microbatches]
    events = [grad for grads in microbatches for grad in grads]
    assert total(parts).mean_grad * len(events) == sum(events)


# --- the boundary, and three ways to miss it ---------------------------------------------------------------


def test_update_at_the_boundary_and_its_mistakes():
    rule = UpdateRule(rate=0.1)
    run = {verb: verb(weight=0, microbatches=EXAMPLE, rule=rule) for verb in PROCEDURES}
    assert run[update_at_boundary].weight == Fraction(-1, 4)  # 0 − 0.1 × 2.5
    assert run[update_with_equal_weights].weight == Fraction(-1, 5)  # 0 − 0.1 × 2
    assert run[update_clipping_early].weight == Fraction(-1, 4)  # nothing to clip: no difference
    assert run[update_early].weight == Fraction(-39, 100)  # −0.1, then the gradient is 2.9


def test_early_update_shifts_the_second_gradient():
    early = update_early(weight=0, microbatches=EXAMPLE, rule=UpdateRule(rate=0.1))
    right = update_at_boundary(weight=0, microbatches=EXAMPLE, rule=UpdateRule(rate=0.1))
    assert [part.mean_grad for part in early.contributions] == [1, Fraction(29, 10)]
    assert [part.mean_grad for part in right.contributions] == [1, 3]
    assert [part.parameters_version for part in early.contributions] == [0, 1]
    with pytest.raises(CourseError, match="参数版本不同"):
        total(early.contributions)


def test_clipping_belongs_at_the_boundary():
    rule = UpdateRule(rate=1, clip=2)
    assert update_at_boundary(weight=0, microbatches=EXAMPLE, rule=rule).weight == -2  # 2.5 clipped
    # Clipped first: (2 × 1 + 6 × 2) / 8 = 7/4.
    assert update_clipping_early(weight=0, microbatches=EXAMPLE, rule=rule).weight == Fraction(-7, 4)
    assert (rule.clipped(-5), rule.clipped(1), UpdateRule(rate=1).clipped(-5)) == (-2, 1, -5)


def test_boundary_result_does_not_depend_on_the_cut_nor_on_padding():
    one = [Microbatch(targets=(-1, -1, -3, -3, -3, -3, -3, -3))]
    padded = [
        Microbatch(targets=(-1, -1, 50), mask=(True, True, False)),
        Microbatch(targets=(7,), mask=(False,)),
        EXAMPLE[1],
    ]
    rule = UpdateRule(rate=0.1, clip=3)
    for batches in (one, padded, EXAMPLE):
        assert update_at_boundary(weight=0, microbatches=batches, rule=rule).weight == Fraction(-1, 4)


@pytest.mark.parametrize("verb", PROCEDURES)
@pytest.mark.parametrize(
    "change",
    [
        {"weight": float("nan")},
        {"weight": "0"},
        {"microbatches": []},
        {"microbatches": [(-1, -3)]},
        {"microbatches": None},
        {"microbatches": [Microbatch(targets=(1,), mask=(False,))]},
        {"rule": 0.1},
    ],
)
def test_procedures_refuse(verb, change):
    with pytest.raises(CourseError):
        verb(**{"weight": 0, "microbatches": EXAMPLE, "rule": UpdateRule(rate=0.1), **change})


@pytest.mark.parametrize("bad", [0, -1, *BAD_NUMBERS])
def test_update_rule_and_microbatch_refuse(bad):
    with pytest.raises(CourseError, match="rate"):
        UpdateRule(rate=bad)
    if bad is not None:
        with pytest.raises(CourseError, match="clip"):
            UpdateRule(rate=1, clip=bad)
    with pytest.raises(CourseError, match="targets"):
        Microbatch(targets=bad if bad != [1] else [bad])
    with pytest.raises(CourseError):
        Microbatch(targets=(1, 2), mask=(True,))


# --- arrangements ------------------------------------------------------------------------------------------


def test_eight_sequences_two_ways_of_the_chapter():
    one_worker = Arrangement(workers=1, microbatch=2, accumulation=4)
    two_workers = Arrangement(workers=2, microbatch=2, accumulation=2)
    assert one_worker.sequences_per_update == two_workers.sequences_per_update == 8
    assert {one_worker, two_workers} <= set(arrangements(sequences_per_update=8))


def test_all_arrangements_of_eight():
    ways = [str(way) for way in arrangements(sequences_per_update=8)]
    assert ways == [
        "1×1×8", "1×2×4", "1×4×2", "1×8×1", "2×1×4", "2×2×2", "2×4×1", "4×1×2", "4×2×1", "8×1×1",
    ]  # fmt: skip


def test_token_counts_when_lengths_differ():
    lengths = [128, 100, 64, 128, 5, 7, 128, 40]
    counts = Arrangement(workers=2, microbatch=2, accumulation=2).token_counts(lengths)
    assert counts == ((228, 12), (192, 168))
    assert Arrangement(workers=1, microbatch=2, accumulation=4).token_counts(lengths) == (
        (228, 192, 12, 168),
    )
    for way in arrangements(sequences_per_update=8):
        assert sum(map(sum, way.token_counts(lengths))) == 600


def test_same_meaning_in_every_arrangement_only_with_event_weights():
    sequences = [
        Contribution.from_mean(n_events=n, mean_grad=g)
        for n, g in zip((2, 6, 1, 3), (1, 3, 5, 7), strict=True)
    ]
    right, wrong = set(), set()
    for way in arrangements(sequences_per_update=4):
        microbatches = [total(items) for rounds in way.split(sequences) for items in rounds]
        right.add(total(microbatches).mean_grad)
        wrong.add(equal_weight_mean(microbatches))
    assert right == {Fraction(46, 12)}
    assert wrong == {4, Fraction(46, 12), Fraction(9, 2)}  # mean of 1 3 5 7; one microbatch; (5/2 + 13/2) / 2


@pytest.mark.parametrize("bad", [0, -1, 1.0, 10**7, *BAD_NUMBERS])
def test_arrangement_refuses(bad):
    for name in ("workers", "microbatch", "accumulation"):
        with pytest.raises(CourseError, match=name):
            Arrangement(**{"workers": 2, "microbatch": 2, "accumulation": 2, name: bad})
    with pytest.raises(CourseError, match="sequences_per_update"):
        arrangements(sequences_per_update=bad)


@pytest.mark.parametrize("lengths", [[1] * 7, [1] * 9, "12345678", None, [1] * 7 + [-1], [1] * 7 + [1.0]])
def test_token_counts_refuse(lengths):
    with pytest.raises(CourseError):
        Arrangement(workers=2, microbatch=2, accumulation=2).token_counts(lengths)
