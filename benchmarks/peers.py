"""Other graders, each set up as its own documentation says, on the six questions of ``benchmarks.grading``.

Every peer lives in an environment of its own, made with pip and thrown away afterwards; none is in the locks.
A peer's function gets a folder, the answers of every student and the command of its environment, prepares
everything outside the clock, and returns the seconds of the grading alone with the points by student and
question that it arrived at. ``PeerError`` says in one line why a peer could not be installed or run.

- nbgrader: a course folder with ``source/``, ``generate_assignment``, ``submitted/STUDENT/six/six.ipynb``,
  then ``nbgrader autograde`` for all at once. It has no way to grade in parallel.
- otter: tests in its OK format, an autograder made by ``otter generate``, then ``otter run`` per submission.
- nbval: notebooks with the right outputs stored, one marked check cell per question, all in one
  ``pytest --nbval-lax``. It knows no points: a check that passes gives all of its question's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from course_lib.exercises import BOOK
from course_lib.exercises.cells import question_cells
from tests.submissions import IDS, RIGHT, answer_cell, as_bytes, notebook_of

Students = Mapping[str, Mapping[str, str]]  # student → question → source of the answer cell
Points = dict[str, dict[str, float]]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

NAMES = {exercise.id: exercise.answers for exercise in BOOK}
POINTS = {exercise.id: exercise.max_points for exercise in BOOK}


_READ_POINTS = """
import json
from nbgrader.api import Gradebook

