"""Widgets for the controls: a label that is never cut, a handle to drag, a box to type in, a line for errors.

A ``Knob`` holds the exact value; slider and box are two views of it. Its ``error`` line explains what was
wrong right where it was entered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets

from ..errors import CourseError
from .controls import Choice, Control, Number, parse_number, show_number
from .palette import DARK_FILTER

_HANDLE, _TYPED, _UNIT, _GAP = 10, 10, 4, 1  # widths in em

# Sets names for screen readers, and keeps keys pressed on a control from running a notebook command: "x"
# would cut the cell, an arrow leave the list. Keys with Ctrl, Shift + Enter and Esc work as ever. Runs when
# it appears, and tells how many pixels of the screen a CSS pixel has, now and after zooming.
_SETUP = """
const root=this.closest('.course-explorer');
root.querySelectorAll('.noUi-handle').forEach(h=>{
const l=h.closest('.widget-hslider')?.querySelector('.widget-label');
if(l)h.setAttribute('aria-label',l.textContent)});
root.querySelectorAll('.widget-image').forEach(i=>i.alt=root.querySelector('.course-title').textContent);
if(!window.courseKeys){window.courseKeys=1;window.addEventListener('keydown',e=>{const h=e.target;
if(!h.closest||!h.closest('.course-explorer'))return;
h.toggleAttribute('data-lm-suppress-shortcuts',
!(e.ctrlKey||e.metaKey||e.altKey||e.key==='Escape'||e.key==='Enter'&&e.shiftKey))},true)}
const tell=()=>{const s=root.querySelector('.course-screen input'),d=String(window.devicePixelRatio);
if(s&&s.value!==d){s.value=d;s.dispatchEvent(new Event('input',{bubbles:true}))}};
tell();window.addEventListener('resize',tell);
"""

STYLE = """<style>
.course-explorer{max-width:100%;overflow:hidden}
.course-explorer .course-controls{display:flex;flex-flow:row wrap;column-gap:1.5em}
.course-explorer .course-words .widget-html-content{line-height:1.5;min-width:0;overflow-x:auto}
.course-explorer .course-words{flex:1 1 24em;min-width:0;max-width:100%}
.course-explorer .course-words p{margin:.3em 0}
.course-explorer table{border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums}
.course-explorer td,.course-explorer th{word-break:keep-all;padding:.15em .45em;
border-bottom:1px solid var(--jp-border-color2,#ccc)}
.course-explorer .course-error{color:var(--jp-error-color1,#b3261e)}
.course-explorer .course-error .widget-html-content{line-height:1.4}
.course-explorer .course-title{font-weight:600;font-size:1.1em}
.course-explorer.jupyter-widgets-disconnected::before{content:"内核不在了：图停在最后的状态，重新运行本单元后可拖动";
font:inherit;color:var(--jp-warn-color1,#8a5a00);padding:0}
.course-explorer.jupyter-widgets-disconnected .jupyter-widgets-disconnected::before{content:none}
[data-jp-theme-light='false'] .course-explorer .widget-image{filter:DARK_FILTER}
@keyframes course-here{from{opacity:.99}to{opacity:1}}
</style>"""


def setup_html() -> str:
    """Return the style and the start-up script of an explorer, for one invisible HTML widget."""
    script = escape(" ".join(_SETUP.split()), quote=True)
    style = STYLE.replace("DARK_FILTER", DARK_FILTER)
    return f'{style}<i style="animation:course-here 1ms" onanimationstart="{script}"></i>'


def classed(name: str, widget: Any) -> Any:
    """Return the widget, with a CSS class."""
    widget.add_class(name)
    return widget


def make_screen(changed: Callable[[bool], None]) -> ipywidgets.Widget:
    """Return an unseen widget in which the page writes its pixels per CSS pixel; more than one is sharp."""
    screen = classed("course-screen", ipywidgets.Text(layout={"display": "none"}))
    screen.observe(lambda change: changed(change["new"] != "1"), "value")
    return screen


def make_image(width: int) -> ipywidgets.Image:
    """Return the widget that holds the picture, as many CSS pixels wide where there is room."""
    image = ipywidgets.Image(format="png", layout={"width": f"{width}px", "max_width": "100%"})
    image.layout.object_fit = "contain"
    return image


class Knob:
    """One control on screen: ``value`` is exact, ``box`` the widget, ``changed`` is called after a change."""

    def __init__(self, control: Control, changed: Callable[[], None], label_em: float) -> None:
        self.control, self._changed, self._quiet = control, changed, False
        self._label_em, total = label_em, label_em + _HANDLE + _TYPED + _UNIT
        self.value: Any = control.book
        self.error = classed("course-error", ipywidgets.HTML(layout={"display": "none"}))
        look = {
            "description": control.label,
            "tooltip": control.hint or control.label,  # without one, hovering says "null"
            "style": {"description_width": f"{label_em}em"},
        }
        self.box = ipywidgets.VBox([ipywidgets.HBox(self._make(look)), self.error])
        self.box.layout.width = f"{total}em"

    def set(self, value: object) -> None:
        """Take a checked value over into the view without calling ``changed``."""
        self.value = self.control.check(value)
        self._show_quietly()
        self.explain("")

    def explain(self, sentence: str) -> None:
        """Show a sentence under the control, or take it away."""
        if sentence.startswith(self.control.name):  # the reader sees the label, not the argument's name
            sentence = f"{self.control.label}：{sentence}"
        if self.error.value != (shown := escape(sentence)):
            self.error.value = shown
            self.error.layout.display = "" if sentence else "none"
            if not sentence:
                self._show_quietly()  # what was typed in vain does not stay when its explanation goes

    def _make(self, look: dict[str, Any]) -> list[ipywidgets.Widget]:
        look["layout"] = {"width": f"{self._label_em + _HANDLE + _TYPED + _UNIT}em"}
        if isinstance(self.control, Choice):
            options = [(label, value) for value, label in self.control.options.items()]
            self._view = ipywidgets.Dropdown(options=options, value=self.value, **look)
        else:
            self._view = ipywidgets.Checkbox(value=self.value, **look)
        self._view.observe(lambda change: self._moved(lambda: change["new"]), "value")
        return [self._view]

    def _show_quietly(self) -> None:
        self._quiet = True
        try:
            self._show()
        finally:
            self._quiet = False

    def _show(self) -> None:
        self._view.value = self.value

    def _moved(self, read: Callable[[], object]) -> None:
        if self._quiet:
            return
        try:
            self.set(read())
        except CourseError as error:
            self.explain(str(error))
            return
        self._changed()


class NumberKnob(Knob):
    """A handle over the stops and a box for the exact value, both showing the same number."""

    control: Number

    def _make(self, look: dict[str, Any]) -> list[ipywidgets.Widget]:
        stops = self.control.stops
        bounds = {"min": 0, "max": len(stops) - 1, "step": 1}
        if isinstance(stops, range):  # a screen reader then says the value itself
            bounds = {"min": stops[0], "max": stops[-1], "step": stops.step}
        self._handle = ipywidgets.IntSlider(
            value=self._position(),
            readout=False,
            layout={"width": f"{self._label_em + _HANDLE}em"},
            **bounds,
            **look,
        )
        self._typed = ipywidgets.Text(
            show_number(self.value),
            continuous_update=False,
            layout={"width": f"{_TYPED}em"},
            tooltip=f"输入{self.control.label}",
        )
        self._handle.observe(lambda change: self._moved(lambda: self._value_at(change["new"])), "value")
        self._typed.observe(
            lambda change: self._moved(
                lambda: parse_number(self.control.name, change["new"], unit=self.control.unit)
            ),
            "value",
        )
        return [self._handle, self._typed, ipywidgets.Label(self.control.unit, layout={"flex": "none"})]

    def _position(self) -> int:
        """The handle's place: the value itself on a range, else the number of the stop at or above it."""
        stops = self.control.stops
        place = min(bisect_left(stops, self.value), len(stops) - 1)
        return stops[place] if isinstance(stops, range) else place

    def _value_at(self, position: int) -> Any:
        stops = self.control.stops
        return position if isinstance(stops, range) else stops[position]

    def _show(self) -> None:
        self._typed.value = show_number(self.value)
        self._handle.value = self._position()


def make_knobs(controls: Sequence[Control], changed: Callable[[], None]) -> dict[str, Knob]:
    """Return name → knob; all labels get the room that the longest needs."""
    label_em = max(len(control.label) for control in controls) + _GAP
    return {
        control.name: (NumberKnob if isinstance(control, Number) else Knob)(control, changed, label_em)
        for control in controls
    }
