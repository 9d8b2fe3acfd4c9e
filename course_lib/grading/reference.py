"""The notebook that is run: order and check cells are ours, only the answer cells are the student's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..exercises import Exercise
from .reading import Submission


def reference_notebook(submission: Submission, exercises: Iterable[Exercise]) -> dict[str, Any]:
    """Return a notebook: each answer followed by a cell that reports its variables. It expects nothing."""
    cells = []
    for exercise in exercises:
        if exercise.id in submission.answers:
            cells.append(_cell(exercise, "answer", submission.answers[exercise.id]))
            cells.append(_cell(exercise, "check", _report(exercise)))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(exercise: Exercise, part: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code", "id": f"{part}-{len(exercise.id)}", "source": source, "outputs": [],
        "metadata": {"course": {"exercise": exercise.id, "part": part}}, "execution_count": 1,
    }  # fmt: skip


def _report(exercise: Exercise) -> str:
    """Return code that needs no name which a student may have taken for something else."""
    return f"__import__('grader_box.answer').answer.tell({exercise.id!r}, {exercise.answers!r})"
