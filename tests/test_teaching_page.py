"""The teachers' guide names walkthroughs, steps and numbers that exist."""

import re
from pathlib import Path

import pytest

from course_lib.show import walk

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "teaching.md").read_text(encoding="utf-8")
# As many steps as the guide counts on, by the highest step that it names.
NAMED = {
    "27.1": 10,
    "27.2": 5,
    "27.3": 7,
    "decimal": 1,
    "loss-scaling": 6,
    "transfer": 1,
    "recompute": 1,
    "recovery": 6,
}


def test_every_walkthrough_is_named_and_no_other():
    assert set(re.findall(r'walk\("([^"]+)"', PAGE)) == set(NAMED)


@pytest.mark.parametrize(("name", "step"), NAMED.items())
def test_every_named_step_can_be_opened(name, step):
    walk(name, step=step)
