#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Set the course up where needed, then hand the arguments to ``python -m course_lib``.

    python3 run.py lab         open the notebooks in JupyterLab      (Windows: py run.py lab)
    python3 run.py test        run the tests

Standard library only, one file for Linux, macOS and Windows. The environment goes to ``.venv`` and holds
exactly what the lock files name, hash by hash. A stamp, written last and removed first, says what has been
installed: an install that was killed at any moment leaves no stamp and is done again from scratch.

Everything down to ``check_python`` must run on Python 2.7, so that an old Python gets a sentence too; no
syntax here may be newer.
"""

import os
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))
OLDEST, NEWEST = (3, 11), (3, 14)


def say(text, stream=None):
    """Write one line whatever the locale: in the stream's encoding if that knows Chinese, else in UTF-8."""
    stream = sys.stdout if stream is None else stream
    if stream is None:  # pythonw has no console
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        "课".encode(encoding)
    except (UnicodeError, LookupError):
        encoding = "utf-8"
    stream.flush()
    getattr(stream, "buffer", stream).write((text + "\n").encode(encoding, "backslashreplace"))
    stream.flush()


def check_python():
    """Leave with one sentence unless this is a Python for which the lock holds wheels."""
    import platform

    version = sys.version_info[:2]
    if OLDEST <= version <= NEWEST and platform.python_implementation() == "CPython":
        return
    say(
        "本课程需要 CPython 3.11 到 3.14，现在运行的是 %s %s："
        "请从 Python 官网安装其中一版，再用它运行同一条命令，例如 python3.12 run.py lab。"
        % (platform.python_implementation(), platform.python_version()),
        sys.stderr,
    )
    sys.exit(1)


if __name__ == "__main__":
    check_python()

import ast  # noqa: E402
import collections  # noqa: E402
import contextlib  # noqa: E402
import errno  # noqa: E402
import hashlib  # noqa: E402
import importlib.util  # noqa: E402
import queue  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

WINDOWS = os.name == "nt"
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts" if WINDOWS else "bin", "python.exe" if WINDOWS else "python")
STAMP = os.path.join(VENV, "course-stamp.txt")
READERS, TESTERS = "requirements.lock", "requirements-test.lock"
HEARTBEAT_SECONDS = 15

# Of the settings for pip and uv only those pass that say how packages are reached. The others may send the
# install elsewhere (PIP_USER, PIP_TARGET, PIP_PYTHON, UV_SYSTEM_PYTHON ...) or change what is installed.
REACHES_PACKAGES = re.compile(
    "PIP_(INDEX_URL|PYPI_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|PROXY|CERT|CLIENT_CERT|TRUSTED_HOST|TIMEOUT"
    "|DEFAULT_TIMEOUT|RETRIES|RESUME_RETRIES|CACHE_DIR|NO_CACHE_DIR|KEYRING_PROVIDER|USE_FEATURE|USE_DEPRECATED)"
    "|UV_(INDEX.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|OFFLINE|INSECURE_HOST|KEYRING_PROVIDER"
    "|NATIVE_TLS|SYSTEM_CERTS|HTTP_.*|REQUEST_TIMEOUT|CACHE_DIR|NO_CACHE|CONCURRENT_.*|LINK_MODE"
    "|CONFIG_FILE|NO_CONFIG)"
)
# PYTHONPATH, PYTHONHOME and the like would mix another installation into ours.
HARMLESS_PYTHON = re.compile("PYTHON(IOENCODING|UNBUFFERED|DONTWRITEBYTECODE|PYCACHEPREFIX|HASHSEED)")

