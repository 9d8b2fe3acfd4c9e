"""What one case of the hostile suite is, and short ways to write it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType
from typing import Final

from tests.submissions import IDS, RIGHT, WRONG, short_notebook

MARK: Final = "course-hostile-mark"  # part of the name of every file that an attack leaves somewhere
SECRET: Final = "COURSE_HOSTILE_SECRET"  # the test puts this name into the grader's environment
PORT: Final = 40_000 + os.getpid() % 20_000  # on loopback; ``listening`` answers there and at ``ABSTRACT``
ABSTRACT: Final = f"\0course-hostile-{os.getpid()}"
MIME: Final = "application/vnd.course.answer+json"

ONE: Final = "1"
R1: Final = RIGHT[ONE]
W1: Final = WRONG[ONE]

Content = bytes | Callable[[Path], None]


def lost(costs: Mapping[str, str]) -> Mapping[str, str]:
    """Return the verdicts where everything passes but these."""
    return MappingProxyType(dict.fromkeys(IDS, "pass") | dict(costs))


def every(verdict: str) -> Mapping[str, str]:
    """Return one verdict for all six."""
    return MappingProxyType(dict.fromkeys(IDS, verdict))


def since(id: str, verdict: str, rest: str = "") -> Mapping[str, str]:
    """Return the verdicts where this exercise gets one and all after it another, or the same."""
    return lost({other: verdict if other == id else rest or verdict for other in IDS if other >= id})


@dataclass(frozen=True, slots=True)
class Case:
    """One submission: ``answers`` are its answer cells; ``make`` where it is about the file itself."""

    name: str
    what: str
    verdicts: Mapping[str, str] = field(default_factory=lambda: every("pass"))
    answers: Mapping[str, str] = field(default_factory=lambda: RIGHT)
    make: Callable[[], Content] | None = None
    file_name: str = ""
    walls: bool = False

    @property
    def file(self) -> str:
        """The file's name in the folder of submissions."""
        return self.file_name or f"{self.name}.ipynb"

    def content(self) -> Content:
        """Return the bytes of the file, or what makes a link or a pipe at its path."""
        return self.make() if self.make else short_notebook(self.answers)


def _namespace() -> str:
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""


# Raises where the cell does not have a process namespace of its own: the case fails and nothing is hurt.
INSIDE: Final = f"""import os
if os.readlink("/proc/self/ns/pid") == {_namespace()!r}:
    raise RuntimeError("no walls")
"""


def code(source: str) -> str:
    return dedent(source).strip("\n")


def attack(
    name: str,
    what: str,
    source: str,
    verdicts: Mapping[str, str],
    *,
    first: str = "",
    last: str = "",
    walls: bool = False,
    **others: str,
) -> Case:
    """Return a case whose exercise 1 is this source; ``others`` are further answer cells, as ``ex2=``."""
    parts = [INSIDE if walls else "", first, code(source), last]
    more = {key.removeprefix("ex"): code(value) for key, value in others.items()}
    return Case(name, what, verdicts, {**RIGHT, "1": "\n".join(filter(None, parts)), **more}, walls=walls)
