"""What is kept of a reader's attempts: tries per criterion, best points, and nothing that would give answers.

It lies as one small file in the reader's ``work`` folder, written in one step. A notebook that is opened
elsewhere keeps nothing; an unreadable file counts as empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from ..files import write_whole
from .exercise import Result
from .verdicts import Verdict

WORK: Final = Path(__file__).resolve().parents[2] / "work"
FILE: Final = ".course-progress.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One exercise: how often it was tried, how often each criterion went wrong, the most points reached."""

    attempts: int = 0
    misses: Mapping[str, int] = field(default_factory=dict)
    points: float = 0
    max_points: int = 0
    last: str = ""

    def after(self, result: Result) -> Entry:
        """Return the entry after one more check; no answer, or the same answers again, is no attempt."""
        if all(outcome.verdict is Verdict.UNANSWERED for outcome in result.criteria):
            return self
        seen = hashlib.sha256("\n".join([str(dict(result.parameters)), *result.given]).encode()).hexdigest()
        if seen == self.last:
            return self
        wrong = [o.name for o in result.criteria if o.verdict in (Verdict.FAIL, Verdict.PARTIAL)]
        return Entry(
            self.attempts + 1,
            {**self.misses, **{name: self.misses.get(name, 0) + 1 for name in wrong}},
            max(self.points, result.points),
            result.max_points,
            seen,
        )

    @property
    def solved(self) -> bool:
        """True once every point was reached."""
        return 0 < self.max_points <= self.points


def folder() -> Path | None:
    """Return the reader's work folder if this process runs in it, else None: then nothing is kept."""
    here = Path.cwd().resolve()
    return WORK if here == WORK or WORK in here.parents else None


def load(work: Path | None) -> dict[str, Entry]:
    """Return the entries by exercise id."""
    if work is None:
        return {}
    try:
        stored = json.loads((work / FILE).read_text(encoding="utf-8"))
        return {str(id): _entry(values) for id, values in stored["exercises"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _entry(values: Mapping[str, object]) -> Entry:
    entry = Entry(**values)  # type: ignore[arg-type]
    misses = {str(name): int(count) for name, count in entry.misses.items()}
    return Entry(int(entry.attempts), misses, float(entry.points), int(entry.max_points), str(entry.last))


def keep(work: Path | None, id: str, entry: Entry) -> None:
    """Write one entry beside the others, in one step; do nothing outside the work folder."""
    if work is None:
        return
    entries = {**load(work), id: entry}
    stored = {"exercises": {name: asdict(value) for name, value in sorted(entries.items())}}
    write_whole(work / FILE, json.dumps(stored, ensure_ascii=False, indent=1).encode())
