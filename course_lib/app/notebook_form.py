"""The one written form of a stored notebook: the same run gives the same bytes.

A stored notebook is *normal* when ``normalise`` changes nothing in it: cell ids of its section, keys sorted,
executions counted from 1, no timings, no widget ids, no metadata beyond the lists below. ``faults`` says in
Chinese what else keeps a notebook from being given to readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from .slides import slide_types

MAX_BYTES: Final = 1_000_000

Cell = dict[str, Any]

_KERNELSPEC: Final = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_LANGUAGE: Final = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
_CELL_METADATA: Final = ("course", "deletable", "editable", "jupyter", "nbgrader", "slideshow", "tags")
_OUTPUT_METADATA: Final = ("image/png",)
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{8,}")


def id_prefix(stem: str) -> str:
    """Return what the cell ids of a notebook begin with: its section, or the first word of its file name.

    >>> id_prefix("27.01-what-is-missing"), id_prefix("00-start")
    ('27-01', '00')
    """
    return re.sub(r"[^0-9A-Za-z]+", "-", stem.split("-")[0]).strip("-") or "cell"


def normalise(notebook: dict[str, Any], *, stem: str) -> str:
    """Return the one stored text of a notebook (nbformat 4, as plain dicts) whose file name is ``stem``."""
    import nbformat
    from nbformat.v4.rwbase import split_lines

    lines = split_lines(nbformat.from_dict(notebook))  # type: ignore[no-untyped-call]
    cells = [_plain_cell(cell) for cell in lines["cells"]]
    _name_cells(cells, id_prefix(stem))
    _count_executions(cells)
    _set_slides(cells)
    plain = {
        "cells": cells,
        "metadata": {"kernelspec": _KERNELSPEC, "language_info": _LANGUAGE},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _only(mapping: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: mapping[key] for key in keys if key in mapping}


def _plain_cell(cell: Cell) -> Cell:
    plain = cell | {"metadata": _only(cell["metadata"], _CELL_METADATA)}
    if cell["cell_type"] == "code":
        plain["outputs"] = [_plain_output(output) for output in cell["outputs"]]
    return plain


def _plain_output(output: dict[str, Any]) -> dict[str, Any]:
    plain = dict(output)
    if "metadata" in output:
        plain["metadata"] = _only(output["metadata"], _OUTPUT_METADATA)
    if "data" in output:
        plain["data"] = {mime: data for mime, data in output["data"].items() if mime != _WIDGET}
    return plain


def drop_widget_views(model: dict[str, Any], **_: object) -> None:
    """Take the ids of live widgets out of a notebook that JupyterLab is about to save (a pre-save hook).

    Outside of the kernel that made them they only lead to "Error displaying widget"; without them the
    picture beside them is shown.
    """
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if len(output.get("data", {})) > 1:
                output["data"].pop(_WIDGET, None)


def _name_cells(cells: list[Cell], prefix: str) -> None:
    """Keep the first cell of every id that fits; give the others the lowest free numbers."""
    fits = re.compile(re.escape(prefix) + r"-[0-9A-Za-z_-]{1,40}")
    taken: set[str] = set()
    nameless = []
    for cell in cells:
        if fits.fullmatch(cell.get("id", "")) and cell["id"] not in taken:
            taken.add(cell["id"])
        else:
            nameless.append(cell)
    free = (name for number in range(1, 10_000) if (name := f"{prefix}-{number:03d}") not in taken)
    for cell, name in zip(nameless, free, strict=False):
        cell["id"] = name


def _count_executions(cells: list[Cell]) -> None:
    executed = [cell for cell in cells if cell["cell_type"] == "code" and cell["execution_count"] is not None]
    for count, cell in enumerate(executed, start=1):
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count


def _set_slides(cells: list[Cell]) -> None:
    """Mark where slides begin, by the rule; a cell that goes on below the last one has no mark."""
    for cell, kind in zip(cells, slide_types(cells), strict=True):
        cell["metadata"].pop("slideshow", None)
        if kind != "-":
            cell["metadata"]["slideshow"] = {"slide_type": kind}


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the stored text of a notebook and the notebook, brought to the newest nbformat 4."""
    import nbformat

    try:
        stored = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(stored, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except Exception as error:  # nbformat lets out whatever its parsing trips over
        problem = str(error).splitlines()[0]
        raise CourseError(
            f"{path.name} 读不成笔记本", got=problem, remedy="请换成完整的 .ipynb 文件"
        ) from None
    return stored, notebook


def faults(path: Path) -> list[str]:
    """Return in Chinese what keeps a stored notebook from being given to readers; empty when nothing does."""
    try:
        stored, notebook = read(path)
    except CourseError as error:
        return [str(error)]
    found = [fault for cell in notebook["cells"] for fault in _cell_faults(cell)]
    size = len(stored.encode())
    if size > MAX_BYTES:
        found.append(f"文件有 {size} 字节，超过 {MAX_BYTES}")
    if stored != normalise(notebook, stem=path.stem):
        found.append("不是规范写法，请运行 python -m course_lib notebooks run")
    return found


def _cell_faults(cell: Cell) -> Iterator[str]:
    if cell["cell_type"] != "code":
        return
    place = f"格 {cell.get('id', '（无编号）')} "
    if cell["execution_count"] is None:
        yield place + "没有运行过"
    for output in cell["outputs"]:
        if output["output_type"] == "error":
            yield place + f"存着错误 {output['ename']}"
        if output.get("name") == "stderr":
            yield place + "存着写到 stderr 的输出"
        if _ADDRESS.search(output.get("data", {}).get("text/plain", output.get("text", ""))):
            yield place + "的输出含有内存地址，每次运行都会变"
