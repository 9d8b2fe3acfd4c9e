"""nbval runs the reference notebook; what comes back is compared here, outside the kernel.

nbval's file and cell are extended, not patched: a graded cell compares the reported answers with an
exercise's criteria in place of stored text, and every outcome is noted as it happens. Points never come from
exit codes or from pytest's own counts.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from ..exercises import Exercise, Verdict, judge
from .claims import ClaimError, claimed
from .jobs import Limits
from .kernels import GradedKernel, KernelDiedError, OutputLimitError
from .records import Heard

_LONGEST_SAID: Final = 200
_ONE_AT_A_TIME: Final = threading.Lock()  # pytest belongs to a process; a cluster's workers may have threads
_THEIRS: Final = (NbCellError, OutputLimitError, KernelDiedError)
# No plugin but nbval's: a teacher's own settings and plugins have no part in a mark.
_NOT: Final = (
    "cacheprovider", "doctest", "logging", "capture", "faulthandler", "warnings",
    "unraisableexception", "threadexception",
)  # fmt: skip
_ARGUMENTS: Final = (
    "-p", "nbval.plugin", *(word for name in _NOT for word in ("-p", f"no:{name}")),
    "--noconftest", "-c", os.devnull, "-q", "--tb=no", "--no-summary",
)  # fmt: skip


class Session:
    """A pytest plugin that collects one reference notebook and notes what became of each exercise."""

    def __init__(
        self,
        notebook: Mapping[str, Any],
        exercises: Iterable[Exercise],
        parameters: Mapping[str, Mapping[str, Any]],
        start: Callable[[], GradedKernel],
        limits: Limits,
    ) -> None:
        self.notebook = notebook
        self.exercises = {exercise.id: exercise for exercise in exercises}
        self.parameters = parameters
        self.start = start
        self.limits = limits
        self.heard: dict[str, Heard] = {}
        self.ended: Verdict | None = None  # why the kernel can run no more cells
        self.fault: BaseException | None = None  # ours, not the student's

    def pytest_collect_file(self, file_path: Path, parent: Any) -> Any:
        """Take the one notebook."""
        return _GradedFile.from_parent(parent, path=file_path, session_=self)

    def pytest_exception_interact(self, call: Any) -> None:
        """Keep what is no student's doing."""
        if not isinstance(call.excinfo.value, _THEIRS):
            self.fault = call.excinfo.value

    def judge(self, id: str, outputs: list[Any]) -> bool:
        """Compare what a check cell reported with the exercise; true if all of it is right."""
        exercise = self.exercises[id]
        try:
            answers = claimed(outputs, exercise)
        except ClaimError as error:
            self.heard[id] = Heard(Verdict.INVALID, said=str(error))
            return False
        result = judge(exercise, parameters=self.parameters.get(id), answers=answers)
        self.heard[id] = Heard(result=result)
        return result.verdict is Verdict.PASS


class _GradedFile(IPyNbFile):  # type: ignore[misc]
    def __init__(self, *, session_: Session, **named: Any) -> None:
        super().__init__(**named)
        self.course = session_

    def setup(self) -> None:
        try:
            self.kernel = self.course.start()
        except Exception as error:  # no student's code has run yet
            self.course.fault = error
            raise

    def collect(self) -> Iterator[Any]:
        notebook = nbformat.from_dict(self.course.notebook)  # type: ignore[no-untyped-call]
        for number, cell in enumerate(notebook["cells"]):
            about = cell["metadata"]["course"]
            options = defaultdict(bool, check=about["part"] == "check")
            name = f"{about['exercise']}-{about['part']}"
            yield _GradedCell.from_parent(self, name=name, cell_num=number, cell=cell, options=options)

    def teardown(self) -> None:
        if self.kernel is not None:
            self.kernel.stop()


class _GradedCell(IPyNbCell):  # type: ignore[misc]
    """nbval's cell, with the reasons told apart: each ends in a note on the exercise."""

    @property
    def exercise_id(self) -> str:
        return str(self.cell["metadata"]["course"]["exercise"])

    def setup(self) -> None:
        """Nothing: nbval would expect failures after a time-out, and so count wrong answers as expected."""

    def compare_outputs(self, test: list[Any], ref: list[Any], skip_compare: Any = None) -> bool:
        """Compare reported answers, not text."""
        self.comparison_traceback: list[str] = []
        return bool(self.parent.course.judge(self.exercise_id, test))

    def runtest(self) -> None:
        """Run the cell as nbval does and note why it did not end well."""
        course, kernel, is_check = self.parent.course, self.parent.kernel, self.options["check"]
        if course.ended or (is_check and self.exercise_id in course.heard):
            course.heard.setdefault(self.exercise_id, Heard(course.ended))
            pytest.skip()
        self.parent.timed_out = False
        kernel.begin_cell()
        try:
            super().runtest()
            self._look_at_the_reply(is_check)
        except OutputLimitError:
            course.heard[self.exercise_id] = Heard(Verdict.OUTPUT_LIMIT)
            if not kernel.drain():
                self._end(Verdict.OUTPUT_LIMIT)
            raise
        except KernelDiedError:
            course.heard[self.exercise_id] = Heard(Verdict.DIED)
            self._end(Verdict.DIED)
            raise
        except NbCellError:
            self._note(is_check)
            raise
        finally:
            self.test_outputs = None  # may be megabytes

    def _look_at_the_reply(self, is_check: bool) -> None:
        """An error that was kept from iopub still stands in the reply."""
        if self.parent.timed_out:
            self.raise_cell_error("late")
        if self.parent.kernel.reply.get("status") != "ok" and not is_check:
            self.raise_cell_error("error")

    def _note(self, is_check: bool) -> None:
        course, kernel = self.parent.course, self.parent.kernel
        if self.parent.timed_out:
            course.heard[self.exercise_id] = Heard(Verdict.TIMEOUT)
            if not kernel.is_alive():
                self._end(Verdict.AFTER_TIMEOUT)
        elif is_check:
            course.heard.setdefault(self.exercise_id, Heard(Verdict.INVALID))
        else:
            course.heard[self.exercise_id] = Heard(Verdict.ERROR, said=_error_line(kernel.reply))

    def _end(self, why: Verdict) -> None:
        self.parent.course.ended = why
        self.parent.kernel.stop()


def _error_line(reply: Mapping[str, Any]) -> str:
    """Return the error in one line; the reply is the kernel's own word and may hold anything."""
    text = f"{reply.get('ename', '')}: {reply.get('evalue', '')}"
    one_line = " ".join(text.split())
    return "".join(sign for sign in one_line if sign.isprintable())[:_LONGEST_SAID]


def run(session: Session) -> dict[str, Heard]:
    """Run the session's notebook under pytest and return what became of each of its exercises."""
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True) as scratch:
        path = Path(scratch, "reference.ipynb")
        path.write_text(json.dumps(session.notebook), encoding="utf-8")
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            os.environ.pop(name, None)
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        seconds = f"--nbval-cell-timeout={session.limits.cell_seconds}"
        with contextlib.redirect_stdout(io.StringIO()):
            status = pytest.main([*_ARGUMENTS, f"--rootdir={scratch}", seconds, str(path)], plugins=[session])
    if session.fault:
        raise RuntimeError(f"{type(session.fault).__name__}: {session.fault}") from session.fault
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest: {status}")
    return session.heard
