"""The course opened as a reader opens it, in a throw-away copy: ``python -m course_lib lab --no-browser``."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from course_lib.app.notebook_form import normalise, read

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90


@dataclass(frozen=True)
class Lab:
    """A running course: its address without a slash at the end, its token, and the reader's notebooks."""

    url: str
    token: str
    work: Path

    def address(self, name: str, workspace: str) -> str:
        return f"{self.url}/lab/workspaces/{workspace}/tree/{quote(name)}?reset&token={self.token}"


@contextmanager
def running_lab(notebooks: Iterable[Path], *words: str) -> Iterator[Lab]:
    """Serve a copy of the course with these notebooks (``lab``, or other words) until the block ends."""
    with tempfile.TemporaryDirectory(prefix="course-browser-", ignore_cleanup_errors=True) as scratch:
        course = Path(scratch)
        _copy_course(course, notebooks)
        with open(course / "lab.log", "w+", encoding="utf-8") as log:
            command = [sys.executable, "-m", "course_lib", *(words or ("lab",)), "--no-browser"]
            process = subprocess.Popen(command, cwd=course, stdout=log, stderr=log)
            try:
                url, token = _wait_for_address(process, course / "lab.log")
                yield Lab(url, token, course / "work")
            finally:
                _stop(process)


def _copy_course(course: Path, notebooks: Iterable[Path]) -> None:
    """Copy package and notebooks; the only change: scripts in the page may reach JupyterLab."""
    shutil.copytree(ROOT / "course_lib", course / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    (course / "notebooks").mkdir()
    for notebook in notebooks:
        # A draft without a kernel in its metadata would be met by a dialogue.
        text = normalise(read(notebook)[1], stem=notebook.stem)
        (course / "notebooks" / notebook.name).write_text(text, encoding="utf-8", newline="\n")
    settings = course / "course_lib" / "app" / "jupyter" / "jupyter_lab_config.json"
    settings.write_text(json.dumps({"LabApp": {"expose_app_in_browser": True}}), encoding="utf-8")


def _wait_for_address(process: subprocess.Popen[bytes], log: Path) -> tuple[str, str]:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/\S*?token=(\w+)", log.read_text(encoding="utf-8"))
        if found:
            return found[1], found[2]
        time.sleep(0.1)
    raise RuntimeError(f"the course did not open:\n{log.read_text(encoding='utf-8')[-3000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, which ends its kernels; they also end by themselves when it is gone."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
