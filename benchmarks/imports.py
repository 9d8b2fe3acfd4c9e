"""Measure how long each number module takes to import: ``python benchmarks/imports.py``.

Each import runs in a fresh process; the median beyond a bare Python is printed in milliseconds. It measures
one machine and is never a test.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
NOT_NUMBERS = {"app", "show", "exercises", "grading"}


def median_ms(code: str) -> float:
    """Return the median wall time of a process that runs ``code``, in milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    """Print one line per module, slowest first."""
    bare = median_ms("pass")
    names = {path.stem for path in (ROOT / "course_lib").iterdir() if not path.name.startswith(("_", "."))}
    cost = {name: median_ms(f"import course_lib.{name}") - bare for name in sorted(names - NOT_NUMBERS)}
    print(f"bare Python {bare:.0f} ms; beyond it, median of {RUNS}:")
    for name, milliseconds in sorted(cost.items(), key=lambda item: -item[1]):
        print(f"{milliseconds:8.1f} ms  course_lib.{name}")


if __name__ == "__main__":
    main()
