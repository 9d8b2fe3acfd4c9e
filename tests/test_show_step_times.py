"""The times beside the measured step: shown when asked for, never stored."""

import pytest

from course_lib.errors import CourseError
from course_lib.measuring import step_seconds
from course_lib.show.step_times import step_times
from course_lib.step_ledger import StepPlan, StepShape

TINY = StepShape(sequences=1, positions=4, width=4, layers=1, heads=1, vocabulary=5)
# Bytes and shares of the chapter's model: 40 arrays of 32,768, then 16, then 4; 9/16 and 3/4 done again.
EXACT = [("10 个", 1_310_720, "0.00%"), ("4 个", 524_288, "56.25%"), ("1 个", 131_072, "75.00%")]


def test_exact_columns_stand_before_anything_is_measured():
    widget = step_times(clock=lambda plans: pytest.fail("nobody asked"))
    assert widget.table.rows == tuple((*row, "—", "—") for row in EXACT)
    assert "量一次时间" in widget.table.note


def test_a_press_shows_times_and_ratios_to_the_first():
    widget = step_times(clock=lambda plans: (0.040, 0.050, 0.060))
    widget.button.click()
    times = [("40.0 毫秒", "1.00 倍"), ("50.0 毫秒", "1.25 倍"), ("60.0 毫秒", "1.50 倍")]
    assert widget.table.rows == tuple((*row, *time) for row, time in zip(EXACT, times, strict=True))
    assert not widget.button.disabled and "50.0 毫秒" in widget.children[1].value


def test_times_are_never_stored():
    widget = step_times(clock=lambda plans: (0.040, 0.050, 0.060))
    before = widget._repr_mimebundle_()["text/plain"]
    widget.measure()
    assert widget._repr_mimebundle_()["text/plain"] == before
    assert "毫秒" not in before


def test_real_steps_take_time():
    times = step_seconds([StepPlan(shape=TINY), StepPlan(shape=TINY, keep=1)], rounds=1)
    assert len(times) == 2 and all(time > 0 for time in times)


@pytest.mark.parametrize("bad", [{"plans": 3}, {"plans": [3]}, {"plans": [], "rounds": 0}])
def test_bad_input_is_explained(bad):
    with pytest.raises(CourseError):
        step_seconds(**bad)
