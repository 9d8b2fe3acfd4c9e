"""Check the arrays that a timeline is made of, and find the moments at which memory changes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import finite_array
from ..errors import CourseError

Ints = NDArray[np.int64]
Times = NDArray[Any]  # int64 where every time is whole, else float64

LARGEST_OBJECTS: Final = 5_000_000
LARGEST_TIME: Final = 2**53


def time_array(name: str, values: object) -> Times:
    """Return moments from 0 to 2**53 as a new array: int64 if all are whole, else float64."""
    array = _bounded_array(name, values)
    if array.size and not 0 <= array.min() <= array.max() <= LARGEST_TIME:
        raise CourseError(f"{name} 的时刻超出范围", got=values, remedy="请给 0 到 2**53 之间的时刻")
    whole = array.astype(np.int64)
    return whole if np.array_equal(whole, array) else array


def whole_array(name: str, values: object, *, maximum: int = LARGEST_TIME) -> Ints:
    """Return whole numbers from 0 to ``maximum`` as a new int64 array; refuse floats, even whole ones."""
    array = _bounded_array(name, values)
    if array.size and not _all_whole(values):
        raise CourseError(f"{name} 必须全是整数", got=values, remedy="请给整数，或由整数组成的列表或数组")
    if array.size and not 0 <= array.min() <= array.max() <= maximum:
        raise CourseError(f"{name} 超出范围", got=values, remedy=f"请给 0 到 {maximum} 之间的整数")
    return array.astype(np.int64)


def _all_whole(values: object) -> bool:
    try:
        return np.asarray(values).dtype.kind in "iu"
    except Exception:  # a whole number of a reader's own making may fail when it is read again
        return False


def _bounded_array(name: str, values: object) -> NDArray[np.float64]:
    array = finite_array(name, values)
    if array.size > LARGEST_OBJECTS:
        raise CourseError(f"{name} 太多", got=array.size, remedy=f"请给至多 {LARGEST_OBJECTS:,} 个对象")
    return array


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return ``array`` marked read-only: a timeline is a value."""
    array.setflags(write=False)
    return array


def exact_sum(sizes: Ints) -> int:
    """Sum non-negative int64 values without overflow: the halves of up to 2**31 values fit."""
    return (int((sizes >> 32).sum()) << 32) + int((sizes & 0xFFFFFFFF).sum())


def moments(starts: Times, ends: Times) -> tuple[Times, Ints, Ints]:
    """Return the sorted distinct times, and where in them each start and each end lies."""
    both = np.concatenate((starts, ends))
    first = both.min()
    # Whole times of a schedule lie close together: marking them beats sorting them tenfold.
    if both.dtype.kind == "i" and both.max() - first <= 4 * both.size + 1024:
        seen = np.zeros(int(both.max() - first) + 1, dtype=bool)
        seen[both - first] = True
        times: Times = np.flatnonzero(seen) + first
        place = np.cumsum(seen) - 1
        return times, place[starts - first], place[ends - first]
    times = np.unique(both)
    return times, np.searchsorted(times, starts), np.searchsorted(times, ends)
