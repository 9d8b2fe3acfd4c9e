"""Explorers of section 27.4 in the states of example 27.2, exercise 2 and the eight sequences."""

from fractions import Fraction

import pytest

from course_lib.show.explorers.section_27_04_arrange import WAYS, eight_sequences
from course_lib.show.explorers.section_27_04_means import event_mean
from course_lib.show.explorers.section_27_04_updates import one_update


def test_example_27_2():
    a, b, both, equal = event_mean().result
    assert (a.grad_sum, b.grad_sum, both.n_events, both.mean_grad, equal) == (2, 18, 8, Fraction(5, 2), 2)


def test_exercise_2():
    explorer = event_mean()
    explorer.set(**explorer.presets["习题 2：3 个与 1 个"])
    *_, both, equal = explorer.result
    assert (both.mean_grad, equal) == (1, 0)


def test_eight_sequences_have_ten_arrangements():
    assert len(WAYS) == 10
    assert {way.sequences_per_update for way in WAYS.values()} == {8}


@pytest.mark.parametrize("way", WAYS)
def test_the_weighted_mean_is_the_same_in_every_arrangement(way):
    """Lengths 128, 112, … 16 and gradients 1 … 8: 1920 / 576 by hand."""
    explorer = eight_sequences()
    explorer.set(way=way, shorter=16)
    _, both, _ = explorer.result
    assert (both.n_events, both.mean_grad) == (576, Fraction(10, 3))


def test_a_sequence_never_runs_out_of_tokens():
    explorer = eight_sequences()
    explorer.set(longest=16, shorter=32)
    assert explorer.result[0] == ((17, 2, 2, 2),)


def test_table_names_workers_and_rounds_whichever_is_longer():
    explorer = eight_sequences()
    assert explorer.table.columns == ("有效 token", "进程 1", "合计")
    assert [row[0] for row in explorer.table.rows] == ["第 1 次", "第 2 次", "第 3 次", "第 4 次"]
    explorer.set(way="4×1×2")
    assert explorer.table.columns == ("有效 token", "第 1 次", "第 2 次", "合计")
    assert explorer.table.rows[3] == ("进程 4", 128, 128, 256)
    assert explorer.table.total == ("合计", 512, 512, 1024)


def test_the_boundary_and_the_early_update():
    """0 − 0.1 · 2.5; and 0 − 0.1 · 1, then − 0.1 · 2.9."""
    right, early, equal, clipping = (outcome.weight for outcome in one_update().result)
    assert (right, early, equal) == (Fraction(-1, 4), Fraction(-39, 100), Fraction(-1, 5))
    assert clipping == right


def test_clipping_each_microbatch_is_not_clipping_the_update():
    """Clipped at 1.5: min(2.5, 1.5) = 1.5 against (2 · 1 + 6 · 1.5) / 8 = 1.375."""
    explorer = one_update()
    explorer.set(clip=Fraction(3, 2))
    assert explorer.result[0].weight == Fraction(-15, 100)
    assert explorer.result[3].weight == Fraction(-1375, 10_000)
