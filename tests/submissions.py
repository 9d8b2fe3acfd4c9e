"""What students hand in, as bytes: notebooks with the six answer cells of 27.8, and folders of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from course_lib.app.places import NOTEBOOKS

IDS: Final = ("1", "2", "3", "4", "5", "6")

# The chapter's answers (27.9) as students write them.
RIGHT: Final[Mapping[str, str]] = MappingProxyType({
    "1": "activation_bytes = 2_621_440\ntotal_bytes = 18_621_440",
    "2": 'mean_grad = 1\nequal_weight_error = "B"',
    "3": 'missing_items = ["已保存激活", "临时收集的权重", "通信缓冲区"]',
    "4": 'immediate_after_1 = "1.00"\nimmediate_after_2 = "1.00"\nmaster_after_1 = "0.997"\n'
         'master_after_2 = "0.994"\nworking_after_2 = "0.99"',
    "5": 'supported = ["A", "D"]\nnot_supported = ["B", "C", "E", "F"]',
    "6": "fits_before = False\nfits_after = True\nseconds_before = 0.25\nseconds_after = 0.31\n"
         "can_say_faster = False",
})  # fmt: skip
# Wrong in every criterion, and no listed misconception.
WRONG: Final[Mapping[str, str]] = MappingProxyType({
    "1": "activation_bytes = 1\ntotal_bytes = 2",
    "2": 'mean_grad = 17\nequal_weight_error = "D"',
    "3": 'missing_items = ["GPU", "硬盘", "网线"]',
    "4": "immediate_after_1 = immediate_after_2 = master_after_1 = master_after_2 = working_after_2 = 5",
    "5": 'supported = ["B", "C", "E", "F"]\nnot_supported = ["A", "D"]',
    "6": "fits_before = True\nfits_after = False\nseconds_before = seconds_after = 9\ncan_say_faster = True",
})  # fmt: skip
BLANK: Final[Mapping[str, str]] = MappingProxyType({
    "1": "activation_bytes = None\ntotal_bytes = None",
    "2": "mean_grad = None\nequal_weight_error = None",
    "3": "missing_items = None",
    "4": "immediate_after_1 = immediate_after_2 = master_after_1 = master_after_2 = working_after_2 = None",
    "5": "supported = None\nnot_supported = None",
    "6": "fits_before = fits_after = seconds_before = seconds_after = can_say_faster = None",
})  # fmt: skip

Plain = dict[str, Any]
CHAPTER: Final = NOTEBOOKS / "27.08-exercises.ipynb"


def answer_id(id: str) -> str:
    """Return the cell id under which an exercise of the chapter is answered."""
    return f"27-08-ex{id}-answer"


def answer_cell(id: str, source: str, **other: Any) -> Plain:
    """Return one code cell as nbformat 4.5 writes it."""
    cell = {"cell_type": "code", "id": answer_id(id), "metadata": {}, "source": source}
    return cell | {"execution_count": None, "outputs": []} | other


def notebook_of(cells: Iterable[Plain], **other: Any) -> Plain:
    """Return a notebook of these cells."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    plain = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [*cells]}
    return plain | other


def as_bytes(notebook: Plain) -> bytes:
    """Return what JupyterLab would save."""
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode()


def short_notebook(answers: Mapping[str, str]) -> bytes:
    """Return a notebook of nothing but answer cells."""
    return as_bytes(notebook_of(answer_cell(id, source) for id, source in answers.items()))


def whole_notebook(answers: Mapping[str, str]) -> bytes:
    """Return the course's own 27.8 with these answers filled in."""
    notebook = json.loads(CHAPTER.read_text(encoding="utf-8"))
    filled = {answer_id(id): source for id, source in answers.items()}
    for cell in notebook["cells"]:
        if cell["id"] in filled:
            cell["source"] = filled[cell["id"]]
    return as_bytes(notebook)


def write_folder(folder: Path, files: Mapping[str, bytes | Callable[[Path], None]]) -> Path:
    """Write a folder of submissions: bytes become a file, a function makes something else at its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            content(folder / name)
    return folder


def link_to(target: str) -> Callable[[Path], None]:
    """Return what makes a symbolic link in the place of a notebook."""
    return lambda path: os.symlink(target, path)


def fifo(path: Path) -> None:
    """Make a named pipe in the place of a notebook: who opens it for reading waits for ever."""
    os.mkfifo(path)
