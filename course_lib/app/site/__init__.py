"""Write the stored notebooks as pages that need no kernel and no network: ``python -m course_lib site``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from ..places import NOTEBOOKS, ROOT, use_own_places

DEFAULT: Final = ROOT / "site"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``site [--out FOLDER]``."""
    parser = commands.add_parser("site", help="把笔记本导出成网页，不运行、断网也能读")
    parser.add_argument(
        "--out", type=Path, default=DEFAULT, metavar="文件夹", help="写到哪里，默认课程里的 site/"
    )
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Make every page, then put the whole site in place in one step."""
    from .folder import checked, replace_folder
    from .pages import site_files

    use_own_places()
    out = checked(options.out)
    replace_folder(out, site_files(sorted(NOTEBOOKS.glob("*.ipynb"))))
    print(f"网页写好了，用浏览器打开：{out / 'index.html'}")
    return 0
