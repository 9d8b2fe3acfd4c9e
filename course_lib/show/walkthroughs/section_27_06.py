"""Section 27.6: recompute (激活检查点) and recovery (恢复检查点), one after the other."""

from __future__ import annotations

from typing import Final

from ...ledger import ACTIVATIONS, GRADS, MASTER, MOMENTS, WEIGHTS, Ledger, model_state
from ...recompute import REBUILT, Rebuild, rebuild
from ..charts import Grid
from ..palette import ACTIVATIONS as PINK
from ..palette import BUFFERS, FREE, GREEN, PAPER, RED, Style
from ..stage import Stage
from .givens import PARAMETERS, WORKERS, chapter_activations
from .pictures import Bars, ledger_bars
from .steps import Question, Step, Walk

KEPT: Final = 4
_LOOKS: Final = {ACTIVATIONS: PINK, REBUILT: BUFFERS}
_BARS: Final = ("全部留下", f"每层留 {KEPT} 个", "反向途中")
YES_NO: Final = ("是", "不是")


def _bars(*ledgers: Ledger) -> Bars:
    pieces = [tuple((row.name, row.total_bytes) for row in ledger) for ledger in ledgers]
    return tuple(zip(_BARS, [*pieces, (), ()], strict=False))


def _fewer(plan: Rebuild) -> tuple[Step, ...]:
    before, after = plan.before, plan.after
    layers, one = before.layers, before.array_bytes
    both = _bars(before.ledger(), after.ledger())
    return (
        Step(
            "每层全部留下",
            f"{layers} × {before.arrays_per_layer} × {one:,} = {before.total_bytes:,} 字节",
            f"例 27.1 的 {before.arrays} 个数组，前向算完一直留到反向。",
            (f"{before.arrays} 个数组", before.total_bytes),
            _bars(before.ledger()),
        ),
        Step(
            f"每层只留 {KEPT} 个",
            f"{layers} × {KEPT} × {one:,} = {after.total_bytes:,} 字节",
            f"留下 {after.arrays} 个数组，其余用完就放掉，反向时再算。",
            (f"{after.arrays} 个数组", after.total_bytes),
            both,
            Question(
                f"每层 {before.arrays_per_layer} 个只留 {KEPT} 个，保存的激活是多少字节？",
                after.total_bytes,
                "字节",
            ),
        ),
        Step(
            "省下多少",
            f"{before.total_bytes:,} − {after.total_bytes:,} = {plan.freed_bytes:,} 字节",
            "省下的是激活，是用多做的运算换来的。",
            ("省下", plan.freed_bytes),
            both,
        ),
    )


def _costs(plan: Rebuild) -> tuple[Step, ...]:
    before, after = plan.before, plan.after
    missing = before.arrays_per_layer - KEPT
    both = _bars(before.ledger(), after.ledger())
    peak = _bars(before.ledger(), after.ledger(), plan.peak_ledger())
    state = model_state(PARAMETERS).total_bytes
    return (
        Step(
            "多做的前向",
            f"{missing} ÷ {before.arrays_per_layer} = {plan.extra_forward} 遍前向",
            "配套的假设：各数组一样贵。放得下，不等于跑得快。",
            ("多做的前向", f"{plan.extra_forward} 遍"),
            both,
            Question("这一步会因此更快吗？", "不会", options=("会", "不会")),
        ),
        Step(
            "重建也要地方",
            f"{after.total_bytes:,} + {missing} × {before.array_bytes:,} = {plan.peak_bytes:,} 字节",
            "配套补充：反向走到一层，那一层缺的数组要暂时摆回来，用完再放。",
            ("反向途中", plan.peak_bytes),
            peak,
            Question(f"反向途中，激活最多还是 {after.total_bytes:,} 字节吗？", YES_NO[1], options=YES_NO),
        ),
        Step(
            "模型状态没有变",
            f"{state:,} − {state:,} = {state - state} 字节",
            "重算只动激活；表 27.1 的权重、梯度、主副本和矩，一个字节也没有少。",
            ("模型状态", state),
            peak,
            Question("表 27.1 的模型状态会少吗？", "一点不少", options=("少六成", "一点不少")),
        ),
    )


