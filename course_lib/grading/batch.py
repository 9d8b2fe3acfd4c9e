"""Many submissions: through any ``concurrent.futures`` executor, few at a time, in the order they end."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final

from ..errors import short_repr
from ..exercises import Verdict
from .jobs import Job
from .records import Record
from .store import Store
from .work import grade, nothing_heard

_IN_FLIGHT: Final = 2  # for each process: one that is graded, one that waits; only these hold their bytes


@dataclass(frozen=True, slots=True)
class Graded:
    """A record and how it came: ``is_new`` or found in the store; ``failed`` if grading itself broke."""

    record: Record
    is_new: bool = False
    failed: bool = False


@dataclass(slots=True)
class Batch:
    """Grades jobs with executors that ``start`` makes; ``processes`` is how many of them work at once."""

    start: Callable[[], Executor]
    processes: int
    store: Store
    _running: dict[Future[Record], Job] = field(default_factory=dict)

    def run(self, jobs: Iterable[Job]) -> Iterator[Graded]:
        """Yield one result for each job, as they end; new records are kept at once."""
        left = iter(jobs)
        pool = self.start()
        try:
            for job in left:
                if (known := self.store.find(job)) is not None:
                    yield Graded(known)
                    continue
                self._running[pool.submit(grade, job)] = job
                if len(self._running) >= _IN_FLIGHT * self.processes:
                    pool, done = self._some(pool)
                    yield from done
            while self._running:
                pool, done = self._some(pool)
                yield from done
        except BaseException:
            stop_at_once(pool)
            raise
        pool.shutdown()

    def _some(self, pool: Executor) -> tuple[Executor, list[Graded]]:
        """Wait for the next results; what failed is tried once more, alone, in a pool of its own."""
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        results, broken = [], []
        for future in done:
            job = self._running.pop(future)
            error = future.exception()
            if error is None:
                results.append(self._kept(job, future.result()))
            else:
                broken.append((job, error))
        if any(isinstance(error, BrokenExecutor) for _, error in broken):
            broken += [(job, BrokenExecutor()) for job in self._running.values()]
            self._running.clear()
            pool = self.start()
        results += [self._again(job) for job, _ in broken]
        return pool, results

    def _kept(self, job: Job, record: Record) -> Graded:
        self.store.keep(job, record)
        return Graded(record, is_new=True)

    def _again(self, job: Job) -> Graded:
        try:
            with self.start() as alone:
                return self._kept(job, alone.submit(grade, job).result())
        except Exception as error:  # ours; the others' marks must not hang on it
            said = f"批改程序没能处理这份答卷：{type(error).__name__}：{short_repr(str(error))}"
            marks = tuple(nothing_heard(exercise, Verdict.INVALID) for exercise in job.exercises())
            return Graded(Record(job.student, job.file, job.isolation, marks, problem=said), failed=True)


def prepare() -> None:
    """Begin to load what pools of this machine need, while the caller does something else."""
    if sys.platform != "win32":
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload([f"{__package__}.judging"])
        forkserver.ensure_running()


def local_pool(processes: int, folder: str | None = None) -> Executor:
    """Return processes of this machine, forked from one without threads that has imported everything.

    ``folder`` is for all their temporary files, so that whoever made it can remove them, come what may.
    """
    prepare()
    context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(folder,))


def _begin(folder: str | None) -> None:
    """Leave interrupts to the parent, which then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if folder:
        tempfile.tempdir = folder


def stop_at_once(pool: Executor) -> None:
    """End a pool whose work is no longer wanted; kernels end with the processes that started them."""
    pool.shutdown(wait=False, cancel_futures=True)
    for child in multiprocessing.active_children():
        child.kill()
