"""Section 27.7: every knob, the whole ledger, whether it fits, and all arrangements that do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...errors import CourseError
from ...ledger import RECIPES
from ...plan import DENOMINATORS, Job, Plan, choices, fitting, plan, undominated
from ...units import MB
from .. import Choice, Number, Switch, Table, log_stops, powers_of_two
from ..cases import CASES, CHAPTER, case, case_code
from ..charts import legend, short_bytes
from ..charts.fitting import ROWS, SENT, Fitting
from ..controls import Control
from ..explorer import OURS, Explorer
from ..stage import Stage

STAGES: Final = {
    "0": "不分片",
    "1": "ZeRO 1：主副本与矩",
    "2": "ZeRO 2：再加梯度",
    "3": "ZeRO 3：再加工作权重",
}
CONTROLS: tuple[Control, ...] = (
    Number("workers", "工作进程", 4, powers_of_two(1, 1024), "个", "数据并行的进程数"),
    Choice("zero", "状态分片", "1", STAGES, "哪些模型状态分给各进程保存"),
    Number("arrays_per_layer", "每层留下", 4, range(1, 11), "个数组", "十个里留下几个，其余重算"),
    Number("microbatch", "微批次", 2, powers_of_two(1, 64), "个序列", "一个进程同时算的序列数"),
    Number("accumulation", "累积", 1, powers_of_two(1, 64), "次", "几个微批次之后才更新"),
    Number(
        "sequences", "一次更新", 8, powers_of_two(1, 1024), "个序列", "约定的含义：一次更新平均多少个序列"
    ),
    Choice("denominator", "分母", "events", dict(DENOMINATORS), "梯度总和除以什么"),
    Choice(
        "recipe",
        "记账方式",
        "chapter",
        {k: r.title for k, r in RECIPES.items() if r.grads},
        "每个参数记哪些字节",
    ),
    Number("capacity_bytes", "设备容量", 10 * MB, log_stops(10**6, 10**14), "字节", "可以输入 80G 这样的数"),
    Number("percent", "规划余量", 25, range(0, 101), "%", "总账之外再预留的比例"),
    Switch("moments", "也数临时的", False, "重建的数组、收集来的权重、分片前的梯度，按最大的一层计"),
    Choice("model", "模型", CHAPTER, CASES, "本章之外的模型也按每层十个数组估算"),
)
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "一个进程，什么都不省": {"workers": 1, "zero": "0", "arrays_per_layer": 10, "accumulation": 4},
    "ZeRO 1，十个数组都留": {"arrays_per_layer": 10},
    "ZeRO 2，不重算": {"zero": "2", "arrays_per_layer": 10},
    "GPT-2 1.5B，8 × 24 GB": {
        "model": "gpt2-1.5b", "workers": 8, "zero": "2", "microbatch": 1, "accumulation": 4, "sequences": 32,
        "capacity_bytes": 24 * 10**9,
    },
    "Llama 3 8B，16 × 80 GB": {
        "model": "llama3-8b", "workers": 16, "zero": "1", "microbatch": 1, "accumulation": 4, "sequences": 64,
        "capacity_bytes": 80 * 10**9,
    },
}  # fmt: skip


class Page(NamedTuple):
    """The present plan, one that saves nothing, all that fit, and those that no other beats."""

    plan: Plan
    bare: Plan
    fits: tuple[Plan, ...]
    best: tuple[Plan, ...]


def _job(inputs: Any) -> Job:
    parameters, acts = case(inputs.model, sequences=inputs.microbatch)
    return Job(
        state=RECIPES[inputs.recipe].ledger(parameters),
        acts=replace(acts, sequences=1),
        capacity_bytes=inputs.capacity_bytes,
        tokens_per_update=inputs.sequences * acts.positions,
        percent=inputs.percent,
        denominator=inputs.denominator,
        largest_layer=-(-parameters // acts.layers) if inputs.moments else None,
    )


@lru_cache(8)
def _search(job: Job, workers: int) -> tuple[tuple[Plan, ...], tuple[Plan, ...]]:
    fits = fitting(job, workers=workers)
    return fits, undominated(fits)


def _knobs(inputs: Any) -> dict[str, Any]:
    return {
        name: getattr(inputs, name) for name in ("workers", "microbatch", "accumulation", "arrays_per_layer")
    }


def _compute(inputs: Any) -> Page:
    if inputs.sequences % inputs.workers:
        raise CourseError(
            f"workers 分不匀一次更新的 {inputs.sequences} 个序列", got=inputs.workers, remedy="请给它的约数"
        )
    job = _job(inputs)
    present = plan(job, **_knobs(inputs), zero=int(inputs.zero))
    bare = plan(job, **_knobs(inputs) | {"arrays_per_layer": None})
    return Page(present, bare, *_search(job, inputs.workers))


def _code(inputs: Any) -> str:
    layer = "-(-parameters // acts.layers)" if inputs.moments else "None"
    way = f"workers={inputs.workers}, microbatch={inputs.microbatch}, accumulation={inputs.accumulation}"
    return f"""\
