"""Bad values at every public function: a CourseError in Chinese or a sound result, never anything else.

``SPECIMENS`` holds one good call of every public callable of the number modules; a test fails when one is
missing. Each argument in turn is replaced by something a reader could slip in.
"""

import inspect
import math
import re
from dataclasses import is_dataclass
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Rational

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib import (
    accumulation,
    activations,
    collectives,
    ledger,
    lifetimes,
    loss_scaling,
    models,
    parallel,
    plan,
    precision,
    recompute,
    sharding,
    step_ledger,
    units,
)
from course_lib.errors import CourseError

NUMBER_MODULES = (
    units, ledger, activations, models, lifetimes, precision, loss_scaling, accumulation, parallel,
    collectives, sharding, recompute, plan, step_ledger,
)  # fmt: skip


class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        raise RuntimeError("no repr")


class BrokenList(list):
    def __len__(self):
        raise RuntimeError("no length")

    def __iter__(self):
        raise RuntimeError("no iteration")


STATE = ledger.model_state(1000)
ACTS = activations.SavedActivations(
    sequences=2, positions=8, width=4, layers=3, arrays_per_layer=10, bytes_per_value=2
)
SIZES = {"sequences": 2, "positions": 8}
CONTRIBUTION = accumulation.Contribution.from_mean(n_events=2, mean_grad=1)
MICROBATCH = accumulation.Microbatch(targets=(1, 2))
RULE = accumulation.UpdateRule(rate=Fraction(1, 10), clip=Fraction(1))
DYNAMIC = loss_scaling.DynamicScale()
WARMUP = loss_scaling.Warmup(peak=Fraction(1, 100), warmup_updates=3)
TRAIN = loss_scaling.TrainState.start(weights=[1.0, 2.0], scale=DYNAMIC, schedule=WARMUP)
RING = collectives.Ring(kind="all_reduce", values=10, bytes_each=2, workers=4)
JOB = plan.Job(state=STATE, acts=ACTS, capacity_bytes=10**6, tokens_per_update=32)
PLAN = plan.plan(JOB, microbatch=2, accumulation=2)
TIMELINE = lifetimes.training_timeline(state=STATE, acts=ACTS)
PHASES = lifetimes.schedule(layers=2, microbatches=2, updates=2, save_after=1, stop=True)
SCHEDULE = parallel.pipeline_schedule("gpipe", stages=2, microbatches=3)
UPDATE = {"weight": 1, "microbatches": (MICROBATCH,), "rule": RULE}
BUBBLE = {"stages": 4, "microbatches": 8, "chunks": 1}
SHARDED = {"sharded": sharding.ZERO_1}
ROW = ("梯度", 10, (2,), "试填", ledger.Lifetime.WITHIN_STEP)
NAMED_ROW = dict(zip(("name", "count", "bytes_each", "why", "lifetime"), ROW, strict=True))
FORMAT = {"fmt": precision.FP16}
GPT2 = models.MODELS["gpt2-124m"]