DISK_FULL = r"No space left|not enough space|os error 28|os error 112|Disk quota exceeded"
NO_INDEX = (
    "pip 的设置 no-index（PIP_NO_INDEX）不许访问软件包服务器，PIP_FIND_LINKS 里又没有齐全的安装包："
    "请取消这个设置，再运行同一条命令。"
)
# What pip and uv say, and the sentence for it; the first match counts.
CAUSES = (
    (
        DISK_FULL,
        "磁盘空间不足：请腾出约 1 GB（临时文件夹所在的磁盘也要有空间），再运行同一条命令。",
    ),
    (
        r"do not match the hashes|[Hh]ash mismatch|HASHES",
        "下载到的文件与锁文件里的校验和不符，没有安装：请换一个网络或镜像，再运行同一条命令。",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|UnknownIssuer",
        "网络连接的证书无法验证：请检查系统时间和代理的证书设置（PIP_CERT、SSL_CERT_FILE），再运行同一条命令。",
    ),
    (
        r"name resolution|getaddrinfo|nodename nor servname|Name or service not known|dns error"
        r"|NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|timed out|Connection refused"
        r"|unreachable|ProxyError|error sending request|Failed to fetch|connection broken|tcp connect error"
        r"|was disabled|from versions: none",
        "连不上软件包服务器：请检查网络、代理（HTTPS_PROXY）或镜像设置（PIP_INDEX_URL），再运行同一条命令。",
    ),
    (
        r"Permission denied|Operation not permitted|Access is denied|Read-only file system|os error 5\b|os error 13\b",
        "没有写入权限，或文件正被占用：请关闭正在使用本课程的窗口，确认课程文件夹可以写入，再运行同一条命令。",
    ),
    (
        r"No matching distribution|no usable wheels|No solution found|not a supported wheel",
        "找不到适合这个系统的安装包：请在 64 位的 Linux（glibc）、Windows 或 macOS 上，再运行同一条命令。",
    ),
)


class CannotInstallError(Exception):
    """One Chinese sentence: what failed, and the remedy."""


