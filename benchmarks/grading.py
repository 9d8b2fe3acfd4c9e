"""Measure grading beside other graders: ``python -m benchmarks.grading``.

The six questions of 27.8, thirty honest submissions, every third with one answer wrong; one machine, one run.
Printed are submissions per minute, how often ours goes into theirs, and whether every mark was right: a
grader whose marks are wrong has no speed. ``--peers FOLDER`` keeps the environments of the peers for another
run, else they are thrown away; ``--only NAME ...`` measures some. Last the floor, and the peak memory of a
small and a large class. It measures one machine and is never a test.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import peers
from benchmarks.peers import IDS, POINTS, PeerError, Points, Students
from course_lib.grading.jobs import Limits
from course_lib.grading.kernels import GradedKernel
from course_lib.grading.records import BUBBLEWRAP
from tests.submissions import CHAPTER, RIGHT, WRONG, whole_notebook, write_folder

SUBMISSIONS = 30
CORES = os.cpu_count() or 1

# Name, packages for pip, function. The versions are those whose marks were looked at.
NBGRADER = ("nbgrader==0.9.6", "numpy", "ipykernel")
OTTER = ("otter-grader>=7,<8", "numpy", "ipykernel")
NBVAL = ("nbval>=0.11,<0.12", "pytest-xdist", "numpy", "ipykernel")
PEERS: dict[str, tuple[tuple[str, ...], Callable[..., tuple[float, Points]]]] = {
    "nbgrader autograde": (NBGRADER, peers.nbgrader),
    "otter run": (OTTER, peers.otter),
    f"otter run, {CORES} at once": (OTTER, partial(peers.otter, at_once=CORES)),
    "pytest --nbval-lax": (NBVAL, peers.nbval),
    f"pytest --nbval-lax -n {CORES}": (NBVAL, partial(peers.nbval, at_once=CORES)),
}


def students() -> Students:
    """Return the answers of every student."""
    found = {}
    for number in range(SUBMISSIONS):
        slip = IDS[number // 3 % len(IDS)]
        found[f"s{number:03d}"] = {**RIGHT, slip: WRONG[slip]} if number % 3 == 2 else dict(RIGHT)
    return found


def due(answers: Students) -> Points:
    """Return the points that everyone must get."""
    return {
        student: {id: POINTS[id] if text == RIGHT[id] else 0 for id, text in each.items()}
        for student, each in answers.items()
    }


def ours(folder: Path, answers: Students, *, jobs: int) -> tuple[float, Points]:
    """Grade copies of notebook 27.8 with ``python -m course_lib grade``, sandbox on, start included."""
    files = {f"{student}.ipynb": whole_notebook(each) for student, each in answers.items()}
    submissions, out = write_folder(folder / "submissions", files), folder / "out"
    words = [sys.executable, "-m", "course_lib", "grade", submissions, "--out", out, "--jobs", str(jobs)]
    begin = time.perf_counter()
    done = subprocess.run(words, cwd=CHAPTER.parents[1], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode:
        raise PeerError(f"grade: {(done.stderr.strip().splitlines() or ['no words'])[-1][:200]}")
    records = json.loads((out / "grades.json").read_text(encoding="utf-8"))
    return seconds, {
        Path(record["file"]).stem: {each["id"]: float(each["points"]) for each in record["exercises"]}
        for record in records
    }


def floor() -> float:
    """Return the seconds from a bare warm fork to its first reply, the median of twenty."""
    times = []
    for _ in range(21):
        begin = time.perf_counter()
        kernel = GradedKernel(BUBBLEWRAP, Limits())
        times.append(time.perf_counter() - begin)
        kernel.stop()
    return statistics.median(times[1:])  # the first also starts the warm process


def memory() -> None:
    """Print the peak memory of the grader for a small and for a large class."""
    for count in (30, 300):
        with tempfile.TemporaryDirectory() as name:
            content = whole_notebook(RIGHT)
            files = {f"{number}.ipynb": content + b" " * number for number in range(count)}
            folder = write_folder(Path(name, "submissions"), files)
            words = [sys.executable, "-c", _PEAK, "grade", str(folder), "--out", str(Path(name, "out"))]
            done = subprocess.run(words, cwd=CHAPTER.parents[1], capture_output=True, text=True)
            own, child = (int(word) >> 10 for word in done.stderr.split()[-2:])
            print(f"{count:4} submissions: grader {own} MiB, its largest process {child} MiB")


_PEAK = """
import resource, sys
from course_lib.app.cli import main
main(sys.argv[1:])
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    print(resource.getrusage(who).ru_maxrss, file=sys.stderr)
"""


def measure(name: str, grade: Callable[[], tuple[float, Points]], wanted: Points) -> float | None:
    """Run one grader, print its line, and return its submissions per minute."""
    try:
        seconds, points = grade()
    except PeerError as error:
        print(f"{name:28} not measured: {error}", flush=True)
        return None
    wrong = sum(points.get(student) != each for student, each in wanted.items())
    rate = 60 * len(wanted) / seconds
    marks = f"{wrong} of {len(wanted)} marks WRONG" if wrong else "all marks right"
    load = os.getloadavg()[0]
    print(f"{name:28}{rate:8.1f} a minute {seconds:8.1f} s   {marks}, load {load:.1f}", flush=True)
    return None if wrong else rate


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Measure grading beside other graders.")
    parser.add_argument("--peers", type=Path, help="folder that keeps the environments of the peers")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of the names to measure")
    options = parser.parse_args()
    answers = students()
    wanted, rates = due(answers), {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        homes = options.peers or scratch / "environments"
        for jobs in dict.fromkeys((1, CORES)):
            folder = scratch / f"ours-{jobs}"
            rates[f"ours, --jobs {jobs}"] = measure(
                f"ours, --jobs {jobs}", partial(ours, folder, answers, jobs=jobs), wanted
            )
        for number, (peer, (packages, grade)) in enumerate(PEERS.items()):
            if options.only and not peer.startswith(tuple(options.only)):
                continue
            folder = scratch / f"peer-{number}"
            folder.mkdir()

            def whole(packages=packages, grade=grade, folder=folder) -> tuple[float, Points]:
                home = homes / packages[0].partition("=")[0].partition(">")[0]
                return grade(folder, answers, peers.environment(home, packages))

            rates[peer] = measure(peer, whole, wanted)
    report(rates)
    memory()


def report(rates: dict[str, float | None]) -> None:
    """Print how many times faster ours is, one job and all cores, and the floor."""
    print(f"\n{'times as fast as':28}" + "".join(f"{name:>18}" for name in rates if name.startswith("ours")))
    for peer, rate in rates.items():
        if peer.startswith("ours") or not rate:
            continue
        own = [rates[name] for name in rates if name.startswith("ours")]
        print(f"{peer:28}" + "".join(f"{mine / rate:18.1f}" if mine else f"{'-':>18}" for mine in own))
    seconds = floor()
    print(f"floor, warm fork to first reply: {1000 * seconds:.0f} ms")


if __name__ == "__main__":
    main()