SPECIMENS = {
    "units.in_unit": (units.in_unit, {"n_bytes": 5, "unit": "MB", "places": 2}),
    "units.format_bytes": (units.format_bytes, {"n_bytes": 5}),
    "ledger.Row": (ledger.Row, NAMED_ROW),
    "ledger.Ledger": (ledger.Ledger, {"rows": STATE.rows, "omits": ("激活",)}),
    "ledger.Ledger.with_row": (STATE.with_row, {"row": ledger.Row("新的一行", *ROW[1:])}),
    "ledger.Ledger.with_headroom": (STATE.with_headroom, {"percent": 25}),
    "ledger.Ledger.bytes_per_parameter": (STATE.bytes_per_parameter, {"parameters": 1000}),
    "ledger.model_state": (
        ledger.model_state,
        {"parameters": 10, "weights": 2, "grads": 2, "grad_buffer": 4, "master": 4, "moments": (4, 4)},
    ),
    "ledger.Recipe.ledger": (ledger.RECIPES["chapter"].ledger, {"parameters": 10}),
    "ledger.diff": (ledger.diff, {"left": STATE, "right": STATE}),
    "activations.SavedActivations": (
        activations.SavedActivations,
        {**SIZES, "width": 4, "layers": 3, "arrays_per_layer": 10, "bytes_per_value": 2},
    ),
    "activations.TransformerActivations": (
        activations.TransformerActivations,
        {**SIZES, "width": 8, "heads": 2, "layers": 3, "tensor_parallel": 2, "sequence_parallel": True,
         "recompute": "selective"},
    ),
    "activations.attention_scores_row": (
        activations.attention_scores_row, {**SIZES, "heads": 2, "layers": 3, "bytes_each": (2, 1, 2)},
    ),
    "activations.embeddings_row": (activations.embeddings_row, {**SIZES, "width": 4, "bytes_per_value": 2}),
    "activations.logits_row": (activations.logits_row, {**SIZES, "vocabulary": 9, "bytes_per_value": 4}),
    "activations.workspace_row": (activations.workspace_row, {"n_bytes": 5}),
    "activations.communication_row": (activations.communication_row, {"n_bytes": 5}),
    "activations.fragmentation_row": (activations.fragmentation_row, {"ledger": STATE, "percent": 5}),
    "models.Model.saved": (GPT2.saved, {"sequences": 2, "arrays_per_layer": 10, "bytes_per_value": 2}),
    "models.Model.transformer": (
        GPT2.transformer,
        {"sequences": 2, "tensor_parallel": 2, "sequence_parallel": False, "recompute": "none"},
    ),
    "lifetimes.schedule": (
        lifetimes.schedule, {"layers": 2, "microbatches": 2, "updates": 2, "save_after": 1, "stop": True},
    ),
    "lifetimes.training_timeline": (
        lifetimes.training_timeline,
        {"state": STATE, "acts": ACTS, "microbatches": 2, "updates": 2, "save_after": 1, "stop": True,
         "per_array": True},
    ),
    "lifetimes.Timeline.from_arrays": (
        lifetimes.Timeline.from_arrays,
        {"starts": [0, 1], "ends": [2, 3], "n_bytes": [5, 6], "labels": ["甲", "乙"], "why": "试",
         "kinds": [ledger.Lifetime.WITHIN_STEP] * 2},
    ),
    "lifetimes.Timeline.curve": (TIMELINE.curve, {"by": "name", "place": "memory"}),
    "lifetimes.Timeline.alive": (TIMELINE.alive, {"at": 1}),
    "lifetimes.Timeline.alive_indices": (TIMELINE.alive_indices, {"at": 1}),
    "lifetimes.Phases.at": (PHASES.at, {"time": 1}),
    "lifetimes.Phases.of": (PHASES.of, {"kind": lifetimes.PhaseKind.FORWARD}),
    "step_ledger.StepShape": (
        step_ledger.StepShape, {**SIZES, "width": 8, "layers": 3, "heads": 2, "vocabulary": 9},
    ),
    "step_ledger.Policy": (
        step_ledger.Policy,
        {"title": "试", "weights": 2, "grads": 2, "master": 4, "moments": 4, "saved": 2, "compute": 4},
    ),
    "step_ledger.StepPlan": (
        step_ledger.StepPlan, {"shape": step_ledger.StepShape(), "dtype": "float64", "keep": 4},
    ),
    "step_ledger.StepPlan.saved": (step_ledger.StepPlan().saved, {"layers": 3, "whole_layers": 1}),
    "step_ledger.peak": (step_ledger.peak, {"plan": step_ledger.StepPlan()}),
    "step_ledger.forward_flops": (step_ledger.forward_flops, {"plan": step_ledger.StepPlan()}),
    "step_ledger.rebuild_flops": (step_ledger.rebuild_flops, {"plan": step_ledger.StepPlan()}),
    "precision.Format": (precision.Format, {"name": "FP16", "exponent_bits": 5, "fraction_bits": 10}),
    "precision.Format.round": (precision.FP16.round, {"values": [1.0, 2.0]}),
    "precision.Format.spacing": (precision.FP16.spacing, {"at": 1.0}),
    "precision.Format.neighbours": (precision.FP16.neighbours, {"at": 1.0}),
    "precision.Format.values_between": (precision.FP16.values_between, {"low": 1.0, "high": 1.01}),
    "precision.to_fp16": (precision.to_fp16, {"values": [1.0]}),
    "precision.to_bf16": (precision.to_bf16, {"values": [1.0]}),
    "precision.census": (precision.census, {"values": [1.0], "scale": 8, **FORMAT}),
    "precision.census_by_power": (precision.census_by_power, {"values": [1.0], "scale": 8, **FORMAT}),
    "precision.decimal_copies": (
        precision.decimal_copies,
        {"start": 1, "subtract": 0.003, "steps": 2, "places": 2, "master_places": 3,
         "rounding": "ROUND_HALF_EVEN"},
    ),
    "precision.float_copies": (
        precision.float_copies, {"start": 1.0, "subtract": 0.003, "steps": 2, **FORMAT},
    ),
    "precision.lost": (precision.lost, {"weights": [1.0], "updates": [0.1], **FORMAT}),
    "precision.steps_until_visible": (
        precision.steps_until_visible, {"start": 1.0, "subtract": 0.0001, "limit": 10, **FORMAT},
    ),
    "precision.synthetic_grads": (
        precision.synthetic_grads, {"typical": 1e-6, "spread": 4, "count": 10},
    ),
    "loss_scaling.StaticScale": (loss_scaling.StaticScale, {"loss_scale": 8}),
    "loss_scaling.DynamicScale": (
        loss_scaling.DynamicScale,
        {"loss_scale": 8, "growth_interval": 2, "factor": 2, "smallest": 1, "largest": 16, "good_updates": 0},
    ),
    "loss_scaling.StaticScale.scale": (loss_scaling.StaticScale(8).scale, {"values": [1.0]}),
    "loss_scaling.StaticScale.unscale": (loss_scaling.StaticScale(8).unscale, {"values": [1.0]}),
    "loss_scaling.StaticScale.adjust": (loss_scaling.StaticScale(8).adjust, {"grads_finite": True}),
    "loss_scaling.DynamicScale.scale": (DYNAMIC.scale, {"values": [1.0]}),
    "loss_scaling.DynamicScale.unscale": (DYNAMIC.unscale, {"values": [1.0]}),
    "loss_scaling.DynamicScale.adjust": (DYNAMIC.adjust, {"grads_finite": False}),
    "loss_scaling.scale_from_dict": (loss_scaling.scale_from_dict, {"saved": DYNAMIC.to_dict()}),
    "loss_scaling.all_finite": (lambda arrays: loss_scaling.all_finite(arrays), {"arrays": [1.0]}),
    "loss_scaling.Warmup": (loss_scaling.Warmup, {"peak": 0.1, "warmup_updates": 3}),
    "loss_scaling.Warmup.rate": (WARMUP.rate, {"step": 2}),
    "loss_scaling.TrainState": (
        loss_scaling.TrainState,
        {"weights": TRAIN.weights, "first_moment": TRAIN.first_moment, "second_moment": TRAIN.second_moment,
         "scale": DYNAMIC, "schedule": WARMUP, "step": 0},
    ),
    "loss_scaling.TrainState.start": (
        loss_scaling.TrainState.start, {"weights": [1.0], "scale": DYNAMIC, "schedule": WARMUP},
    ),
    "loss_scaling.apply_update": (loss_scaling.apply_update, {"state": TRAIN, "scaled_grads": [0.1, 0.2]}),
    "accumulation.Arrangement": (
        accumulation.Arrangement, {"workers": 2, "microbatch": 2, "accumulation": 2},
    ),
    "accumulation.Arrangement.split": (
        accumulation.Arrangement(workers=1, microbatch=2, accumulation=1).split, {"items": (1, 2)},
    ),
    "accumulation.Arrangement.token_counts": (
        accumulation.Arrangement(workers=1, microbatch=2, accumulation=1).token_counts, {"lengths": (1, 2)},
    ),
    "accumulation.Contribution": (
        accumulation.Contribution, {"n_events": 2, "grad_sum": 3, "parameters_version": 0},
    ),
    "accumulation.Contribution.from_mean": (
        accumulation.Contribution.from_mean, {"n_events": 2, "mean_grad": 3, "parameters_version": 0},
    ),
    "accumulation.Contribution.from_events": (
        accumulation.Contribution.from_events,
        {"grads": [1, 2], "mask": [True, False], "parameters_version": 0},
    ),
    "accumulation.Contribution.__add__": (CONTRIBUTION.__add__, {"other": CONTRIBUTION}),
    "accumulation.Microbatch": (accumulation.Microbatch, {"targets": (1, 2), "mask": (True, False)}),
    "accumulation.Microbatch.contribution": (
        MICROBATCH.contribution, {"weight": 1, "parameters_version": 0},
    ),
    "accumulation.UpdateRule": (accumulation.UpdateRule, {"rate": 0.1, "clip": 1}),
    "accumulation.UpdateRule.clipped": (RULE.clipped, {"mean_grad": 2}),
    "accumulation.UpdateRule.step": (RULE.step, {"weight": 1, "mean_grad": 2}),
    "accumulation.arrangements": (accumulation.arrangements, {"sequences_per_update": 8}),
    "accumulation.equal_weight_mean": (accumulation.equal_weight_mean, {"contributions": [CONTRIBUTION]}),
    "accumulation.total": (accumulation.total, {"contributions": [CONTRIBUTION]}),
    "accumulation.update_at_boundary": (accumulation.update_at_boundary, UPDATE),
    "accumulation.update_clipping_early": (accumulation.update_clipping_early, UPDATE),
    "accumulation.update_early": (accumulation.update_early, UPDATE),
    "accumulation.update_with_equal_weights": (accumulation.update_with_equal_weights, UPDATE),
    "parallel.Schedule.by_stage": (SCHEDULE.by_stage, {"values": SCHEDULE.start}),
    "parallel.bubble_fraction": (parallel.bubble_fraction, BUBBLE),
    "parallel.bubble_overhead": (parallel.bubble_overhead, BUBBLE),
    "parallel.data_parallel": (parallel.data_parallel, {"per_worker": [[CONTRIBUTION], [CONTRIBUTION]]}),
    "parallel.pipeline_schedule": (
        parallel.pipeline_schedule,
        {"kind": "interleaved", "stages": 2, "microbatches": 4, "chunks": 2, "forward": 1, "backward": 2},
    ),
    "parallel.split_columns": (parallel.split_columns, {"x": [[1, 2]], "w": [[1, 2], [3, 4]], "workers": 2}),
    "parallel.split_rows": (parallel.split_rows, {"x": [[1, 2]], "w": [[1, 2], [3, 4]], "workers": 2}),
    "parallel.training_seconds": (
        parallel.training_seconds,
        {"parameters": 10, "tokens": 10, "workers": 2, "flops_per_second": 5, "recompute": True},
    ),
    "collectives.share": (collectives.share, {"total": 10, "workers": 4, "worker": 1}),
    "collectives.Ring": (
        collectives.Ring, {"kind": "all_gather", "values": 10, "bytes_each": 2, "workers": 4},
    ),
    "collectives.Ring.sent_bytes": (RING.sent_bytes, {"worker": 1}),
    "collectives.transfer_seconds": (
        collectives.transfer_seconds, {"n_bytes": 10, "bytes_per_second": 5, "latency": 0.1},
    ),
    "collectives.ring_seconds": (
        collectives.ring_seconds, {"ring": RING, "bytes_per_second": 5, "latency": 0.1},
    ),
    "collectives.step_seconds": (collectives.step_seconds, {"compute": 1, "transfer": 2, "overlap": 0.5}),
    "collectives.takeover_workers": (
        collectives.takeover_workers, {"compute": 1, "n_bytes": 10, "bytes_per_second": 5, "latency": 0},
    ),
    "sharding.Shard": (
        sharding.Shard, {"label": "甲", "worker": 0, "workers": 2, "total": 3, "values": (1, 2)},
    ),
    "sharding.ShardRow": (
        sharding.ShardRow,
        {**NAMED_ROW, "whole_count": 20, "worker": 0, "workers": 2},
    ),
    "sharding.gather": (sharding.gather, {"shards": sharding.scatter("甲", (1, 2, 3), workers=2)}),
    "sharding.gathered": (sharding.gathered, {"state": STATE, **SHARDED, "largest_layer": 10}),
    "sharding.ideal_bytes": (sharding.ideal_bytes, {"state": STATE, "workers": 4, **SHARDED}),
    "sharding.offload": (sharding.offload, {"state": STATE, "names": {ledger.MASTER}}),
    "sharding.resident": (sharding.resident, {"state": STATE, "workers": 4, **SHARDED, "worker": 1}),
    "sharding.scatter": (sharding.scatter, {"label": "甲", "values": (1, 2, 3), "workers": 2}),
    "sharding.whole_ledger": (sharding.whole_ledger, {"state": STATE}),
    "sharding.step_transfers": (
        sharding.step_transfers, {"state": STATE, "workers": 4, **SHARDED, "microbatches": 2},
    ),
    "sharding.step_volume": (sharding.step_volume, {"parameters": 10, **SHARDED, "microbatches": 2}),
    "recompute.keep_arrays": (recompute.keep_arrays, {"acts": ACTS, "arrays_per_layer": 4}),
    "recompute.rebuild": (recompute.rebuild, {"acts": ACTS, "arrays_per_layer": 4}),
    "recompute.selective_extra_flops": (recompute.selective_extra_flops, {"positions": 8, "width": 4}),
    "recompute.tradeoff": (
        recompute.tradeoff,
        {"state": STATE, "plan": recompute.rebuild(ACTS, arrays_per_layer=4), "capacity_bytes": 10**6,
         "compute_seconds": 1, "percent": 25, "extra_arithmetic": 0.3},
    ),
    "plan.Job": (
        plan.Job,
        {"state": STATE, "acts": ACTS, "capacity_bytes": 10**6, "tokens_per_update": 32, "percent": 25,
         "denominator": "events", "largest_layer": 100},
    ),
    "plan.choices": (plan.choices, {"plan": PLAN}),
    "plan.fitting": (plan.fitting, {"job": JOB, "workers": 2}),
    "plan.make_it_fit": (plan.make_it_fit, {"job": JOB, "workers": 2}),
    "plan.plan": (
        plan.plan,
        {"job": JOB, "workers": 2, "microbatch": 1, "accumulation": 2, "arrays_per_layer": 4, "zero": 1},
    ),
    "plan.undominated": (plan.undominated, {"plans": (PLAN,)}),
}  # fmt: skip

