"""Four workers in one process: the result of one, and every byte that crosses as predicted."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import trainer
from course_lib.collectives import Ring, share
from course_lib.errors import CourseError
from course_lib.ledger import GRADS, WEIGHTS
from course_lib.sharding import STAGES, gathered, step_transfers
from course_lib.step_ledger import StepPlan, StepShape
from course_lib.trainer import Batch, random_batch, start
from course_lib.workers import Transport, alone, data_parallel, measured_shares, pipeline, tensor_parallel
from course_lib.workers.replicas import replica, replica_step
from course_lib.workers.rings import COUNT, FINITE, all_gather, all_reduce, chunk, reduce_scatter
from course_lib.workers.stages import DOWN, UP
from course_lib.workers.tensor import PARTIAL

SHAPE = StepShape(sequences=2, positions=6, width=8, layers=4, heads=4, vocabulary=13)
PLAN = StepPlan(shape=SHAPE, dtype="float64")
MIXED = StepPlan(shape=SHAPE)
CHAPTER = StepPlan()
CLOSE = 1e-13  # weights and moments of a float64 step whose sums were made in another order


def masked(count, shape=SHAPE):
    """Return batches of unequal events: batch i has i + 1 in its first sequence."""
    batches = []
    for index in range(count):
        batch = random_batch(shape, seed=index)
        valid = batch.valid.copy()
        valid[0, index + 1 :] = False
        batches.append(Batch(batch.tokens, batch.targets, valid))
    return batches


def sent(outcome, *kinds):
    return [outcome.transport.sent_bytes(worker, *kinds) for worker in range(outcome.transport.workers)]


# Rings


@pytest.mark.parametrize("values", [0, 1, 7, 12])
@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_rings_move_what_collectives_predicts(workers, values):
    arrays = [np.arange(values) * 10**worker for worker in range(workers)]
    total = np.arange(values) * int("1" * workers)
    for kind in ("all_reduce", "reduce_scatter", "all_gather"):
        transport, flats = Transport(workers), [array.copy() for array in arrays]

        def program(link, kind=kind, flats=flats):
            flat = flats[link.worker]
            if kind == "reduce_scatter":
                return reduce_scatter(link, kind, flat)
            {"all_reduce": all_reduce, "all_gather": all_gather}[kind](link, kind, flat)
            return flat

        parts = [share(values, workers=workers, worker=worker) for worker in range(workers)]
        wanted = {
            "all_reduce": [total] * workers,
            "reduce_scatter": [total[part.start : part.stop] for part in parts],
            "all_gather": [np.concatenate([a[p.start : p.stop] for a, p in zip(arrays, parts, strict=True)])]
            * workers,
        }[kind]
        for found, due in zip(transport.run(program), wanted, strict=True):
            assert np.array_equal(found, due), kind
        ring = Ring(kind=kind, values=values, bytes_each=8, workers=workers)
        assert [transport.sent_bytes(w) for w in range(workers)] == [
            ring.sent_bytes(w) for w in range(workers)
        ]


def test_what_is_sent_is_a_copy():
    array = np.zeros(3)

    def program(link):
        if link.worker == 0:
            link.send("甲", 1, array)
            array[:] = 1
            return array
        return link.receive(0)

    assert [each.tolist() for each in Transport(2).run(program)] == [[1, 1, 1], [0, 0, 0]]


def test_all_waiting_ends_with_a_sentence_and_so_does_any_error():
    with pytest.raises(CourseError, match="都在等"):
        Transport(3).run(lambda link: link.receive((link.worker + 1) % 3))
    with pytest.raises(ZeroDivisionError):
        Transport(3).run(lambda link: 1 / 0 if link.worker == 1 else link.receive(1))


# (a) and (d): examples, and shards of states


def test_two_workers_are_bit_equal_to_the_sum_of_their_gradients():
    """Reference: the trainer's own gradients of each batch, added, divided by all events; Adam typed here."""
    first, second = masked(2)
    assert (first.events, second.events) == (7, 8)
    sums = [trainer.gradients(start(PLAN), each, loss_scale=each.events) for each in (first, second)]
    state = data_parallel(PLAN, [[first], [second]]).state
    for name, grad in sums[0].items():
        mean = (grad + sums[1][name]) / 15
        assert np.array_equal(state.first[name], (1 - 0.9) * mean), name
        assert np.array_equal(state.second[name], (1 - 0.999) * (mean * mean)), name


