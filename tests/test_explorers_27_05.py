"""The explorers of 27.5 and 27.10 begin with the figures that are printed; big pipelines are painted."""

from fractions import Fraction

import numpy as np
import pytest

from course_lib.ledger import ACTIVATIONS
from course_lib.parallel import pipeline_schedule
from course_lib.show.explorers import (
    section_27_05_pipeline,
    section_27_05_shares,
    section_27_05_split,
    section_27_05_takeover,
    section_27_05_time,
    section_27_10,
)


def words(table):
    return dict(row[:2] for row in table.rows)


def test_shares_begin_with_example_27_3():
    rows = section_27_05_shares.shares().table.rows
    assert [row[1] for row in rows] == [16_000_000, 7_000_000, 5_500_000, 4_000_000]
    assert rows[1][2] == 8_310_720
    assert [row[4] for row in rows] == ["放不下", "放得下", "放得下", "放得下"]


def test_shares_with_one_worker_gather_nothing():
    explorer = section_27_05_shares.shares()
    explorer.set(workers=1)
    assert {ledger.total_bytes for ledger in explorer.result} == {17_310_720}
    assert [row.name for row in explorer.result[3]][-1] == ACTIVATIONS


def test_a_step_takes_12_ms_and_fully_overlapped_10():
    explorer = section_27_05_time.step_time()
    assert words(explorer.table)["这一步"] == "12 毫秒"
    explorer.set(overlap=1)
    assert words(explorer.table)["这一步"] == "10 毫秒"


@pytest.mark.parametrize(
    ("compute_ms", "overlap", "expected"),
    [
        (2, 0, [(0, 2, "只在计算"), (2, 12, "只在传输")]),
        (2, 1, [(0, 2, "两者同时"), (2, 10, "只在传输")]),
        (20, Fraction(1, 2), [(0, 15, "只在计算"), (15, 20, "两者同时"), (20, 25, "只在传输")]),
        (20, 1, [(0, 10, "只在计算"), (10, 20, "两者同时")]),
    ],
)
def test_a_step_is_drawn_without_gap_or_overlap(compute_ms, overlap, expected):
    explorer = section_27_05_time.step_time()
    explorer.set(compute_ms=compute_ms, overlap=overlap)
    spans = section_27_05_time._spans(explorer.result)
    assert [(round(s.start, 9), round(s.end, 9), s.kind) for s in spans if s.lane == 2] == expected


def test_a_step_of_nothing_is_said_so():
    explorer = section_27_05_time.step_time()
    explorer.set(compute_ms=0, n_bytes=0)
    assert not explorer.errors
    assert "不花时间" in explorer.text


def test_four_boxes_are_not_four_times():
    explorer = section_27_05_pipeline.pipeline()
    assert "2.91 倍，不是 4 倍" in explorer.text
    assert words(explorer.table)["气泡 ÷ 理想时间"].startswith("3/8")
    assert words(explorer.table)["气泡 ÷ 总时间"].startswith("3/11")


@pytest.mark.parametrize(("kind", "chunks"), [("gpipe", 1), ("1f1b", 1), ("interleaved", 2)])
def test_work_and_gaps_fill_every_lane_once(kind, chunks):
    schedule = pipeline_schedule(kind, stages=4, microbatches=8, chunks=chunks)
    lane, start, end, *_ = section_27_05_pipeline._stretches(schedule)
    gaps = section_27_05_pipeline._gaps(schedule)
    for stage in range(4):
        pieces = [*zip(start[lane == stage], end[lane == stage], strict=True)]
        pieces += [(b, e) for where, b, e in zip(*gaps, strict=True) if where == stage]
        ends = np.array(sorted(pieces))
        assert ends[0, 0] == 0
        assert ends[-1, 1] == float(schedule.total_seconds)
        assert (ends[1:, 0] == ends[:-1, 1]).all()


def test_interleaving_asks_for_whole_groups_at_its_control():
    explorer = section_27_05_pipeline.pipeline()
    explorer.set(plan="interleaved-2", microbatches=6)
    assert "整数倍" in explorer.knobs["microbatches"].error.value


def test_columns_are_joined_and_rows_are_added():
    explorer = section_27_05_split.matrix_split()
    by_columns = explorer.result
    explorer.set(how="split_rows")
    assert by_columns.whole == explorer.result.whole == [[10, -2, 6, 4], [14, 0, 11, 7], [-2, 6, 4, 2]]
    assert (by_columns.crossing, explorer.result.crossing) == (6, 12)


def test_transfer_takes_over_at_27_workers():
    assert section_27_05_takeover.takeover().result.takeover == 27


def test_layer_activations_begin_with_the_printed_counts():
    units = [layer.units_per_layer for layer in section_27_10.layer_activations().result]
    assert units == [114, 23, Fraction(57, 4), 13, Fraction(17, 4), 2]