# Values that only the library makes: they check nothing, because nobody writes them by hand.
RESULTS = {
    "ledger.Recipe", "ledger.Difference", "models.Model", "lifetimes.Alive", "lifetimes.Curve",
    "lifetimes.Lane", "lifetimes.Peak", "lifetimes.Phase", "lifetimes.Phases", "lifetimes.Timeline",
    "step_ledger.Boundary", "precision.Census",
    "precision.Copies", "accumulation.Outcome", "parallel.DataParallelStep", "parallel.Partial",
    "parallel.Schedule", "collectives.Share", "sharding.StepTransfer", "recompute.Rebuild",
    "recompute.Tradeoff", "plan.KnobEffect", "plan.Plan",
}  # fmt: skip


def public_callables():
    """Yield the dotted names of functions, classes and methods with arguments that a reader can call."""
    for module in NUMBER_MODULES:
        short = module.__name__.removeprefix("course_lib.")
        for name, thing in vars(module).items():
            made_here = getattr(thing, "__module__", "").startswith(module.__name__)
            if name.startswith("_") or not made_here or not callable(thing):
                continue
            if inspect.isfunction(thing) or is_dataclass(thing):
                yield f"{short}.{name}"
            if inspect.isclass(thing) and is_dataclass(thing):
                for method, call in inspect.getmembers(thing, callable):
                    if not method.startswith("_") and set(inspect.signature(call).parameters) - {"self"}:
                        yield f"{short}.{name}.{method}"


