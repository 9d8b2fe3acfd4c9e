"""A teacher's nbgrader takes the student notebook as it is, validates and grades it, in an own environment.

nbgrader is in no lock: it is installed into a throw-away environment, and skipped where that cannot be done.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.exercises import BOOK

from .test_exercises import RIGHT
from .test_exercises_notebooks import filled, source_of

pytestmark = [pytest.mark.slow, pytest.mark.network]
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("nbgrader>=0.9,<1", "numpy", "ipykernel")

# Grades a notebook the way `nbgrader autograde` does: metadata checked, outputs cleared, executed, each grade
# cell graded. Prints the validator's word and the points by grade id.
GRADE = """
import json, sys
import nbformat
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, Execute
from nbgrader.utils import determine_grade, is_grade
from nbgrader.validator import Validator

path = sys.argv[1]
failed = Validator().validate(path).get("failed", [])
notebook = nbformat.read(path, as_version=4)
for step in (CheckCellMetadata, ClearOutput, Execute):
    notebook, _ = step().preprocess(notebook, {"metadata": {"path": sys.argv[2]}})
grades = {cell.metadata.nbgrader.grade_id: determine_grade(cell) for cell in notebook.cells if is_grade(cell)}
print("RESULT " + json.dumps({"failed": len(failed), "grades": grades}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment that has nbgrader."""
    folder = tmp_path_factory.mktemp("nbgrader") / "env"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
        found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        command = [str(found), "-m", "pip", "install", "--quiet", *PACKAGES]
        subprocess.run(command, check=True, capture_output=True, timeout=900)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"nbgrader could not be installed here: {str(error)[:100]}")
    return found


def grade(python, path, tmp_path):
    """Return how many grade cells the validator finds failing, and the points by grade id."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "IPYTHONDIR": str(tmp_path / "ip"),
    }
    command = [str(python), "-c", GRADE, str(path), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8")
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stderr
    told = json.loads(lines[0].removeprefix("RESULT "))
    reasons = {name: told["grades"].pop(name)[0] for name in list(told["grades"]) if name.endswith("-reason")}
    assert reasons == dict.fromkeys(reasons) and len(reasons) == 6, "a reason is left to a person"
    return told["failed"], told["grades"]


def test_right_answers_pass_validation_with_full_marks(python, tmp_path):
    path = filled(tmp_path, {id: source_of(id) for id in "123456"})
    failed, grades = grade(python, path, tmp_path)
    assert failed == 0
    assert grades == {f"ex{e.id}-check": [e.max_points, e.max_points] for e in BOOK}


def test_wrong_and_missing_answers_get_the_points_of_the_check(python, tmp_path):
    answers = {
        "1": source_of("1", {**RIGHT["1"], "total_bytes": 34_621_440}),
        "3": "missing_items = ['已保存激活', '内存碎片', '梯度']",
        "4": source_of("4"),
        "5": "supported = undefined",
    }
    failed, grades = grade(python, filled(tmp_path, answers), tmp_path)
    assert {name: points for name, (points, _) in grades.items()} == {
        "ex1-check": 2, "ex2-check": 0, "ex3-check": 1, "ex4-check": 5, "ex5-check": 0, "ex6-check": 0,
    }  # fmt: skip
    assert failed == 5
