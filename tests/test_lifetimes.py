"""Section 27.2, figure 27.1: what lives how long. Ticks counted by hand from the chapter's four layers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.activations import SavedActivations, workspace_row
from course_lib.errors import CourseError
from course_lib.ledger import Ledger, Lifetime, Row, model_state
from course_lib.lifetimes import Lane, Timeline, schedule, training_timeline
from course_lib.models import MODELS


def chapter_acts(arrays_per_layer=10, layers=4):
    return SavedActivations(
        sequences=2,
        positions=128,
        width=64,
        layers=layers,
        arrays_per_layer=arrays_per_layer,
        bytes_per_value=2,
    )


STATE = model_state(1_000_000)
STOPPED = training_timeline(
    state=STATE, acts=chapter_acts(), microbatches=2, updates=2, save_after=1, stop=True, per_array=True
)


def total_at(timeline, at):
    return sum(item.total_bytes for item in timeline.alive(at=at) if item.in_memory)


def test_peak_of_the_chapter():
    peak = training_timeline(state=STATE, acts=chapter_acts()).peak()
    assert peak.total_bytes == 17_310_720
    # The last layer's forward (tick 3) and its backward (tick 4) see all forty arrays.
    assert (peak.time, peak.until, peak.phase.label) == (3, 5, "前向")
    assert {item.name: item.total_bytes for item in peak.alive} == {
        "工作权重": 2_000_000,
        "梯度": 2_000_000,
        "主权重副本": 4_000_000,
        "一阶矩与二阶矩": 8_000_000,
        "已保存激活": 1_310_720,
    }


def test_memory_curve_of_one_update():
    curve = training_timeline(state=STATE, acts=chapter_acts()).curve()
    assert curve.times.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    step = 327_680
    expected = [16_000_000 + count * step for count in (1, 2, 3, 4, 3, 2, 1, 0)]
    assert curve.total_bytes.tolist() == [*expected, 0]
    assert curve.names == ("跨更新保留", "单步之内")
    assert curve.parts[0].tolist() == [16_000_000] * 8 + [0]


def test_forty_arrays_as_forty_objects():
    peak = STOPPED.peak()
    assert [item.objects for item in peak.alive if item.name == "已保存激活"] == [40]
    labels = [lane.label for lane in STOPPED.lanes]
    assert labels[:5] == ["工作权重", "梯度", "主权重副本", "一阶矩与二阶矩", "第 1 层第 1 个数组"]
    assert len(labels) == 4 + 40 + 1


def test_recompute_hands_over_sixteen_arrays():
    timeline = training_timeline(state=STATE, acts=chapter_acts(arrays_per_layer=4), per_array=True)
    peak = timeline.peak()
    assert [item.objects for item in peak.alive if item.name == "已保存激活"] == [16]
    assert peak.total_bytes == 16_524_288


def test_sharding_hands_over_a_smaller_ledger():
    rows = (
        Row("工作权重", 1_000_000, (2,), "整份", Lifetime.ACROSS_UPDATES),
        Row("梯度", 1_000_000, (2,), "整份", Lifetime.ACROSS_UPDATES),
        Row("主权重副本", 250_000, (4,), "四分之一", Lifetime.ACROSS_UPDATES),
        Row("一阶矩与二阶矩", 250_000, (4, 4), "四分之一", Lifetime.ACROSS_UPDATES),
    )
    timeline = training_timeline(state=Ledger(rows), acts=chapter_acts())
    assert timeline.peak().total_bytes == 8_310_720


def test_phases_with_a_save_a_stop_and_a_resume():
    phases = [(p.label, p.start, p.end, p.update, p.microbatch) for p in STOPPED.phases]
    assert phases == [
        ("前向", 0, 4, 1, 1),
        ("反向", 4, 8, 1, 1),
        ("前向", 8, 12, 1, 2),
        ("反向", 12, 16, 1, 2),
        ("更新", 16, 17, 1, None),
        ("保存", 17, 18, 1, None),
        ("停止", 18, 19, 1, None),
        ("恢复", 19, 20, 1, None),
        ("前向", 20, 24, 2, 1),
        ("反向", 24, 28, 2, 1),
        ("前向", 28, 32, 2, 2),
        ("反向", 32, 36, 2, 2),
        ("更新", 36, 37, 2, None),
    ]
    assert len(STOPPED.phases) == 13
    assert STOPPED.phases.at(18.5).label == "停止"


def test_while_stopped_only_the_file_exists():
    (left,) = STOPPED.alive(at=18)
    assert (left.name, left.in_memory, left.total_bytes) == ("恢复检查点文件", False, 14_000_000)
    assert left.lifetime is Lifetime.ACROSS_STOP
    assert STOPPED.alive(at=18.99) == (left,)
    assert total_at(STOPPED, 17) == total_at(STOPPED, 19) == 16_000_000


def test_the_file_is_whole_only_after_the_save_and_never_counted_as_memory():
    assert "恢复检查点文件" not in [item.name for item in STOPPED.alive(at=17.9)]
    assert STOPPED.curve().names == ("跨更新保留", "单步之内")
    files = STOPPED.curve(place="file", by="name")
    assert files.names == ("恢复检查点文件",)
    assert files.peaks() == {"恢复检查点文件": 14_000_000}


def test_gradients_last_from_boundary_to_boundary():
    grads = [
        index for index in range(len(STOPPED.starts)) if STOPPED.lanes[STOPPED.lane[index]].label == "梯度"
    ]
    stretches = [(int(STOPPED.starts[i]), int(STOPPED.ends[i])) for i in grads]
    # One for each update, and the zeroed one that the stop takes away.
    assert stretches == [(0, 17), (17, 18), (19, 37)]


def test_gradients_survive_all_microbatches_of_an_update():
    timeline = training_timeline(state=STATE, acts=chapter_acts(), microbatches=8, updates=2)
    lanes = [lane.label for lane in timeline.lanes]
    mine = timeline.lane == lanes.index("梯度")
    assert timeline.starts[mine].tolist() == [0, 65]
    assert timeline.ends[mine].tolist() == [65, 130]


def test_rows_within_a_step_come_and_go_with_each_microbatch():
    state = STATE.with_row(workspace_row(n_bytes=1000))
    timeline = training_timeline(state=state, acts=chapter_acts(), microbatches=2)
    assert timeline.peak().total_bytes == 17_311_720
    assert total_at(timeline, 16) == 16_000_000


def test_rows_across_a_stop_are_in_memory_and_in_the_file():
    state = STATE.with_row(Row("步数与游标", 4, (8,), "接着走", Lifetime.ACROSS_STOP))
    timeline = training_timeline(state=state, acts=chapter_acts(), updates=2, save_after=1, stop=True)
    assert timeline.peak().total_bytes == 17_310_752
    assert [item.total_bytes for item in timeline.alive(at=10)] == [14_000_032]


def test_save_without_a_stop_keeps_the_memory():
    timeline = training_timeline(state=STATE, acts=chapter_acts(), updates=2, save_after=1)
    assert timeline.curve().total_bytes[:-1].min() == 16_000_000
    last = training_timeline(state=STATE, acts=chapter_acts(), save_after=1)
    assert [phase.label for phase in last.phases] == ["前向", "反向", "更新", "保存"]


def test_published_layer_counts_can_be_drawn_too():
    acts = MODELS["gpt3-175b"].transformer(tensor_parallel=8)
    timeline = training_timeline(state=STATE, acts=acts)
    # 96 layers of 23 · 25,165,824 bytes
    assert timeline.peak().total_bytes == 16_000_000 + 55_566_139_392
    with pytest.raises(CourseError, match="不分数组"):
        training_timeline(state=STATE, acts=acts, per_array=True)


def test_zero_arrays_leave_the_state_alone():
    assert training_timeline(state=STATE, acts=chapter_acts(0)).peak().total_bytes == 16_000_000


def test_large_schedule():
    """128 layers × 512 microbatches: one object per layer and microbatch, and the four model states."""
    timeline = training_timeline(state=STATE, acts=chapter_acts(layers=128), microbatches=512)
    assert timeline.starts.size == 65_536 + 4
    assert timeline.peak().total_bytes == 16_000_000 + 128 * 327_680


def test_pipeline_of_64_stages_and_512_microbatches():
    """GPipe by hand: all forwards, then all backwards; every stage holds its 512 microbatches at once."""
    stage, microbatch = np.arange(64)[:, np.newaxis], np.arange(512)[np.newaxis]
    timeline = Timeline.from_arrays(
        starts=stage + microbatch,
        ends=1000 + (63 - stage) + microbatch,
        n_bytes=np.arange(1, 65),
        kinds=Lifetime.WITHIN_STEP,
        labels=[f"阶段 {number + 1}" for number in range(64)],
    )
    assert timeline.starts.size == 32_768
    peaks = timeline.curve(by="lane").peaks()
    assert (peaks["阶段 1"], peaks["阶段 64"]) == (512, 32_768)
    assert timeline.peak().total_bytes == 512 * 2080
    assert timeline.peak().phase is None


objects = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 10), st.integers(0, 100), st.sampled_from("甲乙丙")),
    min_size=1,
    max_size=30,
).filter(lambda items: any(length for _, length, _, _ in items))


@given(objects, st.sampled_from([1, 10**6, 0.5]))
def test_curve_equals_counting_by_hand(items, scale):
    """Independent oracle: at every whole tick, add what has started and not ended."""
    timeline = Timeline.from_arrays(
        starts=[start * scale for start, _, _, _ in items],
        ends=[(start + length) * scale for start, length, _, _ in items],
        n_bytes=[size for _, _, size, _ in items],
        kinds=Lifetime.WITHIN_STEP,
        labels=[name for _, _, _, name in items],
    )
    curve = timeline.curve(by="name")
    sums = []
    for time in curve.times.tolist():
        alive = [size for start, length, size, _ in items if start * scale <= time < (start + length) * scale]
        sums.append(sum(alive))
    assert curve.total_bytes.tolist() == sums
    assert timeline.peak().total_bytes == max(sums)
    assert curve.parts.sum(axis=0).tolist() == sums


def test_replacement_at_the_same_moment_makes_no_spike():
    timeline = Timeline.from_arrays(
        starts=[0, 5], ends=[5, 9], n_bytes=100, kinds=Lifetime.WITHIN_STEP, labels=["甲", "甲"]
    )
    assert timeline.peak().total_bytes == 100
    assert timeline.alive_indices(at=5).tolist() == [1]
    assert (timeline.start, timeline.end) == (0, 9)


def test_a_timeline_is_a_value():
    starts = np.array([0, 1])
    timeline = Timeline.from_arrays(
        starts=starts, ends=[2, 3], n_bytes=1, kinds=[Lifetime.WITHIN_STEP] * 2, labels=["甲", "乙"]
    )
    starts[0] = 7
    assert timeline.starts.tolist() == [0, 1]
    with pytest.raises(ValueError):
        timeline.starts[0] = 7


def test_bytes_beyond_int64_are_refused():
    many = {"starts": [0] * 600, "ends": [1] * 600, "kinds": Lifetime.WITHIN_STEP, "labels": ["甲"] * 600}
    assert Timeline.from_arrays(n_bytes=2**52, **many).peak().total_bytes == 600 * 2**52
    with pytest.raises(CourseError, match="n_bytes"):
        Timeline.from_arrays(n_bytes=2**53, **many)
    with pytest.raises(CourseError):
        training_timeline(state=model_state(10**20), acts=chapter_acts())


GOOD = {"starts": [0, 1], "ends": [2, 3], "n_bytes": 1, "kinds": Lifetime.WITHIN_STEP, "labels": ["甲", "乙"]}


class Hostile:
    """An object that fails whatever one does with it."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError

    def __len__(self):
        raise RuntimeError

    def __array__(self, *args, **kwargs):
        raise RuntimeError


