"""Section 27.6 (配套实测): how long a step takes with and without recompute, measured when asked for.

A time is of one machine and one moment, so it is never stored: a notebook keeps the exact columns only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ipywidgets

from ..ledger import ACTIVATIONS
from ..measuring import step_seconds
from ..step_ledger import StepPlan, forward_flops, rebuild_flops
from .tables import Table
from .widgets import classed

_WAITING: Final = "—"
_BEFORE: Final = "时间还没有量：运行这一格，再按「量一次时间」。"
_AFTER: Final = "时间是本机此刻几步的中位数，别处、别时不同；字节与运算是准数。"
KEEPS: Final = (10, 4, 1)


class StepTimes(ipywidgets.VBox):
    """A button that runs the steps, and a table of bytes, extra work and time beside each other."""

    def __init__(self, plans: Sequence[StepPlan], clock: Callable[..., tuple[float, ...]]) -> None:
        self.plans, self._clock = tuple(plans), clock
        self.table = self._table()
        self.button = ipywidgets.Button(
            description="量一次时间", tooltip="每种留法真的训练几步", layout={"width": "10em"}
        )
        self.button.on_click(lambda _: self.measure())
        self._shown = classed("jp-RenderedHTMLCommon", ipywidgets.HTML(self.table.html()))
        super().__init__([self.button, self._shown])

    def measure(self) -> None:
        """Run the steps and show their times."""
        self.button.disabled = True
        try:
            self.table = self._table(self._clock(self.plans))
            self._shown.value = self.table.html()
        finally:
            self.button.disabled = False

    def _table(self, seconds: Sequence[float] = ()) -> Table:
        times = [(f"{1000 * each:.1f} 毫秒", f"{each / seconds[0]:.2f} 倍") for each in seconds]
        rows = tuple(
            (f"{plan.keep} 个", _saved(plan), f"{rebuild_flops(plan) / forward_flops(plan):.2%}", *time)
            for plan, time in zip(self.plans, times or [(_WAITING, _WAITING)] * len(self.plans), strict=True)
        )
        columns = ("每层留下", "已保存激活", "多做的前向", "一步的时间", "与第一行相比")
        return Table(columns, rows, note=_AFTER if seconds else _BEFORE)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return dict(super()._repr_mimebundle_(**kwargs) or {}) | {"text/plain": self._table().text()}


def _saved(plan: StepPlan) -> int:
    ledger = next(boundary.ledger for boundary in plan.boundaries() if boundary.phase == "前向结束")
    return ledger[ACTIVATIONS].total_bytes


def step_times(*, clock: Callable[..., tuple[float, ...]] = step_seconds) -> StepTimes:
    """Return the table for the companion's model: all ten arrays kept, four, only the input."""
    return StepTimes([StepPlan(keep=keep) for keep in KEEPS], clock)
