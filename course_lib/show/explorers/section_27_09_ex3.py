"""Section 27.9, exercise 3: what comes on top of the lasting share before it is a peak."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from ...activations import SavedActivations, communication_row
from ...ledger import ACTIVATIONS, COMMUNICATION, Ledger, model_state
from ...sharding import GATHERED_WEIGHTS, UNSCATTERED_GRADS, ZERO_3, gathered, resident
from .. import Number, Table, log_stops
from ..charts import LedgerBars, legend
from ..explorer import OURS, Explorer
from ..palette import ACTIVATIONS as ACTIVATIONS_LOOK
from ..palette import BLUE, BUFFERS, GRADS, GREY, PAPER, SKY, Style
from ..stage import Stage

SHARE, MARGIN = "长期份额", "规划余量"
STYLES = {
    SHARE: Style(BLUE, ink=PAPER),
    ACTIVATIONS: ACTIVATIONS_LOOK,
    GATHERED_WEIGHTS: Style(SKY, ".."),
    UNSCATTERED_GRADS: GRADS,
    COMMUNICATION: BUFFERS,
    MARGIN: Style(GREY),
}
PARAMETERS = 1_000_000
CONTROLS = (
    Number("workers", "工作进程", 4, range(2, 65), "个", "全部模型状态平均分给这么多进程"),
    Number("sequences", "本地序列数", 2, range(1, 33), "个", "每个进程自己的微批次"),
    Number(
        "largest_layer", "最大一层", 250_000, log_stops(10**3, PARAMETERS), "个参数", "配套假设：四层均分"
    ),
    Number("buffer_bytes", "通信缓冲区", 500_000, log_stops(10**3, 10**7), "字节", "配套假设：要在真机上测"),
    Number("percent", "余量", 25, range(0, 101), "%", "规划时预留的比例"),
)
PRESETS = {
    "64 个进程": {"workers": 64},
    "一层就占全部参数": {"largest_layer": PARAMETERS},
    "8 个序列": {"sequences": 8},
}


def _compute(inputs: Any) -> Ledger:
    share = resident(model_state(PARAMETERS), workers=inputs.workers, sharded=ZERO_3)
    acts = SavedActivations(
        sequences=inputs.sequences, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )
    whole = gathered(share, sharded=ZERO_3, largest_layer=inputs.largest_layer)
    return (share + acts.ledger() + whole).with_row(communication_row(n_bytes=inputs.buffer_bytes))


def _code(inputs: Any) -> str:
    return f"""\
from course_lib.activations import SavedActivations, communication_row
from course_lib.ledger import model_state
from course_lib.sharding import ZERO_3, gathered, resident

share = resident(model_state({PARAMETERS:_}), workers={inputs.workers}, sharded=ZERO_3)
acts = SavedActivations(sequences={inputs.sequences}, positions=128, width=64,
                        layers=4, arrays_per_layer=10, bytes_per_value=2)
whole = gathered(share, sharded=ZERO_3, largest_layer={inputs.largest_layer:_})
result = (share + acts.ledger() + whole).with_row(communication_row(n_bytes={inputs.buffer_bytes:_}))
result.with_headroom(percent={inputs.percent})
"""


def _pieces(inputs: Any, peak: Ledger) -> list[tuple[str, int]]:
    own = [(row.name, row.total_bytes) for row in peak if row.name in STYLES]
    lasting = peak.total_bytes - sum(size for _, size in own)
    margin = peak.with_headroom(percent=inputs.percent) - peak.total_bytes
    return [(SHARE, lasting), *own, (MARGIN, margin)]


def _picture(stage: Stage) -> Callable[[Any, Ledger], None]:
    bars = LedgerBars(stage.axes(), STYLES)
    legend(stage, STYLES)

    def update(inputs: Any, peak: Ledger) -> None:
        pieces = _pieces(inputs, peak)
        names = ("只报长期份额", *(f"＋{name}" for name, _ in pieces[1:]))
        bars.show({name: pieces[: n + 1] for n, name in enumerate(names)})

    return update


def _table(inputs: Any, peak: Ledger) -> Table:
    pieces = _pieces(inputs, peak)
    sums = accumulate(size for _, size in pieces)
    rows = tuple((*piece, so_far) for piece, so_far in zip(pieces, sums, strict=True))
    return Table(("对象", "字节", "累计字节"), rows, note=f"仍未计入：{'、'.join(peak.omits)}。")


def _sentence(inputs: Any, peak: Ledger) -> str:
    lasting, planned = _pieces(inputs, peak)[0][1], peak.with_headroom(percent=inputs.percent)
    return (
        f"报告的 {lasting:,} 字节只是长期份额；四个漏项若与它同时存在，就有 {peak.total_bytes:,} 字节，"
        f"再留 {inputs.percent}% 余量就是 {planned:,} 字节，为报告的 {planned / lasting:.2f} 倍。"
    )


def share_to_peak() -> Explorer:
    """Return the explorer of exercise 3: the reported share, and item by item what was left out."""
    return Explorer(
        title="习题 3：把长期份额补成峰值估算",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 340),
    )


EXPLORERS = (share_to_peak,)
