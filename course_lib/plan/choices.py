"""Section 27.7: what each knob of a plan transfers anew, and what it changes in the meaning of an update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..arguments import instance
from ..ledger import MASTER, WEIGHTS
from ..sharding import STAGES
from ..units import format_bytes
from .ledgers import DENOMINATORS, Plan

NOTHING: Final = "不传新东西"


@dataclass(frozen=True, slots=True)
class KnobEffect:
    """One knob, all in Chinese: how it is set, what it transfers anew, what it does to the update."""

    knob: str
    setting: str
    transfers: str
    meaning: str


def choices(plan: Plan) -> tuple[KnobEffect, ...]:
    """Return one ``KnobEffect`` per knob: bookkeeping, workers, accumulation, sharding, recompute.

    "The same update" is meant in exact arithmetic; another order of adding may change the last bits.
    """
    instance("plan", plan, Plan, "请用 plan(...) 得到")
    return (_bookkeeping(plan), _workers(plan), _accumulation(plan), _sharding(plan), _recompute(plan))


def _bookkeeping(plan: Plan) -> KnobEffect:
    widths = {row.name: row.bytes_per_value for row in plan.job.state}
    setting = " + ".join(f"{name} {width}" for name, width in widths.items()) + "（字节／参数）"
    if MASTER in widths:
        meaning = "细小的更新先积累在主权重副本里，再舍入给工作权重"
    elif widths.get(WEIGHTS, 0) >= 4:
        meaning = "工作权重自己就有 4 字节，不靠副本积累更新"
    else:
        meaning = "没有主权重副本：细小的更新可能一次次被舍掉，更新的结果会变"
    return KnobEffect("数值表示", setting, NOTHING, meaning)


def _workers(plan: Plan) -> KnobEffect:
    workers, by_events = plan.arrangement.workers, plan.job.denominator == "events"
    divided = f"总和除以{DENOMINATORS[plan.job.denominator]}"
    same = "分给几个进程都是同一次更新" if by_events else "只有各微批次的有效事件一样多，才是同一次更新"
    transfers = "梯度总和与有效事件数要跨进程汇总" if workers > 1 else NOTHING
    return KnobEffect("数据并行", f"{workers} 个工作进程", transfers, f"{divided}：{same}")


def _accumulation(plan: Plan) -> KnobEffect:
    way = plan.arrangement
    setting = f"微批次 {way.microbatch} 个序列，累积 {way.accumulation} 次"
    repeated = [item.what for item in plan.transfers if item.times > 1]
    transfers = f"每个微批次都要再传：{'、'.join(dict.fromkeys(repeated))}" if repeated else NOTHING
    agreed, now = plan.job.sequences_per_update, way.sequences_per_update
    if plan.same_update:
        meaning = f"仍是 {agreed} 个序列更新一次，其间参数不动"
    else:
        meaning = f"变成 {now} 个序列更新一次，约定的是 {agreed} 个：这已是另一种更新"
    return KnobEffect("梯度累积", setting, transfers, meaning)


def _sharding(plan: Plan) -> KnobEffect:
    setting = tuple(STAGES)[plan.zero if plan.arrangement.workers > 1 else 0]
    lines = [
        f"{item.what} {item.times} 次，{format_bytes(item.bytes_per_worker)}：{item.why}"
        for item in plan.transfers
    ]
    return KnobEffect("状态分片", setting, "；".join(lines) or NOTHING, "不变：只改由谁保存、何时去取")


def _recompute(plan: Plan) -> KnobEffect:
    before, after = plan.rebuild.before.arrays_per_layer, plan.rebuild.after.arrays_per_layer
    work = f"；多做一遍前向的 {plan.extra_forward}" if plan.extra_forward else ""
    return KnobEffect(
        "重算", f"每层 {before} 个数组留 {after} 个", NOTHING + work, "不变：同样的中间值再算一次"
    )
