"""Make notebooks from the exercises: ``python -m course_lib release``.

Without students it brings the stored notebooks up to date with the definitions. With a class list it writes
one notebook for each student, with numbers of their own. Cells are replaced by id; what is written by hand
stays.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from ..exercises import BOOK, EXERCISES, Exercise, draw, sign
from ..exercises.cells import (
    Cell,
    further_heading,
    parameters_cell,
    place_of,
    put,
    question_cells,
    solution_cells,
)
from ..exercises.own import exercises_in
from ..files import read_whole, write_whole
from ..grading.class_list import Student, file_name, read_class_list
from .notebook_form import normalise, read
from .places import NOTEBOOKS

_QUESTIONS: Final = "27.08"
_SOLUTIONS: Final = "27.09"
_AFTER_INTRO: Final = "27-08-ex1-prompt"
_CLOSING: Final = "27-08-next"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``release [--students LIST --secret-file FILE --out FOLDER --exercises FILE]``."""
    parser = commands.add_parser("release", help="由习题定义生成笔记本，或给每个学生一份")
    parser.add_argument(
        "--students", type=Path, metavar="名单", help="csv：学号，姓名；不写就更新存放的笔记本"
    )
    parser.add_argument("--secret-file", type=Path, metavar="文件", help="只有教师有的密钥，不在就造一个")
    parser.add_argument("--out", type=Path, metavar="文件夹", help="个人笔记本写到哪里")
    parser.add_argument("--exercises", type=Path, metavar="文件", help="教师自己的习题，一个 Python 文件")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Write notebooks and say which."""
    if options.students is None:
        for path in update_stored(NOTEBOOKS):
            print(f"{path.name}：已按习题定义更新，请再运行 python -m course_lib notebooks run {path}")
        return 0
    if options.secret_file is None or options.out is None:
        raise CourseError("发放个人笔记本还缺参数", remedy="请同时给 --students、--secret-file 和 --out")
    students = read_class_list(options.students)
    secret = read_secret(options.secret_file)
    if warning := secret_warning(options.secret_file):
        print(warning, file=sys.stderr)
    own = exercises_in(read_source(options.exercises), options.exercises.name) if options.exercises else ()
    template = read(stored(_QUESTIONS))[1]
    for student in students:
        path = options.out / f"{_QUESTIONS}-{file_name(student)}.ipynb"
        text = individual_notebook(template, student, secret=secret, own=own)
        write_whole(path, text.encode())
        print(f"{student.id} {student.name}：{path}")
    return 0


def stored(prefix: str) -> Path:
    """Return the stored notebook of a section."""
    return next(NOTEBOOKS.glob(f"{prefix}-*.ipynb"))


def made_cells(prefix: str) -> list[list[Cell]]:
    """Return the cells of each exercise that belong to the notebook of this prefix, e.g. ``27.08``."""
    if prefix == _SOLUTIONS:
        return [solution_cells(exercise) for exercise in BOOK]
    wanted = prefix.replace(".", "-")
    made = [question_cells(e) for e in EXERCISES.values() if place_of(e)[0] == wanted]
    if made and prefix != _QUESTIONS:
        made[0].insert(0, further_heading(wanted))
    return made


def with_made_cells(notebook: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return a stored notebook with its made cells as the definitions have them now.

    New further exercises go before the section on limits.
    """
    cells = notebook["cells"]
    closing = next((cell["id"] for cell in cells if "没有说什么" in "".join(cell["source"][:40])), None)
    for made in made_cells(prefix):
        cells = put(cells, made, before=closing)
    return notebook | {"cells": cells}


def update_stored(folder: Path) -> list[Path]:
    """Bring the made cells of all stored notebooks up to date; return the files that changed."""
    changed = []
    for path in sorted(folder.glob("27.*.ipynb")):
        text, notebook = read(path)
        new = normalise(with_made_cells(notebook, path.name[:5]), stem=path.stem)
        if new != text:
            write_whole(path, new.encode())
            changed.append(path)
    return changed


def individual_notebook(
    template: dict[str, Any], student: Student, *, secret: bytes, own: Sequence[Exercise] = ()
) -> str:
    """Return one student's notebook: the stored one with other numbers, signed, nothing answered or run.

    Exercises of the teacher's own file give their prompts and places to answer, no parameters and no check.
    """
    parameters = {exercise.id: draw(exercise, student.id, secret) for exercise in BOOK}
    cells = list(template["cells"])
    for exercise in BOOK:
        cells = put(cells, question_cells(exercise, parameters=parameters[exercise.id], individual=True))
    cells = put(cells, [parameters_cell(student.id, parameters)], before=_AFTER_INTRO)
    for exercise in own:
        made = question_cells(exercise, parameters=draw(exercise, student.id, secret), checked=False)
        cells = put(cells, made, before=_CLOSING)
    plain = json.loads(normalise(template | {"cells": [_unrun(cell) for cell in cells]}, stem=_QUESTIONS))
    plain["metadata"]["course"] = {
        "student": student.id,
        "parameters": parameters,
        "signature": sign(student.id, parameters, secret),
    }
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _unrun(cell: Cell) -> Cell:
    return cell | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell


def read_secret(path: Path, *, make: bool = True) -> bytes:
    """Return the bytes of a secret file; where there is none yet, make one, or refuse."""
    import secrets

    if make and not path.exists():
        write_whole(path, secrets.token_hex(32).encode())
        path.chmod(0o600)
    secret = read_whole(path, "密钥文件").strip()
    if len(secret) < 16:
        raise CourseError(
            "密钥太短，别人猜得出", got=path.name, remedy="请删掉这个文件，再运行一次会造一个新的"
        )
    return secret


def secret_warning(path: Path) -> str:
    """Return a sentence if others on this machine may read the secret, else nothing."""
    if os.name != "posix" or not stat.S_IMODE(path.stat().st_mode) & 0o077:
        return ""
    return f"注意：别的用户也能读密钥文件 {path.name}，读到就算得出每个人的题。请运行 chmod 600 {path.name}。"


def read_source(path: Path) -> str:
    """Return the text of a teacher's own Python file of exercises."""
    try:
        return read_whole(path, "习题文件").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourseError(
            "习题文件读不出来", got=path.name, remedy="请给一个 UTF-8 的 Python 文件"
        ) from error
