"""What several workers in one process have between them: every array that crosses goes through here.

All workers run the same program, each in a thread of its own, but one at a time: a worker that waits for an
array hands the turn on. So a run takes the same course every time, and what it measures stays the same.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..arguments import whole
from ..errors import CourseError
from ..trainer import Array

T = TypeVar("T")
MOST_WORKERS = 16  # threads; the workers are there to be looked at


class Transport:
    """Moves arrays between workers and counts the bytes that each of them sends, by kind."""

    def __init__(self, workers: int) -> None:
        self.workers = whole("workers", workers, minimum=1, maximum=MOST_WORKERS)
        self.sent: Counter[tuple[int, str]] = Counter()
        self._mail: defaultdict[tuple[int, int], deque[Array]] = defaultdict(deque)
        self._turns = threading.Condition()

    def sent_bytes(self, worker: int, *kinds: str) -> int:
        """Return the bytes of some kinds that one worker has sent, of all where none is named."""
        return sum(n for (who, kind), n in self.sent.items() if who == worker and kind in (kinds or (kind,)))

    def run(self, program: Callable[[Link], T]) -> list[T]:
        """Run a program on every worker and return what each returned; the first error ends them all."""
        self._turn, self._idle, self._arrived = 0, 0, 0
        self._live = list(range(self.workers))
        self._error: BaseException | None = None
        results: dict[int, T] = {}
        threads = [
            threading.Thread(target=self._work, args=(Link(self, worker), program, results), daemon=True)
            for worker in self._live
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._mail.clear()
        if self._error:
            raise self._error
        return [results[worker] for worker in range(self.workers)]

    def _work(self, link: Link, program: Callable[[Link], T], results: dict[int, T]) -> None:
        with self._turns:  # held by whoever has the turn
            try:
                self._await_turn(link.worker)
                results[link.worker] = program(link)
            except BaseException as error:  # handed to the caller of run, whatever it is
                self._error = self._error or error
            self._hand_on(link.worker, last=True)

    def _await_turn(self, worker: int) -> None:
        self._turns.wait_for(lambda: self._turn == worker or self._error is not None)
        if self._error:
            raise self._error

    def _hand_on(self, worker: int, *, last: bool = False) -> None:
        if last:
            self._live.remove(worker)
            self._idle = 0
        later = [other for other in self._live if other > worker]
        self._turn = (later or self._live or [worker])[0]
        self._turns.notify_all()

    def put(self, kind: str, source: int, target: int, array: Array) -> None:
        """Copy an array into the mail of another worker and count its bytes."""
        self._idle = 0
        self.sent[source, kind] += array.nbytes
        self._mail[source, target].append(array.copy())

    def take(self, source: int, target: int) -> Array:
        """Return the next array from a worker, waiting for it where it has not been sent."""
        while not self._mail[source, target]:
            self.wait(target)
        self._idle = 0
        return self._mail[source, target].popleft()

    def meet(self, worker: int) -> None:
        """Wait until all workers have come to this point."""
        self._arrived, self._idle = self._arrived + 1, 0
        full = -(-self._arrived // self.workers) * self.workers
        while self._arrived < full:
            self.wait(worker)

    def wait(self, worker: int) -> None:
        """Let the others go on. Raises ``CourseError`` where all of them only wait."""
        self._idle += 1
        if self._idle > 2 * self.workers:
            raise CourseError("各进程都在等，没有谁在发", remedy="请让每个进程按同样的顺序做同样的集体通信")
        self._hand_on(worker)
        self._await_turn(worker)


@dataclass(frozen=True, slots=True)
class Link:
    """One worker's end of the transport."""

    transport: Transport
    worker: int

    @property
    def workers(self) -> int:
        """How many there are in all."""
        return self.transport.workers

    def send(self, kind: str, target: int, array: Array) -> None:
        """Send an array; the other worker gets a copy."""
        self.transport.put(kind, self.worker, target, array)

    def receive(self, source: int) -> Array:
        """Return what a worker sent, in the order in which it was sent."""
        return self.transport.take(source, self.worker)

    def meet(self) -> None:
        """Wait until all workers have come to this point."""
        self.transport.meet(self.worker)
