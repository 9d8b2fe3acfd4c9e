"""Section 27.6's explorers: figures of the chapter or by hand, and a curve that agrees with the library."""

from fractions import Fraction

import pytest

from course_lib.models import MODELS
from course_lib.recompute import rebuild
from course_lib.show.cases import CASES, case, case_code
from course_lib.show.explorers.section_27_06 import keep_or_rebuild, memory_over_step
from course_lib.show.explorers.section_27_06_recovery import recovery
from course_lib.show.explorers.section_27_06_resume import PARTS, resume


@pytest.fixture(scope="module")
def choices():
    return keep_or_rebuild()


@pytest.fixture(scope="module")
def stopped():
    return resume()


def test_the_books_choice_and_its_neighbours(choices):
    choices.set(**choices.book)
    plan, answer = choices.result[3]
    assert (plan.after.total_bytes, answer.makes_it_fit) == (524_288, True)
    assert [answer.fits_after for _, answer in choices.result] == [True] * 4 + [False] * 6
    assert "120.0%" in choices.text


def test_exercise_6_is_a_preset(choices):
    choices.set(**choices.presets["习题 6：减半，多算 30%"])
    _, answer = choices.result[4]
    assert (answer.fits_before, answer.fits_after, answer.seconds_after) == (False, True, Fraction(13, 10))


@pytest.mark.parametrize("kept", range(1, 11))
def test_the_curve_peaks_where_the_library_says(kept):
    """720,896 bytes for four arrays; 60% of the forward again is a fifth more time."""
    plan = rebuild(case("chapter", sequences=2)[1], arrays_per_layer=kept)
    curve = memory_over_step(plan, Fraction(1))
    assert curve.total_bytes.max() == plan.peak_bytes
    assert curve.times[-1] == pytest.approx(100 * float(1 + plan.extra_arithmetic))


def test_a_large_model_is_as_few_objects_as_it_has_layers():
    plan = rebuild(MODELS["1t"].saved(sequences=64), arrays_per_layer=1)
    assert len(memory_over_step(plan, Fraction(3)).times) <= 4 * 128


def test_only_a_whole_state_continues_the_run(stopped):
    stopped.set(**stopped.book)
    assert stopped.result.first_difference is None
    for part in PARTS:
        stopped.set(**stopped.book | {part: False})
        assert stopped.result.first_difference == 7, part


def test_passing_once_does_not_prove_that_all_was_saved(stopped):
    stopped.set(**stopped.book | {"saved_after": 8, "scale": False})
    assert stopped.result.first_difference is None
    assert "恰好" in stopped.text


@pytest.mark.parametrize("model", CASES)
def test_the_code_of_a_case_makes_the_case(model):
    names = {}
    exec(case_code(model, sequences=3), names)
    assert (names["parameters"], names["acts"]) == case(model, sequences=3)


@pytest.fixture(scope="module")
def parts():
    return recovery()


def test_with_every_part_the_weights_agree_to_the_last_round(parts):
    parts.set(**parts.book)
    assert parts.result.first_difference is None
    assert "第 48 轮，权重逐位相同" in parts.text


def test_a_run_without_first_moment_differs_at_once(parts):
    parts.set(**parts.presets["只缺第一矩"])
    assert parts.result.first_difference == 21
    assert "缺第一矩：权重从第 21 轮起不同" in parts.text


def test_a_lower_loss_is_called_another_run(parts):
    lower = [name for name in parts.presets if name.startswith("只缺") and is_lower(parts, name)]
    assert lower, "which of them, the processor's sums decide"


def is_lower(parts, name):
    parts.set(**parts.presets[name])
    assert parts.result.lower_loss == ("损失更低，却不是同一次训练" in parts.text)
    return parts.result.lower_loss
