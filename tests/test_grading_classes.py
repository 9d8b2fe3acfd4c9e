"""A class whose marks are known, and a class on a cluster."""

import sys
from functools import partial
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.batch import Batch, local_pool
from course_lib.grading.cluster import cluster
from course_lib.grading.jobs import Job
from course_lib.grading.store import Store

from .classes import hand_in
from .test_grading_work import isolations

ROOT = Path(__file__).resolve().parents[1]


def marks(record):
    return {mark.id: mark.points for mark in record.exercises}


def differing(handed, results):
    """Return what came otherwise than it is known to be."""
    due = {each.file: dict(each.points) for each in handed}
    got = {result.record.file: marks(result.record) for result in results}
    assert len(got) == len(due)
    return {file: (got[file], due[file]) for file in due if got[file] != due[file]}


def jobs(handed, isolation):
    for each in handed:
        yield Job(each.file, each.file, each.content, isolation)


@pytest.mark.slow
def test_a_thousand_known_marks_are_met(tmp_path):
    """Half right, each misconception, blank, nonsense and mixed, in the many forms that people write."""
    handed = list(hand_in(1_000))
    batch = Batch(partial(local_pool, 2), 2, Store(tmp_path))
    assert differing(handed, batch.run(jobs(handed, isolations()[0]))) == {}


def test_twelve_known_marks_are_met(tmp_path):
    handed = list(hand_in(12, seed=5))
    batch = Batch(partial(local_pool, 2), 2, Store(tmp_path))
    assert differing(handed, batch.run(jobs(handed, isolations()[0]))) == {}


@pytest.mark.slow
def test_a_cluster_of_two_workers_gives_the_same_marks(tmp_path, monkeypatch):
    """Real processes on loopback; two equal submissions are both graded."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    handed = list(hand_in(20, seed=3))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, processes=True
        ) as local,
        cluster(local.scheduler_address) as start,
    ):
        batch = Batch(start, 2, Store(tmp_path))
        results = list(batch.run(jobs(handed, isolations()[0])))
    assert all(result.is_new and not result.failed for result in results)
    assert differing(handed, results) == {}


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_gets_a_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(CourseError, match="连不上"), cluster("tcp://127.0.0.1:9"):
        pass


def test_without_dask_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CourseError, match="pip install distributed"), cluster("tcp://127.0.0.1:1"):
        pass
