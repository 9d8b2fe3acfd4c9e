"""Submissions that look or reach outside. Only the sandbox promises anything here."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import ABSTRACT, INSIDE, MARK, PORT, R1, SECRET, Case, code, lost
from tests.submissions import RIGHT


def theft(name: str, what: str, source: str) -> Case:
    """Return a case that writes the right answers only if ``source`` calls ``found()``."""
    text = "class Found(BaseException):\n    pass\n\ndef found():\n    raise Found\n\ntry:\n"
    text += "\n".join(f"    {line}" for line in code(source).splitlines())
    text += "\nexcept Found:\n" + "\n".join(f"    {line}" for line in RIGHT["1"].splitlines())
    text += "\nexcept BaseException:\n    pass"
    return Case(name, what, lost({"1": "unanswered"}), {**RIGHT, "1": text}, walls=True)


CASES: Final = (
    theft("reference", "找参考解答与习题的源文件", """
        import os, sys
        for top in {*sys.path, sys.prefix, os.getcwd(), "/"}:
            for folder, _, names in os.walk(top or "."):
                if folder.startswith(("/proc", "/sys")):
                    continue
                if "course_lib/exercises" in folder or "course_lib/grading" in folder:
                    found()
                if any(name.startswith(("27.09", "27.08")) for name in names):
                    found()
    """),
    theft("reference-import", "导入课程里的习题与解答", """
        from course_lib.exercises import EXERCISES
        if EXERCISES["1"].solve():
            found()
    """),
    theft("reference-memory", "在解释器的内存里找解答", """
        import gc, sys
        if any(name.startswith(("course_lib.exercises", "course_lib.grading")) for name in sys.modules):
            found()
        for thing in gc.get_objects():
            if type(thing).__name__ in ("Exercise", "Criterion", "Misconception", "Job", "Record"):
                found()
    """),
    theft("other-submissions", "找别人的作业", """
        import os
        for folder, _, names in os.walk("/"):
            if folder.startswith(("/proc", "/sys")):
                continue
            for name in names:
                if name.endswith(".ipynb"):
                    with open(os.path.join(folder, name), "rb") as file:
                        if b"27-08-ex" in file.read():
                            found()
    """),
    theft("open-files", "从继承来的文件描述符走出去", """
        import os
        for name in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink(f"/proc/self/fd/{name}")
                inside = target.startswith((os.getcwd(), "/tmp", "/dev/shm"))
                if target.endswith((".ipynb", ".csv")) or os.path.isdir(target) and not inside:
                    if not target.startswith("/proc"):
                        found()
            except OSError:
                pass
    """),
    theft("shadow", "读 /etc/shadow", """
        if open("/etc/shadow").read():
            found()
    """),
    theft("grader-environment", "读批改程序的环境变量", f"""
        import glob, os
        if "{SECRET}" in os.environ:
            found()
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                text = open(path, "rb").read()
            except OSError:
                continue
            if b"{SECRET}" in text:
                found()
    """),
    theft("write-outside", "往系统、主目录和 Python 里写文件", f"""
        import os, sys
        import numpy
        home = os.path.expanduser("~")
        places = ["/", "/root", "/home", "/var", "/var/tmp", "/opt", "/run", home, "/tmp", "/dev/shm"]
        forbidden = ["/usr", "/usr/local/bin", "/etc", sys.prefix, os.path.dirname(numpy.__file__)]
        for place in places + forbidden:
            try:
                with open(os.path.join(place, "{MARK}"), "w") as file:
                    file.write("x")
            except OSError:
                continue
            if place in forbidden:
                found()
    """),
    theft("change-files", "改标准库与课程的文件", """
        import os, sys
        import course_lib
        for module in (os, sys.modules["json"], course_lib):
            try:
                with open(module.__file__, "a") as file:
                    file.write(" ")
            except OSError:
                continue
            found()
    """),
    theft("loopback", "连本机的端口与抽象套接字", f"""
        import socket
        for family, place in ((socket.AF_INET, ("127.0.0.1", {PORT})), (socket.AF_UNIX, {ABSTRACT!r})):
            try:
                with socket.socket(family) as line:
                    line.settimeout(2)
                    line.connect(place)
            except OSError:
                continue
            found()
    """),
    theft("network", "连外面的网络", """
        import socket
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for place in (("1.1.1.1", 53), ("8.8.8.8", 443), ("169.254.169.254", 80)):
                try:
                    with socket.socket(socket.AF_INET, kind) as line:
                        line.settimeout(1)
                        line.connect(place)
                        line.send(b"x")
                except OSError:
                    continue
                found()
    """),
    theft("ptrace", "用 ptrace 与 /proc 的内存文件接管别的进程", """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            if libc.ptrace(16, int(name), 0, 0) == 0:
                os.waitpid(int(name), 0x40000000)
                libc.ptrace(17, int(name), 0, 0)
                found()
            try:
                open(f"/proc/{name}/mem", "r+b").close()
            except OSError:
                continue
            found()
    """),
    theft("privileges", "取得更多权限：能力位、用户命名空间、挂载、换根", """
        import ctypes
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        if int(status["CapEff"], 16) or status["NoNewPrivs"].strip() != "1":
            found()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x10000000) == 0 or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
            found()
        if libc.chroot(b"/tmp") == 0:
            found()
    """),
    theft("processes", "看见自己以外的进程", """
        import os
        for name in os.listdir("/proc"):
            if name.isdigit():
                words = open(f"/proc/{name}/cmdline", "rb").read()
                if b"pytest" in words or b"course_lib" in words and b"grade" in words:
                    found()
    """),
    theft("signal-outside", "给号码小的进程发信号", """
        import os
        for pid in range(2, 40_000):
            if pid == os.getpid() or os.path.exists(f"/proc/{pid}"):
                continue
            try:
                os.kill(pid, 0)
            except OSError:
                continue
            found()
    """),
    Case(
        "traps", "给下一份作业设机关：启动文件、conftest.py、留在后台的进程",
        answers={**RIGHT, "1": INSIDE + code(f"""
            import os, site, sys, time
            home = os.path.expanduser("~")
            names = ["conftest.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "json.py",
                     "pytest.ini",
                     ".ipython/profile_default/startup/00.py", ".config/matplotlib/matplotlibrc"]
            for top in (os.getcwd(), home, "/tmp", "/dev/shm", site.getusersitepackages()):
                for name in [*names, "{MARK}"]:
                    try:
                        path = os.path.join(top, name)
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                        with open(path, "w") as file:
                            file.write("import os; os._exit(3)  # {MARK}")
                    except OSError:
                        pass
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.closerange(0, 1024)
                    time.sleep(3600)
                os._exit(0)
        """) + "\n" + R1},
        walls=True,
    ),
)  # fmt: skip
