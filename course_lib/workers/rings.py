"""Ring collectives as real movements: chunks go from neighbour to neighbour (section 27.5).

They work in place on flat arrays. A reduce-scatter leaves worker i with the sum of chunk i, which it added
last: chunk c is summed in the order c + 1, c + 2, … c. What crosses is what ``collectives.Ring`` says.
"""

from __future__ import annotations

import numpy as np

from ..collectives import share
from ..trainer import Array
from .transport import Link

COUNT = "事件个数"
FINITE = "是否有限"


def chunk(link: Link, flat: Array, worker: int) -> Array:
    """View the part of ``flat`` that a worker owns; workers are counted around the ring."""
    part = share(flat.size, workers=link.workers, worker=worker % link.workers)
    return flat[part.start : part.stop]


def reduce_scatter(link: Link, kind: str, flat: Array) -> Array:
    """Add up all workers' arrays and return the own chunk of the sum; the rest of ``flat`` is used up."""
    for turn in range(link.workers - 1):
        link.send(kind, _next(link), chunk(link, flat, link.worker - 1 - turn))
        here = chunk(link, flat, link.worker - 2 - turn)
        with np.errstate(over="ignore", invalid="ignore"):  # the update looks for infinities
            here += link.receive(_previous(link))
    return chunk(link, flat, link.worker)


def all_gather(link: Link, kind: str, flat: Array) -> None:
    """Fill ``flat`` with every worker's chunk; each begins with its own in place."""
    for turn in range(link.workers - 1):
        link.send(kind, _next(link), chunk(link, flat, link.worker - turn))
        chunk(link, flat, link.worker - turn - 1)[...] = link.receive(_previous(link))


def all_reduce(link: Link, kind: str, flat: Array) -> None:
    """Replace ``flat`` by the sum over all workers: a reduce-scatter, then an all-gather."""
    reduce_scatter(link, kind, flat)
    all_gather(link, kind, flat)


def together(link: Link, kind: str, number: int) -> int:
    """Return the sum of one whole number over all workers."""
    flat = np.array([number], np.int64)
    all_reduce(link, kind, flat)
    return int(flat[0])


def _next(link: Link) -> int:
    return (link.worker + 1) % link.workers


def _previous(link: Link) -> int:
    return (link.worker - 1) % link.workers
