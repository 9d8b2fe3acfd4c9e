"""One server and one browser for all browser tests; skipped with a plain reason where there is no browser.

``COURSE_SHOTS=FOLDER`` keeps a photograph of every notebook that was run.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from ..reading import stored
from .harness import NotebookPage, browser_path, chromium
from .lab import running_lab


@pytest.fixture(scope="session")
def lab():
    with running_lab(stored()) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    if find_spec("playwright") is None:
        pytest.skip("playwright is not installed")
    if browser_path() is None:
        pytest.skip("no Chromium on this machine")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def opened(request, browser, lab):
    """The notebook named by the parameter, open at 1280 × 720 and run; shared by the tests of a module."""
    page = NotebookPage.open(browser, lab, request.param)
    page.run_all()
    if folder := os.environ.get("COURSE_SHOTS"):
        page.screenshots(Path(folder))
    yield page
    page.close()
