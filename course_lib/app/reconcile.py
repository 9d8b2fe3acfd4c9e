"""Set a real training step beside its ledger: ``python -m course_lib reconcile [--json]``."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..measuring import Line, Reconciliation

_SIZES = {
    "layers": "层数",
    "width": "宽度",
    "heads": "注意力头数",
    "positions": "每个序列的位置数",
    "sequences": "序列数",
    "vocabulary": "词表大小",
}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``reconcile``; sizes that are left out are those of the chapter's model."""
    from ..step_ledger import KEEPS, POLICIES

    parser = commands.add_parser("reconcile", help="真的训练一步，把账本与分配记录逐字节对照（配套实测）")
    for name, meaning in _SIZES.items():
        parser.add_argument(f"--{name}", type=_count, metavar="个数", help=meaning)
    parser.add_argument("--dtype", choices=tuple(POLICIES), default="float16", help="怎样存储")
    parser.add_argument("--keep", type=_count, choices=tuple(KEEPS), default=10, help="每层留几个数组")
    parser.add_argument("--json", action="store_true", help="输出给程序读的 JSON")
    parser.set_defaults(handle=handle)


def _count(word: str) -> int:
    return int(word)


_count.__name__ = "整数"  # argparse names the function in its message


def handle(options: argparse.Namespace) -> int:
    """Run one step and print what was predicted and measured; 1 where a boundary differs."""
    from ..measuring import reconcile
    from ..step_ledger import StepPlan, StepShape

    sizes = {name: getattr(options, name) for name in _SIZES if getattr(options, name) is not None}
    found = reconcile(StepPlan(shape=StepShape(**sizes), dtype=options.dtype, keep=options.keep))
    print(_as_json(found) if options.json else _as_text(found))
    return 0 if found.exact else 1


def _as_json(found: Reconciliation) -> str:
    def sizes(line: Line) -> dict[str, int]:
        return {"predicted_bytes": line.predicted_bytes, "measured_bytes": line.measured_bytes}

    rows = [{"phase": line.phase, **sizes(line)} for line in found.lines]
    parameters = found.plan.shape.parameters
    return json.dumps(
        {"parameters": parameters, "rows": rows, "peak": sizes(found.peak)}, ensure_ascii=False, indent=1
    )


def _as_text(found: Reconciliation) -> str:
    from ..show import Table

    rows = [
        (line.phase, line.predicted_bytes, line.measured_bytes, line.difference)
        for line in (*found.lines, found.peak)
    ]
    rows[-1] = (f"峰值（{found.peak.phase}途中）", *rows[-1][1:])
    note = "峰值里有 numpy 的临时数组和少量 Python 对象，随版本略有不同。配套实测：本机 CPU 上的一步。"
    return Table(("阶段", "预测字节", "实测字节", "相差"), tuple(rows), note=note).text()