points = {}
with Gradebook("sqlite:///gradebook.db") as book:
    for submission in book.assignment_submissions("six"):
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        points[submission.student.id] = {grade.cell.name: grade.auto_score for grade in grades}
print(json.dumps(points))
"""


class PeerError(Exception):
    """Why a peer could not be installed or run, in one line."""


def environment(folder: Path, packages: tuple[str, ...]) -> Run:
    """Make an environment and return the call that runs one of its programs."""
    done = folder / "packages.txt"
    if not done.exists() or done.read_text(encoding="utf-8").split() != list(packages):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        installed = subprocess.run([*pip, *packages], capture_output=True, text=True)
        if installed.returncode:
            raise PeerError(f"pip: {(installed.stderr.strip().splitlines() or ['failed'])[-1]}")
        done.write_text("\n".join(packages), encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
    own |= {"PATH": f"{folder / 'bin'}:{own['PATH']}", "HOME": str(folder), "PYTHONWARNINGS": "ignore"}

    def run(*words: str | Path, cwd: Path, right: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [folder / "bin" / "python", "-m", *words], cwd=cwd, env=own, capture_output=True, text=True
        )
        if done.returncode not in right:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise PeerError(f"{words[0]}: {(said or ['no words'])[-1][:200]}")
        return done

    return run


def asserts(id: str) -> str:
    """Return what nbgrader's and otter's tests say of one question: every value as in the chapter."""
    right: dict[str, Any] = {}
    exec(RIGHT[id], right)
    return "\n".join(f"assert {name} == {right[name]!r}" for name in NAMES[id])


def nbgrader(folder: Path, students: Students, run: Run) -> tuple[float, Points]:
    """Grade with ``nbgrader autograde``."""
    cells = []
    for exercise in BOOK:
        prompt, answer, check, _ = question_cells(exercise)
        solution = f"### BEGIN SOLUTION\n{RIGHT[exercise.id]}\n### END SOLUTION"
        cells += [prompt, answer | {"source": solution}, check | {"source": asserts(exercise.id)}]
    config = 'c = get_config()\nc.CourseDirectory.course_id = "course"\n'
    (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    source = folder / "source" / "six" / "six.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(as_bytes(notebook_of(cells)))
    run("nbgrader", "generate_assignment", "six", cwd=folder)
    released = json.loads((folder / "release" / "six" / "six.ipynb").read_text(encoding="utf-8"))
    places = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell
        for cell in released["cells"]
        if "nbgrader" in cell["metadata"]
    }
    for student, answers in students.items():
        for id, text in answers.items():
            places[f"ex{id}-answer"]["source"] = text
        path = folder / "submitted" / student / "six" / "six.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(as_bytes(released))
    begin = time.perf_counter()
    run("nbgrader", "autograde", "six", cwd=folder)
    seconds = time.perf_counter() - begin
    (folder / "read_points.py").write_text(_READ_POINTS, encoding="utf-8")
    found = json.loads(run("read_points", cwd=folder).stdout)
    return seconds, {
        student: {id: grades[f"ex{id}-check"] or 0 for id in IDS} for student, grades in found.items()
    }


def otter(folder: Path, students: Students, run: Run, *, at_once: int = 1) -> tuple[float, Points]:
    """Grade with ``otter run``, one call for each submission as it is made."""
    tests = folder / "tests"
    tests.mkdir()
    for id in IDS:
        doctest = "\n".join(f">>> {line}" for line in asserts(id).splitlines())
        case = {"code": doctest, "hidden": False, "locked": False}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        test = {"name": f"q{id}", "points": POINTS[id], "suites": [suite]}
        (tests / f"q{id}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n", encoding="utf-8")
    run("otter", "generate", "-t", tests, "-o", "autograder.zip", cwd=folder)
    for student, answers in students.items():
        cells = [answer_cell(id, text) for id, text in answers.items()]
        (folder / f"{student}.ipynb").write_bytes(as_bytes(notebook_of(cells)))

    def grade(student: str) -> None:
        out = folder / "out" / student
        out.mkdir(parents=True)
        run("otter", "run", "--no-logo", "-o", out, f"{student}.ipynb", cwd=folder)

    begin = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(grade, students))
    seconds = time.perf_counter() - begin
    points: Points = {}
    for student in students:
        results = json.loads((folder / "out" / student / "results.json").read_text(encoding="utf-8"))
        scores = {test["name"]: test.get("score", 0) for test in results["tests"]}
        points[student] = {id: scores[f"q{id}"] for id in IDS}
    return seconds, points


def nbval(folder: Path, students: Students, run: Run, *, at_once: int = 1) -> tuple[float, Points]:
    """Grade with ``pytest --nbval-lax``, all submissions in one run."""
    numbers = {}
    for student, answers in students.items():
        cells = []
        for id, text in answers.items():
            cells.append(answer_cell(id, text, execution_count=len(cells) + 1))
            numbers[id] = len(cells)
            cells.append(_checked(id, len(cells) + 1))
        (folder / f"{student}.ipynb").write_bytes(as_bytes(notebook_of(cells)))
    options = ["-n", str(at_once), "--dist", "loadfile"] if at_once > 1 else []
    words = ["--nbval-lax", "-q", "-p", "no:cacheprovider", "--junit-xml", "marks.xml", *options]
    begin = time.perf_counter()
    run("pytest", *words, *[f"{student}.ipynb" for student in students], cwd=folder, right=(0, 1))
    seconds = time.perf_counter() - begin
    points: Points = {student: dict.fromkeys(IDS, 0.0) for student in students}
    for case in ET.parse(folder / "marks.xml").iter("testcase"):
        student = case.attrib["classname"].rpartition(".")[0].rpartition(".")[2] or case.attrib["classname"]
        number = int(case.attrib["name"].rpartition("Cell ")[2])
        for id, check in numbers.items():
            if check == number and len(case) == 0:
                points[student][id] = POINTS[id]
    return seconds, points


def _checked(id: str, count: int) -> dict[str, Any]:
    """Return a check cell with the right output stored."""
    right: dict[str, Any] = {}
    exec(RIGHT[id], right)
    values = tuple(right[name] for name in NAMES[id])
    stream = {"output_type": "stream", "name": "stdout", "text": f"{values!r}\n"}
    source = f"# NBVAL_CHECK_OUTPUT\nprint(({', '.join(NAMES[id])},))"
    return answer_cell(id, source, execution_count=count, outputs=[stream]) | {"id": f"check-{id}"}
