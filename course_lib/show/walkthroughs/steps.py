"""What a walkthrough is made of: steps as data, and questions that a class answers before a step opens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from ...arguments import choice
from ...errors import CourseError
from ..guesses import plain, reveal
from ..tables import Table

if TYPE_CHECKING:
    from ..stage import Stage

Picture = Callable[["Stage"], Callable[[Any], None]]
SIZE: Final = (500, 232)  # CSS pixels that are drawn; shown larger, so that letters are large on a projector


@dataclass(frozen=True, slots=True)
class Question:
    """Asked before a step opens: a number in ``unit``, or one of ``options`` where there are any."""

    words: str
    answer: int | Fraction | str
    unit: str = ""
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.options:
            choice("answer", self.answer, self.options)

    def reply(self, said: object) -> str:
        """Set what the class said beside what was computed; refuse what cannot be read."""
        if self.options:
            picked = choice("选择", said, self.options)
            return f"选的是「{picked}」：" + (
                "对。" if picked == self.answer else f"其实是「{self.answer}」。"
            )
        try:
            return reveal(said, actual=self.answer, unit=self.unit).words
        except CourseError as error:
            raise CourseError(
                "这个猜测读不懂", got=said, remedy=f"请写一个数，例如 {plain(Fraction(1000))}"
            ) from error


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the line it adds to the ledger, the formula with numbers put in, a sentence, the picture.

    ``row`` is empty where nothing is added; ``state`` is what the walk's picture shows.
    """

    name: str
    formula: str
    says: str
    row: tuple[str | int, ...]
    state: Any
    ask: Question | None = None

    @property
    def text(self) -> str:
        """The step as one line of plain text."""
        return f"{self.name}：{self.formula}。{self.says}"


@dataclass(frozen=True, slots=True)
class Walk:
    """One worked example: ``steps`` under a title, the names of the ledger's columns, and how it is drawn."""

    title: str
    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    picture: Picture
    size: tuple[int, int] = SIZE

    def ledger(self, step: int) -> Table:
        """Return the lines added up to a step, counted from 1."""
        return Table(self.columns, tuple(each.row for each in self.steps[:step] if each.row))

    def text(self, step: int) -> str:
        """Return the steps so far as plain text."""
        lines = (f"{n}. {each.text}" for n, each in enumerate(self.steps[:step], start=1))
        return "\n".join((f"{self.title}（第 {step} 步，共 {len(self.steps)} 步）", *lines))
