"""Every attack run for real, in one batch with honest work: it costs what the table says, and no one else."""

import contextlib
import time

import psutil
import pytest

from course_lib.exercises import BOOK
from course_lib.grading.batch import Batch, local_pool
from course_lib.grading.jobs import Job, Limits
from course_lib.grading.owners import collect
from course_lib.grading.records import BUBBLEWRAP
from course_lib.grading.store import Store
from course_lib.grading.work import grade

from .hostile import BY_NAME, CASES, folder_files, listening, marks_left
from .submissions import IDS, RIGHT, short_notebook, write_folder
from .test_grading_work import isolations

# Short, so that the many endless loops cost little; an attack that ends by itself needs no more.
LIMITS = Limits(cell_seconds=10, wall_seconds=150, memory_bytes=1_300_000_000)


def verdicts(record):
    return {mark.id: mark.verdict.value for mark in record.exercises}


def running():
    """Processes of boxes and kernels, but for those of the tests beside this one."""
    here = psutil.Process()
    others = {other.pid for other in here.parent().children()} - {here.pid}
    found = {}
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.NoSuchProcess):
            command = " ".join(process.info["cmdline"] or ())
            if "grader_box" in command and others.isdisjoint(above.pid for above in process.parents()):
                found[process.pid] = command
    return found


def left_running(before):
    """What was not running before; what is being killed may take a moment."""
    for _ in range(50):
        left = [command for pid, command in running().items() if pid not in before]
        if not left:
            break
        time.sleep(0.1)
    return left


def graded(folder, isolation, store):
    """Grade a folder as the command does; return verdicts by file, also of what could not be opened."""
    collected = collect(folder, exercises=BOOK)
    jobs = [
        Job(one.student, one.file, one.read(), isolation, limits=LIMITS)
        for one in collected.counted
        if not one.problem
    ]
    batch = Batch(lambda: local_pool(2), 2, Store(store))
    found = {}
    for result in batch.run(jobs):
        assert not result.failed, result.record.problem
        found[result.record.file] = verdicts(result.record)
    refused = [one.file for one in collected.counted if one.problem]
    refused += [one.name for one in collected.problems]
    return found | {name: dict.fromkeys(IDS, "invalid") for name in refused}


@pytest.mark.slow
@pytest.mark.parametrize("isolation", isolations())
def test_each_attack_costs_what_the_table_says_and_nobody_else_anything(isolation, tmp_path):
    cases = [case for case in CASES if isolation == BUBBLEWRAP or not case.walls]
    files = folder_files(tuple(cases))
    files |= {f"honest-{number}.ipynb": short_notebook(RIGHT) for number in range(10)}
    before = running()
    with listening() as visits:
        found = graded(write_folder(tmp_path / "作业", files), isolation, tmp_path / "out")
    expected = {case.file: dict(case.verdicts) for case in (*cases, BY_NAME["honest"])}
    expected |= {f"honest-{number}.ipynb": dict.fromkeys(IDS, "pass") for number in range(10)}
    wrong = {name: (found.get(name), due) for name, due in expected.items() if found.get(name) != due}
    assert not wrong
    assert (visits, marks_left(), left_running(before)) == ([], [], [])


def test_a_few_attacks_in_the_default_run():
    """The whole suite takes minutes; these show that a comparison inside the kernel decides nothing."""
    for name in ("numpy", "showtraceback", "killed-parent"):
        case = BY_NAME[name]
        if case.walls and isolations()[0] != BUBBLEWRAP:
            continue
        record = grade(Job("1", case.file, case.content(), isolations()[0], limits=LIMITS))
        assert verdicts(record) == dict(case.verdicts), name
