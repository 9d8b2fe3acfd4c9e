"""What is known of one graded submission. Plain data that survives JSON, pickling and another machine."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ..exercises import Result, Verdict

BUBBLEWRAP: Final = "bubblewrap"
PROCESS: Final = "process"


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one exercise: ``verdict`` where it never came to a result, else ``result``."""

    verdict: Verdict | None = None
    result: Result | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class CriterionMark:
    """The verdict on one criterion; ``misconception`` is empty where none was recognised."""

    name: str
    verdict: Verdict
    points: Fraction
    max_points: int
    misconception: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExerciseMark:
    """What became of one exercise; ``said`` is one line, e.g. the error of the answer cell."""

    id: str
    verdict: Verdict
    criteria: tuple[CriterionMark, ...]
    said: str = ""

    @property
    def points(self) -> Fraction:
        """Points reached."""
        return sum((criterion.points for criterion in self.criteria), Fraction(0))

    @property
    def max_points(self) -> int:
        """Points to be had."""
        return sum(criterion.max_points for criterion in self.criteria)


@dataclass(frozen=True, slots=True)
class Record:
    """One submission graded: ``sandbox`` is ``BUBBLEWRAP`` or ``PROCESS``, ``texts`` are free answers.

    ``problem`` is a Chinese sentence where the file as a whole could not be read; then every exercise is
    ``INVALID``. ``warnings`` are sentences for the teacher, e.g. a second answer cell of the same id.
    """

    student: str
    file: str
    sandbox: str
    exercises: tuple[ExerciseMark, ...]
    texts: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str = ""

    @property
    def owner(self) -> str:
        """Whose work this is, wherever records are told apart: the student, or the file that fits nobody."""
        return self.student or self.file

    @property
    def points(self) -> Fraction:
        """Points reached, without those that a person gives to free texts."""
        return sum((mark.points for mark in self.exercises), Fraction(0))

    @property
    def max_points(self) -> int:
        """Points to be had."""
        return sum(mark.max_points for mark in self.exercises)

    def mark(self, id: str) -> ExerciseMark | None:
        """Return what became of one exercise, None where the record does not speak of it."""
        return next((mark for mark in self.exercises if mark.id == id), None)

    def to_json(self) -> dict[str, Any]:
        """Return plain data; points are whole numbers or text like ``1/2``."""
        return {
            "student": self.student,
            "file": self.file,
            "sandbox": self.sandbox,
            "exercises": [
                {
                    "id": mark.id,
                    "verdict": mark.verdict.value,
                    "said": mark.said,
                    "criteria": [
                        {
                            "name": c.name,
                            "verdict": c.verdict.value,
                            "points": str(c.points),
                            "max": c.max_points,
                            "misconception": c.misconception,
                            "hints": list(c.hints),
                        }
                        for c in mark.criteria
                    ],
                }
                for mark in self.exercises
            ],
            "texts": dict(self.texts),
            "warnings": list(self.warnings),
            "problem": self.problem,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Record:
        """Return the record that ``to_json`` wrote."""
        marks = tuple(
            ExerciseMark(
                mark["id"],
                Verdict(mark["verdict"]),
                tuple(
                    CriterionMark(
                        c["name"], Verdict(c["verdict"]), Fraction(c["points"]), c["max"],
                        c["misconception"], tuple(c["hints"]),
                    )
                    for c in mark["criteria"]
                ),
                mark["said"],
            )
            for mark in plain["exercises"]
        )  # fmt: skip
        return cls(
            plain["student"], plain["file"], plain["sandbox"], marks,
            tuple(plain["texts"].items()), tuple(plain["warnings"]), plain["problem"],
        )  # fmt: skip
