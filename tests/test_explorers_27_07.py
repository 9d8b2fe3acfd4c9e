"""Section 27.7's explorer: the 10 MB device, and what it feeds to the time of a step."""

from fractions import Fraction

import pytest

from course_lib.show.explorers.section_27_05_time import step_time
from course_lib.show.explorers.section_27_07 import one_page


@pytest.fixture(scope="module")
def page():
    return one_page()


@pytest.fixture(autouse=True)
def at_the_book(page):
    page.set(**page.book)


def test_four_arrays_fit_and_ten_do_not(page):
    assert (page.result.plan.need_bytes, page.result.plan.fits) == (9_405_360, True)
    assert page.result.bare.need_bytes == 21_638_400
    page.set(arrays_per_layer=10)
    assert (page.result.plan.need_bytes, page.result.plan.fits) == (10_388_400, False)
    assert "放不下，超出 388,400 字节" in page.text


def test_everything_left_out_is_named(page):
    assert all(name in page.text for name in ("注意力分数", "通信缓冲区", "内存碎片", "重算暂存"))
    page.set(moments=True)
    assert "重算暂存" not in page.text.split("未计入")[1]


def test_another_update_is_named(page):
    page.set(accumulation=2)
    assert "另一种更新" in page.text


def test_workers_that_do_not_divide_are_explained_at_their_control(page):
    page.set(workers=16)
    assert page.knobs["workers"].error.value
    assert page.inputs.workers == 4


def test_the_time_of_a_step_follows(page):
    """3,000,000 bytes at 100 MB/s are 30 ms; 2 ms and a fifth of them more for 3/5 of a forward."""
    clock = step_time()
    page.feeds(
        clock,
        compute_ms=lambda inputs, result: 2 * (1 + result.plan.extra_forward * Fraction(1, 3)),
        n_bytes=lambda inputs, result: result.plan.transfer_bytes,
    )
    assert clock.result.step == Fraction(324, 10_000)
    page.set(zero="3", arrays_per_layer=10)
    assert clock.result.step == Fraction(47, 1000)
