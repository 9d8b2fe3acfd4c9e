"""Whether bubblewrap works here, and if not, what to do about it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from ...errors import CourseError

OTHER_MODE: Final = (
    "或者改用 --isolation process：判分仍在学生的进程之外，但学生的代码能读写这台机器上的文件、能联网，"
    "只用于信得过的班级"
)
_TRIAL: Final = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp true"
_SETTINGS: Final = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)


@cache
def require_sandbox() -> None:
    """Raise ``CourseError`` that says why kernels cannot be walled in here, and what would help."""
    if not sys.platform.startswith("linux"):
        raise CourseError(
            f"{sys.platform} 上没有沙箱", remedy=f"请在 Linux、WSL 2 或容器里批改，{OTHER_MODE}"
        )
    if shutil.which("bwrap") is None:
        raise CourseError(
            "没有找到 bubblewrap（命令 bwrap）",
            remedy=f"请安装它，例如 sudo apt-get install bubblewrap，{OTHER_MODE}",
        )
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        remedy = f"请安装它，例如 sudo apt-get install libseccomp2，{OTHER_MODE}"
        raise CourseError("没有找到 libseccomp.so.2", remedy=remedy) from None
    if said := _refusal():
        raise CourseError("bubblewrap 在这里被系统拒绝", got=said, remedy=f"{_why()}，{OTHER_MODE}")


def _refusal() -> str:
    try:
        done = subprocess.run(
            _TRIAL.split(), capture_output=True, encoding="utf-8", errors="replace", timeout=20
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return " ".join(done.stderr.split()) or f"exit {done.returncode}" if done.returncode else ""


def _why() -> str:
    found = []
    for name in _SETTINGS:
        path = Path("/proc/sys", name)
        if path.exists():
            found.append(f"{name} = {path.read_text(encoding='ascii').strip()}")
    return (
        f"多半是系统不许普通用户建命名空间（{'，'.join(found) or '看不到设置'}）："
        "Ubuntu 23.10 起要给 bwrap 一份 AppArmor 许可；"
        "Docker 里要加 --security-opt seccomp=unconfined 并放宽权限"
    )
