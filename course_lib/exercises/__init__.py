"""Section 27.8 and more: questions as data, answers in many forms, verdicts with hints.

- ``check("1", activation_bytes=…, total_bytes=…)`` judges answers; pure, it writes and shows nothing.
- ``EXERCISES`` are all exercises by id: the six of the chapter, "1" to "6", and two further ones of every
  section from "27.1-a" to "27.6-b". ``variant`` draws other numbers for one student.
- ``exercise`` says what an exercise is made of, ``values`` how answers are read, ``judges`` how names and
  sorted claims are judged, ``cells`` how notebooks are made of it, ``progress`` what is kept of the attempts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ..errors import CourseError
from .book import BOOK
from .exercise import Criterion, Exercise, Misconception, Outcome, Result, judge
from .further import FURTHER
from .values import Field, Kind
from .variants import draw, is_signed, sign
from .verdicts import Verdict

__all__ = [
    "BOOK", "EXERCISES", "FURTHER", "Criterion", "Exercise", "Field", "Kind", "Misconception", "Outcome",
    "Result", "Verdict", "check", "draw", "find", "is_signed", "judge", "sign", "variant",
]  # fmt: skip

EXERCISES: Final[Mapping[str, Exercise]] = MappingProxyType(
    {exercise.id: exercise for exercise in (*BOOK, *FURTHER)}
)


def find(id: object) -> Exercise:
    """Return the exercise of this id; raise ``CourseError`` where there is none."""
    if not isinstance(id, str) or id not in EXERCISES:
        known = "、".join(EXERCISES)
        raise CourseError("没有这道习题", got=id, remedy=f"编号要写成文字，可选：{known}")
    return EXERCISES[id]


def check(id: str, *, parameters: object = None, **answers: object) -> Result:
    """Return the verdict on each criterion of one exercise; answers left out or ``None`` are not answered.

    >>> result = check("2", mean_grad=0)
    >>> result.points, result.max_points, [outcome.verdict.value for outcome in result.criteria]
    (0, 3, ['fail', 'unanswered'])
    >>> result.criteria[0].misconception, result.criteria[0].hints[0]
    ('等权平均', '两个微批次里，事件一样多吗？')
    """
    return judge(find(id), parameters=parameters, answers=answers)


def variant(id: str, student_id: str, secret: bytes) -> dict[str, Any]:
    """Return one student's parameters: clean, never the book's answers, every misconception told apart.

    >>> variant("1", "0429", b"for the doctest only") == variant("1", "0429", b"for the doctest only")
    True
    """
    return draw(find(id), student_id, secret)
