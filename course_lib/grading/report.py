"""Everything that a graded class leaves in its folder, written from one gradebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from ..files import write_whole
from .class_page import class_page
from .feedback_page import feedback_page
from .gradebook import Gradebook
from .manual import FILE as MANUAL
from .manual import merge_manual
from .owners import Collected
from .page import page_names
from .tables import canvas_csv, grades_csv, grades_json, moodle_csv

FEEDBACK: Final = "feedback"
Parameters = Mapping[str, Mapping[str, Mapping[str, Any]]]  # by owner, then exercise id


def write_report(
    folder: Path, book: Gradebook, collected: Collected, *, parameters: Parameters, solutions: bool
) -> Gradebook:
    """Write tables and pages; return the gradebook with the points that people gave.

    ``manual.csv`` of an earlier run is read first, so that a slip in it costs none of the older files.
    """
    manual = merge_manual(book, _before(folder / MANUAL))
    whole = replace(book, manual=manual.points)
    names = page_names(record.owner for record in whole.ordered)
    links = {owner: f"{FEEDBACK}/{name}" for owner, name in names.items()}
    files = {
        MANUAL: manual.csv(),
        "grades.csv": grades_csv(whole),
        "grades.json": grades_json(whole),
        "export-moodle.csv": moodle_csv(whole),
        "export-canvas.csv": canvas_csv(whole),
        "class.html": _class_page(whole, collected, links).encode(),
    }
    for name, content in files.items():
        write_whole(folder / name, content)
    for record in whole.ordered:
        own = parameters.get(record.owner, {})
        page = feedback_page(whole, record, solutions=solutions, parameters=own)
        write_whole(folder / FEEDBACK / names[record.owner], page.encode())
    _remove_old_pages(folder / FEEDBACK, set(names.values()))
    return whole


def _before(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise CourseError(
            f"{path.name} 读不出来", got=error.strerror, remedy="请关掉正打开它的程序，再运行一次"
        ) from None


def _class_page(book: Gradebook, collected: Collected, links: Mapping[str, str]) -> str:
    return class_page(
        book,
        unread=[(one.name, one.reason) for one in collected.problems],
        not_counted=list(_earlier(collected)),
        noticed=[(one.file, said) for one in collected.counted for said in one.warnings],
        links=links,
    )


def _earlier(collected: Collected) -> Iterator[tuple[str, str]]:
    for one in collected.superseded:
        yield one.file, f"{one.student} 有更晚的一份。"


def _remove_old_pages(folder: Path, names: Sequence[str] | set[str]) -> None:
    """A page of a student who is no longer there would be handed back by mistake."""
    for path in folder.glob("*.html"):
        if path.name not in names:
            path.unlink()
