"""Check the reader's own copy against the reference: ``python3 run.py check [NOTEBOOK]``.

nbval runs a copy of the notebook in which a cell after every answer prints the verdicts; what it must print
is stored from the reference solution. The reader's file is only read, and their code runs as it does in
JupyterLab, without a sandbox.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from ..exercises import EXERCISES, Exercise, Verdict, judge
from ..exercises.cells import place_of
from .notebook_form import read
from .places import WORK, use_own_places

SECONDS: Final = 60
_MARKER: Final = "course-verdict "


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one exercise of a notebook; ``held`` is nbval's own word on it."""

    exercise: Exercise
    verdict: Verdict
    held: bool
    points: float = 0
    said: str = ""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``check [NOTEBOOK]`` to a command line."""
    parser = commands.add_parser("check", help="检查你自己的作答")
    parser.add_argument("notebook", nargs="?", type=Path, metavar="笔记本", help="不写就是 work/ 里的 27.08")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Print one line for each exercise; 0 when all of them hold."""
    use_own_places()
    path = options.notebook or _own_copy()
    lines = check_notebook(path)
    for line in lines:
        print(f"习题 {line.exercise.id}　{line.exercise.title}：{_words(line)}")
    holding = sum(line.held for line in lines)
    print(f"{path.name}：{len(lines)} 道题，{holding} 道成立，{len(lines) - holding} 道没有。")
    return 0 if holding == len(lines) else 1


def _own_copy() -> Path:
    found = sorted(WORK.glob("27.08-*.ipynb"))
    if not found:
        raise CourseError(
            "work/ 里还没有你的 27.08", remedy="请先运行 python3 run.py lab，作答并保存；或写明笔记本的路径"
        )
    return found[0]


def _words(line: Line) -> str:
    if line.verdict is Verdict.UNANSWERED:
        return line.verdict.label
    points = f"，{line.points:g} / {line.exercise.max_points} 分" if line.points and not line.held else ""
    return f"{line.verdict.label}{points}{'：' + line.said if line.said else ''}"


def check_notebook(path: Path) -> list[Line]:
    """Return one line for every exercise whose answer cell the notebook has, or should have."""
    notebook = read(path)[1]
    cells = notebook["cells"]
    parameters = notebook["metadata"].get("course", {}).get("parameters", {})
    wanted = _exercises_of(cells)
    if not wanted:
        raise CourseError("笔记本里没有习题", got=path.name, remedy="请给 27.08，或带练习的 27.01 到 27.06")
    ran = _run_nbval(_with_verdict_cells(cells, wanted, parameters))
    ids = {cell.get("id", "") for cell in cells}
    return [_line(exercise, ran, ids) for exercise in wanted]


def _exercises_of(cells: Iterable[dict[str, Any]]) -> list[Exercise]:
    ids = {cell.get("id", "") for cell in cells}
    named = {id.rsplit("-", 1)[0] for id in ids if id.endswith(("-prompt", "-answer"))}
    return [exercise for exercise in EXERCISES.values() if "-".join(place_of(exercise)) in named]


