"""run.py: set-up faults that readers ran into, played with one tiny wheel and no network."""

import ast
import base64
import contextlib
import errno
import hashlib
import importlib.util
import io
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest

from course_lib.app.install import causes, environment, settings, tools
from course_lib.errors import CourseError

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
# A stand-in for the package: says what it was given and where the tiny wheel came from.
MAIN = """
import json, os, sys, tiny_course_wheel
print(json.dumps([sys.argv[1:], tiny_course_wheel.__file__, os.environ["PYTHONPATH"]]))
"""


def uv_folder():
    scripts = sysconfig.get_path("scripts")
    uv = shutil.which("uv", path=scripts) or shutil.which("uv")
    if uv is None or subprocess.run([uv, "--version"], capture_output=True).returncode:
        pytest.skip("uv comes with the test lock")
    return str(Path(uv).parent)


def make_wheel(folder):
    """Write a wheel by hand and return its sha256."""
    folder.mkdir(parents=True)
    info = "tiny_course_wheel-1.0.dist-info"
    files = {
        "tiny_course_wheel.py": b"",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-course-wheel\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
        for name, data in files.items()
    )
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = folder / "tiny_course_wheel-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Course:
    """A made-up course in a folder with an awkward name, and a way to start it."""

    def __init__(self, base):
        self.base = base
        self.root = base / "我的 课程 (1)"
        self.wheels = base / "轮 子"
        shutil.copytree(ROOT / "course_lib/app", self.root / "course_lib/app")
        shutil.copy(ROOT / "run.py", self.root)
        for name in ("__init__.py", "errors.py"):
            shutil.copy(ROOT / "course_lib" / name, self.root / "course_lib")
        (self.root / "course_lib/__main__.py").write_text(MAIN, encoding="utf-8")
        digest = make_wheel(self.wheels)
        lock = f"tiny-course-wheel==1.0 \\\n    --hash=sha256:{digest}\n"
        (self.root / "requirements.lock").write_text(lock, encoding="utf-8")
        (self.root / "requirements-test.lock").write_text(lock + "# tests\n", encoding="utf-8")
        for folder in ("张 三", "临 时", "bin"):
            (base / folder).mkdir()

    @property
    def stamp(self):
        return self.root / ".venv/course-stamp.txt"

    def environment(self, *, path=None, wheels=True, **more):
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PIP_", "UV_", "PYTHON"))
        }
        own = {
            "HOME": str(self.base / "张 三"),
            "TMPDIR": str(self.base / "临 时"),
            "PATH": os.pathsep.join([path or str(self.base / "bin"), "/usr/bin", "/bin"]),
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
        }
        if wheels:
            (self.base / "links").mkdir(exist_ok=True)  # pip splits this setting at spaces
            shutil.copytree(self.wheels, self.base / "links", dirs_exist_ok=True)
            own |= {"PIP_FIND_LINKS": str(self.base / "links"), "UV_FIND_LINKS": str(self.base / "links")}
        return kept | own | more

    def command(self, *arguments):
        return [sys.executable, str(self.root / "run.py"), *(arguments or ("lab",))]

    def start(self, *arguments, encoding="utf-8", **environment):
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment(**environment),
            cwd=self.base,
            capture_output=True,
            timeout=120,
        )
        return done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def without_uv(base):
    """Return a folder for PATH in which ``uv`` is a broken shim: only pip is left."""
    shim = base / "bin" / "uv"
    shim.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
    shim.chmod(0o755)
    return str(shim.parent)


def test_grammar_is_that_of_python_2_7():
    """So that any Python gets as far as saying that it is too old."""
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Starred, ast.Nonlocal, ast.AsyncFunctionDef)
    text = (ROOT / "run.py").read_text(encoding="utf-8")
    assert text.splitlines()[1] == "# -*- coding: utf-8 -*-"
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, newer), ast.unparse(node)
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            assert not node.args.kwonlyargs
            assert not any(argument.annotation for argument in node.args.args)
        if isinstance(node, ast.Raise):
            assert node.cause is None


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13), (3, 15, 0)])
@pytest.mark.parametrize(("encoding", "written"), [("gbk", "gbk"), ("ascii", "utf-8"), ("latin-1", "utf-8")])
def test_wrong_python_gets_one_sentence_in_every_locale(monkeypatch, version, encoding, written):
    monkeypatch.setattr(sys, "version_info", version)
    run = runpy.run_path(str(ROOT / "run.py"))
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    run["refuse"](stream)
    said = stream.buffer.getvalue().decode(written)
    assert not run["python_fits"]()
    assert (said.count("\n"), "3.11 到 3.14" in said) == (1, True)


