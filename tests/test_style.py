"""ruff and mypy as tests, so that one run and its closing line count everything."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


# Notebook cells and examples in Markdown are laid out for readers, not by the formatter.
FORMATTED = ("course_lib", "tests", "benchmarks", "run.py", "--exclude", "*.md")


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--no-cache", "--check", *FORMATTED),
        ("mypy",),
    ],
    ids=["ruff-check", "ruff-format", "mypy"],
)
def test_clean(command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace"
    )
    assert done.returncode == 0, done.stdout + done.stderr
