"""Pictures that several walkthroughs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..charts import LedgerBars, legend
from ..palette import Style
from ..stage import Stage
from .steps import Picture

Bars = tuple[tuple[str, Sequence[tuple[str, int]]], ...]  # name of a bar, its pieces as (kind, bytes)


def ledger_bars(styles: Mapping[Any, Style], *, reach: int, capacity: int | None = None) -> Picture:
    """Return a picture whose states are ``Bars``; the axis reaches ``reach`` bytes at every step."""

    def picture(stage: Stage):
        chart = LedgerBars(stage.axes(), styles)
        legend(stage, styles, columns=3)

        def update(bars: Bars) -> None:
            chart.show(dict(bars), capacity=capacity, reach=reach)

        return update

    return picture
