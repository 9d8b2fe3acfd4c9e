"""A run as what a file can hold: named arrays and plain facts; and the same back, refused where it is not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from ..arguments import instance, whole
from ..errors import CourseError
from ..loss_scaling import scale_from_dict
from ..trainer import Array
from .runs import Setup, TrainingRun, begin

KINDS: Final = ("weights", "master", "first", "second")  # gradients are zero at a boundary, where one saves


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """``arrays`` by name in a fixed order, ``facts`` of JSON values only. Arrays may be the run's own."""

    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


def take_apart(run: TrainingRun) -> Parts:
    """Return what must be saved; the setup is kept beside it (``versions``)."""
    now = instance("run", run, TrainingRun, "请用 begin(...) 或 load(...) 得到")
    arrays = {f"{kind}/{name}": each for kind in KINDS for name, each in getattr(now.state, kind).items()}
    facts = {
        "updates": now.state.updates,
        "scale": now.scale.to_dict(),
        "random": now.random.bit_generator.state,
        "cursor": now.cursor,
        "scheduled": now.scheduled,
        "rounds": now.rounds,
    }
    return Parts({**arrays, "order": now.order}, facts)


def put_together(setup: Setup, parts: Parts) -> TrainingRun:
    """Return a run of new arrays. Raises ``CourseError`` where the parts are not those of such a run."""
    run = begin(setup)
    wanted = take_apart(run)
    if {name: _form(each) for name, each in parts.arrays.items()} != {
        name: _form(each) for name, each in wanted.arrays.items()
    } or set(parts.facts) != set(wanted.facts):
        raise CourseError("存下的数组或条目与这个配置不符", remedy="请用保存时的配置恢复")
    for name, target in wanted.arrays.items():
        target[...] = parts.arrays[name]
    _set_random(run.random, parts.facts["random"])
    return replace(
        run,
        state=replace(run.state, updates=whole("updates", parts.facts["updates"])),
        scale=scale_from_dict(parts.facts["scale"]),
        cursor=whole("cursor", parts.facts["cursor"], maximum=len(run.order)),
        scheduled=whole("scheduled", parts.facts["scheduled"]),
        rounds=whole("rounds", parts.facts["rounds"]),
    )


def versions(setup: Setup) -> dict[str, Any]:
    """Return configuration and versions as JSON values; two setups are the same where these are."""
    plan = setup.plan
    return {
        "模型与批次": asdict(plan.shape),
        "存储方式": [plan.dtype, plan.keep],
        "种子": setup.seed,
        "学习率日程": [str(setup.schedule.peak), setup.schedule.warmup_updates],
        "损失缩放的规则": {**setup.scale.to_dict(), "good_updates": 0},
        "数据版本": setup.data,
        "tokenizer 版本": setup.tokenizer,
    }


def digest(run: TrainingRun) -> str:
    """Return a hash of every bit that decides how a run goes on.

    >>> from course_lib.recovery import SMALL, advance
    >>> digest(begin(SMALL)) == digest(begin(SMALL)), digest(begin(SMALL)) == digest(advance(begin(SMALL)))
    (True, False)
    """
    parts = take_apart(run)
    whole_run = hashlib.sha256(json.dumps(parts.facts, sort_keys=True).encode())
    for name, array in parts.arrays.items():
        whole_run.update(f"{name}{_form(array)}".encode() + np.ascontiguousarray(array).tobytes())
    return whole_run.hexdigest()


def _form(array: Array) -> tuple[str, tuple[int, ...]]:
    return array.dtype.str, array.shape


def _set_random(random: np.random.Generator, saved: Any) -> None:
    try:
        random.bit_generator.state = saved
    except Exception as error:  # numpy raises several kinds, for other generators and for broken entries
        raise CourseError("随机状态读不懂", got=saved, remedy="请给保存时写出的随机状态") from error
