"""Opening the course: own port, own token, own folders, nothing left behind. Real servers are slow tests."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.app import lab, places

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_where_somebody_answers_is_left_alone(monkeypatch, taken_port):
    monkeypatch.setattr(lab, "FIRST_PORT", taken_port)
    assert lab.free_port() != taken_port
    monkeypatch.setattr(lab, "PORTS_TRIED", 1)
    assert lab.free_port() == 0


def test_own_places_keep_other_installations_out(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(places, "RUNTIME", tmp_path / ".runtime")
    for name in ("JUPYTER_TOKEN", "JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "MPLBACKEND", "IPYTHONDIR"):
        os.environ[name] = "other"
    places.use_own_places()
    own = [name for name, value in os.environ.items() if value.startswith(str(tmp_path))]
    assert {"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"} <= set(own)
    assert "other" not in os.environ.values()
    assert os.environ["PYTHONPATH"].split(os.pathsep)[0] == str(ROOT)


def test_shipped_settings_are_chinese_and_quiet():
    text = (ROOT / "course_lib/app/jupyter/labconfig/default_setting_overrides.json").read_text(
        encoding="utf-8"
    )
    settings = json.loads(text)
    assert settings["@jupyterlab/translation-extension:plugin"] == {"locale": "zh_CN"}
    assert settings["@jupyterlab/apputils-extension:notification"] == {
        "checkForUpdates": False,
        "fetchNews": "false",
    }


class Opened:
    """A course in a folder with an awkward name, opened as ``python -m course_lib lab`` does."""

    def __init__(self, base, **environment):
        self.root = base / "我的 课程 (1)"
        self.home = base / "张 三"
        self.home.mkdir()
        shutil.copytree(
            ROOT / "course_lib", self.root / "course_lib", ignore=shutil.ignore_patterns("__pycache__")
        )
        (self.root / "notebooks").mkdir()
        notebook = new_notebook(cells=[new_code_cell("from course_lib.ledger import model_state", id="a")])
        nbformat.write(notebook, self.root / "notebooks/00-start.ipynb")
        hostile = {"HOME": str(self.home), "JUPYTER_TOKEN": "other", "LC_ALL": "C", "PYTHONIOENCODING": "gbk"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course_lib", "lab", "--no-browser"],
            cwd=self.root,
            env=os.environ | hostile | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.said = ""
        while "Ctrl-C" not in self.said:
            line = self.process.stdout.readline().decode("gbk")
            assert line, self.said
            self.said += line
        self.url, self.token = re.search(r"(http://127\.0\.0\.1:\d+)/\S+token=(\w+)", self.said).groups()

    def ask(self, path, data=None):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"token {self.token}"})
        request.data = None if data is None else json.dumps(data).encode()
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def start_kernel(self):
        """Start the notebook's kernel, wait until it runs and return its process id."""
        kernel = {"path": "00-start.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}}
        self.ask("/api/sessions", kernel)
        run = str(self.root / ".runtime/run/kernel-")
        return self.wait_for(lambda: [pid for pid in _processes() if run in _command(pid)])[0]

    def wait_for(self, condition):
        deadline = time.monotonic() + 30
        while not (found := condition()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return found


def _processes():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


@pytest.fixture
def opened(tmp_path):
    course = Opened(tmp_path)
    yield course
    if course.process.poll() is None:
        os.killpg(course.process.pid, signal.SIGKILL)
    course.process.communicate()


@POSIX
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_stopping_leaves_no_kernel_and_nothing_outside(opened, how):
    kernel = opened.start_kernel()
    assert "请保持此窗口打开" in opened.said
    assert opened.token != "other"
    assert list(opened.ask("/api/kernelspecs")["kernelspecs"]) == ["python3"]
    opened.process.send_signal(getattr(signal, how))
    rest = opened.process.communicate(timeout=30)[0].decode("gbk")
    assert opened.process.returncode == 0, rest
    assert not _command(kernel)
    assert {path.name for path in opened.home.rglob("*")} <= {".cache"}
    assert {path.name for path in opened.root.iterdir()} == {"course_lib", "notebooks", "work", ".runtime"}
    assert [path.name for path in (opened.root / "notebooks").iterdir()] == ["00-start.ipynb"]


@POSIX
@pytest.mark.slow
def test_second_course_beside_a_running_one_has_its_own_port_and_token(opened, tmp_path):
    (tmp_path / "two").mkdir()
    second = Opened(tmp_path / "two")
    try:
        assert second.url != opened.url
        assert second.token != opened.token
        second.process.terminate()
        second.process.communicate(timeout=30)
        assert "version" in opened.ask("/api")
    finally:
        if second.process.poll() is None:
            os.killpg(second.process.pid, signal.SIGKILL)
