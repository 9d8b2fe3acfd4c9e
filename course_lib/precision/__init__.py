"""Section 27.3: what two bytes per value can hold, and why a finer master copy saves small updates.

- ``copies``: the chapter's analogy with two decimals (``decimal_copies``) and the same in real formats
  (``float_copies``, ``steps_until_visible``).
- ``formats``: ``FP16``, ``BF16``, ``FP32``; ``to_fp16`` and ``to_bf16`` round whole arrays to nearest even.
- ``fates``: which updates are ``lost``, and a ``census`` of the values that vanish or overflow at a scale,
  of all or power by power.
- ``samples``: ``synthetic_grads``, made up, to try a loss scale on.
"""

from .copies import ROUNDINGS, Copies, decimal_copies, float_copies, steps_until_visible
from .fates import Census, census, census_by_power, lost
from .formats import BF16, FP16, FP32, Format, to_bf16, to_fp16
from .samples import synthetic_grads

__all__ = [
    "BF16",
    "FP16",
    "FP32",
    "ROUNDINGS",
    "Census",
    "Copies",
    "Format",
    "census",
    "census_by_power",
    "decimal_copies",
    "float_copies",
    "lost",
    "steps_until_visible",
    "synthetic_grads",
    "to_bf16",
    "to_fp16",
]
