"""Submissions that are odd as files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.hostile.case import MARK, ONE, R1, W1, Case, every, lost
from tests.submissions import (
    RIGHT,
    WRONG,
    answer_cell,
    answer_id,
    as_bytes,
    fifo,
    link_to,
    notebook_of,
    short_notebook,
    whole_notebook,
)


def _cells(answers: Mapping[str, str] = RIGHT) -> list[dict[str, Any]]:
    return [answer_cell(id, source) for id, source in answers.items()]


def _windows() -> bytes:
    lines = {id: source.replace("\n", "\r\n") for id, source in RIGHT.items()}
    return whole_notebook(lines).replace(b"\n", b"\r\n")


def _large() -> bytes:
    """Return 100 MB: a picture that somebody left in an output."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 100_000_000}}
    cells = _cells()
    cells[0]["outputs"] = [output]
    return as_bytes(notebook_of(cells))


def _nested() -> bytes:
    whole = short_notebook(RIGHT)
    deep = b'{"metadata": {"x": ' + b"[" * 200_000 + b"]" * 200_000 + b"},"
    return deep + whole.lstrip().removeprefix(b"{")


def _marked(sources: Mapping[str, str]) -> bytes:
    cells = _cells(sources)
    for cell in cells:
        tags = "raises-exception nbval-skip nbval-ignore-output nbval-raises-exception skip-execution"
        cell["metadata"] = {"tags": tags.split()}
    return as_bytes(notebook_of(cells))


def _evil_kernel() -> bytes:
    kernel = {"name": f"../../{MARK}", "display_name": "x", "language": "bash", "argv": ["touch", MARK]}
    return as_bytes(notebook_of(_cells(), metadata={"kernelspec": kernel, "language_info": {"name": "R"}}))


def _old_format() -> bytes:
    cells = [{"cell_type": "code", "input": source, "outputs": []} for source in RIGHT.values()]
    return as_bytes({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]})


def _repeated() -> bytes:
    return as_bytes(notebook_of([answer_cell("1", W1), *_cells()]))


def _reordered() -> bytes:
    alien = answer_cell("1", "1 / 0") | {"id": "another"}
    check = answer_cell("1", "raise SystemExit") | {"id": "27-08-ex1-check"}
    return as_bytes(notebook_of([check, *reversed(_cells()), alien]))


def _retyped() -> bytes:
    cells = _cells()
    for cell, kind in zip(cells, ("markdown", "raw"), strict=False):
        cell["cell_type"] = kind
    return as_bytes(notebook_of(cells))


def _odd_cells() -> bytes:
    odd: list[Any] = [
        None,
        3,
        "cell",
        {},
        {"id": answer_id("1")},
        {"id": 5, "cell_type": "code", "source": {}},
    ]
    return as_bytes(notebook_of([*_cells(), *odd]))


def _skip_markers(sources: Mapping[str, str]) -> dict[str, str]:
    words = "# NBVAL_SKIP\n# NBVAL_IGNORE_OUTPUT\n# NBVAL_RAISES_EXCEPTION\n# PYTEST_VALIDATE_IGNORE_OUTPUT\n"
    return {id: words + source for id, source in sources.items()}


CASES: Final = (
    Case("large", "100 MB 的笔记本", every("invalid"), make=_large),
    Case("nested", "JSON 套了二十万层", every("invalid"), make=_nested),
    Case("broken", "JSON 只有一半", every("invalid"), make=lambda: whole_notebook(RIGHT)[:5_000]),
    Case("empty", "空文件", every("invalid"), make=lambda: b""),
    Case("zeros", "全是零字节", every("invalid"), make=lambda: bytes(10_000)),
    Case("gbk", "不是 UTF-8，是 GBK", every("invalid"),
         make=lambda: whole_notebook(RIGHT).decode().encode("gbk", "replace")),
    Case("utf-16", "不是 UTF-8，是 UTF-16", every("invalid"),
         make=lambda: whole_notebook(RIGHT).decode().encode("utf-16")),
    Case("bom", "UTF-8 前面多了 BOM", make=lambda: b"\xef\xbb\xbf" + whole_notebook(RIGHT)),
    Case("old-format", "第 3 版的笔记本", every("invalid"), make=_old_format),
    Case("python-file", "交来的是一段 Python 程序", every("invalid"), make=lambda: R1.encode()),
    Case("deleted", "删掉了第一题的作答格", lost({ONE: "missing"}),
         make=lambda: as_bytes(notebook_of(_cells()[1:]))),
    Case("duplicated", "第一题有两个作答格，先错后对，只看第一个", lost({ONE: "fail"}), make=_repeated),
    Case("reordered", "各格次序颠倒，另有假的检查格", make=_reordered),
    Case("retyped", "前两题的作答格改成了文字格", lost({ONE: "missing", "2": "missing"}), make=_retyped),
    Case("odd-cells", "单元列表里有数、空值和残缺的单元", make=_odd_cells),
    Case("kernelspec", "换了内核，元数据里有要执行的命令", make=_evil_kernel),
    Case("nbval-markers", "全答错，写上让 nbval 略过的标记与标签", every("fail"),
         make=lambda: _marked(_skip_markers(WRONG))),
    Case("nbval-errors", "作答格出错，写上让 nbval 容许出错的标记与标签", every("error"),
         make=lambda: _marked(_skip_markers({id: f"{source}\n1 / 0" for id, source in RIGHT.items()}))),
    Case("windows", "Windows 的换行", make=_windows),
    Case("chinese-name", "文件名有空格和中文", file_name="张 三（第 2 次）—作业 27.8.ipynb"),
    Case("formula-name", "文件名像表格里的公式", file_name="=1+1.ipynb"),
    Case("option-name", "文件名像命令行的选项", file_name="--collect-only.ipynb"),
    Case("link-file", "符号链接，指向一个系统文件", every("invalid"), make=lambda: link_to("/etc/passwd")),
    Case("link-honest", "符号链接，指向别人的作业", every("invalid"), make=lambda: link_to("honest.ipynb")),
    Case("link-loop", "指向自己的符号链接", every("invalid"), make=lambda: link_to("link-loop.ipynb")),
    Case("link-device", "符号链接，指向写不完的设备", every("invalid"), make=lambda: link_to("/dev/zero")),
    Case("pipe", "一根管道，名字像笔记本", every("invalid"), make=lambda: fifo),
)  # fmt: skip
