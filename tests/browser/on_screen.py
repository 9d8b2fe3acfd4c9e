"""An explorer on screen, moved as a reader moves it and held against the library in this process.

Each movement is followed until the screen shows what the library gives for the controls' present values: the
same words and, pixel by pixel, the same picture.
"""

from __future__ import annotations

import base64
import io
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any

import numpy as np
from PIL import Image

from course_lib.show.controls import Choice, Number, Switch, parse_number
from course_lib.show.explorers import all_explorers

PATIENCE = 20  # seconds that a busy machine may take to answer

_LOOK = """async explorer => {
    const values = [...explorer.querySelector('.course-controls').children].map(box => {
        const [typed, list, tick] = ['input[type=text]', 'select', 'input[type=checkbox]']
            .map(part => box.querySelector(part));
        return typed ? typed.value : list ? list.selectedIndex : tick.checked });
    const words = explorer.querySelector('.course-words .widget-html-content').innerHTML;
    const errors = [...explorer.querySelectorAll('.course-error')].map(e => e.textContent.trim());
    const bytes = new Uint8Array(await (await fetch(explorer.querySelector('img').src)).arrayBuffer());
    let text = ''; bytes.forEach(byte => { text += String.fromCharCode(byte) });
    return [values, words, errors.filter(Boolean), btoa(text)] }"""


@dataclass(frozen=True)
class Look:
    """What is on screen, or what the library gives: values of the controls, words, errors, picture."""

    values: tuple[Any, ...]
    words: str
    errors: tuple[str, ...]
    picture: bytes

    def differs_from(self, other: Look, *, picture: bool) -> bool:
        return self.words != other.words and (self.picture != other.picture or not picture)


def plain(html: str) -> str:
    """The words of HTML, one space between any two."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@cache
def _made(number: int) -> Any:
    return list(all_explorers())[number]()


def twin_of(title: str) -> Any:
    """The explorer of this title, made in this process; each is made once."""
    for number in range(len(list(all_explorers()))):
        if (made := _made(number)).title == title:
            return made
    raise AssertionError(f"no explorer is called {title}")


class OnScreen:
    """One explorer in the page; ``twin`` is the same in this process."""

    def __init__(self, page: Any, element: Any) -> None:
        self.page, self.element = page, element
        self.title = element.query_selector(".course-title").inner_text()
        self.twin = twin_of(self.title)
        self.twin.children[-1].value = element.evaluate("() => String(window.devicePixelRatio)")
        self._boxes = element.query_selector(".course-controls").query_selector_all(":scope > *")

    def look(self) -> Look:
        raw, words, errors, picture = self.element.evaluate(_LOOK)
        read = zip(self.twin.controls, raw, strict=True)
        values = tuple(_value(control, shown) for control, shown in read)
        return Look(values, plain(words), tuple(errors), base64.b64decode(picture))

    def library(self, values: tuple[Any, ...]) -> Look:
        """What the library gives for these values."""
        names = [control.name for control in self.twin.controls]
        self.twin.set(**dict(zip(names, values, strict=True)))
        errors = tuple(plain(error) for error in self.twin.errors)
        return Look(values, plain(self.twin.words.value), errors, self.twin.image.value)

    def settles(self, wanted: Callable[[Look], bool] = lambda look: True) -> Look:
        """Wait until the screen is as wanted and agrees with the library; say what does not otherwise."""
        end = time.monotonic() + PATIENCE
        while True:
            now = self.look()
            if wanted(now) and not (trouble := self._disagreement(now)):
                return now
            if time.monotonic() > end:
                trouble = trouble if wanted(now) else "not what was asked for"
                raise AssertionError(f"{self.title}: {trouble}: {now.values}")
            self.page.wait_for_timeout(50)

    def _disagreement(self, now: Look) -> str:
        right = self.library(now.values)
        if right.errors or now.errors:  # the picture stays at the last good state, whichever that was
            return "" if right.errors == now.errors else f"{now.errors} instead of {right.errors}"
        if now.words != right.words:
            return f"{now.words!r} instead of {right.words!r}"
        same = np.array_equal(*(np.asarray(Image.open(io.BytesIO(look.picture))) for look in (now, right)))
        return "" if same else "another picture than the library's"

    def after(self, act: Callable[[], None]) -> Look:
        """Do something that moves a control, and wait for the whole answer."""
        before = self.look()
        act()
        return self.settles(lambda now: now.values != before.values)

    def home(self) -> Look:
        """Press the button back to the first state."""
        self.element.query_selector("button").click()
        book = tuple(self.twin.book.values())
        return self.settles(lambda now: now.values == book)

    def controls(self) -> Iterator[tuple[Any, Any]]:
        """Yield each control with the box that holds it."""
        return zip(self.twin.controls, self._boxes, strict=True)

    def keys(self, control: Any, box: Any) -> Iterator[Look]:
        """Move a control away from the first state by the keyboard, in several ways; yield each answer."""
        for keys in _ways(control):
            box.query_selector(".noUi-handle, select, input[type=checkbox]").focus()
            yield self.after(lambda keys=keys: [self.page.keyboard.press(key) for key in keys])
            self.home()

    def type_into(self, box: Any, text: str) -> Look:
        field = box.query_selector("input[type=text]")
        return self.after(lambda: (field.fill(text), field.press("Enter")))

    def drag(self, control: Number, box: Any, share: float) -> Look:
        """Drag a handle with the mouse, in small steps, to a share of its track; what counts is the end."""
        handle, track = (box.query_selector(part) for part in (".noUi-handle", ".noUi-base"))
        handle.scroll_into_view_if_needed()
        start, way = handle.bounding_box(), track.bounding_box()
        x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
        mouse = self.page.mouse

        def pull() -> None:
            mouse.move(x, y)
            mouse.down()
            mouse.move(way["x"] + way["width"] * share, y, steps=12)
            mouse.up()

        self.after(pull)
        number = self.twin.controls.index(control)
        return self.settles(lambda now: now.values[number] == _pointed_at(control, handle))

    def click(self, box: Any) -> Look:
        """Set a switch, or take another line of a list, with the mouse."""
        if tick := box.query_selector("input[type=checkbox]"):
            return self.after(tick.click)
        chosen = box.query_selector("select")
        count = chosen.evaluate("list => list.length")
        other = (chosen.evaluate("list => list.selectedIndex") + 1) % count
        return self.after(lambda: (chosen.click(), chosen.select_option(index=other)))


def _ways(control: Any) -> list[list[str]]:
    """The keys that lead away from where a control begins: first a small step, then to the ends."""
    if isinstance(control, Switch):
        return [["Space"]]
    if isinstance(control, Choice):
        above = list(control.options).index(control.book)
        below = len(control.options) - 1 - above
        return [["ArrowDown"] * n for n in range(1, below + 1)] + [
            ["ArrowUp"] * n for n in range(1, above + 1)
        ]
    if control.book == control.stops[0]:
        return [["ArrowRight"], ["End"]]
    if control.book == control.stops[-1]:
        return [["ArrowLeft"], ["Home"]]
    return [["ArrowRight"], ["Home"], ["End"]]


def _pointed_at(control: Number, handle: Any) -> Any:
    """The value of the stop that a handle stands on."""
    place = round(float(handle.get_attribute("aria-valuenow")))
    return place if isinstance(control.stops, range) else control.stops[place]


def _value(control: Any, shown: Any) -> Any:
    if isinstance(control, Number):
        return parse_number(control.name, shown)
    return list(control.options)[shown] if isinstance(control, Choice) else shown
