"""Section 27.5: what crosses a boundary, and how long it takes.

Ring collectives move chunks from neighbour to neighbour; chunks are real whole shares (``share``), so that
bytes are exact where N does not divide, and ``ideal_bytes`` is the formula. Symbols: N values, W workers,
α latency of one message, β bytes per second. Times here know no contention: they are lower bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from .arguments import choice, exact, instance, whole

# How often each collective passes the whole payload around the ring.
PASSES: Final = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1}


@dataclass(frozen=True, slots=True)
class Share:
    """The values ``start`` to ``stop`` (excluded) that one worker owns."""

    start: int
    stop: int

    @property
    def count(self) -> int:
        """Values in the share."""
        return self.stop - self.start


def share(total: int, *, workers: int, worker: int = 0) -> Share:
    """Return one worker's share of ``total`` values; shares are in order and differ by at most one value.

    The first ``total % workers`` workers own one value more, so that worker 0 always has a largest share.

    >>> [share(10, workers=4, worker=i).count for i in range(4)]
    [3, 3, 2, 2]
    """
    n_workers = whole("workers", workers, minimum=1)
    index = whole("worker", worker, maximum=n_workers - 1)
    each, extra = divmod(whole("total", total), n_workers)
    start = index * each + min(index, extra)
    return Share(start, start + each + (index < extra))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """One collective over a ring: ``kind`` is ``"all_reduce"``, ``"reduce_scatter"`` or ``"all_gather"``.

    ``values`` counts the whole payload (for an all-gather: the result), ``bytes_each`` bytes per value.
    A reduce-scatter leaves worker i with chunk i, an all-gather starts from there, an all-reduce is both.

    >>> ring = Ring(kind="all_reduce", values=10, bytes_each=2, workers=4)
    >>> [ring.sent_bytes(worker) for worker in range(4)], ring.total_bytes, ring.ideal_bytes
    ([28, 30, 32, 30], 120, Fraction(30, 1))
    """

    kind: str
    values: int
    bytes_each: int
    workers: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", choice("kind", self.kind, PASSES))
        for name, minimum in (("values", 0), ("bytes_each", 1), ("workers", 1)):
            object.__setattr__(self, name, whole(name, getattr(self, name), minimum=minimum))

    @property
    def payload_bytes(self) -> int:
        """The whole payload."""
        return self.values * self.bytes_each

    @property
    def rounds(self) -> int:
        """Rounds in which every worker sends one chunk to its neighbour: W − 1 per pass."""
        return PASSES[self.kind] * (self.workers - 1)

    @property
    def ideal_bytes(self) -> Fraction:
        """Bytes each worker would send if N divided evenly: passes · (W − 1) / W · payload."""
        return Fraction(self.rounds * self.payload_bytes, self.workers)

    @property
    def total_bytes(self) -> int:
        """Bytes sent by all workers together."""
        return self.rounds * self.payload_bytes

    @property
    def largest_chunk_bytes(self) -> int:
        """The chunk that a round waits for."""
        return self._chunk_bytes(0)

    def sent_bytes(self, worker: int) -> int:
        """Bytes that one worker sends: in each pass every chunk but one.

        A reduce-scatter spares the worker its own chunk, an all-gather the chunk of its next neighbour.
        """
        index = whole("worker", worker, maximum=self.workers - 1)
        own, following = self._chunk_bytes(index), self._chunk_bytes((index + 1) % self.workers)
        spared = {"reduce_scatter": own, "all_gather": following, "all_reduce": own + following}
        return PASSES[self.kind] * self.payload_bytes - spared[self.kind]

    @property
    def most_sent_bytes(self) -> int:
        """Bytes sent by the busiest worker."""
        # The smallest chunks come last, so the worker that is spared least is the last or the one before.
        return max(self.sent_bytes(worker) for worker in range(max(0, self.workers - 2), self.workers))

    def _chunk_bytes(self, worker: int) -> int:
        return share(self.values, workers=self.workers, worker=worker).count * self.bytes_each


def transfer_seconds(n_bytes: int, *, bytes_per_second: object, latency: object = 0) -> Fraction:
    """Return α + bytes / β for one message; without contention, so never less in reality.

    >>> transfer_seconds(1_000_000, bytes_per_second=100_000_000)
    Fraction(1, 100)
    """
    speed = exact("bytes_per_second", bytes_per_second, above=0)
    return exact("latency", latency, minimum=0) + whole("n_bytes", n_bytes) / speed


def ring_seconds(ring: Ring, *, bytes_per_second: object, latency: object = 0) -> Fraction:
    """Return the time of a collective: each round waits for its largest chunk.

    >>> ring = Ring(kind="all_reduce", values=1_000_000, bytes_each=2, workers=4)
    >>> ring_seconds(ring, bytes_per_second=100_000_000, latency=Fraction(1, 1000))
    Fraction(9, 250)
    """
    instance("ring", ring, Ring, "请用 Ring(...) 描述一次集体通信")
    message = transfer_seconds(ring.largest_chunk_bytes, bytes_per_second=bytes_per_second, latency=latency)
    return ring.rounds * message


def step_seconds(*, compute: object, transfer: object, overlap: object = 0) -> Fraction:
    """Return the time of a step of which ``overlap`` (0 to 1) of the shorter part hides behind the longer.

    0 gives the sum, 1 the longer of the two.

    >>> step_seconds(compute=Fraction(2, 1000), transfer=Fraction(1, 100))
    Fraction(3, 250)
    """
    work, wait = exact("compute", compute, minimum=0), exact("transfer", transfer, minimum=0)
    return work + wait - exact("overlap", overlap, minimum=0, maximum=1) * min(work, wait)


def takeover_workers(*, compute: object, n_bytes: int, bytes_per_second: object, latency: object = 0) -> int:
    """Return the fewest workers at which a ring all-reduce takes longer than each worker's computing.

    ``compute`` is the seconds one worker needs for the whole update, divided evenly among W; the all-reduce
    of ``n_bytes`` takes 2(W − 1)·(α + bytes / (W·β)), even chunks assumed.

    >>> takeover_workers(compute=1, n_bytes=2_000_000, bytes_per_second=100_000_000)
    27
    """
    work, delay = exact("compute", compute, minimum=0), exact("latency", latency, minimum=0)
    payload = transfer_seconds(whole("n_bytes", n_bytes, minimum=1), bytes_per_second=bytes_per_second)
    fewer, enough = 1, 2
    while 2 * (enough - 1) * (enough * delay + payload) <= work:
        fewer, enough = enough, 2 * enough
    while enough - fewer > 1:
        middle = (fewer + enough) // 2
        if 2 * (middle - 1) * (middle * delay + payload) <= work:
            fewer = middle
        else:
            enough = middle
    return enough