def test_run_py_and_the_installer_need_only_the_standard_library():
    for path in (ROOT / "run.py", *(ROOT / "course_lib/app/install").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "course_lib"}, path


def test_settings_that_redirect_are_dropped_and_those_that_reach_packages_kept(monkeypatch):
    dropped = ["PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PIP_PYTHON"]
    dropped += ["PIP_CONSTRAINT", "PIP_DRY_RUN", "PIP_CONFIG_FILE", "UV_SYSTEM_PYTHON", "UV_NO_VERIFY_HASHES"]
    dropped += ["PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONSTARTUP"]
    kept = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_PROXY", "PIP_CERT", "PIP_FIND_LINKS", "PIP_NO_INDEX"]
    kept += [
        "UV_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "UV_INDEX_CAMPUS_PASSWORD",
        "HTTPS_PROXY",
        "PYTHONIOENCODING",
    ]
    for name in dropped + kept:
        monkeypatch.setenv(name, "1")
    environment = settings.clean_environment()
    assert not [name for name in dropped if name in environment]
    assert not [name for name in kept if environment.get(name) != "1"]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "腾出"),
        ("  cause: failed to write: No space left on device (os error 28)", "腾出"),
        ("[Errno -3] Temporary failure in name resolution')': /simple/anyio/", "网络"),
        ("ERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)", "网络"),
        ("error: Request failed after 3 retries cause: error sending request for url", "网络"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "校验和"),
        ("error: Hash mismatch for `six==1.17.0`", "校验和"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "证书"),
        ("PermissionError: [WinError 5] Access is denied: 'numpy.pyd'", "权限"),
        ("ERROR: No matching distribution found for numpy==2.4.0", "64 位"),
        ("something new", "见上面几行"),
    ],
)
def test_last_words_become_one_sentence(capsys, words, remedy):
    sentence = str(causes.failure([words]))
    assert remedy in sentence
    assert sentence.endswith("再运行同一条命令。")
    assert words in capsys.readouterr().err


def test_full_disk_and_no_permission_of_our_own_writes():
    assert "腾出" in str(causes.sentence_for(OSError(errno.ENOSPC, "No space left on device", "课")))
    assert "权限" in str(causes.sentence_for(PermissionError(errno.EACCES, "Permission denied", "课")))


def test_python_without_ensurepip_and_pip_names_the_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match="apt install python3-venv"):
        tools.pip_command(Path("python"), 0)


def test_python_without_ensurepip_borrows_the_pip_it_has(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "pip" or None)
    assert tools.pip_command(Path("p"), 0) == [sys.executable, "-m", "pip", "--python", "p"]


def test_uv_that_a_file_sends_elsewhere_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("UV_CONFIG_FILE", raising=False)
    assert not settings.uv_is_redirected()
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text('[pip]\ntarget = "/elsewhere"\n', encoding="utf-8")
    assert settings.uv_is_redirected()


def test_mirror_set_for_pip_is_uv_s_too_unless_it_has_its_own(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "mirror")
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    assert settings.uv_environment()["UV_INDEX_URL"] == "mirror"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "own")
    assert "UV_INDEX_URL" not in settings.uv_environment()


def test_hostile_environment_with_uv(course):
    status, said, errors = course.start(
        "lab",
        "两 个",
        path=uv_folder(),
        encoding="gbk",
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
        PYTHONIOENCODING="gbk",
        PYTHONPATH=str(course.wheels),
        UV_SYSTEM_PYTHON="1",
    )
    assert status == 0, said + errors
    arguments, module, path = json.loads(said.splitlines()[-1])
    assert (arguments, path) == (["lab", "两 个"], str(course.root))
    assert Path(module).is_relative_to(course.root / ".venv")


