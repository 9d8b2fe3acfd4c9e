"""An explorer: controls → frozen inputs → number library → one picture, one table, one sentence.

``docs/adding-an-explorer.md`` shows how to write one in about 30 lines.
"""

from __future__ import annotations

import base64
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

import ipywidgets

from ..errors import CourseError
from .controls import Control
from .stage import DRAWING, Stage
from .tables import Table
from .widgets import classed, make_image, make_knobs, make_screen, setup_html

BOOK: Final = "书中的例子"
OURS: Final = "配套的例子"
_OWN: Final = "自己的设定"
_HINT: Final = "静态图：运行本单元后可拖动"
_STALE: Final = "图停在上一次算得出的状态。"


def _inputs_type(names: Iterable[str]) -> Callable[..., Any]:
    return namedtuple("Inputs", tuple(names))


class Explorer(ipywidgets.VBox):
    """Sliders that answer at once.

    ``inputs`` is a named tuple of the controls' values, ``result`` what ``compute(inputs)`` returned: a value
    of the number library or a tuple of them.

    - ``picture(stage)`` makes axes and marks once and returns ``update(inputs, result)``;
    - ``table(inputs, result)`` returns a ``Table``, ``sentence(inputs, result)`` Chinese text, both with the
      same facts as the picture;
    - ``code(inputs)`` returns Python that leaves in ``result`` what ``compute(inputs)`` returns;
    - ``presets`` maps a Chinese name to the values of some or all controls; the others are the book's;
    - ``home`` names the state to begin with: ``OURS`` where the book has no such numbers.
    """

    def __init__(
        self,
        *,
        title: str,
        controls: Sequence[Control],
        compute: Callable[[Any], Any],
        picture: Callable[[Stage], Callable[[Any, Any], None]],
        table: Callable[[Any, Any], Table],
        sentence: Callable[[Any, Any], str],
        code: Callable[[Any], str],
        presets: Mapping[str, Any] | None = None,
        home: str = BOOK,
        size: tuple[int, int] = (760, 400),
    ) -> None:
        self.title, self.controls, self._home = title, tuple(controls), home
        self.book = {control.name: control.book for control in self.controls}
        self.presets = {home: self.book} | {
            name: self.book | {**own} for name, own in (presets or {}).items()
        }
        self._inputs = _inputs_type(self.book)
        self._compute, self._table, self._sentence, self._code = compute, table, sentence, code
        self._followers: list[Callable[[], None]] = []
        self._leading = False
        self._still: tuple[Any, bytes] = (None, b"")
        with DRAWING:
            self.stage = Stage(*size)
            with self.stage.style:
                self._update = picture(self.stage)
                self._take(self._inputs(**self.book))
                self.stage.freeze()
                self._update(self.inputs, self.result)  # the layout has moved the axes: what words fit there?
                self.stage.draw()
        self._build()
        self._publish()

    # What it shows

    @property
    def text(self) -> str:
        """The facts of the present state as plain text: title, sentence, table."""
        return "\n".join((self.title, self._sentence(self.inputs, self.result), self.table.text()))

    @property
    def table(self) -> Table:
        """The table of the present state."""
        return self._table(self.inputs, self.result)

    @property
    def code(self) -> str:
        """The library call that gives the present state; it leaves its value in ``result``."""
        return self._code(self.inputs)

    @property
    def errors(self) -> tuple[str, ...]:
        """Explanations on screen, in the order of the controls, then the general one."""
        lines = (*(knob.error for knob in self.knobs.values()), self._message)
        return tuple(line.value for line in lines if line.value)

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict[str, Any], dict[str, Any]]:
        """Live widget, still picture and plain text: Jupyter takes the first that it can show."""
        with DRAWING:
            if self._still[0] != self.inputs:
                self._still = (self.inputs, self.stage.still(_HINT))
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle |= {"image/png": base64.b64encode(self._still[1]).decode(), "text/plain": self.text}
        return bundle, {"image/png": {"width": self.stage.width}}

    # What moves it

    def set(self, **values: Any) -> None:
        """Move several controls and draw once: all or none. A value that will not do is explained there."""
        for name in values:
            if name not in self.knobs:
                raise CourseError("没有这个控件", got=name, remedy=f"可选：{'、'.join(self.knobs)}")
        for name, value in values.items():
            try:
                self.knobs[name].control.check(value)
            except CourseError as error:
                self.knobs[name].explain(str(error))
                return
        for name, value in values.items():
            self.knobs[name].set(value)
        self.refresh()

    def feeds(self, target: Explorer, **how: Callable[[Any, Any], Any]) -> None:
        """Let results move another's controls: control name → function of (inputs, result) of this one.

        Two may feed each other: a change goes round once.
        """

        def follow() -> None:
            target.set(**{name: value(self.inputs, self.result) for name, value in how.items()})

        follow()
        self._followers.append(follow)

    def refresh(self) -> None:
        """Compute and draw the present state of the controls; explain what cannot be computed."""
        with DRAWING:
            wanted = self._inputs(**{name: knob.value for name, knob in self.knobs.items()})
            if wanted == self.inputs:
                self._explain(None)
                return
            try:
                self._take(wanted)
                self.stage.draw()
            except Exception as error:  # in a handler it would vanish into a log: the reader must see it
                self._explain(error)
                return
            self._explain(None)
            self._publish()
            self._lead()

    def _lead(self) -> None:
        """Let the followers move, unless they are moving already: two that feed each other never end."""
        if self._leading:
            return
        self._leading = True
        try:
            for follow in self._followers:
                follow()
        except Exception as error:  # in a handler it would vanish into a log: the reader must see it
            self._explain(error)
        finally:
            self._leading = False

    def _take(self, inputs: Any) -> None:
        """Compute before anything is touched, then hand the result to the marks."""
        result = self._compute(inputs)
        words = self._words(inputs, result)
        self._update(inputs, result)
        self.inputs, self.result, self._written = inputs, result, words

    def _words(self, inputs: Any, result: Any) -> str:
        sentence = escape(self._sentence(inputs, result))
        return f'<p role="status" aria-live="polite">{sentence}</p>{self._table(inputs, result).html()}'

    def _explain(self, error: Exception | None) -> None:
        if error is None:
            sentences = {}
        elif isinstance(error, CourseError):
            names = [name for name in self.knobs if str(error).startswith(name)]
            sentences = {max(names, key=len, default=""): f"{error}{_STALE}"}
        else:
            sentences = {"": f"这里算不下去：{type(error).__name__}：{error}。{_STALE}"}
        for name, knob in self.knobs.items():
            knob.explain(sentences.get(name, ""))
        self._message.value = escape(sentences.get("", ""))

    def _publish(self) -> None:
        self.image.value = self.stage.png()
        self.words.value = self._written
        known = (name for name, values in self.presets.items() if values == self.inputs._asdict())
        self._preset.value = next(known, _OWN)
        if self._shown_code.value:
            self._shown_code.value = self._code_html()

    def _on_screen(self, sharp: bool) -> None:
        with DRAWING:
            self.stage.sharp = sharp
            self.image.value = self.stage.png()

    def _build(self) -> None:
        self.knobs = make_knobs(self.controls, self.refresh)
        self.image = make_image(self.stage.width)
        self.words = classed("course-words", ipywidgets.HTML())
        self._message, self._shown_code = classed("course-error", ipywidgets.HTML()), ipywidgets.HTML()
        controls = classed("course-controls", ipywidgets.Box([knob.box for knob in self.knobs.values()]))
        picture = ipywidgets.Box(
            [self.image, self.words], layout={"flex_flow": "row wrap", "align_items": "flex-start"}
        )
        title = ipywidgets.HTML(f'<div class="course-title">{escape(self.title)}</div>{setup_html()}')
        below = (picture, self._shown_code, make_screen(self._on_screen))
        super().__init__([title, self._make_buttons(), controls, self._message, *below])
        self.add_class("course-explorer")

    def _make_buttons(self) -> ipywidgets.Widget:
        back = ipywidgets.Button(
            description=f"回到{self._home}", tooltip="所有控件回到起初的数", layout={"width": "10em"}
        )
        back.on_click(lambda _: self.set(**self.book))
        self._preset = ipywidgets.Dropdown(
            options=[*self.presets, _OWN],
            description="现成的设定",
            tooltip="现成的设定",
            style={"description_width": "6em"},
            layout={"width": "26em"},
        )
        self._preset.observe(self._preset_chosen, "value")
        show = ipywidgets.ToggleButton(
            description="显示代码", tooltip="得到当前状态的调用", layout={"width": "7em"}
        )
        show.observe(self._code_wanted, "value")
        return ipywidgets.HBox([back, self._preset, show], layout={"flex_flow": "row wrap"})

    def _preset_chosen(self, change: dict) -> None:
        if change["new"] != _OWN and self.presets[change["new"]] != self.inputs._asdict():
            self.set(**self.presets[change["new"]])

    def _code_wanted(self, change: dict) -> None:
        self._shown_code.value = self._code_html() if change["new"] else ""

    def _code_html(self) -> str:
        return f"<pre>{escape(self.code)}</pre>"
