"""What is drawn when there are more objects than pixels: shares of time instead of single shapes."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.colors import to_rgb

from .boxes import Raster, packed

COLUMNS: Final = 640


class Coverage:
    """Lanes of many short stretches as shades: the darker a spot, the larger the share of time it is taken.

    Sampling single moments instead would show patterns that are not there.
    """

    def __init__(self, axes, color: str, *, zorder: float = 2) -> None:
        self._shades = packed(255 - np.linspace(0, 1, 256)[:, None] * (255 - 255 * np.array(to_rgb(color))))
        self._shades[0] = 0  # where nothing is, the ground is seen
        self._picture = Raster(axes, zorder=zorder)

    def hide(self) -> None:
        """Show nothing."""
        self._picture.show(())

    def show(self, lane, start, end, *, lanes: int, edges, top: float, bottom: float) -> None:
        """Show stretches sorted by lane and start, none overlapping another of its lane.

        ``edges`` are the times at which the columns begin and end; they are drawn equally wide, from 0 to 1.
        """
        shares = shares_taken(lane, start, end, lanes=lanes, edges=edges)
        self._picture.show(self._shades[np.round(255 * shares).astype(int)], (0, 1, top, bottom))


def shares_taken(lane, start, end, *, lanes: int, edges) -> np.ndarray:
    """Return, per lane and column, the share of the column's time that is taken.

    >>> start, end = np.array([0, 3]), np.array([2, 4])
    >>> shares_taken(np.array([0, 1]), start, end, lanes=2, edges=[0, 1, 3, 5]).tolist()
    [[1.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """
    edges = np.asarray(edges, float)
    lengths, far = end - start, 2 * edges[-1]
    before = np.append(0, np.cumsum(lengths))
    wanted = (np.arange(lanes)[:, None] * far + edges).ravel()
    found = np.maximum(np.searchsorted(lane * far + start, wanted, side="right") - 1, 0)
    into = np.clip(wanted - lane[found] * far - start[found], 0, lengths[found])
    taken = np.diff((before[found] + into).reshape(lanes, -1), axis=1)
    return np.clip(taken / np.diff(edges), 0, 1)


def envelope(times, values, edges) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest value between each two ``edges`` of a step function.

    ``values[i]`` holds from ``times[i]`` until ``times[i + 1]``; no peak is lost between two pixels.
    """
    first = np.maximum(np.searchsorted(times, edges[:-1], side="right") - 1, 0)
    # The step that still runs when a column ends is the last that the column sees.
    last = np.maximum(np.searchsorted(times, edges[1:], side="left") - 1, 0)
    least = np.minimum(np.minimum.reduceat(values, first), values[last])
    largest = np.maximum(np.maximum.reduceat(values, first), values[last])
    return least, largest
