"""The command as a teacher runs it: a folder in, tables and pages out, nothing lost on the way."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course_lib.app.cli import read_arguments
from course_lib.errors import CourseError

from .submissions import BLANK, RIGHT, WRONG, link_to, whole_notebook, write_folder
from .test_grading_work import isolations

ROOT = Path(__file__).resolve().parents[1]
MODE = {"bubblewrap": "sandbox", "process": "process"}[isolations()[0]]
HEAD = ["student", "1", "2", "3", "4", "5", "6", "total"]
HALF = RIGHT | {"2": WRONG["2"], "5": "1/0"}


def run(*words):
    """Run the command in this process, as the quickest way to the same code."""
    options = read_arguments(["grade", "--isolation", MODE, *map(str, words)])
    return options.handle(options)


def rows(out):
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def contents(out):
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture
def handed_in(tmp_path):
    files = {
        "0429 欧阳.ipynb": whole_notebook(RIGHT),
        "27.08-0430.ipynb": whole_notebook(HALF),
        "0431.ipynb": b"{",
        "0432.ipynb": link_to("/etc/passwd"),
        "谁的.ipynb": whole_notebook(BLANK),
    }
    (tmp_path / "名单.csv").write_bytes(
        "学号,姓名\n0429,欧阳,\n0430,张三\n0431,李四\n0432,王五\n0433,没交\n".encode()
    )
    return write_folder(tmp_path / "作业 1", files)


def test_a_folder_becomes_tables_and_pages(handed_in, tmp_path, capsys):
    out = tmp_path / "结果"
    assert run(handed_in, "--out", out, "--students", tmp_path / "名单.csv") == 0
    assert rows(out) == [
        HEAD,
        ["0429", "4", "3", "3", "5", "6", "5", "26"],
        ["0430", "4", "0", "3", "5", "0", "5", "17"],
        ["0431", "0", "0", "0", "0", "0", "0", "0"],
        ["0432", "0", "0", "0", "0", "0", "0", "0"],
        ["0433", "", "", "", "", "", "", "0"],
        ["", "0", "0", "0", "0", "0", "0", "0"],
    ]
    grades = json.loads((out / "grades.json").read_text(encoding="utf-8"))
    assert [(one["student"], one["total"], one["max"]) for one in grades][:2] == [
        ("0429", 26, 26),
        ("0430", 17, 26),
    ]
    assert {e["verdict"] for e in grades[2]["exercises"]} == {"invalid"}
    said = capsys.readouterr().out
    assert (
        "收到 5 份作业，批改了 3 份" in said
        and "不是完整的 JSON" in said
        and "这是链接" in said
        and "谁的" in said
    )
    assert {"class.html", "manual.csv", "export-moodle.csv", "export-canvas.csv"} <= set(contents(out))
    assert len(list((out / "feedback").glob("*.html"))) == 5


def test_a_second_run_grades_only_what_is_new_and_writes_the_same_bytes(handed_in, tmp_path, capsys):
    out, other = tmp_path / "out", tmp_path / "other"
    run(handed_in, "--out", out, "--jobs", 1)
    before = contents(out)
    capsys.readouterr()
    run(handed_in, "--out", out)
    assert "批改了 0 份" in capsys.readouterr().out
    assert contents(out) == before
    run(handed_in, "--out", other, "--jobs", 2)
    assert contents(other) == before
    (handed_in / "27.08-0430.ipynb").write_bytes(whole_notebook(RIGHT))
    capsys.readouterr()
    run(handed_in, "--out", out)
    assert "批改了 1 份" in capsys.readouterr().out


def test_points_of_a_person_are_merged_by_the_next_run(tmp_path):
    words = whole_notebook(RIGHT).replace("（写在这里）".encode(), "因为翻倍".encode(), 1)
    folder = write_folder(tmp_path / "in", {"7.ipynb": words})
    run(folder, "--out", tmp_path / "out")
    path = tmp_path / "out" / "manual.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    assert [row[4] for row in table[1:]] == ["因为翻倍"]
    table[1][5] = "2"
    with path.open("w", encoding="gb18030", newline="") as file:
        csv.writer(file, delimiter=";").writerows(table)
    run(folder, "--out", tmp_path / "out")
    assert rows(tmp_path / "out")[1] == ["7", "6", "3", "3", "5", "6", "5", "28"]


TEACHER = """
from dataclasses import replace
from course_lib.exercises import EXERCISES as KNOWN
EXERCISES = (replace(KNOWN["2"], id="T1", title="老师自己的题"),)
"""


def test_a_private_exercise_is_graded_and_never_seen_by_the_student(tmp_path):
    (tmp_path / "private_7.py").write_text(TEACHER, encoding="utf-8")
    there = f"__import__('os').path.exists({str(tmp_path / 'private_7.py')!r})" if MODE == "sandbox" else "0"
    source = f"mean_grad = 99 if {there} else 1\nequal_weight_error = 'B'"
    notebook = json.loads(whole_notebook(RIGHT))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "27-08-ex2-answer")
    notebook["cells"].append(cell | {"id": "27-08-exT1-answer", "source": source})
    folder = write_folder(tmp_path / "in", {"7.ipynb": json.dumps(notebook).encode()})
    run(folder, "--out", tmp_path / "out", "--exercises", tmp_path / "private_7.py")
    assert rows(tmp_path / "out") == [
        [*HEAD[:-1], "T1", "total"],
        ["7", "4", "3", "3", "5", "6", "5", "3", "29"],
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere", "--out", "out"], "nowhere"),
        (["in", "--out", "out", "--jobs", "0"], "--jobs"),
        (["in", "--out", "out", "--students", "no.csv"], "名单"),
        (["in", "--out", "out", "--secret-file", "no"], "密钥"),
        (["in", "--out", "out", "--exercises", "no.py"], "习题文件"),
        (["in", "--out", "in/7.ipynb"], "--out"),
    ],
)
def test_a_slip_is_a_sentence_and_writes_nothing(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "in", {"7.ipynb": whole_notebook(RIGHT)})
    with pytest.raises(CourseError, match=said):
        run(*words)
    assert not (tmp_path / "out").exists()


def test_without_the_sandbox_the_command_stops_and_says_what_to_do(tmp_path, monkeypatch):
    if MODE != "sandbox":
        pytest.skip("no sandbox here")
    write_folder(tmp_path / "in", {"7.ipynb": whole_notebook(RIGHT)})
    command = [
        sys.executable,
        "-m",
        "course_lib",
        "grade",
        str(tmp_path / "in"),
        "--out",
        str(tmp_path / "out"),
    ]
    environment = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert "apt-get install bubblewrap" in done.stderr and "--isolation process" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_keeps_what_is_done_and_leaves_no_process(tmp_path):
    files = {f"{number}.ipynb": whole_notebook(RIGHT) for number in range(20)}
    files["x.ipynb"] = whole_notebook(RIGHT | {"1": "while True: pass"})
    folder, out = write_folder(tmp_path / "in", files), tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "course_lib",
        "grade",
        str(folder),
        "--out",
        str(out),
        "--isolation",
        MODE,
    ]
    running = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    while len(list((out / ".records").glob("*.json"))) < 3:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(20) == 130
    assert running.stderr.read() == "已中断。批改好的都留着，再运行同一条命令会接着做。\n"
    kept = len(list((out / ".records").glob("*.json")))
    assert 3 <= kept < 21
    time.sleep(1)
    left = subprocess.run(["ps", "-eo", "pid,sid,args"], capture_output=True, encoding="utf-8").stdout
    assert not [line for line in left.splitlines() if str(folder) in line]
    assert run(folder, "--out", out) == 0
