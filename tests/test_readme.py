"""The pages for people are true: their links lead somewhere, their table names what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "README.en.md", "CONTRIBUTING.md", "docs/design.md", "docs/adding-an-explorer.md")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in targets if not (ROOT / page).parent.joinpath(link).exists()] == []


def table_rows():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| 27.")]


def test_the_table_has_a_row_for_every_section():
    assert [row[0].split()[0] for row in table_rows()] == [f"27.{n}" for n in range(1, 11)]


@pytest.mark.parametrize("row", table_rows(), ids=lambda row: row[0].split()[0])
def test_modules_and_tests_of_the_table_exist(row):
    modules, tests = (re.findall(r"`(\w+)`", cell) for cell in row[3:5])
    library = ROOT / "course_lib"
    missing = [
        name for name in modules if not (library / f"{name}.py").exists() and not (library / name).is_dir()
    ]
    assert missing + [name for name in tests if not (ROOT / "tests" / f"{name}.py").exists()] == []
