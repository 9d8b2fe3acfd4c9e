"""Grade a class: ``python -m course_lib grade SUBMISSIONS --out DIR``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ..errors import CourseError
from ..exercises import BOOK, Exercise, Verdict
from ..exercises.own import exercises_in
from ..grading.batch import Batch, Graded, local_pool, prepare
from ..grading.class_list import read_class_list
from ..grading.cluster import cluster
from ..grading.gradebook import Gradebook
from ..grading.jobs import Job
from ..grading.owners import Collected, collect
from ..grading.records import BUBBLEWRAP, PROCESS, Record
from ..grading.report import write_report
from ..grading.sandbox.probe import require_sandbox
from ..grading.store import Store
from ..grading.work import nothing_heard
from .places import use_own_places
from .release import read_secret, read_source, secret_warning

_BAR: Final = 30
_MODES: Final = {"sandbox": BUBBLEWRAP, "process": PROCESS}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``grade SUBMISSIONS --out DIR`` and its options."""
    parser = commands.add_parser("grade", help="批改一个班交来的笔记本")
    parser.add_argument("submissions", type=Path, metavar="作业", help="文件夹，或教学平台导出的 zip")
    parser.add_argument("--out", type=Path, required=True, metavar="文件夹", help="结果写到哪里")
    parser.add_argument("--students", type=Path, metavar="名单", help="csv：学号，姓名")
    parser.add_argument("--secret-file", type=Path, metavar="文件", help="发放个人题设时用的密钥")
    parser.add_argument("--exercises", type=Path, metavar="文件", help="教师自己的习题，一个 Python 文件")
    parser.add_argument("--isolation", choices=tuple(_MODES), default="sandbox", help="process 没有墙")
    parser.add_argument("--jobs", type=int, default=cpu_count() or 1, metavar="N", help="同时批改几份")
    parser.add_argument("--scheduler", metavar="地址", help="交给一个 Dask 集群，例如 tcp://主机:8786")
    parser.add_argument("--solutions", action="store_true", help="反馈页里附上解答")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Grade, write the results, say where they are; 0 when every submission has a record."""
    use_own_places()
    signal.signal(signal.SIGTERM, _interrupt)
    if options.jobs < 1:
        raise CourseError("--jobs 必须是正整数", got=options.jobs, remedy="请给 1 或更大的整数")
    if options.out.exists() and not options.out.is_dir():
        raise CourseError("--out 是一个文件", got=str(options.out), remedy="请给一个文件夹，不在就会新建")
    if _MODES[options.isolation] == BUBBLEWRAP and not options.scheduler:
        require_sandbox()
    if not options.scheduler:
        prepare()
    orders = _Orders.of(options)
    students = read_class_list(options.students) if options.students else None
    secret = _secret(options.secret_file) if options.secret_file else None
    collected = collect(
        options.submissions, students=students, secret=secret, exercises=orders.exercises, out=options.out
    )
    try:
        with _pools(options) as start:
            batch = Batch(start, options.jobs, Store(options.out))
            results = _with_progress(batch.run(orders.jobs(collected)), len(collected.counted))
    except KeyboardInterrupt:
        print("已中断。批改好的都留着，再运行同一条命令会接着做。", file=sys.stderr)
        return 130
    records = (*(result.record for result in results), *orders.unread(collected))
    names = {student.id: student.name for student in students or ()}
    book = write_report(
        options.out, Gradebook(orders.exercises, records, names), collected,
        parameters={one.student: one.parameters for one in collected.counted}, solutions=options.solutions,
    )  # fmt: skip
    _say(book, results, options.out)
    return 1 if any(result.failed for result in results) else 0


def _interrupt(number: int, frame: object) -> None:
    """End as Ctrl-C does: no process and no file is left."""
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class _Orders:
    """What holds for every submission."""

    isolation: str
    exercises: tuple[Exercise, ...]
    own_source: str = ""
    own_name: str = ""

    @classmethod
    def of(cls, options: argparse.Namespace) -> _Orders:
        isolation = _MODES[options.isolation]
        if options.exercises is None:
            return cls(isolation, BOOK)
        source, name = read_source(options.exercises), options.exercises.name
        return cls(isolation, (*BOOK, *exercises_in(source, name)), source, name)

    def jobs(self, collected: Collected) -> Iterator[Job]:
        """Yield what is to be graded; bytes are read as each is asked for."""
        for one in collected.counted:
            if not one.problem:
                yield Job(
                    one.student,
                    one.file,
                    one.read(),
                    self.isolation,
                    one.parameters,
                    self.own_source,
                    self.own_name,
                )

    def unread(self, collected: Collected) -> Iterator[Record]:
        """Yield records of what could not be opened or fits nobody: nothing is dropped."""
        marks = tuple(nothing_heard(exercise, Verdict.INVALID) for exercise in self.exercises)
        for one in collected.counted:
            if one.problem:
                yield Record(one.student, one.file, self.isolation, marks, problem=one.problem)
        for stray in collected.unmatched:
            yield Record("", stray.name, self.isolation, marks, problem=stray.reason)


def _secret(path: Path) -> bytes:
    secret = read_secret(path, make=False)
    if said := secret_warning(path):
        print(said, file=sys.stderr)
    return secret


@contextmanager
def _pools(options: argparse.Namespace) -> Iterator[Callable[[], Executor]]:
    if options.scheduler is None:
        with TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True) as folder:
            yield partial(local_pool, options.jobs, folder)
        return
    with cluster(options.scheduler) as start:
        yield start


def _with_progress(results: Iterator[Graded], total: int) -> list[Graded]:
    """Take all results, with a bar where a person watches."""
    watched, kept = sys.stderr.isatty(), []
    for done, result in enumerate(results, start=1):
        kept.append(result)
        if watched:
            filled = done * _BAR // max(total, done)
            bar = "█" * filled + "░" * (_BAR - filled)
            print(f"\r批改 {bar} {done} / {total}", end="", file=sys.stderr, flush=True)
    if watched and kept:
        print(file=sys.stderr)
    return kept


def _say(book: Gradebook, results: list[Graded], out: Path) -> None:
    new = sum(result.is_new for result in results)
    known = sum(not result.is_new and not result.failed for result in results)
    again = f"，{known} 份没有变，用上次的结果" if known else ""
    print(f"收到 {len(book.records)} 份作业，批改了 {new} 份{again}；满分 {book.max_points} 分。")
    if book.names and not any(record.student for record in book.records):
        print("注意：没有一份作业对得上名单，请检查 --students 给的是不是这个班的名单。")
    for record in book.ordered:
        if record.problem:
            print(f"  {record.student or '（不知是谁的）'}　{record.file}：{record.problem}")
    walls = {record.sandbox for record in book.records}
    if PROCESS in walls:
        print("注意：用的是 process 模式，学生的代码没有墙挡着。")
    print(f"结果在 {out}：grades.csv、class.html、feedback/ 等。")
