"""Section 27.4: several microbatches decide one update together (example 27.2).

- ``contributions``: a ``Contribution`` keeps what makes averaging right, the number of events and the sum of
  their gradients at one version of the parameters; ``equal_weight_mean`` is the mistake.
- ``updates``: ``update_at_boundary`` is the procedure of the section; ``update_with_equal_weights``,
  ``update_clipping_early`` and ``update_early`` are the mistakes, callable so that they can be compared.
- ``arrangements``: one update as worker × microbatch × accumulation, with the real token counts.
"""

from .arrangements import Arrangement, arrangements
from .contributions import Contribution, equal_weight_mean, total
from .updates import (
    Microbatch,
    Outcome,
    UpdateRule,
    update_at_boundary,
    update_clipping_early,
    update_early,
    update_with_equal_weights,
)

__all__ = [
    "Arrangement",
    "Contribution",
    "Microbatch",
    "Outcome",
    "UpdateRule",
    "arrangements",
    "equal_weight_mean",
    "total",
    "update_at_boundary",
    "update_clipping_early",
    "update_early",
    "update_with_equal_weights",
]
