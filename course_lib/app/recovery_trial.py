"""Kill a training process and resume it: ``python -m course_lib recovery-trial --kills N [--json]``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..recovery import Trial


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``recovery-trial``."""
    parser = commands.add_parser(
        "recovery-trial", help="反复杀掉训练进程再恢复，看存下的状态是否完好（实测）"
    )
    parser.add_argument("--kills", type=_count, default=10, metavar="次数", help="杀掉几次，默认 10")
    parser.add_argument("--naive", action="store_true", help="改用不加保护的保存方式，作为对照")
    parser.add_argument("--json", action="store_true", help="输出给程序读的 JSON")
    parser.set_defaults(handle=handle)


def _count(word: str) -> int:
    return int(word)


_count.__name__ = "整数"  # argparse names the function in its message


def handle(options: argparse.Namespace) -> int:
    """Run the trial and print what came of it; 1 where anything was damaged or the final states differ."""
    from ..recovery import kill_and_resume

    trial = kill_and_resume(options.kills, naive=options.naive)
    print(json.dumps(asdict(trial)) if options.json else _as_text(trial))
    return 0 if trial.final_equal and not trial.damaged else 1


def _as_text(trial: Trial) -> str:
    equal = "逐位相同" if trial.final_equal else "不同"
    return (
        f"杀掉 {trial.killed} 次，恢复时损坏 {trial.damaged} 次；训练到第 {trial.rounds} 轮，"
        f"最终状态与没有停过的运行{equal}。\n"
        "杀掉进程不等于断电：系统缓存里的内容还在，这里没有试断电。"
    )
