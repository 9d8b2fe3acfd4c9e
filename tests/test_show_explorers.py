"""Every explorer, without a browser: pictures without residue, errors on screen, code that reproduces.

Each explorer is led once through the ends of all its controls, its presets and some states at random; what
was seen there is what the tests look at.
"""

import base64
import random
import re
import warnings
from dataclasses import dataclass

import pytest
from matplotlib import font_manager, get_data_path

from course_lib.show.controls import Choice, Number
from course_lib.show.explorer import BOOK, OURS
from course_lib.show.explorers import all_explorers
from course_lib.show.fonts import FONT_FILE, use_course_font
from course_lib.show.lettering import word_picture

MAKERS = tuple(all_explorers())
NAMES = [
    f"{maker.__module__.removeprefix('course_lib.show.explorers.')}-{maker.__name__}" for maker in MAKERS
]


# The chapter prints the numbers with which these begin: 27.1, table 27.1, figure 27.1, the decimal analogy,
# example 27.2, eight sequences, example 27.3, the transfer of 1 MB, the givens of exercises 1, 2 and 4.
FROM_THE_BOOK = {
    "filling_up", "ledger", "lifetimes", "decimal_master", "event_mean", "eight_sequences", "shares",
    "step_time", "larger_microbatch", "two_means", "two_copies",
}  # fmt: skip


@dataclass(frozen=True)
class Sight:
    """What an explorer showed in one state; ``whole`` is the picture drawn from nothing, where it was."""

    state: dict
    errors: tuple
    inputs: dict
    shown: tuple
    whole: bytes
    result: object
    executed: object


@dataclass(frozen=True)
class Visit:
    name: str
    explorer: object
    at_first: tuple
    sights: tuple
    at_last: tuple


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


def run(code):
    names = {}
    exec(code, names)
    return names["result"]


def shown_by(explorer):
    return explorer.image.value, explorer.words.value


def look_at(explorer, state, whole):
    explorer.set(**state)
    well = not explorer.errors
    return Sight(
        state=state,
        errors=explorer.errors,
        inputs=explorer.inputs._asdict(),
        shown=shown_by(explorer),
        whole=explorer.stage.redraw_all() if well and whole else b"",
        result=explorer.result,
        executed=run(explorer.code) if well else None,
    )


@pytest.fixture(scope="module")
def no_system_fonts():
    """Hide every font but matplotlib's own and the course's, as on a machine that has none."""
    use_course_font()
    manager, own = font_manager.fontManager, (get_data_path(), str(FONT_FILE))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manager, "ttflist", [font for font in manager.ttflist if font.fname.startswith(own)])
        manager._findfont_cached.cache_clear()
        yield
    manager._findfont_cached.cache_clear()


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param((maker, 8), id=name) for maker, name in zip(MAKERS, NAMES, strict=True)),
        *(
            pytest.param((maker, 1), id=f"{name}-all", marks=pytest.mark.slow)
            for maker, name in zip(MAKERS, NAMES, strict=True)
        ),
    ],
)
def visit(request, no_system_fonts):
    """Lead an explorer through its states; every so manieth picture is also drawn from nothing."""
    maker, every = request.param
    word_picture.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph is a warning, and so is a slip in numpy
        explorer = maker()
        first = shown_by(explorer)
        sights = tuple(look_at(explorer, s, n % every == 0) for n, s in enumerate(states(explorer)))
        explorer.set(**explorer.book)
        return Visit(maker.__name__, explorer, first, sights, shown_by(explorer))


def test_a_handle_reaches_only_values_that_its_control_takes(visit):
    for control in visit.explorer.controls:
        if isinstance(control, Number):
            assert [control.check(stop) for stop in control.stops] == list(control.stops), control.name


def test_every_state_is_shown_or_refused_with_a_sentence(visit):
    for sight in visit.sights:
        if sight.errors:
            assert not re.search(r"算不下去|\w+Error", "".join(sight.errors)), (sight.state, sight.errors)
        else:
            assert sight.inputs == sight.state


def test_every_picture_equals_a_full_redraw(visit):
    assert [sight.state for sight in visit.sights if sight.whole and sight.whole != sight.shown[0]] == []


def test_back_to_the_book_leaves_nothing_behind(visit):
    assert visit.at_first == visit.at_last


def test_only_printed_numbers_are_called_the_books(visit):
    home = BOOK if visit.name in FROM_THE_BOOK else OURS
    assert next(iter(visit.explorer.presets)) == home


def test_every_control_does_something(visit):
    for control in visit.explorer.controls:
        ends = [visit.explorer.book | {control.name: value} for value in ends_of(control)]
        seen = {(sight.shown, sight.errors) for sight in visit.sights if sight.state in ends}
        assert len(seen) > 1, control.name


def test_code_reproduces_every_state(visit):
    assert [s.state for s in visit.sights if not s.errors and s.executed != s.result] == []


def test_bundle_is_complete_and_carries_no_ids(visit):
    bundle, metadata = visit.explorer._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"} <= set(bundle)
    assert base64.b64decode(bundle["image/png"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert metadata["image/png"]["width"] == visit.explorer.stage.width
    assert bundle["text/plain"].startswith(visit.explorer.title)
    assert visit.explorer.model_id not in bundle["text/plain"]
    assert len(bundle["image/png"]) < 250_000


def test_a_broken_handler_is_shown_and_the_last_picture_stays(visit, monkeypatch):
    explorer, before = visit.explorer, shown_by(visit.explorer)
    control = explorer.controls[0]
    other = next(value for value in ends_of(control) if value != control.book)

    def broken(inputs):
        raise ZeroDivisionError("坏了")

    with monkeypatch.context() as patch:
        patch.setattr(explorer, "_compute", broken)
        explorer.set(**{control.name: other})
        assert "ZeroDivisionError：坏了" in explorer.errors[-1]
        assert shown_by(explorer) == before
    explorer.set(**explorer.book)
    assert explorer.errors == ()
