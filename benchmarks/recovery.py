"""Measure recovery: ``python -m benchmarks.recovery``.

Seconds for fifty kills with each way to save, milliseconds for one save and one load. It measures one machine
and is never a test.
"""

from __future__ import annotations

import tempfile
import time

from course_lib.recovery import SMALL, advance, begin, compare, kill_and_resume, load, save

KILLS = 50
RUNS = 20


def main() -> None:
    """Print the report."""
    for naive in (False, True):
        start = time.perf_counter()
        trial = kill_and_resume(KILLS, naive=naive)
        print(f"{'naive' if naive else 'whole'}: {trial}, {time.perf_counter() - start:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        run, start = begin(SMALL), time.perf_counter()
        for _ in range(RUNS):
            run = advance(run)
            save(run, folder)
        saved = time.perf_counter()
        for _ in range(RUNS):
            load(folder, setup=SMALL)
        loaded = time.perf_counter()
    print(
        f"round and save {(saved - start) / RUNS * 1000:.1f} ms, load {(loaded - saved) / RUNS * 1000:.1f} ms"
    )
    start = time.perf_counter()
    compare(saved_after=20)
    print(f"first comparison {(time.perf_counter() - start) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
