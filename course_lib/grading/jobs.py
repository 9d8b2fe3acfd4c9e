"""One submission to grade, as plain data that travels to another process or machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..exercises import BOOK, Exercise
from ..exercises.own import exercises_in


@dataclass(frozen=True, slots=True)
class Limits:
    """What one submission may use: seconds of wall and processor time, bytes, processes."""

    cell_seconds: float = 20
    wall_seconds: float = 240
    cpu_seconds: int = 120
    memory_bytes: int = 2 << 30  # of all its processes together
    file_bytes: int = 64 << 20  # one file
    disk_bytes: int = 128 << 20  # each of its private folders
    processes: int = 64
    output_bytes: int = 4 << 20  # one cell


@dataclass(frozen=True, slots=True)
class Job:
    """``parameters`` by exercise id are the student's own numbers; the book's where left out.

    ``own_source`` is the text of the teacher's exercise file, ``own_name`` stands for it in sentences.
    ``isolation`` is ``records.BUBBLEWRAP`` or ``records.PROCESS``.
    """

    student: str
    file: str
    content: bytes
    isolation: str
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    own_source: str = ""
    own_name: str = ""
    limits: Limits = Limits()

    def exercises(self) -> tuple[Exercise, ...]:
        """Return what is graded: the six of the chapter and the teacher's own."""
        return (*BOOK, *(exercises_in(self.own_source, self.own_name) if self.own_source else ()))