def test_two_workers_against_one_with_both_microbatches():
    """Only the embedding is added to twice per microbatch, so only its sums have another order."""
    batches = masked(2)
    one, two = alone(PLAN, batches), data_parallel(PLAN, [[batch] for batch in batches])
    assert two.differing(one) == ("tokens",)
    assert two.farthest(one) <= CLOSE


def test_one_worker_is_the_trainers_step():
    batch, state = masked(1)[0], start(PLAN)
    trainer.train_step(state, batch)
    found = alone(PLAN, [batch]).state
    for name, weights in state.weights.items():
        assert np.abs(found.weights[name] - weights).max() <= CLOSE, name
        assert np.abs(found.first[name] - state.first[name]).max() <= CLOSE, name


def test_means_of_unequal_events_would_be_something_else():
    batches = masked(2)
    means = [trainer.gradients(start(PLAN), each) for each in batches]
    state = data_parallel(PLAN, [[batch] for batch in batches]).state
    wrong = 0.1 * (means[0]["tokens"] + means[1]["tokens"]) / 2
    assert np.abs(state.first["tokens"] - wrong).max() > 1e-4


@pytest.mark.parametrize("plan", [PLAN, MIXED], ids=["float64", "mixed"])
@pytest.mark.parametrize("workers", [2, 4])
def test_sharding_changes_no_bit(plan, workers):
    batches = [[batch] for batch in masked(workers)]
    whole = data_parallel(plan, batches)
    assert whole.farthest(alone(plan, [b for (b,) in batches])) <= (CLOSE if plan is PLAN else 0.002)
    for zero in STAGES:
        found = data_parallel(plan, batches, zero=zero)
        assert (found.differing(whole), found.state.updates) == ((), 1), zero


def test_every_worker_has_the_new_weights():
    batches, state = masked(4), start(MIXED)
    for zero in ("不分片", "ZeRO 1", "ZeRO 2"):

        def program(link, zero=zero):
            worker = replica(link, state, sharded=STAGES[zero])
            own = [batches[link.worker]]
            return replica_step(link, worker, own, rate=0.001, watch=trainer.Watch()).weights

        first, *others = Transport(4).run(program)
        for other in others:
            assert all(np.array_equal(first[unit], other[unit]) for unit in first), zero


@pytest.mark.parametrize("microbatches", [1, 2])
@pytest.mark.parametrize("zero", STAGES)
def test_bytes_are_those_of_step_transfers(zero, microbatches):
    """Every unit of this model divides by four, so shares of units and of the whole take the same bytes."""
    shape = replace(SHAPE, vocabulary=12)
    plan, batches = StepPlan(shape=shape), masked(4 * microbatches, shape)
    parts = [batches[worker::4] for worker in range(4)]
    found = data_parallel(plan, parts, zero=zero)
    state = plan.boundaries()[0].ledger
    moves = step_transfers(state, workers=4, sharded=STAGES[zero], microbatches=microbatches)
    for what in (GRADS, WEIGHTS):
        predicted = sum(move.bytes_per_worker for move in moves if move.what == what)
        assert sent(found, what) == [predicted] * 4, what
    count = Ring(kind="all_reduce", values=1, bytes_each=8, workers=4)
    assert sent(found, COUNT) == sent(found, FINITE) == [count.sent_bytes(worker) for worker in range(4)]