def clean_environment():
    """Return the environment for child processes: nothing in it redirects an install or an import."""
    kept = {}
    for name, value in os.environ.items():
        rule = REACHES_PACKAGES if name.startswith(("PIP_", "UV_")) else HARMLESS_PYTHON
        if not name.startswith(("PIP_", "UV_", "PYTHON")) or rule.fullmatch(name):
            kept[name] = value
    kept.update(PYTHONUTF8="1", PYTHONNOUSERSITE="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    return kept


def fingerprint(lock):
    """Return the stamp's line for a lock file: its name and the hash of what it holds."""
    with open(os.path.join(ROOT, lock), "rb") as file:
        content = file.read().replace(b"\r\n", b"\n")
    return "%s %s" % (lock, hashlib.sha256(content).hexdigest())


def venv_version():
    """Return the line that names the version of the environment's Python; None if that does not start."""
    try:
        answer = subprocess.run(
            [PYTHON, "-I", "-c", "import sys; print('python %d.%d' % sys.version_info[:2])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    return answer.stdout.decode("ascii", "replace").strip() if answer.returncode == 0 else None


def installed():
    """Return the lock lines that are in force: none without a stamp, or if the stamp's Python is gone."""
    try:
        with open(STAMP, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return set()
    return set(lines) if venv_version() in lines else set()


def ensure(locks):
    """Install what the locks name, unless the stamp says that it is there already."""
    wanted = [fingerprint(lock) for lock in locks]
    if installed().issuperset(wanted):
        return
    with one_at_a_time() as handle:
        have = installed()
        if have.issuperset(wanted):  # another window has just done it
            return
        if fingerprint(READERS) not in have:
            have = set()
        with contextlib.suppress(FileNotFoundError):
            os.remove(STAMP)
        if not have:
            make_venv()
        for lock, line in zip(locks, wanted):
            if line not in have:
                install(lock, handle)
        write_stamp(have.union(wanted, [venv_version()]))
    say("安装完成。")


def write_stamp(lines):
    """Write the stamp in one step, after everything it vouches for."""
    with open(STAMP + ".new", "w", encoding="utf-8") as file:
        file.write("\n".join(sorted(lines)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(STAMP + ".new", STAMP)


@contextlib.contextmanager
def one_at_a_time():
    """Hold a lock that the system drops when its last holder dies; yield its file handle.

    The installer inherits the handle: if this script is killed and the installer lives on, the next start
    waits for it instead of working in the same folder.
    """
    folder = os.path.join(ROOT, ".runtime")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "install.lock"), "a+b") as file:
        waiting = False
        while not try_lock(file):
            if not waiting:
                say("另一个窗口正在安装，等它结束……（按 Ctrl-C 可以放弃）")
            waiting = True
            time.sleep(1)
        yield file.fileno()


def try_lock(file):
    """Take the lock without waiting; say whether that worked."""
    try:
        if WINDOWS:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL):
            raise
    return True  # a network drive may have no locks; then we go without


def make_venv():
    """Make an empty environment, without pip: uv needs none, and ``pip_command`` adds it for pip."""
    say("正在准备课程环境（首次约需下载 100 MB，之后不再重复）……")
    if os.path.islink(VENV) or os.path.isfile(VENV):
        os.remove(VENV)
    elif os.path.isdir(VENV):
        shutil.rmtree(VENV)
    if importlib.util.find_spec("venv"):
        # In a process of its own, in UTF-8: under LC_ALL=C it cannot write a Chinese path into its notes.
        command = [sys.executable, "-I", "-X", "utf8", "-m", "venv", "--without-pip", VENV]
    elif usable_uv():
        command = [usable_uv(), "venv", "--quiet", "--python", sys.executable, VENV]
    else:
        raise CannotInstallError(without_venv("venv"))
    status, words = run_installer(command, clean_environment())
    if status != 0:
        fail(words, {})


def without_venv(module):
    """Return the sentence for a Python whose maker left a module out."""
    return (
        "这个 Python 缺少 %s 模块：Debian/Ubuntu 请运行 sudo apt install python3-venv，"
        "其他系统请重新安装 Python 官网的完整版，再运行同一条命令。" % module
    )


def install(lock, handle):
    """Install one lock with uv where there is a usable one, else, or if that fails, with pip."""
    say("正在安装 %s 里的软件包……" % lock)
    source = ["--require-hashes", "--only-binary=:all:", "-r", os.path.join(ROOT, lock)]
    uv = usable_uv()
    if uv:
        command = [uv, "pip", "install", "--project", ROOT, "--python", PYTHON]
        status, words = run_installer(command + source, uv_environment(), handle)
        if status == 0:
            return
        if has_cause(words, DISK_FULL):
            fail(words, {})
        say("uv 没有装成，改用 pip 再试一次……")
    pip = pip_command(handle)
    settings = pip_settings(pip)
    status, words = run_installer(pip + ["install"] + source, settings, handle)
    if status != 0:
        fail(words, settings)


def uv_environment():
    """Return a clean environment in which uv, too, asks the mirror that was set for pip."""
    environment = clean_environment()
    mirror = environment.get("PIP_INDEX_URL")
    if mirror and not environment.keys() & {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}:
        environment["UV_INDEX_URL"] = mirror
    return environment


def usable_uv():
    """Return the path of a uv that answers and that no [pip] table of a uv.toml sends elsewhere."""
    uv = shutil.which("uv")
    if not uv or uv_is_redirected():
        return None
    try:
        answer = subprocess.run([uv, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return uv if answer.returncode == 0 else None


def uv_is_redirected():
    """Say whether a uv.toml has a [pip] table: its ``target`` beats every option of the command line."""
    home = os.path.expanduser("~")
    folders = [
        os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        os.environ.get("APPDATA") or home,
        os.environ.get("PROGRAMDATA") or "/etc",
        "/etc/xdg",
    ]
    files = [os.path.join(folder, "uv", "uv.toml") for folder in folders]
    files.append(os.environ.get("UV_CONFIG_FILE", files[0]))
    folder = ROOT
    while folder != os.path.dirname(folder):  # uv also reads the folders above
        files += [os.path.join(folder, "uv.toml"), os.path.join(folder, "pyproject.toml")]
        folder = os.path.dirname(folder)
    for path in files:
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            if re.search(r"^\s*(\[(tool\.uv\.)?pip\]|pip\s*[.=])", file.read(), re.MULTILINE):
                return True
    return False


def pip_command(handle):
    """Return the command that is pip for the environment: its own, or that of the Python we run on."""
    if importlib.util.find_spec("ensurepip"):
        status, words = run_installer([PYTHON, "-I", "-m", "ensurepip"], clean_environment(), handle)
        if status == 0:
            return [PYTHON, "-I", "-m", "pip"]
        if has_cause(words, DISK_FULL):
            fail(words, {})
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", PYTHON]
    raise CannotInstallError(without_venv("ensurepip"))


def pip_settings(pip):
    """Return an environment that repeats pip's settings, from files too, less those that redirect.

    ``PIP_CONFIG_FILE`` then names an empty file, so that a ``target`` or ``user`` in a file has no say.
    """
    environment = clean_environment()
    files = {name: value for name, value in os.environ.items() if name == "PIP_CONFIG_FILE"}
    listed = subprocess.run(
        pip + ["config", "list"],
        env=dict(environment, **files),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = listed.stdout.decode("utf-8", "replace").splitlines()
    for section in ("global", "install"):  # what the section of the command says counts for more
        for line in lines:
            name, _, value = line.partition("=")
            variable = "PIP_" + name.partition(".")[2].upper().replace("-", "_")
            if name.startswith(section + ".") and REACHES_PACKAGES.fullmatch(variable):
                text = " ".join(str(ast.literal_eval(value)).split())
                environment[variable] = os.environ.get(variable) or text
    return dict(environment, PIP_CONFIG_FILE=os.devnull)


def run_installer(command, environment, handle=None):
    """Run a command and show its progress in Chinese; return its exit status and its last words."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=() if WINDOWS or handle is None else (handle,),
    )
    lines = queue.Queue()
    threading.Thread(target=read_lines, args=(process.stdout, lines), daemon=True).start()
    words, started = collections.deque(maxlen=400), time.monotonic()
    try:
        while True:
            try:
                line = lines.get(timeout=HEARTBEAT_SECONDS)
            except queue.Empty:
                say("  ……仍在进行，已用 %d 秒" % (time.monotonic() - started))
                continue
            if line is None:
                return process.wait(), list(words)
            words.append(line)
            show_progress(line)
    finally:
        if process.poll() is None:
            process.kill()


def read_lines(pipe, lines):
    """Put every line of a pipe into a queue, and None at its end."""
    for line in pipe:
        lines.put(line.decode("utf-8", "replace").rstrip())
    lines.put(None)


def show_progress(line):
    """Say in Chinese what a line of pip or uv reports, if it is one of progress."""
    fetched = re.match(r"\s*(Downloading|Using cached)\s+(\S+)(?:\s+(\(.+\)))?", line)
    if fetched and not fetched.group(2).endswith(".metadata"):
        verb = "下载" if fetched.group(1) == "Downloading" else "取自缓存"
        name = fetched.group(2).rpartition("/")[2].split("-")[0]
        say("  %s %s %s" % (verb, name, fetched.group(3) or ""))
    elif line.startswith("Installing collected packages"):
        say("  正在写入 %d 个软件包……" % (line.count(",") + 1))


def has_cause(words, pattern):
    """Say whether one of an installer's last words matches."""
    return any(re.search(pattern, line) for line in words)


def fail(words, settings):
    """Show the installer's last words, then raise one sentence with the cause and the remedy."""
    for line in [line for line in words if not line.startswith("Ignoring ")][-8:]:
        say("  | " + line, sys.stderr)
    for number, (pattern, sentence) in enumerate(CAUSES):
        if has_cause(words, pattern):
            if number > 2 and settings.get("PIP_NO_INDEX", "0").lower() not in ("0", "false", "no", "off"):
                sentence = NO_INDEX
            raise CannotInstallError(sentence)
    raise CannotInstallError("安装没有成功，原因见上面几行：解决后请再运行同一条命令，安装会从头做起。")


def sentence_for(error):
    """Return the sentence for an error of the operating system."""
    where = os.fsencode(error.filename or "").decode("utf-8", "replace")
    text = "[%s] %s %s" % (error.errno, error.strerror, where)
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or getattr(error, "winerror", None) == 112:
        return CAUSES[0][1]
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return CAUSES[4][1]
    return "系统报告错误 %s：解决后请再运行同一条命令。" % text


def hand_over(python, arguments):
    """Become ``python -m course_lib`` with the given arguments; return its exit status on Windows."""
    environment = dict(clean_environment(), PYTHONPATH=ROOT)
    for name in list(os.environ):  # pip inside a notebook keeps the reader's own settings
        if name.startswith(("PIP_", "UV_")):
            environment[name] = os.environ[name]
    # -P: the folder the reader stands in is not searched for modules.
    command = [python, "-P", "-m", "course_lib"] + arguments
    if not WINDOWS:
        sys.stdout.flush()
        os.execve(python, command, environment)
    process = subprocess.Popen(command, env=environment)
    while True:  # Ctrl-C reaches both processes; ours waits until the other has tidied up
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def main(arguments):
    """Set up, then run; return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        return hand_over(sys.executable, arguments or ["--help"])
    try:
        if os.pathsep in ROOT:
            raise CannotInstallError("课程文件夹的路径里不能有“%s”：请改名后再运行同一条命令。" % os.pathsep)
        ensure([READERS, TESTERS] if arguments[0] == "test" else [READERS])
    except CannotInstallError as error:
        say(str(error), sys.stderr)
        return 1
    except OSError as error:
        say(sentence_for(error), sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("已中断。再运行同一条命令，安装会从头做起。", sys.stderr)
        return 130
    return hand_over(PYTHON, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
