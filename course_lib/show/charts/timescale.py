"""A drawing scale for a training schedule: passes at their length, events wide enough to be read."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...lifetimes import PhaseKind, Phases

PASSES: Final = (PhaseKind.FORWARD, PhaseKind.BACKWARD)
_EVENT_SHARE: Final = 0.05  # width of an update, a save, … as a share of all passes together


class TimeScale:
    """Places ticks of a schedule between 0 and 1.

    A save takes one tick beside thousands of forward and backward passes and would vanish. Ticks are no
    seconds, so events may be drawn wider: at least a twentieth of all passes.
    """

    def __init__(self, phases: Phases) -> None:
        self.phases = phases
        kinds = tuple(PhaseKind)
        lengths = (phases.ends - phases.starts).astype(float)
        is_pass = np.isin(phases.codes, [kinds.index(kind) for kind in PASSES])
        widths = np.where(is_pass, lengths, np.maximum(lengths, lengths[is_pass].sum() * _EVENT_SHARE))
        self._events = ~is_pass
        self._ticks = np.append(phases.starts, phases.ends[-1])
        self._places = np.append(0, np.cumsum(widths)) / widths.sum()

    @property
    def event_edges(self) -> np.ndarray:
        """Where updates, saves, stops and resumes begin and end."""
        return np.union1d(self._places[:-1][self._events], self._places[1:][self._events])

    def spans(self, kind: PhaseKind) -> list[tuple[float, float]]:
        """Return begin and end of every phase of one kind."""
        starts, ends = map(self.place, self.phases.of(kind))
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    @property
    def edges(self) -> np.ndarray:
        """Where phases begin and end: one more than there are phases."""
        return self._places

    def place(self, ticks) -> np.ndarray:
        """Return where ticks lie, between 0 and 1."""
        return np.interp(ticks, self._ticks, self._places)

    def times(self, places) -> np.ndarray:
        """Return the times, in ticks, that lie at places between 0 and 1."""
        return np.interp(places, self._places, self._ticks)

    def tick(self, place) -> int:
        """Return the tick that is running at a place between 0 and 1."""
        return min(int(self.times(float(place))), int(self._ticks[-1]) - 1)
