"""What is taken from a submission, and what is refused with a sentence."""

import json

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import BOOK
from course_lib.grading.reading import LARGEST, read_submission


def cell(id, source, kind="code"):
    return {
        "id": id,
        "cell_type": kind,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": 1,
    }


def notebook(*cells, **other):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **other}


def read(content):
    return read_submission(json.dumps(content).encode() if isinstance(content, dict) else content, BOOK)


def test_answer_cells_are_found_by_id_wherever_they_stand():
    found = read(
        notebook(
            cell("x", "1/0"),
            cell("27-08-ex2-answer", ["mean_grad = 1\r\n", "equal_weight_error = 'B'"]),
            cell("27-08-ex2-check", "raise SystemExit"),
            cell("27-08-ex1-answer", "total_bytes = 3"),
        )
    )
    assert dict(found.answers) == {"1": "total_bytes = 3", "2": "mean_grad = 1\nequal_weight_error = 'B'"}
    assert found.warnings == ()


def test_of_two_answer_cells_the_first_counts_and_it_is_said():
    found = read(notebook(cell("27-08-ex1-answer", "a = 1"), cell("27-08-ex1-answer", "a = 2")))
    assert found.answers["1"] == "a = 1"
    assert found.warnings == ("习题 1 的作答格有不止一个，只看第一个。",)


def test_a_retyped_answer_cell_is_said_and_not_run():
    found = read(notebook(cell("27-08-ex3-answer", "missing_items = []", "markdown")))
    assert not found.answers
    assert "习题 3" in found.warnings[0]


def test_free_text_comes_without_the_words_of_the_cell():
    words = (
        f"**理由**　双击这一格，把想法写在下面。{BOOK[0].reason}这里留给人读，不自动评分。\n\n> 因为\n> 两倍"
    )
    found = read(notebook(cell("27-08-ex1-reason", words, "markdown")))
    assert found.texts["1"] == "因为\n> 两倍"


def test_half_a_surrogate_pair_becomes_a_sign_that_can_be_written():
    found = read(
        b'{"nbformat": 4, "cells": [{"id": "27-08-ex1-answer", "cell_type": "code", "source": "\\ud800"}]}'
    )
    assert found.answers["1"].encode() == b"?"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "不是完整的 JSON"),
        (b"{", "不是完整的 JSON"),
        (b"\xff\xfe\x00", "不是 UTF-8"),
        (b"[]", "不是笔记本"),
        (b'{"nbformat": "4", "cells": []}', "不是笔记本"),
        (b'{"nbformat": true, "cells": []}', "不是笔记本"),
        (b'{"nbformat": 4}', "不是笔记本"),
        (b'{"nbformat": 3, "cells": []}', "格式版本不对"),
        (b"[" * 100_000 + b"]" * 100_000, "套得太深"),
        (b"[" * 1_000_001, "括号多得不像笔记本"),
        (b"9" * 10_000, "不是完整的 JSON"),
        (b" " * (LARGEST + 1), "超过 20 MB"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence(content, said):
    with pytest.raises(CourseError, match=said):
        read(content)
