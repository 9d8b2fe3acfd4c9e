"""Show one notebook as slides whose explorers are alive: ``python -m course_lib present 27.2``.

JupyterLab runs in a folder that is thrown away afterwards, on a copy of the notebook: settings, workspaces
and notebooks of the teacher stay as they were.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from ..show.fonts import FONT_FILE
from .lab import serve
from .notebook_form import normalise, read
from .places import NOTEBOOKS, use_own_places
from .slides import is_folded

EXTENSION: Final = "jupyterlab_slideshow"
_STYLE: Final = Path(__file__).with_name("present.css")
_SETTINGS: Final = {"jupyterlab-slideshow:plugin": {"active": True}}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``present SECTION`` to a command line."""
    parser = commands.add_parser("present", help="课堂投影：一节一页地放，滑块是活的")
    parser.add_argument("section", metavar="节", help="27.2 这样的节号，或一个 .ipynb 文件")
    parser.add_argument("--no-browser", action="store_true", help="只显示网址，不打开浏览器")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Present until Ctrl-C or until the terminal closes; nothing of it remains."""
    notebook = notebook_of(options.section)
    if find_spec(EXTENSION) is None:
        raise CourseError(
            "投影还缺 jupyterlab-slideshow",
            remedy=f"请运行 {sys.executable} -m pip install 'jupyterlab-slideshow<0.4'，或先运行一次 "
            "python3 run.py test，它会一并装好",
        )
    with tempfile.TemporaryDirectory(prefix="course-present-", ignore_cleanup_errors=True) as scratch:
        runtime, root = Path(scratch) / "runtime", Path(scratch) / "notebooks"
        use_own_places(runtime)
        dress(runtime)
        lay_out(notebook, root)
        print(
            "先按一次菜单「运行」里的「运行所有单元格」，图就能拖动；方向键或空格翻页；正在改格子时先按 Esc。"
        )
        serve(open_browser=not options.no_browser, root=root, runtime=runtime, page=notebook.name)
    return 0


def notebook_of(section: str) -> Path:
    """Return the notebook of a section (``27.2`` or ``27.02``), or the file of that name."""
    if section.endswith(".ipynb"):
        return Path(section).absolute()
    found = re.fullmatch(r"27\.0?(\d+)", section)
    named = sorted(NOTEBOOKS.glob(f"27.{int(found[1]):02d}-*.ipynb")) if found else []
    if not named:
        raise CourseError("没有这一节", got=section, remedy="请给 27.1 到 27.10，或一个 .ipynb 文件")
    return named[0]


def dress(runtime: Path) -> None:
    """Put the slideshow, large type and the course's font into the settings of this folder."""
    settings = runtime / "config" / "labconfig" / "default_setting_overrides.json"
    kept = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps(kept | _SETTINGS), encoding="utf-8")
    custom = runtime / "config" / "custom"
    shutil.copy(FONT_FILE, custom)
    with (custom / "custom.css").open("a", encoding="utf-8") as file:
        file.write(_STYLE.read_text(encoding="utf-8").replace("FONT_FILE", FONT_FILE.name))


def lay_out(notebook: Path, root: Path) -> None:
    """Copy the course's notebooks, so that links work, and the one to be shown, its code folded."""
    root.mkdir()
    for shipped in NOTEBOOKS.glob("*.ipynb"):
        _rewrite(shipped, root / shipped.name, _fold)
    _rewrite(notebook, root / notebook.name, _fold)


def _rewrite(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> None:
    plain = json.loads(normalise(read(source)[1], stem=source.stem))
    change(plain)
    target.write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")


def _fold(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        if is_folded(cell):
            cell["metadata"]["jupyter"] = {"source_hidden": True}