@pytest.mark.parametrize(
    "change",
    [
        {"starts": [0]},
        {"starts": []},
        {"starts": 0},
        {"starts": [0, float("nan")]},
        {"ends": [2, float("inf")]},
        {"starts": [-1, 0]},
        {"starts": [True, 1]},
        {"starts": ["0", "1"]},
        {"starts": [[0], [1, 2]]},
        {"starts": None},
        {"starts": [5, 0]},
        {"starts": [2, 3]},
        {"starts": np.array([0, 1], dtype=complex)},
        {"ends": [2, 2**60]},
        {"n_bytes": 1.0},
        {"n_bytes": [1, -1]},
        {"n_bytes": [1, 2, 3]},
        {"n_bytes": True},
        {"n_bytes": "1"},
        {"n_bytes": 2**70},
        {"kinds": "单步之内"},
        {"kinds": [Lifetime.WITHIN_STEP]},
        {"kinds": [None, None]},
        {"labels": ["甲"]},
        {"labels": "甲乙"},
        {"labels": [1, 2]},
        {"labels": None},
        {"why": ""},
        *({name: Hostile()} for name in GOOD),
    ],
)
def test_bad_columns(change):
    with pytest.raises(CourseError, match=next(iter(change))):
        Timeline.from_arrays(**{**GOOD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"lanes": ()},
        {"lanes": ["甲"]},
        {"lane": [0, 5]},
        {"lane": [0]},
        {"starts": [[0, 1]]},
        {"phases": "前向"},
    ],
)
def test_bad_timelines(change):
    lane = Lane("甲", "甲", "试画", Lifetime.WITHIN_STEP)
    good = {"lanes": (lane,), "starts": [0, 1], "ends": [2, 3], "n_bytes": [1, 1], "lane": [0, 0]}
    with pytest.raises(CourseError, match=next(iter(change))):
        Timeline(**{**good, **change})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"microbatches": 0}, "microbatches"),
        ({"microbatches": 2.0}, "microbatches"),
        ({"microbatches": 10**30}, "微批次"),
        ({"updates": True}, "updates"),
        ({"updates": 5_000_000}, "更新"),
        ({"save_after": 2}, "save_after"),
        ({"save_after": 0}, "save_after"),
        ({"stop": True}, "stop"),
        ({"stop": 1}, "stop"),
        ({"per_array": None}, "per_array"),
        ({"acts": chapter_acts(10**6), "per_array": True}, "规模"),
        ({"acts": chapter_acts(layers=10**29)}, "层"),
        ({"acts": 40}, "acts"),
        ({"state": 16_000_000}, "state"),
        ({"state": STATE + chapter_acts().ledger()}, "state"),
        ({"state": Ledger(()), "acts": chapter_acts(0)}, "没有任何对象"),
    ],
)
def test_bad_training(change, named):
    with pytest.raises(CourseError, match=named):
        training_timeline(**{"state": STATE, "acts": chapter_acts(), **change})


