"""The command line: Chinese help and errors, commands found by name, nothing heavy until it is needed."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.app import cli, testing
from course_lib.errors import CourseError

ROOT = Path(__file__).resolve().parents[1]


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("os.environ", {})
    try:
        status = cli.main(arguments)
    except SystemExit as exit_:
        status = exit_.code
    said = capsys.readouterr()
    return status, said.out + said.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "缺少参数 命令"),
        (("labb",), "没有 'labb' 这一项"),
        (("lab", "--porrt", "1"), "不认识的参数 --porrt 1"),
        (("notebooks", "erase"), "没有 'erase' 这一项"),
    ],
)
def test_slips_get_a_chinese_sentence(monkeypatch, capsys, arguments, sentence):
    status, said = run(monkeypatch, capsys, *arguments)
    assert (status, sentence in said) == (2, True), said
    assert not {"error", "usage", "invalid", "choose"} & set(said.split())


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.COMMANDS)], ids=str)
def test_help_is_chinese(monkeypatch, capsys, command):
    status, said = run(monkeypatch, capsys, *command, "--help")
    assert status == 0
    assert "用法：" in said
    assert not {"usage:", "options:", "positional", "show"} & set(said.split())


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (CourseError("没有笔记本", remedy="请重新下载"), 1, "没有笔记本。请重新下载。"),
        (OSError(28, "No space left on device"), 1, "磁盘空间"),
        (KeyboardInterrupt(), 130, "已中断"),
    ],
)
def test_what_a_reader_can_mend_is_one_sentence(monkeypatch, capsys, error, status, sentence):
    def fail(options):
        raise error

    monkeypatch.setattr("course_lib.app.lab.handle", fail)
    came, said = run(monkeypatch, capsys, "lab")
    assert (came, sentence in said, said.count("\n")) == (status, True, 1)


def test_what_test_does_not_know_goes_to_pytest_in_order():
    options = cli.read_arguments(["test", "tests/test_ledger.py", "--all", "-k", "table", "-x"])
    assert (options.all, options.rest) == (True, ["tests/test_ledger.py", "-k", "table", "-x"])


def test_default_run_leaves_the_long_tests_out():
    assert testing.DEFAULT_MARKS in testing.pytest_arguments(everything=False, rest=[])
    assert testing.DEFAULT_MARKS not in testing.pytest_arguments(everything=True, rest=[])


@pytest.mark.parametrize(("encoding", "expected"), [("gbk", "gbk"), ("ascii", "utf-8"), ("cp1252", "utf-8")])
def test_output_is_safe_in_every_encoding(monkeypatch, encoding, expected):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    cli.make_output_safe()
    print("课程 \ud800 ♥", flush=True)
    assert stream.buffer.getvalue().decode(expected).startswith("课程 \\ud800")


def test_reading_the_command_line_loads_nothing_heavy():
    code = (
        "import sys; from course_lib.app.cli import read_arguments; read_arguments(['lab']);"
        "print(*{'numpy', 'matplotlib', 'jupyterlab', 'nbformat', 'pytest'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
