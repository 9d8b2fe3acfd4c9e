"""A class graded: records, names and points given by people, and what they add up to.

The rule for points that people give to free texts: they stand apart from what was judged (``manual`` beside
``exercises`` in ``grades.json``), and they count. As soon as one student has points for the text of an
exercise, that text belongs to the total of everyone: ``total`` is the points judged plus the points given,
``max`` the points to be judged plus the rubric points of those exercises, one number for the whole class.
Before anybody has points for a text, it counts nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Final

from ..exercises import Exercise
from .records import ExerciseMark, Record

Given = Mapping[str, Mapping[str, Fraction]]

_NONE: Final[Mapping[str, Fraction]] = {}


def short(points: Fraction | int) -> int | float:
    """Return points as a number that prints short: whole, or with at most two decimals, halves rounded up.

    >>> short(Fraction(4, 2)), short(Fraction(1, 2)), short(Fraction(2, 3))
    (2, 0.5, 0.67)
    """
    hundredths = floor(points * 100 + Fraction(1, 2))
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def rubric_points(exercise: Exercise) -> int:
    """Return how many points a person can give to the free text: one for each line of the rubric."""
    return len(exercise.rubric)


@dataclass(frozen=True, slots=True)
class Gradebook:
    """Records with the exercises they were graded by.

    ``names`` are the students of the class list by id; ``manual`` the points given to free texts, by
    ``Record.owner`` and exercise id.
    """

    exercises: tuple[Exercise, ...]
    records: tuple[Record, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    manual: Given = field(default_factory=dict)

    @property
    def ordered(self) -> tuple[Record, ...]:
        """The records by student; what fits nobody comes last, by file."""
        return tuple(sorted(self.records, key=lambda r: (not r.student, r.student, r.file)))

    @property
    def absent(self) -> tuple[str, ...]:
        """Ids of the class list of whom there is no record, sorted."""
        return tuple(sorted(set(self.names) - {record.student for record in self.records}))

    @property
    def counted(self) -> tuple[Exercise, ...]:
        """Exercises whose free texts count: somebody has points for them."""
        entered = {id for points in self.manual.values() for id in points}
        return tuple(exercise for exercise in self.exercises if exercise.id in entered)

    @property
    def max_points(self) -> int:
        """Points to be had, the same for everyone."""
        judged = sum(exercise.max_points for exercise in self.exercises)
        return judged + sum(rubric_points(exercise) for exercise in self.counted)

    def given(self, record: Record) -> Mapping[str, Fraction]:
        """Return the points given to the free texts of one record, by exercise id."""
        return self.manual.get(record.owner, _NONE)

    def points(self, record: Record, exercise: Exercise) -> Fraction | None:
        """Return the points of one exercise with those for its text; None where the record lacks it."""
        mark, given = record.mark(exercise.id), self.given(record).get(exercise.id)
        if mark is None and given is None:
            return None
        return (mark.points if mark else Fraction(0)) + (given or 0)

    def total(self, record: Record) -> Fraction:
        """Return all points of one record."""
        reached = (self.points(record, exercise) for exercise in self.exercises)
        return sum((points for points in reached if points is not None), Fraction(0))

    def marks(self, exercise: Exercise) -> tuple[ExerciseMark, ...]:
        """Return every record's mark of one exercise, without the files that could not be read."""
        found = (record.mark(exercise.id) for record in self.ordered if not record.problem)
        return tuple(mark for mark in found if mark is not None)
