"""Individual numbers: stable, clean, never the book's answers, all misconceptions told apart."""

import json
import re
from fractions import Fraction

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import BOOK, EXERCISES, Verdict, check, judge, variant
from course_lib.exercises.exercise import tells_apart
from course_lib.exercises.variants import Draw

SECRET = b"a secret for tests only"
every_exercise = pytest.mark.parametrize("id", EXERCISES)


def clean(value):
    """A number that can be written down: whole, or a few decimals."""
    if isinstance(value, (list, bool)):
        return True
    if isinstance(value, str):
        return not re.fullmatch(r"-?\d+/\d+", value)
    number = Fraction(str(value))
    return (number * 10**8).denominator == 1


def prove(id, students):
    exercise = EXERCISES[id]
    book = exercise.solve()
    for number in range(students):
        parameters = variant(id, f"s{number}", SECRET)
        solved = exercise.solve(parameters)
        assert solved != book
        assert all(map(clean, solved.values())), (parameters, solved)
        assert judge(exercise, parameters=parameters, answers=solved).verdict is Verdict.PASS
        assert tells_apart(exercise, parameters)
        for criterion in exercise.criteria:
            for mistake in criterion.misconceptions:
                answers = solved | mistake.wrong(parameters)
                found = judge(exercise, parameters=parameters, answers=answers).criteria
                outcome = next(o for o in found if o.name == criterion.name)
                assert outcome.verdict is not Verdict.PASS, (parameters, mistake.name)
                assert outcome.misconception == mistake.name, parameters


@every_exercise
def test_draws_are_clean_and_tell_misconceptions_apart(id):
    prove(id, 20)


@pytest.mark.slow
@every_exercise
def test_ten_thousand_draws_tell_misconceptions_apart(id):
    """``tells_apart`` is proved above to say what ``judge`` does; here it meets 10,000 draws."""
    exercise = EXERCISES[id]
    book = exercise.solve()
    for number in range(10_000):
        parameters = variant(id, f"t{number}", SECRET)
        solved = exercise.solve(parameters)
        assert solved != book and all(map(clean, solved.values())), parameters
        assert tells_apart(exercise, parameters), parameters


@every_exercise
def test_the_same_secret_gives_the_same_and_neighbours_differ(id):
    drawn = [json.dumps(variant(id, f"{number}", SECRET), sort_keys=True) for number in range(12)]
    assert drawn == [json.dumps(variant(id, f"{number}", SECRET), sort_keys=True) for number in range(12)]
    assert len(set(drawn)) >= 4
    others = [json.dumps(variant(id, f"{number}", b"another"), sort_keys=True) for number in range(12)]
    assert others != drawn


def test_draws_stay_what_they_are_for_ever():
    """Typed: a notebook handed out last term must still check."""
    assert variant("1", "0429", SECRET) == {
        "parameters": 3_250_000, "sequences_before": 1, "sequences": 3, "positions": 256, "width": 128,
        "layers": 7, "arrays_per_layer": 10, "bytes_per_value": 4,
    }  # fmt: skip


@every_exercise
def test_prompt_and_code_follow_the_parameters(id):
    exercise = EXERCISES[id]
    for number in range(4):
        parameters = variant(id, f"p{number}", SECRET)
        assert exercise.prompt(parameters) != exercise.prompt(exercise.parameters)
        scope = {}
        for source in exercise.code(parameters).values():
            exec(source, scope)
        answers = {name: scope[name] for name in exercise.answers}
        assert check(id, parameters=parameters, **answers).verdict is Verdict.PASS
        assert check(id, parameters=json.loads(json.dumps(parameters)), **answers).verdict is Verdict.PASS


def test_the_books_answers_are_wrong_for_a_variant():
    for exercise in BOOK:
        parameters = variant(exercise.id, "0429", SECRET)
        assert check(exercise.id, parameters=parameters, **exercise.solve()).verdict is not Verdict.PASS


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: variant("1", "", SECRET), "student_id"),
        (lambda: variant("1", 429, SECRET), "student_id"),
        (lambda: variant("1", "0429", "text"), "secret"),
        (lambda: variant("1", "0429", b""), "secret"),
        (lambda: variant("x", "0429", SECRET), "没有这道习题"),
    ],
)
def test_slips_are_sentences_that_do_not_show_the_secret(call, said):
    with pytest.raises(CourseError, match=said) as error:
        call()
    assert "text" not in str(error.value)


def test_a_draw_picks_evenly_and_within_bounds():
    draw = Draw(SECRET, "test")
    numbers = [draw.whole(2, 10, step=4) for _ in range(300)]
    assert set(numbers) == {2, 6, 10}
    assert min(map(numbers.count, (2, 6, 10))) > 60
    assert sorted(draw.shuffled("abc")) == ["a", "b", "c"]
    assert len(set(draw.shuffled(range(9), 4))) == 4
