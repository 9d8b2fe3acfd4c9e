"""One submission graded for real: in its box where bubblewrap works, and as a plain process."""

import json
import os

import pytest

from course_lib.errors import CourseError
from course_lib.grading.jobs import Job, Limits
from course_lib.grading.records import BUBBLEWRAP, PROCESS, Record
from course_lib.grading.sandbox.probe import require_sandbox
from course_lib.grading.work import grade

from .test_exercises import RIGHT

FULL = {"1": 4, "2": 3, "3": 3, "4": 5, "5": 6, "6": 5}
QUICK = Limits(cell_seconds=2)


def isolations():
    """Both modes where the sandbox works."""
    try:
        require_sandbox()
    except CourseError:
        assert not os.environ.get("CI"), "bubblewrap must work where the course is proved"
        return [PROCESS]
    return [BUBBLEWRAP, PROCESS]


def source_of(id):
    return "\n".join(f"{name} = {value!r}" for name, value in RIGHT[id].items())


def notebook(answers):
    cells = [
        {"id": f"27-08-ex{id}-answer", "cell_type": "code", "metadata": {}, "source": source}
        for id, source in answers.items()
    ]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


def verdicts(record):
    return {mark.id: (mark.verdict.value, mark.points) for mark in record.exercises}


@pytest.mark.parametrize("isolation", isolations())
def test_right_wrong_broken_slow_and_missing_are_told_apart(isolation):
    answers = {
        "1": source_of("1"),
        "2": "mean_grad = 0\nequal_weight_error = 'B'",
        "4": "while True: pass",
        "5": "1/0",
        "6": source_of("6"),
    }
    record = grade(Job("0429", "a.ipynb", notebook(answers), isolation, limits=QUICK))
    assert verdicts(record) == {
        "1": ("pass", 4),
        "2": ("partial", 1),
        "3": ("missing", 0),
        "4": ("timeout", 0),
        "5": ("error", 0),
        "6": ("pass", 5),
    }
    assert record.exercises[4].said == "ZeroDivisionError: division by zero"
    assert record.exercises[1].criteria[0].misconception == "等权平均"
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize("isolation", isolations())
def test_after_death_earlier_points_are_kept(isolation):
    answers = {id: source_of(id) for id in FULL} | {"4": "import os\nos._exit(0)"}
    record = grade(Job("1", "a.ipynb", notebook(answers), isolation, limits=QUICK))
    assert verdicts(record) == {
        "1": ("pass", 4),
        "2": ("pass", 3),
        "3": ("pass", 3),
        "4": ("died", 0),
        "5": ("died", 0),
        "6": ("died", 0),
    }


def test_what_is_no_notebook_is_invalid_with_a_sentence():
    record = grade(Job("1", "a.ipynb", b"{", PROCESS))
    assert {mark.verdict.value for mark in record.exercises} == {"invalid"}
    assert "不是完整的 JSON" in record.problem
