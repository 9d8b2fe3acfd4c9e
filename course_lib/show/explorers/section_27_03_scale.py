"""Section 27.3: gradients under a loss scale, and what becomes of them in FP16 or BF16."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from matplotlib.ticker import FuncFormatter

from ...precision import BF16, FP16, Census, Format, census, census_by_power, synthetic_grads
from .. import Choice, Number, Table, even_stops, powers_of_two
from ..charts import Boxes, Histogram, Labels, Rules, even_ticks, legend
from ..controls import show_number
from ..explorer import OURS, Explorer
from ..palette import BLUE, GREY, INK, ORANGE, PAPER, RED, Style
from ..stage import Stage

FORMATS: Final = {fmt.name: fmt for fmt in (FP16, BF16)}
FATES: Final = {
    "to_zero": ("归零", Style(GREY, "xx")),
    "subnormal": ("次正规：精度变粗", Style(ORANGE, "//")),
    "normal": ("正常", Style(BLUE, ink=PAPER)),
    "overflow": ("溢出", Style(RED, "..", ink=PAPER)),
}
_LOOKS: Final = dict(FATES.values())
_EDGES: Final = np.arange(-52, 41)  # powers of two that the picture shows; the outermost bins take the rest
CONTROLS = (
    Number("loss_scale", "损失缩放倍数", 1024, powers_of_two(1, 2**32), "", "1 表示不缩放"),
    Choice("fmt", "存成", "FP16", {name: name for name in FORMATS}),
    Number(
        "typical",
        "典型的梯度",
        Fraction(1, 10**6),
        tuple(Fraction(n * 10**k, 10**10) for k in range(10) for n in (1, 2, 5)),
        "",
        "一半的梯度比它小",
        fraction=True,
    ),
    Number(
        "spread",
        "分散程度",
        4,
        even_stops(0, 8, 0.5),
        "次方",
        "约三分之二落在 2 的正负几次方倍以内",
        fraction=True,
    ),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "不缩放": {"loss_scale": 1},
    "倍数过大": {"loss_scale": 2**28},
    "两头都出界": {"loss_scale": 2**20, "spread": 8},
    "不缩放，改用 BF16": {"loss_scale": 1, "fmt": "BF16"},
}


def _compute(inputs: Any) -> tuple[Census, dict[int, Census]]:
    grads = synthetic_grads(typical=inputs.typical, spread=inputs.spread)
    how: dict[str, Any] = {"scale": inputs.loss_scale, "fmt": FORMATS[inputs.fmt]}
    return census(grads, **how), census_by_power(grads, **how)


def _code(inputs: Any) -> str:
    return f"""\
from fractions import Fraction
from course_lib.precision import {inputs.fmt}, census, census_by_power, synthetic_grads

grads = synthetic_grads(typical=Fraction({str(inputs.typical)!r}), spread=Fraction({str(inputs.spread)!r}))
result = (census(grads, scale={inputs.loss_scale}, fmt={inputs.fmt}),
          census_by_power(grads, scale={inputs.loss_scale}, fmt={inputs.fmt}))
"""


def _heights(groups: dict[int, Census]) -> dict[str, list[int]]:
    heights = {name: [0] * (len(_EDGES) - 1) for name, _ in FATES.values()}
    for power, group in groups.items():
        place = min(max(power - int(_EDGES[0]), 0), len(_EDGES) - 2)
        for field, (name, _) in FATES.items():
            heights[name][place] += getattr(group, field)
    return heights


def _limits(fmt: Format) -> list[tuple[float, str]]:
    """Where one fate ends and the next begins, as powers of two."""
    zero, small, large = (
        float(np.log2(size)) for size in (fmt.smallest_subnormal / 2, fmt.smallest_normal, fmt.largest)
    )
    return [(zero, "以下归零"), (small, "以下变粗"), (large, "以上溢出")]


def _scaled(inputs: Any) -> str:
    """The chapter's gradient of 0.000001 under the loss scale, exactly."""
    return show_number(Fraction(inputs.loss_scale, 10**6))


def _picture(stage: Stage) -> Callable[[Any, tuple], None]:
    axes = stage.axes()
    bars = Histogram(axes, _LOOKS)
    bounds, book = Rules(axes, INK, width=1.2, dashes="dashed"), Rules(axes, RED, width=2)
    ground = Boxes(axes, {"": Style("#EEF4F8")}, zorder=1, linewidth=0)
    words = Labels(axes, size=8.5, vertical="top", plate=PAPER)
    axes.set_xticks(range(-48, 41, 8))
    axes.set_xlabel("放大以后的梯度是 2 的几次方")
    even_ticks(axes.yaxis, "个数", ticks=5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:>6.0f}"))  # room for 2,000
    legend(stage, _LOOKS)

    def update(inputs: Any, result: tuple) -> None:
        bars.show(_EDGES, _heights(result[1]))
        _, (small, _), (large, _) = limits = _limits(FORMATS[inputs.fmt])
        top = round(axes.get_ylim()[1] * 1.3)
        axes.set_ylim(0, top)
        inside = [(at, word) for at, word in limits if _EDGES[0] < at < _EDGES[-1]]
        notes = inside or [(-6, f"{inputs.fmt} 的正常范围比整幅图还宽")]
        bounds.show([(at, 0, at, top * 0.94) for at, _ in inside])
        ground.show({"": [(max(small, _EDGES[0]), min(large, _EDGES[-1]), 0, top)]})
        at = float(np.log2(inputs.loss_scale / 10**6))
        book.show([(at, 0, at, top * 0.82)])
        words.show(
            [
                *((at, top * 0.99, word) for at, word in notes),
                (min(max(at, -44), 33), top * 0.87, f"0.000001 变成 {_scaled(inputs)}", RED),
            ]
        )

    return update


def _table(inputs: Any, result: tuple) -> Table:
    counts = [(name, getattr(result[0], field)) for field, (name, _) in FATES.items()]
    whole = sum(count for _, count in counts)
    rows = tuple((name, count, f"{count / whole:.1%}") for name, count in counts)
    return Table(
        ("去向", "个数", "占比"), rows, ("合计", whole, ""), "配套补充：这些梯度是造出来的，不是测得的。"
    )


def _sentence(inputs: Any, result: tuple) -> str:
    counts = result[0]
    ends = "，".join(
        f"{getattr(counts, field):,} 个{name[:3].rstrip('：')}" for field, (name, _) in FATES.items()
    )
    return f"倍数 {inputs.loss_scale:,}，存成 {inputs.fmt}：{ends}。0.000001 放大成 {_scaled(inputs)}。"


def loss_scale() -> Explorer:
    """Return the explorer: one set of made-up gradients, moved along the powers of two by the loss scale."""
    return Explorer(
        title="损失缩放把梯度推进存得下的范围",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(760, 360),
    )


EXPLORERS = (loss_scale,)