def test_uneven_units_take_the_bytes_of_their_own_rings():
    found = data_parallel(PLAN, [[batch] for batch in masked(3)], zero="ZeRO 3")
    outer, layer = 13 * 8 + 6 * 8 + 8 + 8, 4 * 8 + 4 * 64 + 2 * 256 + 32 + 8
    rings = [
        Ring(kind="reduce_scatter", values=size, bytes_each=8, workers=3) for size in (outer, *4 * [layer])
    ]
    assert sent(found, GRADS) == [sum(ring.sent_bytes(worker) for ring in rings) for worker in range(3)]
    assert PLAN.shape.parameters == outer + 4 * layer


def test_overflow_on_one_worker_skips_the_update_on_all():
    state, batches = start(MIXED), masked(2)

    def program(link):
        worker = replica(link, state, sharded=STAGES["ZeRO 2"])
        if link.worker == 1:
            worker.own.grads["0"][0] = np.inf
        return replica_step(link, worker, [batches[link.worker]], rate=0.001, watch=trainer.Watch())

    done = Transport(2).run(program)
    assert [worker.own.updates for worker in done] == [0, 0]
    assert not any(grad.any() for worker in done for grad in worker.own.grads.values())


# (b): matrices


@pytest.mark.parametrize(("keep", "sums"), [(10, 4), (4, 5), (1, 5)])
@pytest.mark.parametrize("workers", [2, 4])
def test_tensor_split(workers, keep, sums):
    """Four sums per layer, two forward and two backward; recompute repeats the one after attention."""
    batches = masked(2)
    plan = StepPlan(shape=SHAPE, dtype="float64", keep=keep)
    found = tensor_parallel(plan, batches, workers=workers)
    assert found.farthest(alone(plan, batches)) <= CLOSE
    ring = Ring(kind="all_reduce", values=2 * 6 * 8, bytes_each=8, workers=workers)
    assert sent(found, PARTIAL) == [2 * 4 * sums * ring.sent_bytes(worker) for worker in range(workers)]


# (c): layers


@pytest.mark.parametrize("keep", [10, 4])
def test_two_stages(keep):
    batches = masked(3)
    plan = StepPlan(shape=SHAPE, dtype="float64", keep=keep)
    found, one = pipeline(plan, batches), alone(plan, batches)
    assert found.differing(one) == ("tokens",)  # its two uses lie in two stages
    assert found.farthest(one) <= CLOSE
    stream, embedding = 2 * 6 * 8 * 8, Ring(kind="all_reduce", values=13 * 8, bytes_each=8, workers=2)
    assert (sent(found, UP), sent(found, DOWN)) == ([3 * stream, 0], [0, 3 * stream])
    assert sent(found, GRADS) == [embedding.sent_bytes(worker) for worker in range(2)]
    assert sent(found, WEIGHTS) == [0, 0]


def test_four_stages():
    batches = masked(2)
    found = pipeline(PLAN, batches, workers=4)
    assert found.differing(alone(PLAN, batches)) == ("tokens",)
    assert sent(found, UP) == [2 * 768, 2 * 768, 2 * 768, 0]


# The chapter's model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zero", "grads", "weights"),
    [
        ("不分片", 3_000_000, 0),
        ("ZeRO 1", 1_500_000, 1_500_000),
        ("ZeRO 2", 1_500_000, 1_500_000),
        ("ZeRO 3", 1_500_000, 3_000_000),
    ],
)
def test_bytes_of_the_chapters_model(zero, grads, weights):
    found = data_parallel(
        CHAPTER, [[random_batch(CHAPTER.shape, seed=worker)] for worker in range(4)], zero=zero
    )
    assert (sent(found, GRADS), sent(found, WEIGHTS)) == ([grads] * 4, [weights] * 4)