from course_lib.ledger import RECIPES
from course_lib.plan import Job, fitting, plan, undominated
{case_code(inputs.model, sequences=1)}
job = Job(state=RECIPES["{inputs.recipe}"].ledger(parameters), acts=acts,
          capacity_bytes={inputs.capacity_bytes:_}, percent={inputs.percent},
          tokens_per_update={inputs.sequences} * acts.positions, denominator="{inputs.denominator}",
          largest_layer={layer})
present = plan(job, {way},
               arrays_per_layer={inputs.arrays_per_layer}, zero={inputs.zero})
bare = plan(job, {way})
fits = fitting(job, workers={inputs.workers})
result = (present, bare, fits, undominated(fits))
"""


def _picture(stage: Stage) -> Callable[[Any, Page], None]:
    picture = Fitting(*stage.axes(2, 1, height_ratios=(2, 3)))
    legend(stage, {**ROWS, **SENT}, columns=6)

    def update(inputs: Any, page: Page) -> None:
        picture.show(page.bare, page.plan, page.fits, page.best)

    return update


def _table(inputs: Any, page: Page) -> Table:
    rows = tuple((each.knob, each.setting, each.transfers, each.meaning) for each in choices(page.plan))
    ledger = "，".join(f"{row.name} {row.total_bytes:,}" for row in page.plan.ledger)
    margin = page.plan.need_bytes - page.plan.ledger.total_bytes
    note = f"账本（字节）：{ledger}，余量 {margin:,}。未计入：{'、'.join(page.plan.omits)}。"
    return Table(("旋钮", "设定", "新增的传输", "更新的含义"), rows, note=note)


def _sentence(inputs: Any, page: Page) -> str:
    gap = page.plan.job.capacity_bytes - page.plan.need_bytes
    verdict = f"放得下，还剩 {gap:,} 字节" if gap >= 0 else f"放不下，超出 {-gap:,} 字节"
    cost = f"每次更新发送 {short_bytes(page.plan.transfer_bytes)}，多做 {page.plan.extra_forward} 遍前向"
    same = "" if page.plan.same_update else "注意：这样设定已是另一种更新。"
    found = f"同一种更新，放得下的安排有 {len(page.fits)} 种，其中 {len(page.best)} 种没有被别的样样胜过。"
    return f"含余量需要 {page.plan.need_bytes:,} 字节：{verdict}；{cost}。{same}{found}"


def one_page() -> Explorer:
    """Return the explorer: the whole estimate on one page."""
    return Explorer(
        title="一页总账：怎样让它放得下",
        home=OURS,
        controls=CONTROLS,
        presets=PRESETS,
        compute=_compute,
        picture=_picture,
        table=_table,
        sentence=_sentence,
        code=_code,
        size=(820, 520),
    )


EXPLORERS = (one_page,)
