"""27.6: the button runs real steps, and their times appear beside the exact columns."""

import pytest

from ..reading import stored
from .harness import NotebookPage

pytestmark = pytest.mark.browser
TABLE = "() => [...document.querySelectorAll('.jp-OutputArea table')].map(t => t.innerText).join('|')"


def test_times_appear_when_asked_for(browser, lab):
    path = next(path for path in stored() if path.name.startswith("27.06"))
    page = NotebookPage.open(browser, lab, path.name)
    page.run_all()
    assert "毫秒" not in page.page.evaluate(TABLE)
    page.page.get_by_role("button", name="量一次时间").click()
    page.page.wait_for_function(f"() => (({TABLE})().match(/毫秒/g) || []).length === 3", timeout=60_000)
    assert "1.00 倍" in page.page.evaluate(TABLE)
    assert not page.errors
    page.close()