@pytest.mark.parametrize(
    ("zero", "lasting", "extra"),
    [
        pytest.param("ZeRO 1", 7_000_000, 0, marks=pytest.mark.slow),
        pytest.param("ZeRO 2", 5_500_000, 1_701_632, marks=pytest.mark.slow),
        ("ZeRO 3", 4_000_000, 3_403_264),
    ],
)
def test_what_the_chapters_workers_keep_and_gather(zero, lasting, extra):
    found = measured_shares(CHAPTER, workers=4, zero=zero)
    assert found.lasting_bytes == (lasting,) * 4
    assert found.gathered_bytes == extra
    assert [line for line in found.lines if line.difference] == []
    assert found.lines[-1].measured_bytes == 4 * lasting


def test_the_gather_peak_is_that_of_sharding():
    state = CHAPTER.boundaries()[0].ledger
    assert gathered(state, sharded=STAGES["ZeRO 3"], largest_layer=801_088 + 49_728).total_bytes == 3_403_264


@pytest.mark.parametrize("zero", STAGES)
def test_uneven_shares_agree_at_every_boundary(zero):
    shape = StepShape(sequences=1, positions=3, width=6, layers=3, heads=2, vocabulary=7)
    found = measured_shares(StepPlan(shape=shape), workers=4, zero=zero)
    assert [line for line in found.lines if line.difference] == []


def test_an_array_that_stays_shows_as_a_difference(monkeypatch):
    from course_lib.workers.replicas import GatheredWeights

    monkeypatch.setattr(GatheredWeights, "let_go", lambda self, unit: None)
    found = measured_shares(StepPlan(shape=replace(SHAPE, vocabulary=12)), workers=2, zero="ZeRO 3")
    layer_bytes = 2 * 2 * (4 * 8 + 4 * 64 + 2 * 256 + 32 + 8)  # of two workers, two bytes a value
    differences = {line.phase: line.difference for line in found.lines}
    assert (differences["第 1 层前向"], differences["第 2 层前向"]) == (0, layer_bytes)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: data_parallel(PLAN, []), "workers"),
        (lambda: data_parallel(PLAN, [[]]), "batches 是空的"),
        (lambda: data_parallel(PLAN, None), "batches"),
        (lambda: data_parallel(PLAN, [[None]]), "Batch"),
        (lambda: data_parallel(PLAN, [masked(1)] * 17), "workers"),
        (lambda: data_parallel(PLAN, [masked(1)], zero="ZeRO 4"), "zero"),
        (lambda: data_parallel(PLAN, [masked(1)], rate=float("nan")), "rate"),
        (lambda: data_parallel(CHAPTER, [masked(1)]), "形状与模型不符"),
        (lambda: data_parallel(None, [masked(1)]), "plan"),
        (lambda: data_parallel(PLAN, [masked(1), masked(2)], zero="ZeRO 3"), "微批次个数不同"),
        (lambda: measured_shares(StepPlan(shape=StepShape(width=1024)), workers=16, zero="ZeRO 3"), "太大"),
        (lambda: alone(PLAN, []), "batches 是空的"),
        (lambda: tensor_parallel(PLAN, masked(1), workers=3), "不能平分"),
        (lambda: tensor_parallel(PLAN, masked(1), workers=True), "workers"),
        (lambda: pipeline(PLAN, masked(1), workers=5), "阶段多于层"),
        (lambda: pipeline(PLAN, masked(1), workers=0), "workers"),
        (lambda: measured_shares(StepPlan(shape=SHAPE, keep=4), workers=2, zero="ZeRO 1"), "十个数组"),
        (lambda: measured_shares(None, workers=2, zero="ZeRO 1"), "plan"),
        (lambda: measured_shares(PLAN, workers=2, zero=3), "zero"),
    ],
)
def test_bad_input_gets_a_sentence(wrong, sentence):
    with pytest.raises(CourseError, match=sentence):
        wrong()


def test_chunks_are_views_of_the_own_share():
    flat = np.arange(5)
    assert [chunk(link, flat, link.worker).tolist() for link in Transport(2).run(lambda link: link)] == [
        [0, 1, 2],
        [3, 4],
    ]
