"""Predicted beside measured: 0 bytes off at every boundary, and what a difference looks like."""

import itertools
import json
import random
import tracemalloc

import numpy as np
import pytest

from course_lib.app import cli
from course_lib.errors import CourseError
from course_lib.ledger import ACTIVATIONS
from course_lib.lifetimes import PhaseKind
from course_lib.measuring import Diary, measured_timeline, reconcile
from course_lib.measuring.lives import owner_of
from course_lib.step_ledger import (
    KEEPS,
    POLICIES,
    StepPlan,
    StepShape,
    forward_flops,
    peak,
    rebuild_flops,
)
from course_lib.trainer import Watch

SMALL = StepShape(sequences=2, positions=16, width=16, layers=3, heads=2, vocabulary=50)
CHAPTER = StepPlan()
ALL = list(itertools.product(POLICIES, KEEPS))


def differences(plan, also):
    return [line.difference for line in reconcile(plan, also=also).lines]


def shapes(count, seed):
    """Return shapes drawn at random, small enough for a step in a few milliseconds."""
    draw = random.Random(seed)
    for _ in range(count):
        heads = draw.choice((1, 2, 4))
        yield StepShape(
            sequences=draw.randint(1, 4),
            positions=draw.randint(1, 40),
            width=heads * draw.randint(1, 12),
            layers=draw.randint(1, 4),
            heads=heads,
            vocabulary=draw.randint(2, 300),
        )


def assert_exact(plan):
    assert [line for line in reconcile(plan).lines if line.difference] == [], plan


@pytest.mark.parametrize(("dtype", "keep"), ALL)
def test_every_boundary_agrees_to_the_byte(dtype, keep):
    for shape in (SMALL, *shapes(2, seed=f"{dtype}{keep}")):
        assert_exact(StepPlan(shape=shape, dtype=dtype, keep=keep))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "keep"), ALL)
def test_every_boundary_of_hundreds_of_shapes(dtype, keep):
    """300 shapes under each of 5 policies and 3 ways to keep: 4,500 steps."""
    for shape in shapes(300, seed=27):
        assert_exact(StepPlan(shape=shape, dtype=dtype, keep=keep))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "keep"), ALL)
def test_peak_at_the_chapters_width(dtype, keep):
    """Within 0.1 %, and 10 kB for Python's own objects; numpy's temporaries may differ between versions."""
    for vocabulary in (256, 3_000, 12_387):
        found = reconcile(StepPlan(shape=StepShape(vocabulary=vocabulary), dtype=dtype, keep=keep))
        assert found.exact
        assert abs(found.peak.difference) < 0.001 * found.peak.predicted_bytes + 10_000, found.peak


def test_chapters_step_as_typed():
    found = reconcile(CHAPTER)
    measured = {line.phase: line.measured_bytes for line in found.lines}
    assert measured["初始化"] == 16_000_000
    assert measured["第 4 层前向"] == 18_428_928
    assert measured["前向结束"] == 24_738_816
    assert measured["更新结束"] == 16_000_000
    assert abs(found.peak.measured_bytes - 37_423_104) < 37_423  # 0.1 %: numpy's temporaries vary


class OneMore(Watch):
    """Keeps one array more of every layer until the end."""

    def __init__(self):
        self.kept = []

    def array(self, name, layer, array):
        if name == "q":
            self.kept.append(array.copy())


class FusedView(Watch):
    """Cuts q out of a fused array: the view is small, what it keeps alive is not."""

    def __init__(self):
        self.views = []

    def array(self, name, layer, array):
        if name == "q":
            fused = np.concatenate([array, array, array], axis=-1)
            self.views.append(fused[..., : array.shape[-1]])


class LoopVariable(Watch):
    """Still points to the last feed-forward values, as a variable does after its loop."""

    def array(self, name, layer, array):
        if name == "hidden":
            self.last = array


def test_one_array_more_per_layer():
    off = differences(CHAPTER, OneMore())
    assert off[:7] == [0, 0, 32_768, 65_536, 98_304, 131_072, 131_072]
    assert off[7:] == [131_072] * 7


def test_a_view_keeps_the_whole_fused_array():
    assert differences(CHAPTER, FusedView())[2:6] == [98_304, 196_608, 294_912, 393_216]


