"""The generated class: its typed tables agree with the exercises and, before any kernel runs, the judge."""

from course_lib.exercises import BOOK, EXERCISES, judge
from course_lib.grading.reading import read_submission
from tests.classes import MAX_POINTS, PARTS, hand_in


def test_the_tables_have_every_misconception():
    for exercise in BOOK:
        typed = {slip.name for part in PARTS[exercise.id] for slip in part.slips}
        listed = {mistake.name for criterion in exercise.criteria for mistake in criterion.misconceptions}
        assert listed <= typed, listed - typed
        assert MAX_POINTS[exercise.id] == exercise.max_points


def test_a_thousand_marks_are_as_typed():
    met = set()
    for handed in hand_in(1_000):
        assert dict(read_submission(handed.content, BOOK).answers) == dict(handed.answers)
        for id, source in handed.answers.items():
            met |= {(id, kind) for kind in handed.kinds[id]}
            if "error" in handed.kinds[id]:
                assert handed.points[id] == 0
                continue
            scope = {}
            exec(source, scope)
            answers = {name: scope[name] for name in EXERCISES[id].answers if name in scope}
            assert judge(EXERCISES[id], answers=answers).points == handed.points[id], source
    wanted = {(id, slip.name) for id, parts in PARTS.items() for part in parts for slip in part.slips}
    assert wanted | {(id, kind) for id in PARTS for kind in ("right", "blank", "error")} <= met


def test_same_seed_same_bytes():
    assert list(hand_in(20)) == list(hand_in(20))
    assert [each.content for each in hand_in(5, seed=1)] != [each.content for each in hand_in(5)]
