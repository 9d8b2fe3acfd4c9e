"""The control: a save that overwrites its own files one by one, unchecked, as a first attempt often does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .parts import Parts, put_together, take_apart
from .runs import Setup, TrainingRun, begin

FACTS = "facts.json"


def save_naively(run: TrainingRun, folder: Path) -> None:
    """Overwrite every array's file, then the facts."""
    parts = take_apart(run)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in parts.arrays.items():
        np.save(_file(folder, name), array)
    (folder / FACTS).write_text(json.dumps(parts.facts), encoding="utf-8")


def load_naively(folder: Path, *, setup: Setup) -> TrainingRun:
    """Read whatever is there, as long as it can be read at all. Raises what reading raises."""
    names = take_apart(begin(setup)).arrays
    arrays = {name: np.load(_file(folder, name)) for name in names}
    return put_together(setup, Parts(arrays, json.loads((folder / FACTS).read_text(encoding="utf-8"))))


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('/', '-')}.npy"
