"""Every explorer, without a browser: pictures without residue, errors on screen, code that reproduces."""

import base64
import random
import re
import warnings

import pytest

from course_lib.show.controls import Choice, Number
from course_lib.show.explorers import all_explorers
from course_lib.show.lettering import word_picture

MAKERS = tuple(all_explorers())


@pytest.fixture(scope="module", params=MAKERS, ids=[f"{m.__module__[-5:]}-{m.__name__}" for m in MAKERS])
def explorer(request):
    return request.param()


@pytest.fixture(autouse=True)
def at_the_book(explorer):
    explorer.set(**explorer.book)


def ends_of(control):
    if isinstance(control, Number):
        return control.stops[0], control.stops[-1]
    return tuple(control.options) if isinstance(control, Choice) else (False, True)


def states(explorer):
    """The ends of every control, every preset, and a few at random: always the same ones."""
    for control in explorer.controls:
        for value in ends_of(control):
            yield explorer.book | {control.name: value}
    yield from explorer.presets.values()
    dice = random.Random(27)
    for _ in range(4):
        yield {
            c.name: dice.choice(c.stops if isinstance(c, Number) else ends_of(c)) for c in explorer.controls
        }


def executed(code):
    names = {}
    exec(code, names)
    return names["result"]


def test_every_state_is_drawn_like_a_full_redraw_or_explained(explorer):
    for state in states(explorer):
        explorer.set(**state)
        if explorer.errors:
            assert not re.search("算不下去|Error", "".join(explorer.errors)), (state, explorer.errors)
            continue
        assert explorer.inputs._asdict() == state
        assert explorer.stage.redraw_all() == explorer.image.value, state


def test_back_to_the_book_leaves_nothing_behind(explorer):
    before = explorer.image.value, explorer.words.value
    for state in states(explorer):
        explorer.set(**state)
    explorer.set(**explorer.book)
    assert (explorer.image.value, explorer.words.value) == before


def test_something_is_drawn_and_every_control_does_something(explorer):
    assert len(set(explorer.stage.canvas.buffer_rgba().tobytes()[::997])) > 3
    for control in explorer.controls:
        seen = set()
        for value in ends_of(control):
            explorer.set(**explorer.book | {control.name: value})
            seen.add((explorer.image.value, explorer.words.value, explorer.errors))
        assert len(seen) > 1, control.name


def test_code_reproduces_the_state(explorer):
    for state in states(explorer):
        explorer.set(**state)
        if not explorer.errors:
            assert executed(explorer.code) == explorer.result, state


def test_bundle_is_complete_and_carries_no_ids(explorer):
    bundle, metadata = explorer._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"} <= set(bundle)
    assert base64.b64decode(bundle["image/png"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert metadata["image/png"]["width"] == explorer.stage.width
    assert bundle["text/plain"].startswith(explorer.title)
    assert explorer.model_id not in bundle["text/plain"]
    assert len(bundle["image/png"]) < 200_000


def test_no_label_misses_a_glyph(explorer):
    """The fonts are the course's and matplotlib's own; a glyph in neither is a warning, here an error."""
    word_picture.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for state in states(explorer):
            explorer.set(**state)
            assert not any("Glyph" in error for error in explorer.errors), explorer.errors
            explorer.stage.redraw_all()


def test_a_broken_handler_is_shown_and_the_last_picture_stays(explorer, monkeypatch):
    before = explorer.image.value
    number = next(control for control in explorer.controls if isinstance(control, Number))
    other = number.stops[0] if number.stops[0] != number.book else number.stops[-1]

    def broken(inputs):
        raise ZeroDivisionError("坏了")

    monkeypatch.setattr(explorer, "_compute", broken)
    explorer.set(**{number.name: other})
    assert "ZeroDivisionError：坏了" in explorer.errors[-1]
    assert explorer.image.value == before
