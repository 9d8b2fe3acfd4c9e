"""Drive a notebook in JupyterLab as a reader does, with headless Chromium.

with running_lab(stored()) as lab, chromium() as browser:
    page = NotebookPage.open(browser, lab, "27.02-ledger.ipynb")
    page.run_all()
    page.errors, page.explorers()
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .lab import Lab
from .on_screen import OnScreen

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PLACES = ("/usr/bin/chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
)
SECONDS = 1000
PATIENCE = 120 * SECONDS
ANSWER = 10 * SECONDS

_PANEL = "jupyterapp.shell.currentWidget"
_IDLE = f"""() => window.jupyterapp && {_PANEL}?.context?.isReady
    && {_PANEL}.sessionContext.session?.kernel?.status === 'idle'
    && !document.querySelector('#jupyterlab-splash')"""
_SETTLED = """() => !document.body.textContent.includes('Loading widget')
    && [...document.querySelectorAll('.jp-OutputArea img')].every(i => i.complete && i.naturalWidth)"""
# What is cut off in its own box, or sticks out of the notebook sideways. Of a list, its longest line counts.
_CUT = """() => { const page = document.querySelector('.jp-Notebook').getBoundingClientRect();
    const pen = document.createElement('canvas').getContext('2d');
    const wider = one => { if (one.tagName !== 'SELECT') return one.scrollWidth > one.clientWidth + 1;
        pen.font = getComputedStyle(one).font;
        return [...one.options].some(line => pen.measureText(line.text).width > one.clientWidth - 16) };
    const parts = '.widget-label, button, select, input, .course-title, .course-words p';
    return [...document.querySelectorAll('.course-explorer')].flatMap(explorer =>
        [...explorer.querySelectorAll(parts)].filter(one => one.offsetParent).filter(one => {
            const box = one.getBoundingClientRect();
            return wider(one) || box.left < page.left - 1 || box.right > page.right + 1 })
        .map(one => explorer.querySelector('.course-title').textContent + ': ' + one.className + ' '
            + (one.closest('.widget-inline-hbox') || one).textContent.slice(0, 60))) }"""


def browser_path() -> str | None:
    """Where a Chromium is on this machine, or None."""
    found = [shutil.which(name) for name in NAMES] + [place for place in PLACES if os.access(place, os.X_OK)]
    return next(filter(None, found), None)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class NotebookPage:
    """One notebook open in a page of its own; ``page`` is playwright's, ``errors`` its console's."""

    def __init__(self, page: Any, name: str) -> None:
        self.page, self.name = page, name
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} {message.location.get('url', '')}".strip())

    @classmethod
    def open(cls, browser: Any, lab: Lab, name: str, *, width: int = 1280, height: int = 720) -> NotebookPage:
        """Open a notebook in a fresh workspace and wait for its kernel; nothing is run."""
        context = browser.new_context(viewport={"width": width, "height": height}, locale="zh-CN")
        notebook = cls(context.new_page(), name)
        notebook.page.goto(lab.address(name, secrets.token_hex(4)))
        notebook.wait_until_idle()
        return notebook

    def close(self) -> None:
        """Shut the kernel down and close the page."""
        self.page.evaluate(f"() => {_PANEL}?.sessionContext?.shutdown()")
        self.page.context.close()

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(_IDLE, timeout=PATIENCE)
        self.page.wait_for_function(_SETTLED, timeout=PATIENCE)

    def command(self, name: str, **arguments: Any) -> None:
        """Carry out a command of JupyterLab and wait for its end."""
        call = f"jupyterapp.commands.execute({json.dumps(name)}, {json.dumps(arguments)})"
        self.page.evaluate(f"async () => {{ await {call} }}")

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")
        self.wait_until_idle()

    def save(self) -> None:
        self.command("docmanager:save")

    def reload(self) -> None:
        self.page.reload()
        self.wait_until_idle()

    def restart_kernel(self) -> None:
        self.page.evaluate(f"async () => {{ await {_PANEL}.sessionContext.session.kernel.restart() }}")
        self.wait_until_idle()

    def theme(self, name: str) -> None:
        """Change JupyterLab's theme, and wait until the page wears it."""
        self.command("apputils:change-theme", theme=name)
        light = "false" if "Dark" in name else "true"
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached", timeout=ANSWER)
        self.page.wait_for_timeout(SECONDS / 2)

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_timeout(SECONDS / 2)

    def white_shares(self, selector: str) -> list[float]:
        """Photograph what matches; return for each the share of its points that are nearly white."""
        photographs = [found.screenshot() for found in self.page.query_selector_all(selector)]
        grey = [np.asarray(Image.open(io.BytesIO(one)).convert("L")) for one in photographs]
        return [float(np.mean(points > 230)) for points in grey]

    def notebook(self) -> dict[str, Any]:
        """The notebook as the page holds it now, outputs included."""
        return self.page.evaluate(f"() => {_PANEL}.context.model.toJSON()")

    def failures(self) -> list[str]:
        """What cells reported as errors, and what they wrote to stderr."""
        outputs = [output for cell in self.notebook()["cells"] for output in cell.get("outputs", [])]
        errors = [f"{output['ename']}: {output['evalue']}" for output in outputs if "ename" in output]
        return errors + [output["text"] for output in outputs if output.get("name") == "stderr"]

    def explorers(self) -> list[OnScreen]:
        return [OnScreen(self.page, found) for found in self.page.query_selector_all(".course-explorer")]

    def interruptions(self) -> list[str]:
        """Dialogues and notifications in front of the notebook."""
        return [found.inner_text() for found in self.page.query_selector_all(".jp-Dialog, .Toastify__toast")]

    def overflow(self) -> list[str]:
        """What is wider than its place, by its first words: it sticks out, or must be scrolled sideways."""
        return self.page.evaluate(
            """() => { const edge = document.querySelector('.jp-Notebook').getBoundingClientRect().right;
            const parts = '.jp-OutputArea-output, .course-explorer, .course-explorer img';
            return [...document.querySelectorAll(parts)]
                .filter(part => part.getBoundingClientRect().right > edge + 1
                    || part.scrollWidth > part.clientWidth + 2)
                .map(part => part.className + ' ' + part.textContent.slice(0, 40)) }"""
        )

    def cut(self) -> list[str]:
        """Labels, controls and sentences of explorers that are cut off or lie outside the notebook."""
        return self.page.evaluate(_CUT)

    def screenshots(self, folder: Path, suffix: str = "") -> list[Path]:
        """Photograph the notebook from top to bottom, one picture per screenful."""
        folder.mkdir(parents=True, exist_ok=True)
        scroller = self.page.evaluate_handle(
            """() => [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) *')]
            .find(part => ['auto', 'scroll'].includes(getComputedStyle(part).overflowY)
                && part.scrollHeight > part.clientHeight && part.querySelector('.jp-Cell'))"""
        )
        height, seen = scroller.evaluate("part => part ? [part.scrollHeight, part.clientHeight] : [1, 1]")
        shots = []
        for number, top in enumerate(range(0, height, seen - 40 if seen > 40 else 1), start=1):
            scroller.evaluate("(part, top) => part && (part.scrollTop = top)", top)
            self.page.wait_for_timeout(150)
            shots.append(folder / f"{Path(self.name).stem}{suffix}-{number:02d}.png")
            self.page.screenshot(path=shots[-1])
            if top + seen >= height:
                break
        return shots
