"""Notebook cells made from definitions, as plain dicts of nbformat 4.

Such cells carry the tag ``exercise`` and an id of their own. ``put`` replaces them by id, so that what is
written by hand around them stays. Answer and check cells carry nbgrader's metadata, schema 3: the last value
of a check cell is the number of points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any, Final

from .exercise import Exercise, Parameters

Cell = dict[str, Any]

TAG: Final = "exercise"
SCHEMA: Final = 3
_WIDEST: Final = 96
_ANSWERS: Final = "27-08"
_SOLUTIONS: Final = "27-09"


def place_of(exercise: Exercise) -> tuple[str, str]:
    """Return the prefix of the notebook in which an exercise is answered, and its short name in cell ids.

    >>> from . import EXERCISES
    >>> place_of(EXERCISES["1"]), place_of(EXERCISES["27.1-a"])
    (('27-08', 'ex1'), ('27-01', 'exa'))
    """
    section, dash, letter = exercise.id.rpartition("-")
    if not dash or not section.startswith("27."):
        return _ANSWERS, f"ex{exercise.id}"
    return f"27-{int(section.removeprefix('27.')):02d}", f"ex{letter}"


def _cell(id: str, kind: str, source: str, exercise: Exercise, part: str, **metadata: Any) -> Cell:
    about = {"course": {"exercise": exercise.id, "part": part}, "tags": [TAG], **metadata}
    cell: Cell = {"cell_type": kind, "id": id, "metadata": about, "source": source}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def further_heading(prefix: str) -> Cell:
    """Return the heading above the two further exercises of a section's notebook."""
    words = (
        "数字取自真实的模型，不出自书。"
        "答法与 [27.8](27.08-exercises.ipynb) 相同：填好，运行，再运行下面的检查。"
    )
    about = {"tags": [TAG]}
    source = f"## 配套补充：两道练习\n\n{words}"
    return {"cell_type": "markdown", "id": f"{prefix}-further", "metadata": about, "source": source}


def _nbgrader(grade_id: str, **flags: Any) -> dict[str, Any]:
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    return {"schema_version": SCHEMA, "grade_id": grade_id, **plain, **flags}


def question_cells(
    exercise: Exercise,
    *,
    parameters: Parameters | None = None,
    individual: bool = False,
    checked: bool = True,
) -> list[Cell]:
    """Return the cells of a student's notebook: prompt, answer, check, reason.

    ``individual`` takes the parameters from the notebook's own variable ``parameters``. Without ``checked``
    there is no check cell: the definition stays with the teacher.
    """
    prefix, name = place_of(exercise)
    used = exercise.checked(parameters)
    prompt = f"{_heading(exercise)}\n\n**题目**　{exercise.prompt(used)}"
    if exercise.look_back:
        prompt += f"\n\n回看：{exercise.look_back}"
    answer = "\n".join(f"{field.name} = None  # {field.label}" for field in exercise.fields)
    reason = (
        f"**理由**　双击这一格，把想法写在下面。{exercise.reason}这里留给人读，不自动评分。\n\n> （写在这里）"
    )
    # nbgrader leaves a cell that is answer and grade at once to a person, one point for each of the rubric's.
    by_hand = _nbgrader(f"{name}-reason", grade=True, solution=True, points=len(exercise.rubric))
    graded = _nbgrader(f"{name}-check", grade=True, locked=True, points=exercise.max_points)
    cells = [
        _cell(f"{prefix}-{name}-prompt", "markdown", prompt, exercise, "prompt"),
        _cell(f"{prefix}-{name}-answer", "code", answer, exercise, "answer",
              deletable=False, nbgrader=_nbgrader(f"{name}-answer", solution=True)),
        _cell(f"{prefix}-{name}-check", "code", _check_code(exercise, individual), exercise, "check",
              deletable=False, editable=False, nbgrader=graded),
        _cell(f"{prefix}-{name}-reason", "markdown", reason, exercise, "reason",
              nbgrader=by_hand),
    ]  # fmt: skip
    return cells if checked else [cell for cell in cells if not cell["id"].endswith("-check")]


