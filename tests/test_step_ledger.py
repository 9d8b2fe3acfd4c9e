"""The predicted step: the chapter's model typed row by row, and shapes that the code must refuse."""

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import step_ledger
from course_lib.errors import CourseError
from course_lib.ledger import ACTIVATIONS, LOGITS
from course_lib.step_ledger import POLICIES, StepPlan, StepShape, forward_flops, peak, rebuild_flops

ROOT = Path(__file__).resolve().parents[1]

CHAPTER = {
    "初始化": 16_000_000,
    "嵌入": 16_065_536,
    "第 1 层前向": 16_656_384,
    "第 2 层前向": 17_247_232,
    "第 3 层前向": 17_838_080,
    "第 4 层前向": 18_428_928,
    "前向结束": 24_738_816,
    "输出层反向": 18_428_928,
    "第 4 层反向": 17_838_080,
    "第 3 层反向": 17_247_232,
    "第 2 层反向": 16_656_384,
    "第 1 层反向": 16_065_536,
    "反向结束": 16_000_000,
    "更新结束": 16_000_000,
}


def totals(plan):
    return {boundary.phase: boundary.total_bytes for boundary in plan.boundaries()}


def forward_end(plan):
    return next(boundary.ledger for boundary in plan.boundaries() if boundary.phase == "前向结束")


def test_chapters_model_row_by_row():
    assert StepShape().parameters == 1_000_000
    assert totals(StepPlan()) == CHAPTER


def test_what_is_in_memory_after_forward():
    assert [(row.name, row.total_bytes) for row in forward_end(StepPlan())] == [
        ("工作权重", 2_000_000),
        ("梯度", 2_000_000),
        ("主权重副本", 4_000_000),
        ("一阶矩与二阶矩", 8_000_000),
        ("已保存激活", 1_310_720),
        ("注意力分数", 1_048_576),
        ("归一化的尺度", 4_096),
        ("末次归一化", 33_280),
        ("logits", 6_342_144),
    ]


@pytest.mark.parametrize(("keep", "n_bytes"), [(10, 1_310_720), (4, 524_288), (1, 131_072)])
def test_saved_arrays(keep, n_bytes):
    assert forward_end(StepPlan(keep=keep))[ACTIVATIONS].total_bytes == n_bytes


def test_peak_lies_where_the_logits_exist_twice():
    highest = peak(StepPlan())
    assert (highest.phase, highest.total_bytes) == ("前向结束", 37_423_104)
    assert highest.total_bytes == 24_738_816 + 2 * forward_end(StepPlan())[LOGITS].total_bytes


def test_margin_is_gone_after_forward_and_just_holds_with_a_small_vocabulary():
    assert CHAPTER["前向结束"] > 21_638_400
    small = StepPlan(shape=StepShape(vocabulary=256))
    assert small.state().total_bytes == 3_577_856
    margin = 6_110_720  # (3,577,856 + 1,310,720) × 1.25
    assert max(totals(small).values()) == 6_105_600 < margin
    assert peak(small).total_bytes == 7_907_328 > margin  # between the boundaries it is not enough


@pytest.mark.parametrize(
    ("dtype", "bytes_each"),
    [("float16", 16), ("float32", 16), ("float64", 32), ("float16-grads32", 18), ("float16-no-master", 12)],
)
def test_bytes_per_parameter(dtype, bytes_each):
    assert StepPlan(dtype=dtype).state().total_bytes == bytes_each * 1_000_000
    assert dtype in POLICIES


def test_work_by_hand():
    # 2·B·T = 512; per layer 12·D² = 49,152 for weights and 2·T·D = 16,384 for attention, four layers.
    assert forward_flops(StepPlan()) == 512 * (49_152 + 16_384) * 4 == 134_217_728
    # without q, k, v (3·D²) and the last product (4·D²)
    assert rebuild_flops(StepPlan(keep=4)) == 512 * (5 * 4_096 + 16_384) * 4 == 75_497_472
    assert rebuild_flops(StepPlan(keep=1)) == 512 * (8 * 4_096 + 16_384) * 4 == 100_663_296


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: StepShape(width=63), "平分给 4 个注意力头"),
        (lambda: StepShape(heads=5), "整数倍"),
        (lambda: StepShape(sequences=0), "sequences"),
        (lambda: StepShape(layers=1001), "layers"),
        (lambda: StepShape(vocabulary=1), "vocabulary"),
        (lambda: StepPlan(keep=3), "10、4 或 1"),
        (lambda: StepPlan(dtype="int8"), "float16"),
        (lambda: StepPlan(shape=None), "StepShape"),
    ],
)
def test_bad_sizes_get_a_sentence(wrong, sentence):
    with pytest.raises(CourseError, match=sentence):
        wrong()


def test_prediction_needs_neither_numpy_nor_the_trainer():
    code = "import sys, course_lib.step_ledger; print(*{'numpy', 'course_lib.trainer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
    assert step_ledger.__doc__
