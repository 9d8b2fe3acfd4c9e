"""Why an install failed, as one Chinese sentence with the remedy."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ...errors import CourseError

AGAIN: Final = "再运行同一条命令"


class Cause(NamedTuple):
    """What pip or uv print (a pattern), what is wrong, and what the reader can do."""

    pattern: str
    problem: str
    remedy: str

    def seen_in(self, words: Iterable[str]) -> bool:
        """Say whether one of the lines matches."""
        return any(re.search(self.pattern, line) for line in words)

    def error(self) -> CourseError:
        """Return the sentence."""
        return CourseError(self.problem, remedy=f"{self.remedy}，{AGAIN}")


DISK_FULL: Final = Cause(
    r"No space left|not enough space|os error 28|os error 112|Disk quota exceeded",
    "磁盘空间不足",
    "请腾出约 1 GB（临时文件夹所在的磁盘也要有空间）",
)
WRONG_HASH: Final = Cause(
    r"DO NOT MATCH THE HASHES|[Hh]ash mismatch",
    "下载到的文件与锁文件里的校验和不符，没有安装",
    "请换一个网络或镜像",
)
CERTIFICATE: Final = Cause(
    r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|UnknownIssuer",
    "网络连接的证书无法验证",
    "请检查系统时间和代理的证书设置（PIP_CERT、SSL_CERT_FILE）",
)
NETWORK: Final = Cause(
    r"name resolution|getaddrinfo|nodename nor servname|Name or service not known|dns error"
    r"|NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|timed out|Connection refused"
    r"|unreachable|ProxyError|error sending request|Failed to fetch|connection broken|tcp connect error"
    r"|was disabled|from versions: none",
    "连不上软件包服务器",
    "请检查网络、代理（HTTPS_PROXY）或镜像设置（PIP_INDEX_URL）",
)
PERMISSION: Final = Cause(
    r"Permission denied|Operation not permitted|Access is denied|Read-only file system|os error (5|13)\b",
    "没有写入权限，或文件正被占用",
    "请关闭正在使用本课程的窗口，确认课程文件夹可以写入",
)
NO_WHEEL: Final = Cause(
    r"No matching distribution|no usable wheels|No solution found|not a supported wheel",
    "找不到适合这个系统的安装包",
    "请换到 64 位的 Linux（glibc）、Windows 或 macOS 上",
)
NO_INDEX: Final = Cause(
    "",
    "pip 的设置 no-index（PIP_NO_INDEX）不许访问软件包服务器，PIP_FIND_LINKS 里又没有齐全的安装包",
    "请取消这个设置",
)
UNKNOWN: Final = Cause("", "安装没有成功，原因见上面几行", "解决后")
_IN_ORDER: Final = (DISK_FULL, WRONG_HASH, CERTIFICATE, NETWORK, PERMISSION, NO_WHEEL, UNKNOWN)


def failure(words: Sequence[str], *, no_index: bool = False) -> CourseError:
    """Show the last words and return the sentence for them; ``no_index``: pip may ask no server."""
    for line in [line for line in words if not line.startswith("Ignoring ")][-8:]:
        print(f"  | {line}", file=sys.stderr)
    cause = next(cause for cause in _IN_ORDER if cause.seen_in(words) or cause is UNKNOWN)
    if no_index and cause in (NETWORK, NO_WHEEL):
        cause = NO_INDEX
    return cause.error()


def without_module(module: str) -> CourseError:
    """Return the sentence for a Python whose maker left a module out."""
    return CourseError(
        f"这个 Python 缺少 {module} 模块",
        remedy=f"Debian/Ubuntu 请运行 sudo apt install python3-venv，其他系统请重装完整的 Python，{AGAIN}",
    )


def inside_itself() -> CourseError:
    """Return the sentence for an environment that is asked to replace itself."""
    return CourseError(
        "正在用课程环境 .venv 里的 Python，它不能重装自己",
        remedy=f"请先 deactivate 退出这个环境，改用系统的 Python，{AGAIN}",
    )


def sentence_for(error: OSError) -> CourseError:
    """Return the sentence for what the operating system refused to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or getattr(error, "winerror", None) == 112:
        return DISK_FULL.error()
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return PERMISSION.error()
    where = os.fsencode(error.filename or "").decode("utf-8", "replace")
    return CourseError(f"系统报告错误 [{error.errno}] {error.strerror} {where}", remedy=f"解决后请{AGAIN}")
