"""Notebooks made from definitions, the self-check on filled copies, individual notebooks, progress, forms."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.app.cli import read_arguments
from course_lib.app.notebook_form import normalise, read
from course_lib.app.release import (
    individual_notebook,
    read_secret,
    stored,
    update_stored,
    with_made_cells,
)
from course_lib.errors import CourseError
from course_lib.exercises import BOOK, EXERCISES, FURTHER, check, is_signed, progress, variant
from course_lib.exercises.cells import place_of, put, question_cells
from course_lib.exercises.own import exercises_in
from course_lib.exercises.progress import Entry
from course_lib.grading.class_list import Student
from course_lib.show import feedback as view
from course_lib.show.feedback import feedback, solution
from course_lib.show.forms import form

from .reading import FOLDER
from .test_exercises import RIGHT

ROOT = Path(__file__).resolve().parents[1]
SECRET = b"a secret for tests only"
QUESTIONS = stored("27.08")


def filled(tmp_path, answers, *, template=None):
    """A copy of 27.08 with some answer cells filled: exercise id → source."""
    notebook = template or read(QUESTIONS)[1]
    for cell in notebook["cells"]:
        for id, source in answers.items():
            if cell["id"] == "-".join(place_of(EXERCISES[id])) + "-answer":
                cell["source"] = source
    path = tmp_path / "27.08-exercises.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def source_of(id, answers=None):
    return "\n".join(f"{name} = {value!r}" for name, value in (answers or RIGHT[id]).items())


def run_check(path):
    command = [sys.executable, "-m", "course_lib", "check", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert not done.stderr, done.stderr
    *lines, last = done.stdout.strip().splitlines()
    return done.returncode, {re.match(r"习题 (\S+?)　", line)[1]: line for line in lines}, last


def test_stored_notebooks_are_what_the_definitions_make(tmp_path):
    """A change of a definition that was not brought into the notebooks is seen here."""
    for path in FOLDER.glob("27.*.ipynb"):
        shutil.copy(path, tmp_path)
    assert update_stored(tmp_path) == []
    copy = tmp_path / QUESTIONS.name
    copy.write_text(copy.read_text(encoding="utf-8").replace("微批次加倍", "微批次减半"), encoding="utf-8")
    assert update_stored(tmp_path) == [copy]
    assert copy.read_bytes() == QUESTIONS.read_bytes()


def test_cells_are_replaced_by_id_and_hand_written_ones_stay():
    made = question_cells(EXERCISES["1"])
    hand = [{"id": name, "cell_type": "markdown", "metadata": {}, "source": name} for name in "ab"]
    old = [made[0] | {"source": "旧"}, hand[0], made[1] | {"source": "旧"}, hand[1]]
    ids = [cell["id"].removeprefix("27-08-ex1-") for cell in put(old, made)]
    assert ids == ["prompt", "a", "answer", "check", "reason", "b"]
    assert [cell for cell in put(old, made) if cell["source"] == "旧"] == []
    assert put(hand, made, before="b")[0] == hand[0]
    assert put(put(old, made), made) == put(old, made)


def test_check_and_answer_cells_have_nbgrader_metadata():
    graded, names = 0, []
    for exercise in BOOK:
        for cell in question_cells(exercise):
            about = cell["metadata"].get("nbgrader")
            if cell["id"].endswith("-prompt"):
                assert about is None
                continue
            assert {"schema_version", "grade", "locked", "solution", "grade_id"} <= set(about)
            assert about["schema_version"] == 3
            part = cell["id"].rsplit("-", 1)[1]
            flags = {
                "answer": (False, True, False),
                "check": (True, False, True),
                "reason": (True, True, False),
            }
            assert (about["grade"], about["solution"], about["locked"]) == flags[part]
            names.append(about["grade_id"])
            graded += about["points"] if part == "check" else 0
    assert len(set(names)) == len(names) == 18
    assert graded == 4 + 3 + 3 + 5 + 6 + 5


def test_tracked_questions_store_the_unanswered_state():
    for cell in read(QUESTIONS)[1]["cells"]:
        if cell["id"].endswith("-check"):
            shown, points = cell["outputs"]
            assert "还没有作答" in shown["data"]["text/plain"]
            assert points["data"]["text/plain"] == "0"
        if cell["id"].endswith("-answer"):
            assert all(" = None  # " in line for line in cell["source"].splitlines())


def test_check_says_unanswered(tmp_path):
    path = filled(tmp_path, {})
    before = path.read_bytes()
    status, lines, last = run_check(path)
    assert (status, list(lines)) == (1, list("123456"))
    assert all(line.endswith("还没有作答") for line in lines.values())
    assert "0 道成立" in last
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_check_passes_right_answers_and_fails_at_the_wrong_exercise_only(tmp_path):
    right = {id: source_of(id) for id in "123456"}
    status, lines, last = run_check(filled(tmp_path, right))
    assert (status, "6 道成立，0 道没有" in last) == (0, True), lines
    wrong = right | {
        "1": "activation_bytes = 2_621_440\ntotal_bytes = 34_621_440",
        "4": "immediate_after_1 = 1/0",
    }
    status, lines, last = run_check(filled(tmp_path, wrong))
    assert (status, "4 道成立，2 道没有" in last) == (1, True), lines
    assert "对了一部分，2 / 4 分：加余量前的合计再想想" in lines["1"]
    assert "出错：ZeroDivisionError" in lines["4"]
    assert all(lines[id].endswith("：对") for id in "2356")


@pytest.mark.slow
def test_check_reports_a_missing_cell_and_a_dead_kernel(tmp_path):
    notebook = read(QUESTIONS)[1]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "27-08-ex2-answer"]
    answers = {"1": source_of("1"), "5": "import os\nos._exit(1)"}
    _, lines, _ = run_check(filled(tmp_path, answers, template=notebook))
    assert lines["1"].endswith("：对")
    assert "不见了" in lines["2"]
    assert "内核中途退出" in lines["6"]


def test_check_without_exercises_or_notebook_is_a_sentence(tmp_path):
    for path, said in (
        (FOLDER / "27.10-references.ipynb", "没有习题"),
        (tmp_path / "x.ipynb", "读不成笔记本"),
    ):
        command = [sys.executable, "-m", "course_lib", "check", str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
        assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (1, True, 1), done.stderr


@pytest.fixture(scope="module")
def individual():
    student = Student("0429", "欧阳,娜娜")
    return json.loads(individual_notebook(read(QUESTIONS)[1], student, secret=SECRET))


def test_individual_notebook_carries_signed_parameters_in_a_locked_cell(individual):
    about = individual["metadata"]["course"]
    assert about["student"] == "0429"
    assert about["parameters"] == {exercise.id: variant(exercise.id, "0429", SECRET) for exercise in BOOK}
    assert is_signed("0429", about["parameters"], SECRET, about["signature"])
    assert not is_signed("0430", about["parameters"], SECRET, about["signature"])
    assert not is_signed("0429", about["parameters"], b"another", about["signature"])
    about["parameters"]["1"]["layers"] += 1
    assert not is_signed("0429", about["parameters"], SECRET, about["signature"])
    about["parameters"]["1"]["layers"] -= 1
    (cell,) = [cell for cell in individual["cells"] if cell["id"] == "27-08-parameters"]
    assert cell["metadata"]["nbgrader"]["locked"] and cell["metadata"]["editable"] is False
    scope = {}
    exec("".join(cell["source"]), scope)
    assert (scope["student"], scope["parameters"]) == ("0429", about["parameters"])
    text = json.dumps(individual, ensure_ascii=False)
    assert SECRET.decode() not in text
    assert not any(cell.get("outputs") for cell in individual["cells"])


@pytest.mark.slow
def test_individual_notebook_is_checked_with_its_own_numbers(individual, tmp_path):
    own = individual["metadata"]["course"]["parameters"]
    right = {id: source_of(id, EXERCISES[id].solve(own[id])) for id in "123456"}
    status, lines, _ = run_check(filled(tmp_path, right, template=json.loads(json.dumps(individual))))
    assert status == 0, lines
    _, lines, _ = run_check(filled(tmp_path, {"1": source_of("1")}, template=individual))
    assert "再想想" in lines["1"]


TEACHER = """
from dataclasses import replace
from course_lib.exercises import EXERCISES as KNOWN
EXERCISES = (replace(KNOWN["2"], id="T1", title="老师自己的题"),)
"""


def test_a_private_exercise_enters_with_its_prompt_only(tmp_path):
    (tmp_path / "own.py").write_text(TEACHER, encoding="utf-8")
    own = exercises_in((tmp_path / "own.py").read_text(encoding="utf-8"), "own.py")
    text = individual_notebook(read(QUESTIONS)[1], Student("7"), secret=SECRET, own=own)
    cells = [
        cell
        for cell in json.loads(text)["cells"]
        if cell["metadata"].get("course", {}).get("exercise") == "T1"
    ]
    assert [cell["metadata"]["course"]["part"] for cell in cells] == ["prompt", "answer", "reason"]
    assert "老师自己的题" in "".join(cells[0]["source"])
    assert "T1" not in json.loads(text)["metadata"]["course"]["parameters"]
    for code, said in (("EXERCISES = ()", "没有习题"), ("1/0", "ZeroDivisionError"), ("x = 1", "没有习题"),
                       (TEACHER.replace('"T1"', '"3"'), "与别的相同")):  # fmt: skip
        (tmp_path / "own.py").write_text(code, encoding="utf-8")
        with pytest.raises(CourseError, match=said):
            exercises_in((tmp_path / "own.py").read_text(encoding="utf-8"), "own.py")


def release(*words):
    options = read_arguments(["release", *map(str, words)])
    return options.handle(options)


def test_release_writes_one_notebook_for_each_student(tmp_path, capsys):
    (tmp_path / "list.csv").write_bytes("学号;姓名\n0429;张三\n20230001234567891;李 四\n".encode("gb18030"))
    out = tmp_path / "out"
    words = ("--students", tmp_path / "list.csv", "--secret-file", tmp_path / "secret", "--out", out)
    assert release(*words) == 0
    assert capsys.readouterr().out.count("\n") == 2
    names = ["27.08-0429.ipynb", "27.08-20230001234567891.ipynb"]
    assert sorted(path.name for path in out.iterdir()) == names
    first = [(out / name).read_bytes() for name in names]
    assert first[0] != first[1]
    release(*words)
    assert [(out / name).read_bytes() for name in names] == first
    with pytest.raises(CourseError, match="--secret-file"):
        release("--students", tmp_path / "list.csv")


def test_a_secret_is_made_once_and_a_short_one_refused(tmp_path):
    secret = read_secret(tmp_path / "secret")
    assert read_secret(tmp_path / "secret") == secret and len(secret) == 64
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(CourseError, match="密钥太短"):
        read_secret(tmp_path / "short")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A reader's work folder with this process in it."""
    monkeypatch.setattr(progress, "WORK", tmp_path)
    monkeypatch.setattr(view, "_SESSION", {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_hint_more_at_every_new_wrong_answer(work):
    mistakes = EXERCISES["2"].criteria[0].misconceptions
    gentle, strong = mistakes[0].hints
    first = feedback(check("2", mean_grad=0)).text
    assert gentle in first and strong not in first
    assert feedback(check("2", mean_grad=0)).text == first, "the same answer again is no new attempt"
    assert strong not in feedback(check("2")).text, "no answer is no attempt"
    second = feedback(check("2", mean_grad=0, equal_weight_error="A")).text
    assert gentle in second and strong in second
    assert progress.load(work)["2"].attempts == 2


def test_progress_shows_and_only_the_best_counts(work):
    assert "还没有作答" in view.progress().text()
    feedback(check("1", **RIGHT["1"]))
    feedback(check("1", activation_bytes=1, total_bytes=1))
    feedback(check("2", mean_grad=1))
    feedback(check("27.1-a", **RIGHT["27.1-a"]))
    rows = {row[0]: row[2:] for row in view.progress().rows}
    assert rows["1"] == ("4 / 4", 2, "做完")
    assert rows["2"] == ("2 / 3", 1, "在做")
    assert rows["3"] == ("0 / 3", 0, "还没有作答")
    assert "做完 1 道" in view.progress().note


def test_progress_survives_a_crash_and_a_broken_file(work, monkeypatch):
    progress.keep(work, "1", Entry(attempts=3, points=4, max_points=4))
    kept = (work / progress.FILE).read_bytes()

    def killed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        progress.keep(work, "2", Entry(attempts=1))
    monkeypatch.undo()
    assert (work / progress.FILE).read_bytes() == kept
    assert progress.load(work)["1"].solved
    for junk in (
        b"{",
        b"[]",
        b'{"exercises": {"1": 3}}',
        b'{"exercises": {"1": {"attempts": "x"}}}',
        b"\xff",
    ):
        (work / progress.FILE).write_bytes(junk)
        assert progress.load(work) == {}


def test_nothing_is_kept_outside_the_work_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(view, "_SESSION", {})
    feedback(check("2", mean_grad=0))
    assert list(tmp_path.iterdir()) == []


def test_feedback_contains_no_answer_and_the_solution_does(work):
    said = feedback(check("1", activation_bytes=1, total_bytes=2))
    for text in (said.text, said.html()):
        assert not re.search("2,?621,?440|18,?621,?440", text)
    shown = solution("1")
    assert "2,621,440" in shown.text and "18,621,440" in shown.html()
    with pytest.raises(CourseError):
        solution("9")


def entries_of(exercise_form):
    return {entry.field.name: entry for entry in exercise_form.entries}


def test_form_and_code_cell_give_the_same_answer_values(work):
    room = form()
    assert list(room.forms) == list("123456")
    one = entries_of(room.forms["1"])
    assert room.forms["1"].answers == {"activation_bytes": None, "total_bytes": None}
    one["activation_bytes"]._one.value = "2.5 MiB"
    one["total_bytes"]._one.value = "18,621,440 字节"
    assert room.forms["1"].answers == {"activation_bytes": 2_621_440, "total_bytes": 18_621_440}
    three = entries_of(room.forms["3"])["missing_items"]
    for part in three._parts:
        part.value = part.description in RIGHT["3"]["missing_items"]
    assert room.forms["3"].answers == RIGHT["3"]
    five = entries_of(room.forms["5"])
    for name, letters in RIGHT["5"].items():
        for part in five[name]._parts:
            part.value = part.description in letters
    assert room.forms["5"].answers == RIGHT["5"]
    six = entries_of(room.forms["6"])
    for name, value in RIGHT["6"].items():
        six[name]._one.value = str(value) if isinstance(value, float) else value
    assert room.forms["6"].answers == RIGHT["6"]


def test_form_checks_writes_code_and_shows_the_solution_when_asked(work):
    room = form("2")
    entries = entries_of(room.forms["2"])
    check_, code, solve = room.forms["2"].children[-2].children
    check_.click()
    assert "还没有作答" in room.forms["2"].said.value
    entries["mean_grad"]._one.value = "零"
    entries["equal_weight_error"]._one.value = "B"
    check_.click()
    assert "读不成数" in room.forms["2"].said.value
    entries["mean_grad"]._one.value = "1"
    code.click()
    assert "mean_grad = 1\nequal_weight_error = &#x27;B&#x27;" in room.forms["2"].said.value
    check_.click()
    assert "全对" in room.forms["2"].said.value
    solve.click()
    assert "解答" in room.forms["2"].said.value
    assert "课堂表单：习题 2" in room._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("exercise", FURTHER, ids=lambda exercise: exercise.id)
def test_every_further_exercise_has_a_form(exercise, work):
    shown = form(exercise.id).forms[exercise.id]
    assert set(shown.answers.values()) == {None}


def test_made_cells_of_a_notebook_without_any_go_before_its_limits():
    cells = [{"id": f"27-01-{name}", "cell_type": "markdown", "metadata": {}, "source": source}
             for name, source in (("0", "# 27.1"), ("1", "## 这份估算没有说什么\n\n- 无"))]  # fmt: skip
    made = with_made_cells({"cells": cells}, "27.01")["cells"]
    assert [made[0]["id"], made[-1]["id"]] == ["27-01-0", "27-01-1"]
    assert len(made) == 2 + 1 + 8
    assert "配套补充" in made[1]["source"]
    text = normalise({"cells": made, "metadata": {}}, stem="27.01-x")
    assert "exa-check" in text
