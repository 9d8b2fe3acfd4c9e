"""Read the command line in Chinese and call one command.

A command is one module of this package with ``add_command(commands)``, which adds a parser and sets its
``handle(options) -> exit status``. To add one, write the module and name it in ``COMMANDS``. Only the module
of the command that was asked for is imported.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Final

from ..errors import CourseError

COMMANDS: Final = MappingProxyType(
    {
        "lab": "lab",
        "test": "testing",
        "notebooks": "notebooks",
        "reconcile": "reconcile",
        "recovery-trial": "recovery_trial",
        "check": "check",
        "release": "release",
        "grade": "grade",
        "present": "present",
        "site": "site",
    }
)

# argparse hands every text it prints through a function named ``_``; these are the ones a reader can meet.
ARGPARSE_TEXTS: Final = MappingProxyType(
    {
        "usage: ": "用法：",
        "positional arguments": "参数",
        "options": "选项",
        "show this help message and exit": "显示这段说明",
        "%(prog)s: error: %(message)s\n": "%(prog)s：%(message)s。加 --help 看说明。\n",
        "argument %(argument_name)s: %(message)s": "参数 %(argument_name)s：%(message)s",
        "the following arguments are required: %s": "缺少参数 %s",
        "one of the arguments %s is required": "%s 中须给一个",
        "not allowed with argument %s": "不能与 %s 同用",
        "unrecognized arguments: %s": "不认识的参数 %s",
        "expected one argument": "后面要跟一个值",
        "expected at least one argument": "后面至少要跟一个值",
        "expected at most one argument": "后面至多跟一个值",
        "ignored explicit argument %r": "不带值，多出了 %r",
        "invalid %(type)s value: %(value)r": "%(value)r 不是合适的值",
        "invalid choice: %(value)r (choose from %(choices)s)": "没有 %(value)r 这一项，可选：%(choices)s",
        "invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)": (
            "没有 %(value)r 这一项，是不是 %(closest)r？可选：%(choices)s"
        ),
    }
)


@contextmanager
def chinese_argparse() -> Iterator[None]:
    """Let argparse speak Chinese inside this block."""
    kept = vars(argparse)["_"]
    setattr(argparse, "_", lambda text: ARGPARSE_TEXTS.get(text, text))  # noqa: B010  no such name for mypy
    try:
        yield
    finally:
        setattr(argparse, "_", kept)  # noqa: B010


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command asked for, with its ``handle``; leave with a sentence on a slip.

    A command that sets ``rest`` receives there what it does not know itself, in order.
    """
    with chinese_argparse():
        parser = argparse.ArgumentParser(prog="run.py", description="大规模训练一章的交互笔记本")
        commands = parser.add_subparsers(dest="command", metavar="命令", required=True)
        asked = [arguments[0]] if arguments and arguments[0] in COMMANDS else COMMANDS
        for name in asked:
            import_module(f".{COMMANDS[name]}", __package__).add_command(commands)
        options, rest = parser.parse_known_args(arguments)
        if rest and not hasattr(options, "rest"):
            parser.error(f"不认识的参数 {' '.join(rest)}")
    options.rest = rest
    return options


def make_output_safe() -> None:
    """Let no character stop the output: keep an encoding that knows Chinese, else take UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            try:
                "课".encode(stream.encoding)
            except (UnicodeError, LookupError):
                stream.reconfigure(encoding="utf-8")
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; what a reader can mend comes as one Chinese sentence."""
    make_output_safe()
    os.environ.pop(
        "PYTHONIOENCODING", None
    )  # it was for this terminal; pipes between our processes are UTF-8
    os.environ["PYTHONUTF8"] = "1"
    try:
        options = read_arguments(arguments)
        return int(options.handle(options))
    except CourseError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"系统报告错误：{error}。请检查磁盘空间和文件夹的写入权限，再运行同一条命令。", file=sys.stderr)
    except KeyboardInterrupt:
        print("已中断。", file=sys.stderr)
        return 130
    return 1
