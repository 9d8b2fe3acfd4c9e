"""Section 27.2: the ledger. Expected figures typed from the chapter and from other people's tools."""

from fractions import Fraction

import pytest

from course_lib.activations import SavedActivations
from course_lib.errors import CourseError
from course_lib.ledger import (
    ACTIVATIONS,
    GRADS,
    MASTER,
    RECIPES,
    WORKSPACE,
    Ledger,
    Lifetime,
    Row,
    diff,
    model_state,
)

ACTS = SavedActivations(
    sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
)


def test_table_27_1_row_by_row():
    state = model_state(1_000_000, weights=2, grads=2, master=4, moments=(4, 4))
    rows = [(row.name, row.bytes_each, row.total_bytes) for row in state]
    assert rows == [
        ("工作权重", (2,), 2_000_000),
        ("梯度", (2,), 2_000_000),
        ("主权重副本", (4,), 4_000_000),
        ("一阶矩与二阶矩", (4, 4), 8_000_000),
    ]
    assert state.total_bytes == 16_000_000
    assert state.bytes_per_parameter(1_000_000) == Fraction(16)


def test_example_27_1_with_activations_and_margin():
    need = model_state(1_000_000) + ACTS.ledger()
    assert (ACTS.array_bytes, ACTS.arrays, ACTS.total_bytes) == (32_768, 40, 1_310_720)
    assert need.total_bytes == 17_310_720
    assert need.with_headroom(percent=25) == 21_638_400


def test_omissions_shrink_as_items_are_counted():
    state = model_state(1_000_000)
    assert ACTIVATIONS in state.omits
    need = state + ACTS.ledger()
    assert need.omits == ("注意力分数", "嵌入输出", "logits", "临时工作区", "通信缓冲区", "内存碎片")
    counted = need.with_row(Row(WORKSPACE, 500, (1,), "试填", Lifetime.WITHIN_STEP))
    assert WORKSPACE not in counted.omits
    assert counted.total_bytes == 17_311_220


@pytest.mark.parametrize(
    ("key", "per_parameter"),
    [
        ("chapter", 16),
        ("fp32", 16),
        ("megatron", 18),
        ("playbook", 20),
        ("no-master", 12),
        ("scaling-book", 10),
    ],
)
def test_recipes_total(key, per_parameter):
    assert RECIPES[key].bytes_per_parameter == per_parameter
    assert RECIPES[key].ledger(1_000_000).total_bytes == per_parameter * 1_000_000


def test_recipe_names_states_it_leaves_out():
    assert {GRADS, MASTER} <= set(RECIPES["scaling-book"].ledger(10).omits)
    assert GRADS not in RECIPES["chapter"].ledger(10).omits


def test_equal_totals_are_not_equal_ledgers():
    chapter, fp32 = RECIPES["chapter"].ledger(1_000_000), RECIPES["fp32"].ledger(1_000_000)
    assert chapter.total_bytes == fp32.total_bytes == 16_000_000
    changes = {line.name: line.change_bytes for line in diff(chapter, fp32)}
    assert changes == {"工作权重": 2_000_000, "梯度": 2_000_000, "主权重副本": -4_000_000}


def test_llm_c_allocation_log_in_mib():
    """GPT-2 124M in llm.c: 237 / 237 / 474 (m) / 474 (v) / 474 (master), floors of MiB."""
    state = model_state(124_475_904)
    mib = 2**20
    moments = state["一阶矩与二阶矩"]
    assert state["工作权重"].total_bytes // mib == 237
    assert state["梯度"].total_bytes // mib == 237
    assert state["主权重副本"].total_bytes // mib == 474
    assert [moments.count * width // mib for width in moments.bytes_each] == [474, 474]


def test_second_row_of_the_same_name_is_refused():
    state = model_state(10)
    with pytest.raises(CourseError, match="同名"):
        state + state


def test_margin_rounds_up_to_a_whole_byte():
    assert Ledger((Row("甲", 3, (1,), "试填", Lifetime.WITHIN_STEP),)).with_headroom(percent=25) == 4


@pytest.mark.parametrize("bad", [0, -1, True, 1.0, "1", float("nan"), None])
def test_bad_parameter_counts(bad):
    with pytest.raises(CourseError, match="parameters"):
        model_state(bad)