@pytest.mark.parametrize("bad", [-1, 37, float("nan"), float("inf"), True, "3", None, 10**40])
def test_moments_outside_are_refused(bad):
    with pytest.raises(CourseError, match="at"):
        STOPPED.alive(at=bad)


def test_bad_groupings():
    for change in ({"by": "layer"}, {"by": None}, {"place": "disk"}):
        with pytest.raises(CourseError, match=next(iter(change))):
            STOPPED.curve(**change)


def test_a_curve_too_large_for_an_array_is_refused():
    timeline = training_timeline(state=STATE, acts=chapter_acts(layers=1000), microbatches=30)
    with pytest.raises(CourseError, match="组"):
        timeline.curve(by="lane")


def test_bad_schedules():
    with pytest.raises(CourseError, match="layers"):
        schedule(layers=0, microbatches=1, updates=1, save_after=None, stop=False)


def test_rows_of_the_backward_pass_come_on_top_of_the_saved_share():
    rebuilt = Ledger((Row("重算暂存", 98_304, (2,), "重建一层", Lifetime.WITHIN_STEP),))
    timeline = training_timeline(
        state=STATE, acts=chapter_acts(arrays_per_layer=4), microbatches=2, in_backward=rebuilt
    )
    # 16,000,000 + 524,288 + 196,608: first at tick 4, when the last layer's backward starts.
    assert (timeline.peak().total_bytes, timeline.peak().time) == (16_720_896, 4)
    assert "重算暂存" not in [item.name for item in timeline.alive(at=3)]
    assert "重算暂存" in [item.name for item in timeline.alive(at=7)]
