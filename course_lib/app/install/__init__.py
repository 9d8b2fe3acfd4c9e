"""What ``run.py`` does before the course can start; standard library only, as nothing is installed yet.

- ``environment``: the virtual environment, its stamp, and who may work on it
- ``tools``: uv and pip, run with visible progress
- ``settings``: which of the reader's settings they see
- ``causes``: what they said when they failed, as one Chinese sentence
- here: the way from the arguments to ``python -m course_lib``
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from ...errors import CourseError
from ..cli import make_output_safe
from ..places import ROOT
from .causes import sentence_for
from .environment import PYTHON, READERS, TESTERS, ensure
from .settings import clean_environment


def main(arguments: Sequence[str]) -> int:
    """Install what is missing, then run the command; return the exit status."""
    make_output_safe()
    if not arguments or arguments[0] in ("-h", "--help"):
        return hand_over(sys.executable, arguments or ["--help"])
    try:
        if os.pathsep in str(ROOT):
            raise CourseError(f"课程文件夹的路径里不能有「{os.pathsep}」", remedy="请改名后再运行同一条命令")
        ensure([READERS, TESTERS] if arguments[0] == "test" else [READERS])
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(sentence_for(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("已中断。再运行同一条命令，安装会从头做起。", file=sys.stderr)
        return 130
    return hand_over(str(PYTHON), arguments)


def hand_over(python: str, arguments: Sequence[str]) -> int:
    """Become ``python -m course_lib`` with these arguments; return its exit status on Windows."""
    tools = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    environment = clean_environment() | tools | {"PYTHONPATH": str(ROOT)}
    # -P: the folder the reader stands in is not searched for modules.
    command = [python, "-P", "-m", "course_lib", *arguments]
    if os.name != "nt":
        sys.stdout.flush()
        os.execve(python, command, environment)
    process = subprocess.Popen(command, env=environment)
    while True:  # Ctrl-C reaches both processes; ours waits until the other has tidied up
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
