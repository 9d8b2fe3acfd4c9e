"""Run the stored notebooks in a clean kernel, or check them: ``python -m course_lib notebooks run|check``."""

from __future__ import annotations

import argparse
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from ..errors import CourseError
from .notebook_form import faults, normalise, read
from .places import NOTEBOOKS, ROOT

KERNELS: Final = 2
CELL_SECONDS: Final = 300


def execute(path: Path) -> str:
    """Run a notebook in a clean kernel of this Python and return its normal text; the file is not touched.

    Raises ``CourseError`` that names the cell when one fails, hangs or takes the kernel down.
    """
    from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

    _, notebook = read(path)
    reached = [0]
    try:
        _run_in_clean_kernel(notebook, folder=path.parent, reached=reached)
    except (CellExecutionError, CellControlSignal, DeadKernelError) as error:
        cell = notebook["cells"][reached[0]]
        reason = getattr(error, "ename", type(error).__name__)
        raise CourseError(
            f"{path.name} 第 {reached[0] + 1} 格（{cell.get('id', '无编号')}）没有跑完",
            got=f"{reason}: {getattr(error, 'evalue', '')}",
            remedy="文件没有改动；请在 JupyterLab 里修好这一格再运行",
        ) from None
    return normalise(notebook, stem=path.stem)


def _run_in_clean_kernel(notebook: Any, *, folder: Path, reached: list[int]) -> None:
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    def on_start(cell: object, cell_index: int) -> None:
        reached[0] = cell_index

    with tempfile.TemporaryDirectory(prefix="course-") as scratch:
        # Without kernel directories only the kernel of this very Python is left.
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=os.path.join(scratch, "kernel.json"),
        )
        if os.name == "posix" and len(scratch) < 80:
            # TCP ports are picked, freed and bound again: in parallel they collide now and then.
            manager.transport, manager.ip = "ipc", os.path.join(scratch, "k")
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=CELL_SECONDS,
            coalesce_streams=True,
            record_timing=False,
            store_widget_state=False,
            on_cell_start=on_start,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute(cleanup_kc=True, env=_kernel_environment(scratch))


def _kernel_environment(scratch: str) -> dict[str, str]:
    """The environment of a clean kernel: the course importable, no IPython start-up files of the reader."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "IPYTHONDIR": scratch}


def _replace(path: Path, text: str) -> bool:
    """Write a whole new file in one step; False when it already holds this text."""
    if path.read_text(encoding="utf-8") == text:
        return False
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)
    return True


def _run_one(path: Path) -> tuple[bool, str]:
    try:
        changed = _replace(path, execute(path))
    except CourseError as error:
        return False, str(error)
    return True, f"{path.name}：{'已更新' if changed else '没有变化'}"


def _check_one(path: Path) -> tuple[bool, str]:
    found = faults(path)
    return not found, f"{path.name}：{'；'.join(found) or '合格'}"


def stored_notebooks() -> list[Path]:
    """Return the notebooks of the course in reading order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``notebooks run|check [FILES]`` to a command line; the parsed ``handle`` returns an exit status."""
    parser = commands.add_parser("notebooks", help="重新运行或检查存放的笔记本")
    parser.add_argument("action", choices=("run", "check"), help="run 重新运行并改写，check 只检查")
    parser.add_argument("files", nargs="*", type=Path, metavar="笔记本", help="不写就是 notebooks/ 里的全部")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Run or check the named notebooks, print one line each; 1 when any of them is not in order."""
    work, kernels = (_run_one, KERNELS) if options.action == "run" else (_check_one, 1)
    in_order = True
    with ThreadPoolExecutor(max_workers=kernels) as pool:
        for fine, line in pool.map(work, options.files or stored_notebooks()):
            print(line, flush=True)
            in_order &= fine
    return 0 if in_order else 1
