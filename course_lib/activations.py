"""Section 27.2: values that the forward pass saves for the backward pass.

``SavedActivations`` is the chapter's linear model: k arrays per layer, each batch × position × width.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from .arguments import whole
from .ledger import ACTIVATIONS, STEP_OMITS, Ledger, Lifetime, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedActivations:
    """k arrays per layer of shape (sequences, positions, width), all saved until the backward pass.

    Source: example 27.1, M_act = sequences · positions · width · layers · arrays_per_layer · bytes_per_value.

    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> acts.array_bytes, acts.arrays, acts.total_bytes
    (32768, 40, 1310720)
    """

    sequences: int
    positions: int
    width: int
    layers: int
    arrays_per_layer: int
    bytes_per_value: int

    def __post_init__(self) -> None:
        for field in fields(self):
            minimum = 0 if field.name == "arrays_per_layer" else 1
            checked = whole(field.name, getattr(self, field.name), minimum=minimum)
            object.__setattr__(self, field.name, checked)

    @property
    def array_values(self) -> int:
        """Values in one array: sequences × positions × width."""
        return self.sequences * self.positions * self.width

    @property
    def array_bytes(self) -> int:
        """Bytes of one array."""
        return self.array_values * self.bytes_per_value

    @property
    def arrays(self) -> int:
        """Arrays over all layers."""
        return self.layers * self.arrays_per_layer

    @property
    def total_bytes(self) -> int:
        """Bytes of all saved arrays."""
        return self.arrays * self.array_bytes

    def ledger(self) -> Ledger:
        """Return one row for all arrays; what ten arrays do not include is listed under ``omits``."""
        row = Row(
            ACTIVATIONS,
            self.arrays * self.array_values,
            (self.bytes_per_value,),
            "反向计算要沿前向的中间值走回去",
            Lifetime.WITHIN_STEP,
        )
        return Ledger((row,), STEP_OMITS)
