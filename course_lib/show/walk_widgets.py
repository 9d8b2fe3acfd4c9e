"""Widgets of the walkthrough player: large buttons, the question before a step, style and arrow keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any, Final

import ipywidgets

from .palette import DARK_FILTER
from .walkthroughs.steps import Question
from .widgets import classed

_SKIP: Final = "直接看"

# Arrow and page keys work wherever the keyboard is in a walkthrough, but for its entry and its handle, which
# have their own; other keys stay with the walkthrough as they do with an explorer.
_KEYS: Final = """
const root=this.closest('.course-walk');
root.querySelectorAll('.noUi-handle').forEach(h=>h.setAttribute('aria-label','步'));
root.querySelectorAll('.widget-image').forEach(i=>i.alt=root.querySelector('.course-walk-title').textContent);
if(!window.courseWalkKeys){window.courseWalkKeys=1;window.addEventListener('keydown',e=>{
const walk=e.target.closest&&e.target.closest('.course-walk');if(!walk)return;
const other=e.ctrlKey||e.metaKey||e.altKey||e.key==='Escape'||e.key==='Enter'&&e.shiftKey;
e.target.toggleAttribute('data-lm-suppress-shortcuts',!other);
if(other||e.target.matches('input,.noUi-handle'))return;
const way={ArrowRight:'next',PageDown:'next',ArrowLeft:'back',PageUp:'back'}[e.key];
if(way){e.preventDefault();e.stopPropagation();walk.querySelector('.course-walk-'+way).click()}},true)}
"""

_STYLE: Final = """<style>
.course-walk{max-width:100%;overflow:hidden;font-size:20px;padding:2px}
.course-walk .widget-html-content{font-size:20px;line-height:1.4}
.course-walk p{margin:.15em 0}
.course-walk .course-walk-title{font-size:18px;color:var(--jp-ui-font-color2,#616161)}
.course-walk .course-walk-words{min-height:100px;margin:0}
.course-walk .course-walk-formula{font-size:24px;font-variant-numeric:tabular-nums}
.course-walk .course-walk-middle{align-items:flex-start;overflow:hidden;column-gap:12px;min-height:308px}
.course-walk .course-walk-ledger{flex:0 0 344px;min-width:0;margin:0}
.course-walk .course-walk-middle .widget-image{flex:1 1 0;min-width:0;height:auto}
.course-walk table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:18px;width:100%}
.course-walk tr>:not(:first-child){text-align:right!important}
.course-walk td,.course-walk th{padding:.1em .35em;white-space:nowrap;
border-bottom:1px solid var(--jp-border-color2,#ccc)}
.course-walk .course-walk-new td{font-weight:700;background:var(--jp-layout-color3,#ddd)}
.course-walk button{font-size:20px;height:42px;line-height:42px;width:auto;padding:0 .9em}
.course-walk button:focus-visible,.course-walk .noUi-handle:focus-visible{
outline:3px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}
.course-walk .widget-label{font-size:18px;height:42px;line-height:42px}
.course-walk input[type=text]{font-size:20px;height:40px}
.course-walk .widget-text{height:44px}
.course-walk .widget-hslider{height:42px;width:330px;margin:0 14px}
.course-walk .course-walk-question{min-height:106px;justify-content:flex-end}
.course-walk .course-error{color:var(--jp-error-color1,#b3261e)}
.course-walk.jupyter-widgets-disconnected::before{content:"内核不在了：运行本单元后可以接着走";
font:inherit;color:var(--jp-warn-color1,#8a5a00);padding:0}
.course-walk.jupyter-widgets-disconnected .jupyter-widgets-disconnected::before{content:none}
[data-jp-theme-light='false'] .course-walk .widget-image{filter:DARK_FILTER}
@keyframes course-walk-here{from{opacity:.99}to{opacity:1}}
</style>"""


def make_setup() -> ipywidgets.HTML:
    """Return style and keys of a walkthrough, as a widget without height."""
    script = escape(" ".join(_KEYS.split()), quote=True)
    style = _STYLE.replace("DARK_FILTER", DARK_FILTER)
    html = f'{style}<i style="animation:course-walk-here 1ms" onanimationstart="{script}"></i>'
    return ipywidgets.HTML(html, layout={"height": "0", "margin": "0"})


def big_button(words: str, name: str, act: Callable[[], None]) -> ipywidgets.Button:
    """Return a button that calls ``act``; a name for the page to find it."""
    button = classed(name, ipywidgets.Button(description=words, tooltip=words))
    button.on_click(lambda _: act())
    return button


class QuestionBox:
    """A question with its entry or its choices and 「直接看」; empty, or a reply, where none is open."""

    def __init__(self, commit: Callable[[object], None], skip: Callable[[], None]) -> None:
        self._commit, self._skip = commit, big_button(_SKIP, "course-walk-skip", skip)
        self._words = ipywidgets.HTML()
        self._error = classed("course-error", ipywidgets.HTML())
        self._row = ipywidgets.HBox(layout={"flex_flow": "row wrap"})
        self.box = classed("course-walk-question", ipywidgets.VBox([self._words, self._row]))
        self._asked: Question | None = None
        self._reply = ""

    @property
    def choices(self) -> tuple[Any, ...]:
        """The widgets of the question that is open, 「直接看」 last; none where there is none."""
        return self._row.children[:-1]  # the last holds errors

    @property
    def said(self) -> str:
        """The reply to the last answer."""
        return self._reply

    @property
    def error(self) -> str:
        """Why the last answer was not taken."""
        return self._error.value

    def show(self, question: Question | None, reply: str) -> None:
        """Show the reply to the last answer and the question that is open."""
        self._reply = reply
        lines = (escape(reply), f"<b>{escape(question.words)}</b>" if question else "")
        self._words.value = "<br>".join(filter(None, lines))
        self.explain("")
        if question is not self._asked:
            self._asked = question
            self._row.children = (*self._entries(question), self._skip, self._error) if question else ()

    def explain(self, sentence: str) -> None:
        """Say why an answer was not taken."""
        self._error.value = escape(sentence)

    def focus(self) -> None:
        """Lead the keyboard to the answer."""
        if self._asked:
            self.choices[0].focus()

    def _entries(self, question: Question) -> tuple[Any, ...]:
        if question.options:
            return tuple(
                big_button(option, "course-walk-option", partial(self._commit, option))
                for option in question.options
            )
        # Return, or leaving the entry, hands the whole text over: letters sent singly would come too late.
        entry = ipywidgets.Text(
            placeholder="写下一个数，按回车",
            continuous_update=False,
            layout={"width": "260px"},
            tooltip="猜测",
        )
        entry.observe(lambda change: change["new"] and self._commit(change["new"]), "value")
        commit = big_button("就猜这个", "course-walk-commit", lambda: self._commit(entry.value))
        return entry, ipywidgets.Label(question.unit), commit
