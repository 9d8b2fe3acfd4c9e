"""What an exercise is made of, and how answers become verdicts. All of it is plain data and pure functions.

An ``Exercise`` has parameters (the book's by default), a prompt made from them, a reference solution computed
with the number library, and criteria. A ``Criterion`` judges one or more answers and knows the
misconceptions that lead to a wrong one: each a function from the parameters to the answer it produces, and
hints from gentle to strong that do not give the answer away.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ..errors import CourseError, short_repr
from .values import Field, Literal, UnreadableError, Value, literal, same_number
from .verdicts import Verdict

Parameters = Mapping[str, Any]
Answers = Mapping[str, Any]
Read = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Judged:
    """How much of a criterion is right (0 to 1), and what is compared with a misconception's answer."""

    share: Fraction
    mark: Hashable


@dataclass(frozen=True, slots=True)
class Misconception:
    """One way to go wrong: ``wrong`` gives the answers that it leads to, by name."""

    name: str
    wrong: Callable[[Parameters], Answers]
    hints: tuple[str, ...]


def slip(name: str, answer: str, wrong: Callable[[Parameters], Any], *hints: str) -> Misconception:
    """Return a misconception about one answer."""
    return Misconception(name, lambda parameters: {answer: wrong(parameters)}, hints)


Judge = Callable[[Parameters, Read, Read], Judged]


def all_equal(parameters: Parameters, given: Read, right: Read) -> Judged:
    """Each answer counts alike; numbers are compared exactly."""
    equal = [_same(given[name], right[name]) for name in right]
    return Judged(Fraction(sum(equal), len(equal)), tuple(given.values()))


def _same(given: Value, right: Value) -> bool:
    if isinstance(given, Fraction) and isinstance(right, Fraction):
        return same_number(given, right)
    return given == right


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that is judged: ``answers`` are the names it looks at, ``hints`` are for unknown mistakes."""

    name: str
    answers: tuple[str, ...]
    points: int
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    judge: Judge = all_equal


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one criterion. ``hints`` go from gentle to strong; ``misconception`` may be empty."""

    name: str
    verdict: Verdict
    points: Fraction
    max_points: int
    hints: tuple[str, ...] = ()
    misconception: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one exercise; a view only draws it."""

    exercise: Exercise
    parameters: Parameters
    criteria: tuple[Outcome, ...]
    given: tuple[str, ...]  # the answers as short text, to know the same ones again

    @property
    def points(self) -> int | float:
        """Points reached; whole where they are, so that they print short."""
        total = sum((outcome.points for outcome in self.criteria), Fraction(0))
        return int(total) if total.denominator == 1 else float(total)

    @property
    def max_points(self) -> int:
        """Points to be had."""
        return self.exercise.max_points

    @property
    def verdict(self) -> Verdict:
        """The exercise as a whole: partial where something is right and something is not."""
        found = {outcome.verdict for outcome in self.criteria}
        if len(found) == 1:
            return found.pop()
        return Verdict.PARTIAL if found & {Verdict.PASS, Verdict.PARTIAL} else Verdict.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """A question as data and functions.

    ``parameters`` are the book's, as literals. ``prompt(parameters)`` is the question in Chinese markdown,
    ``brief`` the same in one or two sentences. ``answer(parameters)`` computes the right answers with the
    number library; ``why(parameters)`` explains them. ``code(parameters)`` is the same computation as cells
    of a notebook, by the end of their ids. ``draw`` makes other parameters out of a ``Draw``; ``reason`` asks
    for a free text, read by a person along ``rubric`` and never scored here.
    """

    id: str
    title: str
    look_back: str
    parameters: Parameters
    fields: tuple[Field, ...]
    prompt: Callable[[Parameters], str]
    brief: Callable[[Parameters], str]
    answer: Callable[[Parameters], Answers]
    why: Callable[[Parameters], str]
    code: Callable[[Parameters], Mapping[str, str]]
    criteria: tuple[Criterion, ...]
    draw: Callable[[Any], Parameters]
    reason: str
    rubric: tuple[str, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """The names to fill."""
        return tuple(field.name for field in self.fields)

    @property
    def max_points(self) -> int:
        """Points to be had."""
        return sum(criterion.points for criterion in self.criteria)

    def field(self, name: str) -> Field:
        """Return the field of this name."""
        return next(field for field in self.fields if field.name == name)

    def solve(self, parameters: Parameters | None = None) -> dict[str, Literal]:
        """Return the right answers as literals, by name."""
        checked = self.checked(parameters)
        return {name: literal(value) for name, value in self.answer(checked).items()}

    def checked(self, parameters: object = None) -> Parameters:
        """Return the parameters to use; refuse any that are not of this exercise's names and types."""
        if parameters is None:
            return self.parameters
        kinds = {name: type(book) for name, book in self.parameters.items()}
        if isinstance(parameters, Mapping) and {n: type(v) for n, v in parameters.items()} == kinds:
            return parameters
        names = "、".join(self.parameters)
        raise CourseError(
            f"parameters 不是习题 {self.id} 的题设", got=parameters, remedy=f"请给这几项，类型照原样：{names}"
        )


