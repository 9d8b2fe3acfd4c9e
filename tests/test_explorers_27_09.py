"""The exercises: explorers start at the printed solutions, and 27.9 answers every name that 27.8 asks for."""

import ast
import json
from decimal import Decimal
from itertools import groupby

import pytest

from course_lib.show.explorers import section_27_09_ex5
from course_lib.show.explorers.section_27_09_ex1 import larger_microbatch
from course_lib.show.explorers.section_27_09_ex2 import two_means
from course_lib.show.explorers.section_27_09_ex3 import share_to_peak
from course_lib.show.explorers.section_27_09_ex4 import two_copies
from course_lib.show.explorers.section_27_09_ex5 import resumed_run
from course_lib.show.explorers.section_27_09_ex6 import fits_or_fast

from .reading import cells, notebook_of, source


def test_exercise_1_book():
    assert [ledger.total_bytes for ledger in larger_microbatch().result] == [17_310_720, 18_621_440]


def test_exercise_2_book():
    together, equal_weight, _ = two_means().result
    assert (together, equal_weight) == (1, 0)


def test_exercise_3_book():
    explorer = share_to_peak()
    assert explorer.table.rows[0] == ("长期份额", 4_000_000, 4_000_000)
    assert explorer.table.rows[1] == ("已保存激活", 1_310_720, 5_310_720)
    # 4,000,000 + 1,310,720 + two whole layers of 250,000 parameters in 2 bytes + 500,000, and a quarter more
    assert explorer.table.rows[-1] == ("规划余量", 1_702_680, 8_513_400)


def test_exercise_4_book():
    copies = two_copies().result
    assert copies.direct[1:] == (Decimal("1.00"), Decimal("1.00"))
    assert copies.master[1:] == (Decimal("0.997"), Decimal("0.994"))
    assert copies.working[2] == Decimal("0.99")


def verdicts(explorer):
    return [evidence for _, evidence in explorer.table.rows]


def test_exercise_5_book():
    explorer = resumed_run()
    unbroken, resumed = explorer.result
    assert unbroken.samples == [3, 7, 1, 6, 8, 2, 5, 4, 3, 7]
    assert resumed.samples == [3, 7, 1, 6, 3, 7, 1, 6, 8, 2]
    assert unbroken.weights[:4] == resumed.weights[:4]
    assert unbroken.weights[4] != resumed.weights[4]
    assert verdicts(explorer) == ["有", "有", "没有", "没有", "没有"]


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({"sampler": True, "compared": True}, ["有", "有", "有", "有", "没有"]),
        ({"sampler": True}, ["有", "有", "有", "没有", "没有"]),
        ({"compared": True}, ["有", "有", "没有", "比较过，不一致", "没有"]),
        ({"stop": len(section_27_09_ex5.SAMPLES)}, ["有", "有", "没有", "没有", "没有"]),
        ({"moments": False}, ["有", "没有", "没有", "没有", "没有"]),
    ],
)
def test_exercise_5_claims_only_what_is_shown(changes, evidence):
    explorer = resumed_run()
    explorer.set(**changes)
    assert verdicts(explorer) == evidence


def test_exercise_6_numbers_of_the_companion():
    answer, before, after = fits_or_fast().result
    assert (answer.need_bytes_before, answer.need_bytes_after) == (26_485_760, 22_553_600)
    assert (answer.fits_before, answer.fits_after) == (False, True)
    assert (float(before), float(after)) == (0.25, 0.31)


def assigned(section, *, ids=""):
    """Map the names that cells assign to the value's syntax; only cells whose id ends in ``ids``."""
    names = {}
    for cell in cells(notebook_of(section), "code"):
        if not cell["id"].endswith(ids):
            continue
        for node in ast.walk(ast.parse(source(cell))):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    names |= {leaf.id: node.value for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}
    return names


def test_solutions_answer_every_question():
    asked = assigned("27.8", ids="-answer")
    assert len(asked) == 17
    assert all(isinstance(value, ast.Constant) and value.value is None for value in asked.values())
    assert set(asked) <= set(assigned("27.9"))


@pytest.mark.parametrize("section", ["27.8", "27.9"])
def test_cells_of_an_exercise_stand_together(section):
    stored = json.loads(notebook_of(section).read_text(encoding="utf-8"))["cells"]
    parts = [cell["id"].split("-")[2] for cell in stored if "-ex" in cell["id"]]
    assert [part for part, _ in groupby(parts)] == ["ex1", "ex2", "ex3", "ex4", "ex5", "ex6"]