def test_a_loop_variable_that_survives():
    """With ten arrays kept it hides behind what is saved anyway; it shows once they should be gone."""
    off = dict(
        zip([b.phase for b in CHAPTER.boundaries()], differences(CHAPTER, LoopVariable()), strict=True)
    )
    assert off["前向结束"] == 0
    assert off["第 4 层反向"] == off["更新结束"] == 131_072
    lean = differences(StepPlan(keep=4), LoopVariable())
    assert lean[2:6] == [131_072] * 4


@pytest.mark.parametrize("keep", [10, 4, 1])
def test_work_is_as_predicted(keep):
    plan = StepPlan(shape=SMALL, keep=keep)
    found = reconcile(plan)
    assert found.work("前向") == forward_flops(plan)
    assert found.work("重算") == rebuild_flops(plan)


def test_a_trace_that_runs_already_goes_on():
    tracemalloc.start()
    try:
        mine = np.ones(1000)
        assert reconcile(StepPlan(shape=SMALL)).exact
        assert tracemalloc.is_tracing()
        assert mine.sum() == 1000
    finally:
        tracemalloc.stop()
    assert reconcile(StepPlan(shape=SMALL)).exact
    assert not tracemalloc.is_tracing()


@pytest.mark.parametrize("keep", [10, 4, 1])
def test_what_the_diary_holds_is_what_the_allocator_counted(keep):
    """Two measurements that know nothing of each other: weak references and tracemalloc."""
    plan, sums = StepPlan(shape=SMALL, keep=keep), []

    class Summing(Diary):
        def boundary(self, phase):
            super().boundary(phase)
            sums.append(sum(life.n_bytes for life in self.lives if life.end is None))

    found = reconcile(plan, also=Summing())
    assert sums == [line.measured_bytes for line in found.lines]


def test_a_view_counts_as_its_owner():
    owner = np.zeros((4, 6))
    assert owner_of(owner[1:].T) is owner


@pytest.mark.parametrize(("keep", "n_bytes"), [(10, 1_310_720), (4, 524_288), (1, 131_072)])
def test_measured_lives_of_the_saved_arrays(keep, n_bytes):
    timeline = measured_timeline(StepPlan(keep=keep))
    saved = {item.name: item for item in timeline.alive(at=3.99)}[ACTIVATIONS]
    assert saved.total_bytes == n_bytes
    assert [lane.label for lane in timeline.lanes].count("第 1 层的查询 q") == 1
    assert timeline.phases.at(3.99).kind is PhaseKind.FORWARD
    assert timeline.end == 9


@pytest.mark.parametrize(
    ("vocabulary", "keep", "n_bytes"),
    [
        (12_387, 4, 35_584_000),
        (12_387, 1, 35_190_784),
        (256, 10, 7_907_328),
        (256, 4, 6_528_000),
        (256, 1, 6_233_088),
    ],
)
def test_measured_peak_is_the_predicted_one(vocabulary, keep, n_bytes):
    plan = StepPlan(shape=StepShape(vocabulary=vocabulary), keep=keep)
    assert measured_timeline(plan).peak().total_bytes == peak(plan).total_bytes == n_bytes


def test_measured_peak_of_the_chapters_step():
    highest = measured_timeline(CHAPTER).peak()
    assert highest.total_bytes == 37_423_104
    assert {item.name: item.total_bytes for item in highest.alive}["logits"] == 19_026_432


def test_command_prints_what_scripts_read(monkeypatch, capsys):
    monkeypatch.setattr("os.environ", {})
    sizes = "--layers 1 --width 8 --positions 4 --sequences 1 --vocabulary 20 --dtype float64 --keep 4"
    assert cli.main(["reconcile", "--json", *sizes.split()]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["parameters"] == 1_048
    assert said["rows"][0] == {"phase": "初始化", "predicted_bytes": 33_536, "measured_bytes": 33_536}
    assert set(said["peak"]) == {"predicted_bytes", "measured_bytes"}


def test_command_prints_a_table(monkeypatch, capsys):
    monkeypatch.setattr("os.environ", {})
    assert cli.main(["reconcile"]) == 0
    assert "前向结束              24,738,816  24,738,816      0" in capsys.readouterr().out
    assert cli.main(["reconcile", "--width", "63"]) == 1
    assert "整数倍" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [lambda: reconcile(None), lambda: measured_timeline("x")])
def test_bad_input_gets_a_sentence(wrong):
    with pytest.raises(CourseError, match="StepPlan"):
        wrong()


def test_also_must_be_a_watch():
    with pytest.raises(CourseError, match="Watch"):
        reconcile(CHAPTER, also=print)
