"""The hostile suite as data: what a submission tries, and the verdict that this must cost it.

``CASES`` stand in the teachers' page as well: ``what`` is one Chinese line for it. Every attack sits in one
exercise; the others are answered honestly and right, so that the verdicts show what the attack costs and
nothing else. Where an attack is after points, the attacked exercise is answered wrong, or gets its right
answers only if the attack succeeds. ``walls`` marks what only the sandbox promises: such cases are never run
outside it, and those that could hurt the machine look at their process namespace first (``case.INSIDE``).

Besides verdicts the suite promises: no file of ``MARK`` outside (``marks_left``), no connection at
``listening``, no process left.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.hostile import files, forgery, greed, honest, stopping, theft
from tests.hostile.case import ABSTRACT, MARK, PORT, SECRET, Case, Content
from tests.submissions import IDS

__all__ = [
    "BY_NAME", "CASES", "MARK", "PORT", "SECRET", "Case", "folder_files", "listening", "marks_left", "table",
]  # fmt: skip

CASES: Final = (
    *honest.CASES, *stopping.CASES, *greed.CASES, *forgery.CASES, *theft.CASES, *files.CASES,
)  # fmt: skip
BY_NAME: Final[Mapping[str, Case]] = MappingProxyType({case.name: case for case in CASES})


def folder_files(cases: tuple[Case, ...] = CASES) -> dict[str, Content]:
    """Return what ``write_folder`` needs for these cases; the honest one is always among them."""
    return {case.file: case.content() for case in (BY_NAME["honest"], *cases)}


def marks_left() -> list[Path]:
    """Return files that an attack left on this machine, where attacks try to leave them."""
    places = [
        "/", "/root", "/home", "/var", "/var/tmp", "/opt", "/run", "/usr", "/usr/local/bin", "/etc",
        "/dev/shm", tempfile.gettempdir(), sys.prefix, Path.home(), Path.cwd(),
    ]  # fmt: skip
    return [path for place in map(Path, places) for path in place.glob(f"*{MARK}*")]


@contextmanager
def listening() -> Iterator[list[str]]:
    """Listen where attacks try to connect, and yield the list of those that did."""
    visits: list[str] = []
    lines = [socket.create_server(("127.0.0.1", PORT))]
    if sys.platform == "linux":
        line = socket.socket(socket.AF_UNIX)
        line.bind(ABSTRACT)
        line.listen()
        lines.append(line)

    def wait(line: socket.socket) -> None:
        with suppress(OSError):
            while True:
                line.accept()[0].close()
                visits.append(str(line.family))

    threads = [threading.Thread(target=wait, args=(line,), daemon=True) for line in lines]
    for thread in threads:
        thread.start()
    try:
        yield visits
    finally:
        for line in lines:
            with suppress(OSError):  # closing alone does not end an accept
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        for thread in threads:  # until then the address is taken
            thread.join()


def table() -> str:
    """Return the table case → verdict for the teachers' page, in Markdown."""
    rows = ["| 试什么 | 结果 |", "| --- | --- |"]
    for case in CASES:
        costs = {id: verdict for id, verdict in case.verdicts.items() if verdict != "pass"}
        rows.append(f"| {case.what} | {_said(costs)} |")
    return "\n".join(rows)


def _said(costs: Mapping[str, str]) -> str:
    """Write verdicts short: 第 1 题 `timeout`，第 2 到 6 题 `after-timeout`."""
    if not costs:
        return "全部照常得分"
    groups: list[tuple[str, list[str]]] = []
    for id, verdict in costs.items():
        if groups and groups[-1][0] == verdict and int(groups[-1][1][-1]) + 1 == int(id):
            groups[-1][1].append(id)
        else:
            groups.append((verdict, [id]))
    if len(groups) == 1 and len(costs) == len(IDS):
        return f"六题都是 `{groups[0][0]}`"
    return "，".join(
        f"第 {' 到 '.join(dict.fromkeys((ids[0], ids[-1])))} 题 `{verdict}`" for verdict, ids in groups
    )
