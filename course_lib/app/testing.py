"""Prove the course in one pytest run: ``python -m course_lib test``.

Tests, doctests, the notebooks against their stored outputs, ruff and mypy are all items of the same run, so
that its closing line counts everything.
"""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from typing import Final

from ..errors import CourseError
from .places import ROOT, use_own_places

DEFAULT_MARKS: Final = "not slow and not browser and not network"
MOST_PROCESSES: Final = 4


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``test`` to a command line; what it does not know itself goes on to pytest."""
    parser = commands.add_parser(
        "test", help="运行测试", allow_abbrev=False, epilog="其余参数交给 pytest，例如 -k ledger。"
    )
    parser.add_argument("--all", action="store_true", help="连同浏览器、长证明和锁文件的测试")
    parser.set_defaults(handle=handle, rest=())


def pytest_arguments(*, everything: bool, rest: list[str]) -> list[str]:
    """Return pytest's arguments; the reader's own come last and so have the last word.

    >>> pytest_arguments(everything=True, rest=["-k", "ledger"])[-2:]
    ['-k', 'ledger']
    """
    marks = [] if everything else ["-m", DEFAULT_MARKS]
    # loadfile: the cells of a notebook need the same kernel, in order.
    spread = ["-n", "auto", f"--maxprocesses={MOST_PROCESSES}", "--dist", "loadfile"]
    return ["--nbval", *spread, *marks, *rest]


def handle(options: argparse.Namespace) -> int:
    """Run pytest from the course's folder and return its exit status."""
    missing = [name for name in ("pytest", "xdist", "hypothesis") if find_spec(name) is None]
    if missing:
        raise CourseError(
            f"这个环境里没有测试要用的 {'、'.join(missing)}", remedy="请用 python3 run.py test，它会装好"
        )
    import pytest

    use_own_places()
    os.chdir(ROOT)
    return int(pytest.main(pytest_arguments(everything=options.all, rest=options.rest)))
