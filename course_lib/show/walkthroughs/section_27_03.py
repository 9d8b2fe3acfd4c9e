"""Section 27.3: the decimal analogy, and loss scaling."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

from ...precision import Copies, decimal_copies
from ..charts import Curves, Labels, even_ticks, legend
from ..palette import BLUE, GREEN, PAPER, RED, Style
from ..stage import Stage
from . import scaling
from .steps import Question, Step, Walk

SUBTRACT: Final = Fraction(3, 1000)
UPDATES: Final = 2
_DIRECT, _MASTER, _WORKING = "直接更新", "主权重副本", "工作权重"
_LOOKS: Final = {_DIRECT: Style(RED), _MASTER: Style(BLUE), _WORKING: Style(GREEN)}
_LIMITS: Final = (0.987, 1.003)
Values = dict[str, tuple[Decimal, ...]]  # the copies so far, by name


def _picture(stage: Stage):
    axes = stage.axes()
    curves = Curves(axes, _LOOKS, width=2.6, marker="o", steps=True)
    words = Labels(axes, size=10, align="left", vertical="top")
    even_ticks(axes.xaxis, "更新次数")
    axes.set(xlim=(-0.05, UPDATES + 0.9), ylim=_LIMITS, yticks=(0.99, 1.0), xticks=range(UPDATES + 1))
    legend(stage, _LOOKS)

    def update(values: Values) -> None:
        shown = {name: (*map(float, each), float(each[-1])) for name, each in values.items()}
        ends = {name: [*range(len(each)), len(each) - 0.7] for name, each in values.items()}
        curves.show({name: (ends[name], each) for name, each in shown.items()})
        words.show(
            (ends[name][-1] + 0.04, shown[name][-1] + 0.0006, str(each[-1]), _LOOKS[name].color, PAPER)
            for name, each in values.items()
        )

    return update


def _lost(copies: Copies[Decimal], update: int) -> Step:
    before, after = copies.direct[update - 1 : update + 1]
    exact = before - _decimal(SUBTRACT)
    says = "更近的是 1.00，这一次白减了。" if update == 1 else "又从原处出发，再丢一次；减多少次都一样。"
    question = f"{before} 减去 {_decimal(SUBTRACT)}，只存两位小数，还剩多少？"
    return Step(
        f"{_DIRECT}，第 {update} 次",
        f"{before} − {_decimal(SUBTRACT)} = {exact} → {after}",
        says,
        (_DIRECT, update, str(after)),
        {_DIRECT: copies.direct[: update + 1]},
        Question(question, Fraction(after)) if update == 1 else None,
    )


def _saved(copies: Copies[Decimal], update: int) -> Step:
    before, after = copies.master[update - 1 : update + 1]
    says = "副本多记一位，先把这一点存下来。" if update == 1 else "第二点也攒进去了。"
    return Step(
        f"{_MASTER}，第 {update} 次",
        f"{before} − {_decimal(SUBTRACT)} = {after}",
        says,
        (_MASTER, update, str(after)),
        {_DIRECT: copies.direct, _MASTER: copies.master[: update + 1]},
    )


def _seen(copies: Copies[Decimal]) -> Step:
    fine, coarse = copies.master[-1], copies.working[-1]
    return Step(
        f"由副本得到{_WORKING}",
        f"{fine} → {coarse}",
        f"直接更新还停在 {copies.direct[-1]}。真实的 FP16、BF16 是二进制，规则不同，道理一样。",
        (_WORKING, UPDATES, str(coarse)),
        {_DIRECT: copies.direct, _MASTER: copies.master, _WORKING: copies.working},
        Question(f"把 {fine} 舍入到两位小数拿去计算，{_WORKING}是多少？", Fraction(coarse)),
    )


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def decimal_analogy() -> Walk:
    """Return the decimal analogy: two updates, rounded at once and kept in a finer copy."""
    copies = decimal_copies(start=1, subtract=SUBTRACT, steps=UPDATES)
    first = Step(
        "起点",
        f"{copies.direct[0]}",
        f"{_WORKING}只存两位小数，每次想减 {_decimal(SUBTRACT)}。",
        (_DIRECT, 0, str(copies.direct[0])),
        {_DIRECT: copies.direct[:1]},
    )
    steps = (
        first,
        *(_lost(copies, update) for update in range(1, UPDATES + 1)),
        *(_saved(copies, update) for update in range(1, UPDATES + 1)),
        _seen(copies),
    )
    return Walk("十进制类比：小更新怎样丢掉，怎样攒起来", ("哪一份", "更新", "值"), steps, _picture)


WALKS: Final = {"decimal": decimal_analogy, "loss-scaling": scaling.loss_scaling}
