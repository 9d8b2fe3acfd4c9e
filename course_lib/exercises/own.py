"""A teacher's own exercises: a Python file that defines ``EXERCISES`` in the same form, under other ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import CourseError
from .book import BOOK
from .exercise import Exercise
from .further import FURTHER


def exercises_in(source: str, name: str) -> tuple[Exercise, ...]:
    """Return ``EXERCISES`` of the text of a Python file; it is the teacher's own and is run.

    ``name`` stands for the file in sentences. Raises ``CourseError`` where it fails, holds no exercises, or
    takes an id of the course or one of its own twice.
    """
    names: dict[str, Any] = {"__name__": "own_exercises", "__file__": name}
    try:
        exec(compile(source, name, "exec"), names)
        found = names.get("EXERCISES")
        exercises = tuple(found) if isinstance(found, Iterable) else ()
    except Exception as error:  # the teacher's own file may fail in any way
        got = f"{type(error).__name__}: {error}"
        raise CourseError(f"{name} 运行出错", got=got, remedy="请先单独运行它，修好再来") from error
    if not exercises or not all(isinstance(exercise, Exercise) for exercise in exercises):
        raise CourseError(
            f"{name} 里没有习题",
            got=found,
            remedy="请写 EXERCISES = (Exercise(...), ...)，每项都是 Exercise",
        )
    taken = {exercise.id for exercise in (*BOOK, *FURTHER)}
    for exercise in exercises:
        if exercise.id in taken:
            raise CourseError("习题编号与别的相同", got=exercise.id, remedy="请换一个编号，例如 T1")
        taken.add(exercise.id)
    return exercises
