"""Section 27.5: what crosses and how long it takes. Times from example 27.3, bytes by moving real chunks."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.collectives import (
    Ring,
    ring_seconds,
    share,
    step_seconds,
    takeover_workers,
    transfer_seconds,
)
from course_lib.errors import CourseError


def test_example_27_3_in_seconds():
    transfer = transfer_seconds(1_000_000, bytes_per_second=100_000_000)
    compute = Fraction(2, 1000)
    assert transfer == Fraction(10, 1000)
    assert step_seconds(compute=compute, transfer=transfer) == Fraction(12, 1000)
    assert step_seconds(compute=compute, transfer=transfer, overlap=1) == Fraction(10, 1000)
    assert step_seconds(compute=compute, transfer=transfer, overlap=0.5) == Fraction(11, 1000)


def test_latency_is_added_to_every_message():
    latency = Fraction(1, 1000)
    assert transfer_seconds(1_000_000, bytes_per_second=100_000_000, latency=latency) == Fraction(11, 1000)
    assert transfer_seconds(0, bytes_per_second=1, latency=0.25) == Fraction(1, 4)


def test_shares_of_ten_among_four():
    parts = [share(10, workers=4, worker=worker) for worker in range(4)]
    assert [(part.start, part.stop, part.count) for part in parts] == [
        (0, 3, 3),
        (3, 6, 3),
        (6, 8, 2),
        (8, 10, 2),
    ]


@given(st.integers(0, 10**30), st.integers(1, 50))
def test_shares_sum_to_the_whole(total, workers):
    parts = [share(total, workers=workers, worker=worker) for worker in range(workers)]
    assert parts[0].start == 0
    assert parts[-1].stop == total
    assert all(left.stop == right.start for left, right in pairwise(parts))
    counts = [part.count for part in parts]
    assert max(counts) - min(counts) <= 1
    assert counts[0] == max(counts)


def play_ring(values, workers):
    """Reduce-scatter, then all-gather, chunk by chunk; return the sums and what each worker sent in each."""
    cuts = [0]
    for worker in range(workers):
        cuts.append(cuts[-1] + len(range(worker, values, workers)))
    data = [[(worker + 1) * 1000 + i for i in range(values)] for worker in range(workers)]
    expected = [sum(column) for column in zip(*data, strict=True)]
    sent = {"reduce_scatter": [0] * workers, "all_gather": [0] * workers}
    for phase, shift in (("reduce_scatter", -1), ("all_gather", 0)):
        for step in range(workers - 1):
            messages = []
            for worker in range(workers):
                chunk = (worker + shift - step) % workers
                piece = data[worker][cuts[chunk] : cuts[chunk + 1]]
                messages.append(((worker + 1) % workers, chunk, piece))
                sent[phase][worker] += len(piece)
            for receiver, chunk, piece in messages:
                for i, value in enumerate(piece, cuts[chunk]):
                    data[receiver][i] = value + data[receiver][i] * (phase == "reduce_scatter")
    assert all(row == expected for row in data)
    return sent


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 8))
def test_ring_bytes_are_those_of_a_ring_that_is_played(values, workers, width):
    sent = play_ring(values, workers)
    sent["all_reduce"] = [a + b for a, b in zip(*sent.values(), strict=True)]
    for kind, counts in sent.items():
        ring = Ring(kind=kind, values=values, bytes_each=width, workers=workers)
        assert [ring.sent_bytes(worker) for worker in range(workers)] == [width * n for n in counts]
        assert ring.total_bytes == width * sum(counts)
        assert ring.most_sent_bytes == width * max(counts)
        assert ring.ideal_bytes * workers == ring.total_bytes


def test_ring_of_four_by_hand():
    ring = Ring(kind="all_reduce", values=1_000_000, bytes_each=2, workers=4)
    assert (ring.ideal_bytes, ring.most_sent_bytes, ring.rounds) == (3_000_000, 3_000_000, 6)
    assert ring.largest_chunk_bytes == 500_000
    # Six rounds of 5 ms, and of 5 ms + 1 ms.
    assert ring_seconds(ring, bytes_per_second=100_000_000) == Fraction(30, 1000)
    assert ring_seconds(ring, bytes_per_second=100_000_000, latency=0.001) == Fraction(36, 1000)
    half = Ring(kind="reduce_scatter", values=1_000_000, bytes_each=2, workers=4)
    assert half.ideal_bytes == 1_500_000
    alone = Ring(kind="all_reduce", values=7, bytes_each=2, workers=1)
    assert (alone.most_sent_bytes, alone.total_bytes, ring_seconds(alone, bytes_per_second=1)) == (0, 0, 0)


def test_rounds_wait_for_the_largest_chunk():
    ring = Ring(kind="all_gather", values=10, bytes_each=1, workers=4)
    assert ring_seconds(ring, bytes_per_second=1) == 9
    assert ring.ideal_bytes == Fraction(15, 2)


def test_transfer_takes_over_at_27_workers():
    """1 s of computing, 20 ms payload: 1/26 s = 2·25·20/26 ms is a draw, 27 workers transfer longer."""
    case = {"n_bytes": 2_000_000, "bytes_per_second": 100_000_000}
    assert takeover_workers(compute=1, **case) == 27
    assert takeover_workers(compute=0, **case) == 2
    # With 10 ms latency: 2(W − 1)(10 W + 20) ms is 800 at W = 6 and 1080, more than 1000, at W = 7.
    assert takeover_workers(compute=1, latency=0.01, **case) == 7


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.fractions(0, 10))
def test_takeover_is_the_first_worker_count(compute, n_bytes, latency):
    found = takeover_workers(compute=compute, n_bytes=n_bytes, bytes_per_second=100, latency=latency)

    def slower(workers):
        ring_time = 2 * (workers - 1) * (latency + Fraction(n_bytes, 100 * workers))
        return ring_time > Fraction(compute, workers)

    assert slower(found)
    assert found == 2 or not slower(found - 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: transfer_seconds(-1, bytes_per_second=1), "n_bytes"),
        (lambda: transfer_seconds(1.0, bytes_per_second=1), "n_bytes"),
        (lambda: transfer_seconds(1, bytes_per_second=0), "bytes_per_second"),
        (lambda: transfer_seconds(1, bytes_per_second=float("inf")), "bytes_per_second"),
        (lambda: transfer_seconds(1, bytes_per_second=1, latency=-1), "latency"),
        (lambda: step_seconds(compute=1, transfer=1, overlap=2), "overlap"),
        (lambda: step_seconds(compute=1, transfer=1, overlap=True), "overlap"),
        (lambda: step_seconds(compute=float("nan"), transfer=1), "compute"),
        (lambda: Ring(kind="gossip", values=1, bytes_each=1, workers=1), "kind"),
        (lambda: Ring(kind="all_reduce", values=1, bytes_each=0, workers=1), "bytes_each"),
        (lambda: Ring(kind="all_reduce", values=1, bytes_each=1, workers=2).sent_bytes(2), "worker"),
        (lambda: ring_seconds(None, bytes_per_second=1), "ring"),
        (lambda: share(1, workers=0), "workers"),
        (lambda: share(1, workers=2, worker=2), "worker"),
        (lambda: takeover_workers(compute=1, n_bytes=0, bytes_per_second=1), "n_bytes"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(CourseError, match=says):
        call()