def _heading(exercise: Exercise) -> str:
    return (
        f"## 习题 {exercise.id}　{exercise.title}"
        if exercise.look_back
        else f"### 练习 {exercise.id}　{exercise.title}"
    )


def check_call(exercise: Exercise, *, individual: bool = False) -> str:
    """Return the call that checks the variables of a notebook, on lines that fit."""
    start = f'check("{exercise.id}", '
    words = [f'parameters=parameters["{exercise.id}"]'] if individual else []
    words += [f"{name}={name}" for name in exercise.answers]
    lines, line = [], start
    for number, word in enumerate(words, start=1):
        piece = word + (")" if number == len(words) else ", ")
        if len(line) + len(piece) > _WIDEST - len("result = "):
            lines.append(line.rstrip())
            line = " " * len("result = check(")
        line += piece
    return "\n".join([*lines, line])


def _check_code(exercise: Exercise, individual: bool) -> str:
    return (
        "from course_lib.exercises import check\nfrom course_lib.show.feedback import feedback\n\n"
        f"result = {check_call(exercise, individual=individual)}\ndisplay(feedback(result))\nresult.points"
    )


def solution_cells(exercise: Exercise, *, parameters: Parameters | None = None) -> list[Cell]:
    """Return the cells of the solutions notebook: brief, computation, its check, what to read in reasons."""
    name = place_of(exercise)[1]
    used = exercise.checked(parameters)
    brief = f"{_heading(exercise)}\n\n**题目**　{exercise.brief(used)}\n\n**解答**"
    held = (
        f"from course_lib.exercises import check\n\nresult = {check_call(exercise)}\n"
        "result.points, result.max_points"
    )
    rubric = "**读「理由」时看什么**\n\n" + "\n".join(f"- {point}" for point in exercise.rubric)
    return [
        _cell(f"{_SOLUTIONS}-{name}-prompt", "markdown", brief, exercise, "prompt"),
        *(
            _cell(f"{_SOLUTIONS}-{name}-{part}", "code", source, exercise, part)
            for part, source in exercise.code(used).items()
        ),
        _cell(f"{_SOLUTIONS}-{name}-held", "code", held, exercise, "held"),
        _cell(f"{_SOLUTIONS}-{name}-rubric", "markdown", rubric, exercise, "rubric"),
    ]


def parameters_cell(student_id: str, parameters: Mapping[str, Parameters]) -> Cell:
    """Return the locked cell with one student's numbers."""
    shown = pformat({name: dict(values) for name, values in parameters.items()}, width=100, sort_dicts=False)
    source = f"# 你的题设，请不要改动\nstudent = {student_id!r}\nparameters = {shown}"
    locked = _nbgrader("parameters", locked=True)
    about = {"deletable": False, "editable": False, "nbgrader": locked, "tags": [TAG]}
    return {
        "cell_type": "code", "id": f"{_ANSWERS}-parameters", "metadata": about, "source": source,
        "execution_count": None, "outputs": [],
    }  # fmt: skip


def put(cells: Sequence[Cell], made: Sequence[Cell], *, before: str | None = None) -> list[Cell]:
    """Return the cells with the made ones in place of those of the same id; new ones follow the last placed.

    Where none of them is there yet they go before the cell whose id is ``before``, or to the end.
    """
    placed = list(cells)
    ids = [cell["id"] for cell in placed]
    cursor = ids.index(before) if before in ids else len(placed)
    for cell in made:
        at = next((i for i, other in enumerate(placed) if other["id"] == cell["id"]), None)
        if at is None:
            placed.insert(cursor, cell)
            at = cursor
        else:
            placed[at] = _with_outputs(cell, placed[at])
        cursor = at + 1
    return placed


def _with_outputs(made: Cell, old: Cell) -> Cell:
    """Keep what a cell of unchanged source has stored."""
    if made["cell_type"] == "code" and "".join(old["source"]) == made["source"]:
        return made | {"outputs": old["outputs"], "execution_count": old["execution_count"]}
    return made