def recompute() -> Walk:
    """Return activation checkpointing: ten arrays a layer, four kept, six rebuilt."""
    plan = rebuild(chapter_activations(), arrays_per_layer=KEPT)
    picture = ledger_bars(_LOOKS, reach=plan.before.total_bytes)
    return Walk("激活检查点：用计算换空间", ("激活", "字节"), (*_fewer(plan), *_costs(plan)), picture)


_HAS, _LACKS, _LATER = "有", "缺", ""
_CELLS: Final = {_HAS: Style(GREEN, ink=PAPER), _LACKS: Style(RED, "//", PAPER), _LATER: FREE}
_SAVES: Final = ("只存权重", "权重和矩", "完整")
_CONTRACT: Final = {  # what must be saved → in how many of the saves, from the last, it is
    WEIGHTS: 3,
    MASTER: 2,
    MOMENTS: 2,
    "步数、损失缩放": 1,
    "随机状态、游标": 1,
    "配置与版本": 1,
    "分片身份": 1,
}


def _contract(stage: Stage):
    grid = Grid(stage.axes(), _CELLS, size=10)

    def update(told: int) -> None:
        cells = []
        for number, saves in enumerate(_CONTRACT.values()):
            row = [_LACKS] * (len(_SAVES) - saves) + [_HAS] * saves
            cells.append([(kind, kind) if number < told else (_LATER, "") for kind in row])
        grid.show(cells, tuple(_CONTRACT), _SAVES)

    return update


def _arrays(state: Ledger) -> tuple[Step, ...]:
    rows = [state[name] for name in (WEIGHTS, MASTER, MOMENTS)]
    first = rows[0].total_bytes
    total = sum(row.total_bytes for row in rows)
    added = " + ".join(f"{row.total_bytes:,}" for row in rows)
    return (
        Step(
            "只有权重文件",
            f"{first:,} 字节",
            "读得进来，能拿去做推断；要接着训练，还差得远。",
            (WEIGHTS, first),
            1,
        ),
        Step(
            "主副本与两个矩",
            f"{added} = {total:,} 字节",
            f"{GRADS}在更新边界清零，不必存。",
            ("数组合计", total),
            3,
            Question(f"能接着训练的一份，数组共多少字节？（边界上{GRADS}已清零）", total, "字节"),
        ),
    )


def _process() -> tuple[Step, ...]:
    return (
        Step(
            "步数与损失缩放状态",
            "几个整数",
            "学习率日程、偏差修正看步数；倍数也要从停下的地方接着变。",
            ("步数、倍数", "几个整数"),
            4,
        ),
        Step(
            "随机状态与数据游标",
            "读到哪里，接着抽什么",
            "只能说从存下的数值接着训练，说不上是原来那条过程。",
            ("随机、游标", "很小"),
            5,
            Question("权重和矩都在，采样器却从头来，还是原来那次训练吗？", YES_NO[1], options=YES_NO),
        ),
        Step(
            "配置与版本",
            "配置、tokenizer、数据版本",
            "同一个游标，换一版数据，指的就是别的样例。",
            ("配置、版本", "很小"),
            6,
        ),
        Step(
            "分片训练还要对得上",
            f"{WORKERS} 片，同一次保存，同一个更新边界",
            "只写了一半的、混了别次的，都不能当作完整的恢复检查点。",
            ("分片身份", "很小"),
            7,
            Question(f"{WORKERS} 片里混进一片上一次保存的，还能用吗？", "不能", options=("能", "不能")),
        ),
        Step(
            "怎样验收",
            "一直更新到底 ＝ 保存、重载、继续",
            "在写明的同一个环境里逐位比较两条路径；换了硬件或软件，要另外举证。",
            (),
            7,
        ),
    )


def recovery() -> Walk:
    """Return what a recovery checkpoint must hold, item by item."""
    state = model_state(PARAMETERS)
    steps = (*_arrays(state), *_process())
    return Walk("恢复检查点：停下之后接着训练", ("要存的", "字节"), steps, _contract)


WALKS: Final = {"recompute": recompute, "recovery": recovery}
