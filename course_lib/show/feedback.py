"""Show what became of an exercise: one line per criterion, one hint more at every try, no answer unasked."""

from __future__ import annotations

from html import escape
from typing import Final

from ..exercises import BOOK, FURTHER, Outcome, Result, Verdict, find
from ..exercises import progress as kept
from ..exercises.exercise import Exercise, Parameters
from ..exercises.progress import Entry
from .tables import Table

_SIGNS: Final = {Verdict.PASS: "✓", Verdict.PARTIAL: "◐", Verdict.FAIL: "✗", Verdict.UNANSWERED: "○"}
_CLASSES: Final = {Verdict.PASS: "success", Verdict.PARTIAL: "warn", Verdict.FAIL: "error"}

_START: Final = "把上一格的 None 换成答案，运行那一格，再运行这一格。"

# Tries of notebooks that are not in the work folder: they last as long as the kernel.
_SESSION: dict[str, Entry] = {}


def _entries() -> dict[str, Entry]:
    work = kept.folder()
    return _SESSION if work is None else kept.load(work)


def _record(result: Result) -> Entry:
    """Count this check as an attempt, unless it is the same as the last, and return where the reader is."""
    id = result.exercise.id
    before = _entries().get(id, Entry())
    entry = before.after(result)
    if entry != before:
        _SESSION[id] = entry
        kept.keep(kept.folder(), id, entry)
    return entry


class Feedback:
    """The verdicts of one check as words: in a notebook, and as plain text to read aloud."""

    def __init__(self, result: Result, misses: dict[str, int], start: str, ask: str) -> None:
        self.result, self._misses, self._start, self._ask = result, misses, start, ask

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Pairs of a kind (title, a verdict's value, hint, note) and a Chinese sentence."""
        exercise, verdict = self.result.exercise, self.result.verdict
        if verdict is Verdict.UNANSWERED:
            return [("title", f"{_title(exercise)}：还没有作答。{self._start}")]
        score = f"{self.result.max_points} 分里得了 {self.result.points:g} 分"
        found = [("title", f"{_title(exercise)}：{score}")]
        for outcome in self.result.criteria:
            found += self._lines_of(outcome)
        if verdict is Verdict.PASS:
            return [*found, ("note", "全对。再写一写理由：它留给人读。")]
        return [*found, ("note", self._ask or _how_to_ask(self.result))]

    def _lines_of(self, outcome: Outcome) -> list[tuple[str, str]]:
        verdict = outcome.verdict
        mark = f"{_SIGNS[verdict]} {outcome.name}：{verdict.label}"
        shown = outcome.hints[: max(1, self._misses.get(outcome.name, 1))]
        lines = [(verdict.value, mark), *(("hint", hint) for hint in shown)]
        left = len(outcome.hints) - len(shown)
        if left:
            lines.append(("note", f"还有 {left} 条更明白的提示，改了答案再查一次就给下一条。"))
        return lines

    @property
    def text(self) -> str:
        """The sentences as plain text."""
        return "\n".join(("　　" if kind in ("hint", "note") else "") + words for kind, words in self.lines)

    def html(self) -> str:
        """The sentences as HTML without ids or styles sheets of its own."""
        return f'<div role="status">{"".join(_html(kind, words) for kind, words in self.lines)}</div>'

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text}


def _how_to_ask(result: Result) -> str:
    id = result.exercise.id
    own = "" if result.parameters == result.exercise.parameters else f', parameters=parameters["{id}"]'
    code = f'from course_lib.show.feedback import solution; solution("{id}"{own})'
    return f"先自己改。实在想看解答，新开一格运行：{code}"


def _title(exercise: Exercise) -> str:
    return f"{'习题' if exercise.look_back else '练习'} {exercise.id}"


def _html(kind: str, words: str) -> str:
    color = {verdict.value: name for verdict, name in _CLASSES.items()}.get(kind)
    styles = {
        "title": "font-weight:600;margin:.2em 0",
        "hint": "margin:.1em 0 .1em 1.6em",
        "note": "margin:.3em 0 .1em 1.6em;opacity:.75",
    }
    style = styles.get(kind, f"margin:.4em 0 .1em;color:var(--jp-{color}-color1,inherit)")
    return f'<p style="{style}">{escape(words)}</p>'


def feedback(result: Result, *, start: str = _START, ask: str = "") -> Feedback:
    """Show a result; counts the attempt, and gives one hint more at every new answer that is still wrong.

    ``start`` says how to answer, ``ask`` how to see the solution; by default as in a notebook.

    >>> from course_lib.exercises import check
    >>> print(feedback(check("2")).text)
    习题 2：还没有作答。把上一格的 None 换成答案，运行那一格，再运行这一格。
    """
    return Feedback(result, dict(_record(result).misses), start, ask)


class Solution:
    """The worked solution of one exercise: answers, why, and the cells that compute them."""

    def __init__(self, exercise: Exercise, parameters: Parameters) -> None:
        self.exercise, self.parameters = exercise, parameters

    @property
    def answers(self) -> Table:
        """The right answers under their labels."""
        solved = self.exercise.solve(self.parameters)
        rows = tuple((field.name, _shown(solved[field.name])) for field in self.exercise.fields)
        return Table(("要填的", "答案"), rows, note=self.exercise.why(self.parameters))

    @property
    def text(self) -> str:
        """The solution as plain text."""
        code = "\n\n".join(self.exercise.code(self.parameters).values())
        return f"{_title(self.exercise)}　{self.exercise.title}：解答\n{self.answers.text()}\n\n{code}"

    def html(self) -> str:
        """The solution as HTML."""
        code = "".join(f"<pre>{escape(cell)}</pre>" for cell in self.exercise.code(self.parameters).values())
        title = escape(f"{_title(self.exercise)}　{self.exercise.title}：解答")
        return f"<p><b>{title}</b></p>{self.answers.html()}{code}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text}


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "、".join(value)
    return f"{value:,}" if type(value) is int else str(value)


def solution(id: str, *, parameters: object = None) -> Solution:
    """Return the worked solution, for a reader who asks for it."""
    exercise = find(id)
    return Solution(exercise, exercise.checked(parameters))


def progress() -> Table:
    """Return how far the reader is: the six exercises, and how many of the further ones are done."""
    entries = _entries()
    rows = tuple(_progress_row(exercise, entries.get(exercise.id, Entry())) for exercise in BOOK)
    done = sum(entries[exercise.id].solved for exercise in FURTHER if exercise.id in entries)
    note = f"另有 {len(FURTHER)} 道练习，在 27.1 到 27.6 各本的末尾，做完 {done} 道。"
    return Table(("习题", "题目", "最好得分", "试过几次", "现在"), rows, note=note)


def _progress_row(exercise: Exercise, entry: Entry) -> tuple[str | int, ...]:
    state = "做完" if entry.solved else "在做" if entry.attempts else "还没有作答"
    points = f"{entry.points:g} / {exercise.max_points}"
    return exercise.id, exercise.title, points, entry.attempts, state
