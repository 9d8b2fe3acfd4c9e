"""The kernel that runs a submission, spoken to directly."""

import time

import pytest

from course_lib.grading.jobs import Limits
from course_lib.grading.kernels import GradedKernel

from .test_grading_work import isolations


@pytest.mark.slow
@pytest.mark.parametrize("isolation", isolations())
def test_a_grader_slower_than_the_kernel_loses_no_output(isolation, monkeypatch):
    take = GradedKernel._take
    monkeypatch.setattr(GradedKernel, "_take", lambda self, frames: (time.sleep(0.001), take(self, frames)))
    kernel = GradedKernel(isolation, Limits())
    try:
        kernel.begin_cell()
        asked = kernel.execute_cell_input("for number in range(4_000):\n    display(number)")
        kernel.await_reply(asked, 60)
        seen = []
        while not seen or seen[-1]["content"].get("execution_state") != "idle":
            seen.append(kernel.get_message("iopub", 10))
    finally:
        kernel.stop()
    shown = [one["content"]["data"]["text/plain"] for one in seen if one["msg_type"] == "display_data"]
    assert shown == [str(number) for number in range(4_000)]