def test_every_public_callable_has_a_specimen():
    known = set(SPECIMENS) | RESULTS
    assert [name for name in public_callables() if name not in known] == []
    assert [name for name in RESULTS if not hasattr(import_module(f"course_lib.{name.split('.')[0]}"),
                                                    name.split(".")[1])] == []  # fmt: skip


BAD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 0),
    st.sampled_from([10**31, -(10**31), 10**400, 2**63, 2**64 + 1]),
    st.sampled_from([math.nan, math.inf, -math.inf, 1.5, Fraction(-1, 3), -0.5, -0.0, 1e308, 5e-324, 1e-400]),
    st.sampled_from([Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999")]),
    st.sampled_from(["", "4", "不存在", b"4", "none", 1j, object(), AlwaysEqual(), int, lambda: 1]),
    st.builds(BrokenList, st.just([1, 2])),
    st.lists(st.sampled_from([0, -1, 1, None, "1", math.nan, True, 10**40]), max_size=3),
    st.sampled_from([{}, {"loss_scale": -1}, set(), (), ((),), [[]], [[1, 2], [3]], range(3)]),
    st.sampled_from(
        [np.float64("nan"), np.int64(-1), np.bool_(True), np.float32(0.1), np.int64(3), np.array([1, np.nan]),
         np.array("x"), np.array([], dtype=float), np.zeros((2, 0)), np.array([None]),
         np.datetime64("2020-01-01")]
    ),
)  # fmt: skip


def has_nan(result):
    if isinstance(result, (float, np.floating)):
        return math.isnan(result)
    return isinstance(result, Decimal) and result.is_nan()


@pytest.mark.parametrize("name", SPECIMENS)
def test_the_specimen_is_a_good_call(name):
    call, arguments = SPECIMENS[name]
    call(**arguments)


CHINESE = re.compile("[一-鿿]")
ASKED = [(name, argument) for name, (_, arguments) in SPECIMENS.items() for argument in arguments]


def throw(name, argument, value):
    call, arguments = SPECIMENS[name]
    try:
        result = call(**{**arguments, argument: value})
    except CourseError as error:
        assert CHINESE.search(str(error)), f"not a Chinese sentence: {error}"
        assert "remedy" not in str(error)
    else:
        assert not has_nan(result)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "argument"), ASKED, ids=[".".join(pair) for pair in ASKED])
@settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(value=BAD)
def test_bad_values(name, argument, value):
    throw(name, argument, value)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "argument"), ASKED, ids=[".".join(pair) for pair in ASKED])
@settings(max_examples=250, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(value=BAD)
def test_many_bad_values(name, argument, value):
    throw(name, argument, value)


# What no drawn value shows: objects that lie about themselves, sizes that grow from small arguments.


class FailsAsInt(int):
    def __int__(self):
        raise RuntimeError("no int")


class ClaimsToBeWhole:
    pass


class ClaimsToBeRational:
    numerator, denominator = 1, 0


class ClaimsAnyClass:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class FailsAsText(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        raise RuntimeError("no comparison")


class Endless(list):
    def __iter__(self):
        return iter(int, 1)


Integral.register(ClaimsToBeWhole)
Rational.register(ClaimsToBeRational)
LIARS = (
    FailsAsInt(3), ClaimsToBeWhole(), ClaimsToBeRational(), ClaimsAnyClass(), FailsAsText("MB"),
    np.timedelta64(3), np.array([[1, 2], [3, 4]]),
)  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [type(value).__name__ for value in LIARS])
def test_objects_that_lie_about_themselves(kind):
    value = next(liar for liar in LIARS if type(liar).__name__ == kind)
    for name, argument in ASKED:
        throw(name, argument, value)


def test_a_message_is_one_line_of_printable_text():
    class Noisy:
        def __repr__(self):
            return "甲\n   乙\x1b[31m\ud800"

    for value, shown in ((Noisy(), r"甲 乙\x1b[31m\ud800"), (np.array([[1], [2]]), "array([[1], [2]])")):
        with pytest.raises(CourseError) as caught:
            units.format_bytes(value)
        assert f"收到 {shown}。" in str(caught.value)


def row_within_step(number):
    return ledger.Row(f"第 {number} 行", 1, (1,), "试", ledger.Lifetime.WITHIN_STEP)


MANY_ROWS = ledger.Ledger(tuple(map(row_within_step, range(3000))))
ONE_ARRAY = activations.SavedActivations(
    sequences=1, positions=1, width=1, layers=1, arrays_per_layer=1, bytes_per_value=1
)
LONG_DENOMINATORS = [Fraction(1, 2**3900 + 2 * number + 1) for number in range(50_000)]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: precision.to_fp16(Endless([1, 2])), "values"),
        (lambda: precision.to_fp16([[1.0] * 1000] * 100_000), "values"),
        (lambda: precision.to_fp16(np.broadcast_to(1.0, 2**24)), "values"),
        (lambda: lifetimes.training_timeline(state=MANY_ROWS, acts=ONE_ARRAY, microbatches=10**5), "3001 条"),
        (
            lambda: lifetimes.training_timeline(
                state=STATE, acts=ONE_ARRAY, microbatches=10**5, in_backward=MANY_ROWS
            ),
            "3001 条",
        ),
        (lambda: lifetimes.training_timeline(state=STATE, acts=ONE_ARRAY, updates=5 * 10**6), "次更新"),
        (lambda: parallel.pipeline_schedule("gpipe", stages=4 * 10**6, microbatches=1), "stages"),
        (lambda: parallel.split_columns([[1]] * 10**5, [[1] * 1000], workers=2), "x 与 w"),
        (lambda: parallel.split_columns([[1] * 10**5] * 10**5, [[1]], workers=1), "x 太大"),
        (lambda: parallel.split_rows([[1]] * 10**5, [[1] * 10**5], workers=1), "x 与 w"),
        (lambda: accumulation.Contribution.from_events(grads=LONG_DENOMINATORS), "grads"),
        (
            lambda: accumulation.equal_weight_mean(
                [accumulation.Contribution(1, grad) for grad in LONG_DENOMINATORS[:5000]]
            ),
            "contributions",
        ),
    ],
)  # fmt: skip
def test_small_arguments_that_would_fill_the_memory(call, named):
    with pytest.raises(CourseError, match=named):
        call()


def test_numpy_numbers_count_like_any_other():
    """Small numpy types wrap around: 2 × 200 × 4 × 3 × 200 = 960,000 does not fit in 8 bits."""
    narrow = np.uint8(200)
    row = activations.attention_scores_row(sequences=2, positions=narrow, heads=4, layers=3)
    assert (row.count, row.total_bytes) == (960_000, 4_800_000)
    of_three = (narrow, np.uint8(0), np.uint8(3))
    shard = sharding.ShardRow("梯度", 67, (2,), "试", ledger.Lifetime.WITHIN_STEP, *of_three)
    assert shard.ideal_bytes == Fraction(400, 3)
    line = lifetimes.training_timeline(state=STATE, acts=ONE_ARRAY, microbatches=narrow, updates=narrow)
    assert line.end == 200 * (200 * 2 + 1)
