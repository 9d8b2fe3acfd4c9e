"""The process that is killed: ``python -m course_lib.recovery.worker FOLDER LAST [naive]``.

It resumes from FOLDER, trains to round LAST and saves after every round. It prints its first and its last
round with the digest, or ``damaged``. With ``-`` for FOLDER nothing is saved, and every round is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .naive import FACTS, load_naively, save_naively
from .parts import digest
from .runs import SMALL, TrainingRun, advance, begin
from .store import load, save, saves


def main(folder: str, last: str, *how: str) -> None:
    """Train, print and save until the last round, or until killed."""
    naive = "naive" in how
    try:
        run = _resume(Path(folder), naive)
    except Exception as error:  # a half-written file fails in any way when it is read: that is the finding
        print("damaged", type(error).__name__, flush=True)
        return
    _say(run)
    while run.rounds < int(last):
        run = advance(run)
        if folder == "-":
            _say(run)
        elif naive:
            save_naively(run, Path(folder))
        else:
            save(run, folder)
    _say(run)


def _resume(folder: Path, naive: bool) -> TrainingRun:
    if naive:
        return load_naively(folder, setup=SMALL) if (folder / FACTS).exists() else begin(SMALL)
    return load(folder, setup=SMALL).run if any(saves(folder)) else begin(SMALL)


def _say(run: TrainingRun) -> None:
    print(run.rounds, digest(run), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
