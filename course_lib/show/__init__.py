"""Tables, pictures and explorers: the only home of matplotlib and ipywidgets.

Importing this loads neither; they come with the first picture or explorer.

- ``ledger_table(ledger)`` shows a ledger as a table; ``Table`` any other.
- ``reveal`` sets a reader's guess, ``against_print`` a printed figure, beside what was computed.
- ``Explorer`` with the controls ``Number``, ``Choice``, ``Switch`` makes sliders that answer at once.
- ``Stage`` and ``show.charts`` draw; ``show.palette`` holds the colours.
- ``show.explorers`` has the finished explorers, one module per section.
- ``walk`` opens a worked example of ``show.walkthroughs``, to be gone through step by step in class.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import fonts as fonts  # first: it quietens matplotlib's start
from .controls import Choice, Number, Switch, even_stops, log_stops, powers_of_two
from .tables import Table, ledger_table

if TYPE_CHECKING:
    from .explorer import Explorer
    from .guesses import against_print, reveal
    from .stage import Stage
    from .walkthroughs import walk

__all__ = [
    "Choice", "Explorer", "Number", "Stage", "Switch", "Table", "against_print", "even_stops", "ledger_table",
    "log_stops", "powers_of_two", "reveal", "walk",
]  # fmt: skip

_LATER = {
    "Explorer": ".explorer", "Stage": ".stage", "against_print": ".guesses", "reveal": ".guesses",
    "walk": ".walkthroughs",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