_NOTHING: Final = Fraction(0)


def judge(exercise: Exercise, *, parameters: object = None, answers: Answers) -> Result:
    """Return the verdict on every criterion. Answers that are not given count as not answered."""
    checked = exercise.checked(parameters)
    for name in answers:
        if name not in exercise.answers:
            known = "、".join(exercise.answers)
            raise CourseError(f"习题 {exercise.id} 没有这个答案", got=name, remedy=f"要填的是 {known}")
    right = _read_all(exercise, exercise.solve(checked))
    outcomes = tuple(_outcome(exercise, c, checked, answers, right) for c in exercise.criteria)
    given = tuple(f"{name}={short_repr(answers.get(name))}" for name in exercise.answers)
    return Result(exercise, checked, outcomes, given)


def _read_all(exercise: Exercise, answers: Answers) -> dict[str, Value]:
    return {name: exercise.field(name).read(value) for name, value in answers.items()}


def _outcome(
    exercise: Exercise, criterion: Criterion, parameters: Parameters, answers: Answers, right: Read
) -> Outcome:
    blank = [name for name in criterion.answers if exercise.field(name).is_blank(answers.get(name))]
    if blank:
        some = len(blank) < len(criterion.answers)
        left = (f"还差 {'、'.join(blank)}。",) if some else ()
        return Outcome(criterion.name, Verdict.UNANSWERED, _NOTHING, criterion.points, left)
    try:
        given = {name: exercise.field(name).read(answers[name]) for name in criterion.answers}
    except UnreadableError as error:
        return Outcome(criterion.name, Verdict.FAIL, _NOTHING, criterion.points, (str(error),))
    wanted = {name: right[name] for name in criterion.answers}
    judged = criterion.judge(parameters, given, wanted)
    points = judged.share * criterion.points
    if judged.share == 1:
        return Outcome(criterion.name, Verdict.PASS, points, criterion.points)
    verdict = Verdict.PARTIAL if judged.share else Verdict.FAIL
    known = diagnose(exercise, criterion, parameters, judged.mark, wanted)
    hints = known.hints if known else criterion.hints
    return Outcome(criterion.name, verdict, points, criterion.points, hints, known.name if known else "")


def diagnose(
    exercise: Exercise, criterion: Criterion, parameters: Parameters, mark: Hashable, right: Read
) -> Misconception | None:
    """Return the misconception whose answer leaves the same mark, or None."""
    for misconception in criterion.misconceptions:
        if marks_of(exercise, criterion, misconception, parameters, right) == mark:
            return misconception
    return None


def marks_of(
    exercise: Exercise,
    criterion: Criterion,
    misconception: Misconception,
    parameters: Parameters,
    right: Read,
) -> Hashable:
    """Return what the answers of a misconception leave to compare, in the eyes of one criterion."""
    answers = {name: literal(value) for name, value in misconception.wrong(parameters).items()}
    given = _read_all(exercise, answers)
    return criterion.judge(parameters, {name: given[name] for name in criterion.answers}, right).mark


def tells_apart(exercise: Exercise, parameters: Parameters) -> bool:
    """True if no misconception gives a right answer under these parameters, and no two give the same."""
    right = _read_all(exercise, exercise.solve(parameters))
    for criterion in exercise.criteria:
        wanted = {name: right[name] for name in criterion.answers}
        marks = [criterion.judge(parameters, wanted, wanted).mark]
        marks += [marks_of(exercise, criterion, m, parameters, wanted) for m in criterion.misconceptions]
        if len(set(marks)) < len(marks):
            return False
    return True
