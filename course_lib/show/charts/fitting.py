"""Section 27.7's picture: one worker's whole ledger and, below it, every arrangement that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from matplotlib.ticker import PercentFormatter

from ...plan import Plan
from ...recompute import REBUILT
from ...sharding import GATHERED_WEIGHTS, STAGES, UNSCATTERED_GRADS
from ..palette import BEYOND, GREY, INK, OF_ROW, RED, Style
from .axes import axis_in_bytes
from .bars import LedgerBars
from .boxes import Boxes
from .marks import Labels, Points, Rules

MARGIN, MOMENT = "余量", "临时的"
ROWS: Final = OF_ROW | {MOMENT: Style(GREY, "++"), MARGIN: Style("#EFEFEF", "..")}
_OF_A_MOMENT: Final = (REBUILT, GATHERED_WEIGHTS, UNSCATTERED_GRADS)

LEAST, TWICE, MORE = "发送最少", "至多两倍", "发送更多"
SENT: Final = {LEAST: Style("#D9C8EE"), TWICE: Style("#9B72CF"), MORE: Style("#4B1F86")}


def pieces(plan: Plan) -> list[tuple[str, int]]:
    """Return the ledger row by row, then the margin; what is there for a moment is one kind."""
    rows = [(MOMENT if row.name in _OF_A_MOMENT else row.name, row.total_bytes) for row in plan.ledger]
    return [*rows, (MARGIN, plan.need_bytes - plan.ledger.total_bytes)]


class Fitting:
    """Bars on top; below, every plan that fits as a point: memory, extra work, and shades of bytes sent.

    Large points are those that no other beats; the ring is the present setting.
    """

    def __init__(self, top: Any, bottom: Any) -> None:
        self._bars, self._axes = LedgerBars(top, ROWS), bottom
        self._limit = Rules(bottom, RED, width=2)
        self._ground = Boxes(bottom, {"": Style(BEYOND)}, zorder=1, linewidth=0)
        self._beaten, self._best = Points(bottom, SENT, size=14), Points(bottom, SENT, size=62, zorder=3.2)
        self._chosen = Points(bottom, {"": Style("none")}, size=230, zorder=4)
        self._fits: Sequence[Plan] | None = None
        self._capacity = 0
        self._stages, self._words = Labels(bottom, size=8.5, vertical="bottom"), Labels(bottom, size=10)
        bottom.set_title("放得下的安排：大点没有被别的样样胜过，圈是现在的设定")
        axis_in_bytes(bottom.xaxis, "一个进程需要的内存，含余量", ticks=8)
        bottom.set(ylim=(-0.1, 1.12), ylabel="多做的前向", yticks=(0, 0.25, 0.5, 0.75, 1))
        bottom.yaxis.set_major_formatter(PercentFormatter(1))

    def show(self, bare: Plan, plan: Plan, fits: Sequence[Plan], best: Sequence[Plan]) -> None:
        """Show a plan that saves nothing, the present one, all that fit, and those no other beats."""
        capacity = plan.job.capacity_bytes
        self._bars.show({"什么都不省": pieces(bare), "现在的设定": pieces(plan)}, capacity=capacity)
        if fits is not self._fits or capacity != self._capacity:  # most knobs leave the search as it was
            self._show_search(capacity, fits, best)
            self._fits, self._capacity = fits, capacity
        left, right = self._axes.get_xlim()
        self._chosen.show({"": [_place(plan)] if left < plan.need_bytes < right else ()})

    def _show_search(self, capacity: int, fits: Sequence[Plan], best: Sequence[Plan]) -> None:
        left, right = _limits(capacity, [one.need_bytes for one in fits])
        self._axes.set_xlim(left, right)
        self._limit.show([(capacity, -1, capacity, 2)] if capacity < right else [])
        self._ground.show({"": [(capacity, right, -1, 2)] if capacity < right else []})
        least = min((one.transfer_bytes for one in fits), default=0)
        kept = {id(one) for one in best}  # the very same values: comparing whole ledgers would take longer
        self._beaten.show(_points([one for one in fits if id(one) not in kept], least))
        self._best.show(_points(best, least))
        self._stages.show(_stage_names(fits, apart=(right - left) * 0.09))
        self._words.show([] if fits else [((left + right) / 2, 0.5, "没有一种安排放得下", RED)])


def _limits(capacity: int, needs: Sequence[int]) -> tuple[float, float]:
    if not needs:
        return 0.0, capacity * 1.05
    first, last = min(needs), max(needs)
    if capacity < last + (last - first):
        last = capacity
    pad = max(last - first, first * 0.01) * 0.05
    return first - pad, last + pad


def _place(plan: Plan) -> tuple[int, float]:
    return plan.need_bytes, float(plan.extra_forward)


def _points(plans: Sequence[Plan], least: int) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {kind: [] for kind in SENT}
    for one in plans:
        sent = one.transfer_bytes
        found[LEAST if sent == least else TWICE if sent <= 2 * least else MORE].append(_place(one))
    return found


def _stage_names(plans: Sequence[Plan], apart: float) -> Iterator[tuple[float, float, str, str]]:
    """Yield each sharding stage's name above its first plan, where there is room for it."""
    first = {one.zero: one.need_bytes for one in sorted(plans, key=lambda one: -one.need_bytes)}
    last = float("-inf")
    for stage, need in sorted(first.items(), key=lambda item: item[1]):
        if need - last >= apart:
            last = need
            yield need, 0.97, tuple(STAGES)[stage], INK
