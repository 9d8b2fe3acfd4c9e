"""Photograph notebooks for people to look at: ``python -m tests.browser.shots OUT_DIR [NOTEBOOK ...]``.

Each notebook (default: all of the course; drafts elsewhere will do) is opened in JupyterLab, run from top to
bottom and photographed screen by screen. Errors of cells and of the console are printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..reading import stored
from .harness import NotebookPage, chromium
from .lab import running_lab


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every notebook of the course")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=1400)
    parser.add_argument("--dark", action="store_true", help="JupyterLab's dark theme")
    parser.add_argument("--stored", action="store_true", help="do not run: show what is stored")
    options = parser.parse_intermixed_args()
    notebooks = options.notebooks or stored()
    troubles = 0
    with running_lab(notebooks) as lab, chromium() as browser:
        for path in notebooks:
            page = NotebookPage.open(browser, lab, path.name, width=options.width, height=options.height)
            if options.dark:
                page.theme("JupyterLab Dark")
            if not options.stored:
                page.run_all()
            for shot in page.screenshots(options.out, "-dark" if options.dark else ""):
                print(shot)
            found = page.failures() + page.errors + page.overflow()
            troubles += len(found)
            print("\n".join(f"{path.name}: {trouble}" for trouble in found), end="\n" if found else "")
            page.close()
    return 1 if troubles else 0


if __name__ == "__main__":
    raise SystemExit(main())
