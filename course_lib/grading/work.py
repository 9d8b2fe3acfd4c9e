"""Grade one submission: from bytes to a record, in any process, on any machine that has this package."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from ..errors import CourseError
from ..exercises import Exercise, Verdict
from .jobs import Job
from .reading import Submission, read_submission
from .records import BUBBLEWRAP, CriterionMark, ExerciseMark, Heard, Record
from .sandbox.probe import require_sandbox


def grade(job: Job) -> Record:
    """Return what is known of one submission; what it raises is never the submission's doing."""
    exercises = job.exercises()
    if job.isolation == BUBBLEWRAP:
        require_sandbox()
    try:
        submission = read_submission(job.content, exercises)
    except CourseError as error:
        marks = tuple(nothing_heard(exercise, Verdict.INVALID) for exercise in exercises)
        return Record(job.student, job.file, job.isolation, marks, problem=str(error))
    heard = _hear(job, submission, exercises)
    return Record(
        job.student, job.file, job.isolation,
        tuple(_mark(exercise, heard[exercise.id]) for exercise in exercises),
        tuple(submission.texts.items()), submission.warnings,
    )  # fmt: skip


def _hear(job: Job, submission: Submission, exercises: tuple[Exercise, ...]) -> dict[str, Heard]:
    missing = {e.id: Heard(Verdict.MISSING) for e in exercises if e.id not in submission.answers}
    if not submission.answers:
        return missing
    # pytest and all that talks to kernels is loaded where submissions run, not where they are handed out.
    from .judging import Session, run
    from .kernels import GradedKernel
    from .reference import reference_notebook

    notebook = reference_notebook(submission, exercises)
    start = partial(GradedKernel, job.isolation, job.limits)
    return missing | run(Session(notebook, exercises, job.parameters, start, job.limits))


def _mark(exercise: Exercise, heard: Heard) -> ExerciseMark:
    if heard.result is None:
        assert heard.verdict is not None
        return nothing_heard(exercise, heard.verdict, heard.said)
    criteria = tuple(
        CriterionMark(o.name, o.verdict, o.points, o.max_points, o.misconception, o.hints)
        for o in heard.result.criteria
    )
    return ExerciseMark(exercise.id, heard.result.verdict, criteria, heard.said)


def nothing_heard(exercise: Exercise, verdict: Verdict, said: str = "") -> ExerciseMark:
    """Return the mark of an exercise that came to no result: no points, and why."""
    nothing = tuple(CriterionMark(c.name, verdict, Fraction(0), c.points) for c in exercise.criteria)
    return ExerciseMark(exercise.id, verdict, nothing, said)
