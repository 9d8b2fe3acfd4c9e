"""Section 27.7: the whole ledger of a training run, and what makes it fit.

A ``Job`` is what stays fixed: model states, activations of all arrays, the device, the meaning of an update.
``plan`` writes the ledger of one setting of all knobs; ``make_it_fit`` tries them all. A plan is arithmetic
on named rows: nothing was run, and ``omits`` says what is missing.

``ledgers``: ``Job``, ``Plan`` and ``plan``. ``search``: what fits, and what no other beats. ``choices``: each
knob in words.
"""

from .choices import KnobEffect, choices
from .ledgers import DENOMINATORS, Job, Plan, plan
from .search import fitting, make_it_fit, undominated

__all__ = [
    "DENOMINATORS",
    "Job",
    "KnobEffect",
    "Plan",
    "choices",
    "fitting",
    "make_it_fit",
    "plan",
    "undominated",
]
