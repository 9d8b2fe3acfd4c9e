"""Section 27.2: the ledger of one real training step, from shapes alone.

It predicts the bytes that the companion's own trainer holds: a small transformer language model with Adam.
Nothing here runs or measures anything, and nothing needs numpy. Symbols: B sequences, T positions, D width,
L layers, H heads, V vocabulary. ``StepPlan()`` is the chapter's model: exactly 1,000,000 parameters, two-byte
weights, ten arrays per layer. The large vocabulary was chosen to reach that number of parameters; it makes
the logits the largest array of all. The trainer is the companion's, not the book's.

- ``shapes``: the sizes and arrays of the model, the bytes of its values, what a layer keeps.
- ``boundaries``: a ledger for every phase boundary.
- ``peak``: where it is highest in between.
- ``work``: the arithmetic of a forward pass, and what recompute adds.
"""

from .boundaries import Boundary, StepPlan
from .peak import peak
from .shapes import ARRAY_NAMES, ARRAYS, KEEPS, POLICIES, Policy, StepShape
from .work import forward_flops, rebuild_flops

__all__ = [
    "ARRAYS",
    "ARRAY_NAMES",
    "KEEPS",
    "POLICIES",
    "Boundary",
    "Policy",
    "StepPlan",
    "StepShape",
    "forward_flops",
    "peak",
    "rebuild_flops",
]