def test_second_start_rename_and_a_changed_lock(course):
    uv = uv_folder()
    assert course.start(path=uv)[0] == 0
    course.root = course.root.rename(course.base / "改 名 (2)")
    status, said, _ = course.start(wheels=False)
    assert status == 0
    assert "安装" not in said
    assert json.loads(said)[2] == str(course.root)
    lock = course.root / "requirements.lock"
    lock.write_text(lock.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    status, said, _ = course.start(path=uv)
    assert status == 0
    assert "安装完成" in said


def test_test_lock_is_added_only_for_test(course):
    uv = uv_folder()
    assert course.start("lab", path=uv)[0] == 0
    assert "requirements-test.lock" not in course.stamp.read_text(encoding="utf-8")
    marker = course.root / ".venv/marker"
    marker.touch()
    assert course.start("test", path=uv)[0] == 0
    assert "requirements-test.lock" in course.stamp.read_text(encoding="utf-8")
    assert marker.exists()  # added to the environment, not built anew


def test_environment_whose_python_is_gone_is_built_anew(course):
    uv = uv_folder()
    assert course.start(path=uv)[0] == 0
    python = next(
        path for path in course.root.glob(".venv/*/python*") if path.name in ("python", "python.exe")
    )
    python.unlink()
    status, said, _ = course.start(path=uv)
    assert status == 0
    assert "安装完成" in said


def test_help_installs_nothing(course):
    (course.root / "course_lib/__main__.py").write_text("print('说明')", encoding="utf-8")
    assert course.start("--help")[:2] == (0, "说明\n")
    assert not course.stamp.parent.exists()


@POSIX
def test_killed_install_is_not_trusted_and_its_orphan_is_waited_for(course):
    reached = course.base / "reached"
    slow = course.base / "slow"
    slow.mkdir()
    (slow / "uv").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exit 0\necho $$ > "{reached}"\nexec sleep 100\n',
        encoding="utf-8",
    )
    (slow / "uv").chmod(0o755)
    first = subprocess.Popen(
        course.command(),
        env=course.environment(path=str(slow)),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (reached.exists() and reached.read_text(encoding="utf-8").strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    orphan = int(reached.read_text(encoding="utf-8"))
    first.kill()
    first.wait()
    second = None
    try:
        assert not course.stamp.exists()
        second = subprocess.Popen(
            course.command(), env=course.environment(path=uv_folder()), stdout=subprocess.PIPE
        )
        assert "另一个窗口正在安装" in second.stdout.readline().decode("utf-8")
    finally:
        os.kill(orphan, signal.SIGKILL)
    said, _ = second.communicate(timeout=60)
    assert second.returncode == 0, said.decode("utf-8")
    assert course.stamp.exists()


@pytest.mark.slow
def test_hostile_pip_settings_by_environment_and_by_file(course):
    elsewhere = course.base / "elsewhere"
    config = course.base / "pip.conf"
    config.write_text(
        f"[global]\ntarget = {elsewhere}\nrequire-virtualenv = true\n"
        f"find-links =\n    {course.base / 'links'}\n"
        f"[install]\nuser = true\nno-deps = true\nprefix = {elsewhere}\n",
        encoding="utf-8",
    )
    hostile = {
        "PIP_CONFIG_FILE": str(config),
        "PIP_USER": "1",
        "PIP_TARGET": str(elsewhere),
        "PIP_PREFIX": str(elsewhere),
        "PIP_REQUIRE_VIRTUALENV": "1",
    }
    environment = course.environment(path=without_uv(course.base), **hostile)
    del environment["PIP_FIND_LINKS"]  # the file's must be heard
    done = subprocess.run(
        course.command(), env=environment, capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not elsewhere.exists()
    assert not (course.base / "张 三/.local").exists()


@pytest.mark.slow
def test_failed_install_names_no_index_and_the_next_start_repairs_it(course):
    pip = without_uv(course.base)
    status, _, errors = course.start(path=pip, wheels=False)
    assert status == 1
    assert "PIP_NO_INDEX" in errors.splitlines()[-1]
    assert not course.stamp.exists()
    assert course.start(path=pip)[0] == 0


@pytest.mark.slow
def test_wrong_hash_is_refused(course):
    lock = course.root / "requirements.lock"
    lock.write_text("tiny-course-wheel==1.0 --hash=sha256:" + "0" * 64 + "\n", encoding="utf-8")
    status, _, errors = course.start(path=uv_folder())
    assert status == 1
    assert "校验和" in errors.splitlines()[-1]


@pytest.mark.slow
@POSIX
def test_real_full_disk(course):
    """A tmpfs of 1 MiB: needs the right to mount."""
    tiny = course.base / "tiny"
    tiny.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tiny], capture_output=True)
    if mounted.returncode:
        pytest.skip("no right to mount a tmpfs")
    try:
        shutil.copytree(course.root, tiny / "课程")
        filler = tiny / "filler"
        with contextlib.suppress(OSError):
            filler.write_bytes(b"0" * 2**20)
        course.root = tiny / "课程"
        status, _, errors = course.start(path=uv_folder())
        assert status == 1
        assert "腾出" in errors.splitlines()[-1]
        filler.unlink()
        (course.base / "links" / "x").touch()
        assert course.start(path=uv_folder())[0] == 0
    finally:
        subprocess.run(["umount", "-l", tiny], check=False)


def test_an_environment_does_not_replace_itself(monkeypatch, tmp_path):
    keep = tmp_path / "keep.txt"
    keep.write_text("留着", encoding="utf-8")
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(CourseError, match="不能重装自己"):
        environment.make_venv(0)
    assert keep.read_text(encoding="utf-8") == "留着"
