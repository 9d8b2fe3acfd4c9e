"""The chapter's small model and the published ones, as one list to pick from."""

from __future__ import annotations

from typing import Final

from ..activations import SavedActivations
from ..models import MODELS

CHAPTER: Final = "chapter"
CASES: Final = {CHAPTER: "本章的小模型", **{key: model.title for key, model in MODELS.items()}}


def case(model: str, *, sequences: int) -> tuple[int, SavedActivations]:
    """Return parameters and saved activations, ten arrays per layer, of one of ``CASES``."""
    if model != CHAPTER:
        return MODELS[model].parameters, MODELS[model].saved(sequences=sequences)
    acts = SavedActivations(
        sequences=sequences, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )
    return 1_000_000, acts


def case_code(model: str, *, sequences: int) -> str:
    """Return Python that leaves the same two values in ``parameters`` and ``acts``."""
    if model != CHAPTER:
        return (
            "from course_lib.models import MODELS\n\n"
            f'model = MODELS["{model}"]\n'
            f"parameters, acts = model.parameters, model.saved(sequences={sequences})\n"
        )
    return (
        "from course_lib.activations import SavedActivations\n\n"
        "parameters = 1_000_000\n"
        f"acts = SavedActivations(sequences={sequences}, positions=128, width=64,\n"
        "                        layers=4, arrays_per_layer=10, bytes_per_value=2)\n"
    )
