"""Records on disk, so that a second run grades only what is new or changed, and Ctrl-C loses nothing done."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ..files import write_whole
from .jobs import Job
from .records import Record

FOLDER: Final = ".records"
_COURSE: Final = Path(__file__).resolve().parents[1]


@cache
def _version() -> str:
    """Return a digest of the course's code: with other questions or rules a mark is made anew."""
    digest = hashlib.sha256()
    for path in sorted(_COURSE.rglob("*.py")):
        digest.update(path.relative_to(_COURSE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Store:
    """The records of one ``--out`` folder, each under a name that stands for all that its mark depends on."""

    folder: Path

    def find(self, job: Job) -> Record | None:
        """Return the record of an equal job; None where there is none or its file is damaged."""
        try:
            return Record.from_json(json.loads(self._path(job).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, job: Job, record: Record) -> None:
        """Write one record, whole or not at all."""
        write_whole(self._path(job), json.dumps(record.to_json(), ensure_ascii=False).encode())

    def _path(self, job: Job) -> Path:
        plain = asdict(job) | {"content": hashlib.sha256(job.content).hexdigest(), "version": _version()}
        name = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
        return self.folder / FOLDER / f"{name}.json"
