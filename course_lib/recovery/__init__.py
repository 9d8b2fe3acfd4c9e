"""Section 27.6: recovery for real (配套实测): the companion's own trainer is stopped, saved and resumed.

- ``runs``: ``TrainingRun``, everything that decides how a run goes on; ``begin`` and ``advance`` it.
- ``parts``: a run as named arrays and plain facts, and back; ``digest`` says whether two are the same.
- ``store``: ``save`` over several files, the manifest last; ``load`` the newest complete save.
- ``naive``: the same without care, as a control.
- ``omissions``: ``compare`` a run that never stops with one that lost a part of its state.
- ``trial``: ``kill_and_resume`` kills a training process again and again.
"""

from .omissions import PARTS, Comparison, compare
from .parts import digest
from .runs import SMALL, Setup, TrainingRun, advance, begin
from .store import Loaded, load, save
from .trial import Trial, kill_and_resume

__all__ = [
    "PARTS",
    "SMALL",
    "Comparison",
    "Loaded",
    "Setup",
    "TrainingRun",
    "Trial",
    "advance",
    "begin",
    "compare",
    "digest",
    "kill_and_resume",
    "load",
    "save",
]
