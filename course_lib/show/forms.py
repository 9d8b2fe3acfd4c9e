"""Exercises as forms for the classroom: the same answers as in a code cell, filled in with widgets."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Final

import ipywidgets

from ..exercises import BOOK, Exercise, Field, Kind, find, judge
from ..exercises.exercise import Parameters
from ..exercises.values import Literal, UnreadableError, literal
from .feedback import Solution, feedback

_WIDE: Final = {"description_width": "initial"}
_START: Final = "填好以后再按「检查」。"
_ASK: Final = "先自己改。实在想看解答，按「看解答」。"
_UNSAID: Final = "未答"


def _paragraphs(markdown: str) -> str:
    """Turn the little markdown that prompts use into HTML."""
    parts = []
    for part in escape(markdown, quote=False).split("\n\n"):
        lines = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", part).split("\n")
        if all(line.startswith("- ") for line in lines):
            parts.append("<ul>" + "".join(f"<li>{line[2:]}</li>" for line in lines) + "</ul>")
        else:
            parts.append(f"<p>{'<br>'.join(lines)}</p>")
    return "".join(parts)


def _options(exercise: Exercise, field: Field, parameters: Parameters) -> list[str]:
    """What can be picked: the names of the pool, or the letters of the list in the prompt."""
    if field.kind is Kind.NAMES:
        return list(parameters["pool"])
    return re.findall(r"^- ([A-Z])：", exercise.prompt(parameters), flags=re.M)


def _caption(field: Field) -> str:
    """The label without what only a code cell needs: the unit stands beside the entry."""
    return re.sub(rf"(，写成.*|：True 或 False|，{field.unit or '写成'})$", "", field.label)


class _Entry:
    """One answer on screen; ``value`` is what a code cell would hold, ``None`` while nothing is said."""

    def __init__(self, exercise: Exercise, field: Field, parameters: Parameters) -> None:
        self.field, self._parts = field, []
        caption = ipywidgets.HTML(f"<b>{escape(_caption(field))}</b>")
        if field.kind in (Kind.NAMES, Kind.LETTERS):
            options = _options(exercise, field, parameters)
            self._parts = [
                ipywidgets.Checkbox(description=name, indent=False, layout={"width": "auto"})
                for name in options
            ]
            row = ipywidgets.Box(self._parts, layout={"flex_flow": "row wrap"})
        elif field.kind in (Kind.TRUTH, Kind.LETTER):
            yes_no = [("是", True), ("否", False)]
            letters = [(name, name) for name in _options(exercise, field, parameters)]
            choices = [(_UNSAID, None), *(yes_no if field.kind is Kind.TRUTH else letters)]
            row = self._one = ipywidgets.ToggleButtons(
                options=choices, value=None, style={"button_width": "5em"}
            )
        else:
            row = self._one = ipywidgets.Text(
                placeholder="数，可以带单位", layout={"width": "16em"}, tooltip=field.label
            )
            row = ipywidgets.HBox([row, ipywidgets.Label(field.unit)])
        self.box = ipywidgets.VBox([caption, row], layout={"margin": "0 0 .4em"})

    @property
    def value(self) -> Literal | None:
        if self._parts:
            return [part.description for part in self._parts if part.value] or None
        raw = self._one.value
        if not isinstance(raw, str):
            return raw
        try:
            return None if self.field.is_blank(raw) else literal(self.field.read(raw))
        except UnreadableError:
            return raw  # the check says what is wrong with it


class Form(ipywidgets.VBox):
    """One exercise as a form: prompt, entries, a check, the solution on request, the answers as code."""

    def __init__(self, exercise: Exercise, parameters: Parameters) -> None:
        self.exercise, self.parameters = exercise, parameters
        self.entries = [_Entry(exercise, field, parameters) for field in exercise.fields]
        self.said = ipywidgets.HTML()
        title = f"<h3>习题 {escape(exercise.id)}　{escape(exercise.title)}</h3>"
        prompt = ipywidgets.HTML(title + _paragraphs(exercise.prompt(parameters)))
        prompt.add_class("course-prompt")
        buttons = ipywidgets.HBox(
            [
                self._button(*pair)
                for pair in (("检查", self._check), ("写成代码", self._as_code), ("看解答", self._solve))
            ]
        )
        super().__init__([prompt, *(entry.box for entry in self.entries), buttons, self.said])
        self.add_class("course-form")

    @property
    def answers(self) -> dict[str, Any]:
        """The answers as a code cell would give them."""
        return {entry.field.name: entry.value for entry in self.entries}

    def _button(self, words: str, act: Any) -> ipywidgets.Button:
        button = ipywidgets.Button(description=words, tooltip=words, layout={"width": "8em"})
        button.on_click(lambda _: act())
        return button

    def _check(self) -> None:
        result = judge(self.exercise, parameters=self.parameters, answers=self.answers)
        self.said.value = feedback(result, start=_START, ask=_ASK).html()

    def _as_code(self) -> None:
        lines = "\n".join(f"{name} = {value!r}" for name, value in self.answers.items())
        self.said.value = f"<pre>{escape(lines)}</pre>"

    def _solve(self) -> None:
        self.said.value = Solution(self.exercise, self.parameters).html()


class Classroom(ipywidgets.VBox):
    """Several exercises, one at a time, to project; stored as a sentence."""

    def __init__(self, exercises: tuple[Exercise, ...], parameters: dict[str, Parameters]) -> None:
        self.forms = {e.id: Form(e, e.checked(parameters.get(e.id))) for e in exercises}
        options = [(f"{id}　{form.exercise.title}", id) for id, form in self.forms.items()]
        self.picker = ipywidgets.Dropdown(options=options, description="选一道题", style=_WIDE)
        self.picker.observe(lambda change: self._show(change["new"]), "value")
        super().__init__([self.picker])
        self._show(self.picker.value)

    def _show(self, id: str) -> None:
        self.children = (self.picker, self.forms[id])

    def _repr_mimebundle_(self, **kwargs) -> dict[str, Any]:
        words = f"课堂表单：习题 {'、'.join(self.forms)}。运行这一格，就能在这里作答。"
        return dict(super()._repr_mimebundle_(**kwargs) or {}) | {"text/plain": words}


def form(*ids: str, parameters: dict[str, Parameters] | None = None) -> Classroom:
    """Return a form for these exercises, by default the six of the chapter."""
    exercises = tuple(find(id) for id in ids) if ids else BOOK
    return Classroom(exercises, parameters or {})
