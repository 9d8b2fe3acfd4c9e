"""Check arrays that callers hand in: the companion of ``arguments`` for the modules that need numpy."""

from __future__ import annotations

import math
from collections.abc import Sized
from numbers import Real
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .errors import CourseError

Floats = NDArray[np.float64]

LARGEST_ARRAY: Final = 2**23  # values; a computation holds a few arrays of this size at once
LARGEST_LIST: Final = 10**6  # values in nested lists, which are read one by one
_DEEPEST: Final = 32
_EXACT_WHOLE: Final = 2**53  # float64 holds every whole number up to here
_WANTED: Final = "请给 float、整数，或由它们组成的列表或 numpy 数组"


def float_array(name: str, values: object) -> Floats:
    """Return numbers of any shape as a new float64 array, without rounding them; NaN and infinities pass.

    Refused: bool, text, complex, masked arrays, more than ``LARGEST_ARRAY`` values, and numbers that float64
    cannot hold exactly, because a rounding here would come before the one that the caller asked for.
    """
    try:
        if _count(values) > LARGEST_ARRAY:
            raise CourseError(f"{name} 的值太多", remedy=f"请给至多 {LARGEST_ARRAY:,} 个值")
        array = _numeric(name, values)
    except CourseError:
        raise
    except Exception as error:  # ragged lists, and whatever a foreign object raises when converted
        raise CourseError(f"{name} 必须是 float64 能精确表示的数", got=values, remedy=_WANTED) from error
    with np.errstate(invalid="ignore"):  # a signalling NaN is still only a NaN
        return array.astype(np.float64)


def finite_array(name: str, values: object) -> Floats:
    """Return ``float_array(name, values)``; refuse NaN and infinities."""
    array = float_array(name, values)
    if not np.isfinite(array).all():
        raise CourseError(f"{name} 含有 NaN 或无穷", got=values, remedy="请只给有限的数")
    return array


def finite_float(name: str, value: object) -> float:
    """Return one finite number with exactly the value it has in float64."""
    array = finite_array(name, value)
    if array.ndim:
        raise CourseError(f"{name} 必须是单个数", got=value, remedy="请给一个 float 或整数")
    return float(array)


def _count(values: object) -> int:
    if isinstance(values, (np.ndarray, np.generic)):
        return values.size
    return len(values) if isinstance(values, Sized) else 1


def _listed(name: str, values: object) -> object:
    """Copy nested lists and tuples, so that none is endless and all together are not too many."""
    count = 0

    def copy(part: object, depth: int) -> object:
        nonlocal count
        count += 1
        if count > LARGEST_LIST or depth > _DEEPEST:
            raise CourseError(
                f"{name} 的值太多或嵌套太深",
                remedy=f"列表请给至多 {LARGEST_LIST:,} 个值，更多请用 numpy 数组",
            )
        return [copy(item, depth + 1) for item in part] if isinstance(part, (list, tuple)) else part

    return copy(values, 0)


def _numeric(name: str, values: object) -> NDArray[np.generic]:
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("the mask would be lost")
    array = np.asarray(values) if isinstance(values, (np.ndarray, np.generic)) else None
    if array is None or array.dtype.kind == "O":
        items = np.array(_listed(name, values), dtype=object)
        return np.array([_exact_float(item) for item in items.flat]).reshape(items.shape)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise TypeError("not a type that float64 holds exactly")
    is_whole = array.dtype.kind in "iu" and array.size > 0
    if is_whole and not -_EXACT_WHOLE <= int(array.min()) <= int(array.max()) <= _EXACT_WHOLE:
        raise ValueError("whole numbers beyond 2**53")
    return array


def _exact_float(item: object) -> float:
    if isinstance(item, bool) or not isinstance(item, Real):
        raise TypeError("not a real number")
    value = float(item)
    if value != item and not math.isnan(value):
        raise ValueError("not a float64 value")
    return value