def _with_verdict_cells(
    cells: Iterable[dict[str, Any]], wanted: Iterable[Exercise], parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the code cells to run: the reader's, and after each answer one with the reference's output."""
    """Return the code cells to run: the reader's, and after each answer one with the reference's output."""
    by_answer = {"-".join(place_of(exercise)) + "-answer": exercise for exercise in wanted}
    made = {id.removesuffix("answer") + "check" for id in by_answer}
    run = []
    for cell in cells:
        if cell["cell_type"] != "code" or cell.get("id") in made:
            continue
        run.append(_code_cell(cell.get("id", ""), "".join(cell["source"]), tags=["nbval-ignore-output"]))
        if cell.get("id") in by_answer:
            run.append(_verdict_cell(by_answer[cell["id"]], parameters))
    return run


def _code_cell(id: str, source: str, *, tags: list[str], printed: str = "") -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {
        "cell_type": "code", "id": id, "metadata": {"tags": tags}, "source": source,
        "execution_count": 1, "outputs": outputs,
    }  # fmt: skip


def _verdict_cell(exercise: Exercise, parameters: dict[str, Any]) -> dict[str, Any]:
    own = parameters.get(exercise.id)
    answers = ", ".join(f"{name}=globals().get({name!r})" for name in exercise.answers)
    source = (
        "from course_lib.app.check import verdict_text\nfrom course_lib.exercises import check\n"
        f"print(verdict_text(check({exercise.id!r}, parameters={own!r}, {answers})))"
    )
    reference = judge(exercise, parameters=own, answers=exercise.solve(own))
    name = "-".join(place_of(exercise)) + "-verdict"
    return _code_cell(name, source, tags=[], printed=verdict_text(reference) + "\n")


def verdict_text(result: Any) -> str:
    """Write a result as one line that nbval compares and ``_line`` reads."""
    criteria = [[outcome.name, outcome.verdict.value] for outcome in result.criteria]
    told = {"verdict": result.verdict.value, "points": result.points, "criteria": criteria}
    return _MARKER + json.dumps(told, ensure_ascii=False)


@dataclass(slots=True)
class _Ran:
    """What nbval saw of one cell: whether it was content, the error or the end, and what the cell put out."""

    held: bool
    error: str
    timed_out: bool
    died: bool
    outputs: list[Any]


class _Collector:
    """A pytest plugin that keeps what nbval saw, by cell id."""

    def __init__(self) -> None:
        self.cells: dict[str, _Ran] = {}

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Note one executed cell; cells that did not run are not noted."""
        if call.when == "call":
            outputs = list(item.test_outputs or ())
            errors = [f"{out['ename']}: {out['evalue']}" for out in outputs if out.output_type == "error"]
            died = not item.parent.kernel.is_alive()
            held, slow = call.excinfo is None, bool(item.parent.timed_out) and not died
            self.cells[item.cell.id] = _Ran(held, "".join(errors), slow, died, outputs)


def _run_nbval(cells: list[dict[str, Any]]) -> dict[str, _Ran]:
    """Run the cells in order in one clean kernel, each against its stored output."""
    import pytest

    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    collector = _Collector()
    with tempfile.TemporaryDirectory(prefix="course-check-", ignore_cleanup_errors=True) as scratch:
        path = Path(scratch) / "answers.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            os.environ.pop(name, None)
        quiet = ["-q", "-p", "no:cacheprovider", "--nbval-current-env", f"--nbval-cell-timeout={SECONDS}"]
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["--nbval", *quiet, f"--rootdir={scratch}", str(path)], plugins=[collector])
    return collector.cells


def _line(exercise: Exercise, ran: dict[str, _Ran], cells: Iterable[str]) -> Line:
    name = "-".join(place_of(exercise))
    answer, verdict = ran.get(f"{name}-answer"), ran.get(f"{name}-verdict")
    if f"{name}-answer" not in cells:
        return Line(exercise, Verdict.MISSING, False)
    if answer is None or verdict is None:
        late = any(cell.timed_out for cell in ran.values())
        return Line(exercise, Verdict.AFTER_TIMEOUT if late else Verdict.DIED, False)
    if not answer.held:
        kind = Verdict.DIED if answer.died else Verdict.TIMEOUT if answer.timed_out else Verdict.ERROR
        return Line(exercise, kind, False, said=answer.error)
    told = _told(verdict.outputs)
    if told is None:
        return Line(exercise, Verdict.INVALID, False, said=verdict.error)
    wrong = [f"{name}{Verdict(value).label}" for name, value in told["criteria"] if value != "pass"]
    return Line(exercise, Verdict(told["verdict"]), verdict.held, told["points"], "，".join(wrong))


def _told(outputs: Iterable[Any]) -> dict[str, Any] | None:
    for output in outputs:
        for line in str(output.get("text", "")).splitlines():
            if line.startswith(_MARKER):
                told: dict[str, Any] = json.loads(line.removeprefix(_MARKER))
                return told
    return None
