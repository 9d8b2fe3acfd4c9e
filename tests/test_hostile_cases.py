"""The hostile suite itself: its cases are sound, and its thefts do succeed where there are no walls."""

import ast
import os
import subprocess
import sys

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import BOOK, Verdict, judge
from course_lib.grading.reading import read_submission
from tests import hostile, submissions
from tests.hostile import CASES

ONLY_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


def test_cases_are_named_once_and_expect_verdicts_that_exist():
    assert len({case.name for case in CASES}) == len({case.file for case in CASES}) == len(CASES)
    words = {verdict.value for verdict in Verdict}
    for case in CASES:
        assert tuple(case.verdicts) == tuple(case.answers) == submissions.IDS
        assert set(case.verdicts.values()) <= words, case.name
    assert {verdict for case in CASES for verdict in case.verdicts.values()} == words - {"partial"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answers_are_python(case):
    for source in case.answers.values():
        if case.name not in ("syntax", "magics"):
            compile(source, case.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [(submissions.RIGHT, "pass"), (submissions.WRONG, "fail"), (submissions.BLANK, "unanswered")],
)
@pytest.mark.parametrize("exercise", BOOK, ids=lambda exercise: exercise.id)
def test_right_wrong_and_blank_are_so_in_every_criterion(exercise, answers, verdict):
    scope = {}
    exec(answers[exercise.id], scope)
    result = judge(exercise, answers={name: scope[name] for name in exercise.answers})
    assert {outcome.verdict.value for outcome in result.criteria} == {verdict}
    assert result.points == (result.max_points if verdict == "pass" else 0)


@pytest.mark.parametrize("case", [case for case in CASES if case.make], ids=lambda case: case.name)
def test_files_are_read_or_refused_as_expected(case):
    content = case.content()
    if not isinstance(content, bytes):
        pytest.skip("no file: links, pipes and folders are met where the folder is read")
    if set(case.verdicts.values()) == {"invalid"}:
        with pytest.raises(CourseError):
            read_submission(content, BOOK)
        return
    missing = {id for id, verdict in case.verdicts.items() if verdict == "missing"}
    assert set(read_submission(content, BOOK).answers) == set(submissions.IDS) - missing


def run_alone(source, variables, **environment):
    """Run an answer cell without any walls and return what the variables hold."""
    shown = f"\nprint([globals().get(name) for name in {variables!r}])"
    done = subprocess.run(
        [sys.executable, "-c", source + shown],
        cwd=submissions.CHAPTER.parents[1], env=os.environ | environment,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout.splitlines()[-1])


@ONLY_LINUX
@pytest.mark.parametrize("name", ["reference", "reference-import", "grader-environment", "loopback"])
def test_a_theft_succeeds_without_walls(name):
    """Otherwise its verdict would say nothing about the walls."""
    source = hostile.BY_NAME[name].answers["1"]
    with hostile.listening() as visits:
        held = run_alone(source, BOOK[0].answers, **{hostile.SECRET: "1"})
    assert held == [2_621_440, 18_621_440]
    assert bool(visits) == (name == "loopback")


@ONLY_LINUX
@pytest.mark.parametrize("name", ["fork-bomb", "kill-all", "killed-parent", "traps"])
def test_what_could_hurt_looks_for_walls_first(name):
    source = hostile.BY_NAME[name].answers["1"]
    guard = source.partition("raise RuntimeError")[0]
    assert guard.count("\n") == 2
    with pytest.raises(AssertionError, match="no walls"):
        run_alone(source, BOOK[0].answers)
