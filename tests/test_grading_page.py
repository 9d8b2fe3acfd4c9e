"""The teachers' page shows what the hostile suite proves."""

from pathlib import Path

from .hostile import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "grading.md"


def test_the_table_of_attacks_is_that_of_the_tests():
    """If the change is wanted, put ``tests.hostile.table()`` at the end of the page."""
    assert PAGE.read_text(encoding="utf-8").endswith(f"\n{table()}\n")
