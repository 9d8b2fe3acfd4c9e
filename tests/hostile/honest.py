"""Honest work, some of it unusual: it must lose nothing."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import R1, Case, code, every
from tests.submissions import BLANK, RIGHT, WRONG, whole_notebook

CASES: Final = (
    Case("honest", "老实答对的一份", make=lambda: whole_notebook(RIGHT), file_name="honest.ipynb"),
    Case("blank", "一题也没有填", every("unanswered"), BLANK),
    Case("wrong", "老实答错的一份", every("fail"), WRONG),
    Case(
        "shadowing", "答对，但把 list、str、print、display 等名字占用了",
        answers={
            **RIGHT,
            "1": 'list = [1, 2]\nstr = "字"\nprint = None\ndisplay = 3\n' + R1,
            "2": 'dict = type = isinstance = repr = 0\nget_ipython = json = "x"\n' + RIGHT["2"],
            "3": "globals = locals = getattr = __name__ = None\nid = answer = check = 5\n" + RIGHT["3"],
        },
    ),
    Case(
        "library", "答案用课程的函数算出来",
        answers={
            **RIGHT,
            "1": code("""
                from course_lib.activations import SavedActivations
                from course_lib.ledger import model_state
                state = model_state(1_000_000, weights=2, grads=2, master=4, moments=(4, 4))
                acts = SavedActivations(sequences=4, positions=128, width=64, layers=4,
                                        arrays_per_layer=10, bytes_per_value=2)
                activation_bytes = acts.total_bytes
                total_bytes = (state + acts.ledger()).total_bytes
            """),
            "2": code("""
                from course_lib.accumulation import Contribution
                a = Contribution.from_mean(n_events=3, mean_grad=2)
                b = Contribution.from_mean(n_events=1, mean_grad=-2)
                mean_grad = (a + b).mean_grad
                equal_weight_error = "B"
            """),
        },
    ),
    Case(
        "magics", "用了 %%time、%%capture、await、%reset 和图",
        answers={
            **RIGHT,
            "1": "%%time\n" + R1,
            "2": "%%capture\n" + RIGHT["2"],
            "3": "import asyncio\nawait asyncio.sleep(0)\n%reset -f\n" + RIGHT["3"],
            "4": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n" + RIGHT["4"],
            "5": RIGHT["5"] + "\nget_ipython().set_next_input('1/0')",
        },
    ),
)  # fmt: skip
