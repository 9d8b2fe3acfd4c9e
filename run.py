#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Set the course up where needed, then hand the arguments to ``python -m course_lib``.

    python3 run.py lab         open the notebooks in JupyterLab      (Windows: py run.py lab)
    python3 run.py test        run the tests

One file for Linux, macOS and Windows; it and ``course_lib.app.install``, which does the work, need nothing
but the standard library. This file must run on Python 2.7, so that an old Python gets a sentence too: no
syntax here may be newer.
"""

from __future__ import unicode_literals

import os
import platform
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))
OLDEST, NEWEST = (3, 11), (3, 14)


def python_fits():
    """Say whether the locks hold wheels for this Python."""
    return OLDEST <= sys.version_info[:2] <= NEWEST and platform.python_implementation() == "CPython"


def refuse(stream):
    """Write one sentence: in the stream's encoding if that knows Chinese, else in UTF-8."""
    sentence = (
        "本课程需要 CPython 3.11 到 3.14，现在运行的是 %s %s："
        "请从 Python 官网安装其中一版，再用它运行同一条命令，例如 python3.12 run.py lab。\n"
        % (platform.python_implementation(), platform.python_version())
    )
    try:
        data = sentence.encode(stream.encoding or "utf-8")
    except (UnicodeError, LookupError):
        data = sentence.encode("utf-8")
    getattr(stream, "buffer", stream).write(data)
    stream.flush()


if __name__ == "__main__":
    if not python_fits():
        refuse(sys.stderr)
        sys.exit(1)
    sys.path.insert(0, ROOT)
    from course_lib.app.install import main

    sys.exit(main(sys.argv[1:]))
