"""The player of walkthroughs: one worked example, step by step, for a projector and a keyboard.

Data and words come from ``show.walkthroughs``. A step that has a question stays closed to buttons, arrow keys
and handle until the class has committed itself, or the teacher skips the question; ``go`` opens any step.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Any, Final

import ipywidgets

from ..arguments import whole
from ..errors import CourseError
from .stage import DRAWING, Stage
from .walk_widgets import QuestionBox, big_button, make_setup
from .walkthroughs.steps import Step, Walk
from .widgets import classed, make_image

WIDTH: Final = 660  # CSS pixels at which the picture is shown
_HINT: Final = "最后一步：运行本单元后可以从头走"


class Walkthrough(ipywidgets.VBox):
    """One worked example at ``step``, counted from 1."""

    def __init__(self, walk: Walk, *, step: Any = 1) -> None:
        self.walk = walk
        self._step = self._opened = self._check(step)
        self._replies: dict[int, str] = {}
        with DRAWING:
            self.stage = Stage(*walk.size)
            with self.stage.style:
                self._update = walk.picture(self.stage)
                self._update(walk.steps[-1].state)
                self.stage.freeze()
        self._build()
        self._show()

    # What it shows

    @property
    def step(self) -> int:
        """The step on screen, from 1."""
        return self._step

    @property
    def text(self) -> str:
        """Everything said up to the present step, as plain text."""
        return self.walk.text(self._step)

    @property
    def pending(self) -> bool:
        """Whether the next step waits for an answer."""
        return self._step == self._opened < len(self.walk.steps) and self._next.ask is not None

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Live widget, the finished last step as a still picture, and all steps as plain text."""
        with DRAWING:
            self._update(self.walk.steps[-1].state)
            still = self.stage.still(_HINT)
            self._draw()
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        text = self.walk.text(len(self.walk.steps))
        bundle |= {"image/png": base64.b64encode(still).decode(), "text/plain": text}
        return bundle, {"image/png": {"width": WIDTH}}

    # What moves it

    def go(self, step: Any) -> None:
        """Open a step by its number, whatever questions lie before it: a lecture resumes here."""
        self._step = self._check(step)
        self._opened = max(self._opened, self._step)
        self._show()

    def forward(self) -> None:
        """Open the next step; if a question holds it back, lead the keyboard there."""
        if self.pending:
            self.question.focus()
        else:
            self.go(min(self._step + 1, len(self.walk.steps)))

    def back(self) -> None:
        """Show the step before."""
        self.go(max(self._step - 1, 1))

    def commit(self, said: object) -> None:
        """Take the class's answer and open the step it was asked for; what cannot be read is explained."""
        if not self.pending or self._next.ask is None:
            return
        try:
            self._replies[self._step + 1] = self._next.ask.reply(said)
        except CourseError as error:
            self.question.explain(str(error))
            return
        self.skip()

    def skip(self) -> None:
        """Open the step without an answer."""
        if self.pending:
            self.go(self._step + 1)
            self.buttons[-1].focus()  # the question is gone, and the keyboard's place with it

    @property
    def _next(self) -> Step:
        return self.walk.steps[self._step]

    def _check(self, step: Any) -> int:
        return whole("step", step, minimum=1, maximum=len(self.walk.steps))

    def _reachable(self, step: int) -> int:
        """Return the step itself, or the last one before a question that is still open."""
        asked = (n for n, each in enumerate(self.walk.steps, start=1) if each.ask and n > self._opened)
        return min(step, next(asked, len(self.walk.steps) + 1) - 1)

    def _dragged(self, change: dict[str, Any]) -> None:
        if change["new"] == self._step:
            return
        self.go(self._reachable(change["new"]))
        if self._step < change["new"]:
            self.question.focus()

    # How it is built

    def _build(self) -> None:
        self.image, self.words = make_image(WIDTH), classed("course-walk-words", ipywidgets.HTML())
        self.image.layout.max_width = f"{WIDTH}px"
        self.ledger = classed("course-walk-ledger", ipywidgets.HTML())
        self.question = QuestionBox(self.commit, self.skip)
        self.slider = ipywidgets.IntSlider(self._step, 1, len(self.walk.steps), readout=False, tooltip="步")
        self.slider.observe(self._dragged, "value")
        self.buttons = (
            big_button("◀ 上一步", "course-walk-back", self.back),
            big_button("下一步 ▶", "course-walk-next", self.forward),
        )
        self._place = classed("course-walk-place", ipywidgets.Label())
        self._bar = classed("course-walk-bar", ipywidgets.HBox([*self.buttons, self.slider, self._place]))
        middle = classed("course-walk-middle", ipywidgets.HBox([self.ledger, self.image]))
        super().__init__([make_setup(), self.words, middle, self.question.box, self._bar])
        self.add_class("course-walk")

    def _show(self) -> None:
        step = self.walk.steps[self._step - 1]
        self._draw()
        self.words.value = _words(self.walk.title, step)
        self.ledger.value = _ledger(self.walk, self._step)
        self.question.show(self._next.ask if self.pending else None, self._replies.get(self._step, ""))
        self._place.value = f"第 {self._step} 步，共 {len(self.walk.steps)} 步"
        self.slider.value = self._step

    def _draw(self) -> None:
        with DRAWING:
            self._update(self.walk.steps[self._step - 1].state)
            self.stage.draw()
            self.image.value = self.stage.png()


def _words(title: str, step: Step) -> str:
    name, formula, says = escape(step.name), escape(step.formula), escape(step.says)
    return (
        f'<div class="course-walk-title">{escape(title)}</div><div role="status" aria-live="polite">'
        f'<p class="course-walk-formula"><b>{name}</b>　{formula}</p><p>{says}</p></div>'
    )


def _ledger(walk: Walk, step: int) -> str:
    """Return the lines so far; the one just added is set off."""
    html = walk.ledger(step).html()
    if not walk.steps[step - 1].row:
        return html
    head, mark, last = html.rpartition("<tr>")
    return f'{head}<tr class="course-walk-new">{last}' if mark else html
