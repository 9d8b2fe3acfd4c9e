"""The lanes that objects lie on: what an item is called, why it is kept, and how lanes form groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..arguments import instance, is_a, same_length, sequence, text, truth
from ..errors import CourseError
from ..ledger import Lifetime
from .columns import Ints

LARGEST_LANES: Final = 100_000
GROUPINGS: Final = ("lifetime", "name", "lane")
PLACES: Final = ("memory", "file")


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of a lane chart: its label, which item lies on it, why that is kept and for how long.

    ``name`` joins lanes of one kind (the layers' arrays); ``in_memory`` is False for what lies in a file.
    """

    label: str
    name: str
    why: str
    lifetime: Lifetime
    in_memory: bool = True

    def __post_init__(self) -> None:
        for field_name in ("label", "name", "why"):
            object.__setattr__(self, field_name, text(field_name, getattr(self, field_name)))
        instance("lifetime", self.lifetime, Lifetime, "请从 Lifetime 的三类存活时间中选一类")
        truth("in_memory", self.in_memory)


def checked_lanes(lanes: object) -> int:
    """Return how many lanes there are; refuse none, too many and anything but a tuple of ``Lane``."""
    if not isinstance(lanes, tuple) or not 0 < len(lanes) <= LARGEST_LANES:
        raise CourseError(
            "lanes 必须是元组", got=lanes, remedy=f"请给 1 到 {LARGEST_LANES:,} 个 Lane 组成的元组"
        )
    for lane in lanes:
        instance("lanes", lane, Lane, "请用 Lane(...) 写每一条")
    return len(lanes)


def groups(lanes: tuple[Lane, ...], *, by: str, place: str) -> tuple[tuple[str, ...], Ints]:
    """Return the group names and, per lane, the index of its group; −1 for lanes of the other place.

    ``by`` is one of ``GROUPINGS``, ``place`` one of ``PLACES``.
    """
    in_memory = place == "memory"
    titles = {
        "lifetime": [lane.lifetime.value for lane in lanes],
        "name": [lane.name for lane in lanes],
        "lane": [lane.label for lane in lanes],
    }[by]
    here = [lane.in_memory == in_memory for lane in lanes]
    names = dict.fromkeys(title for title, wanted in zip(titles, here, strict=True) if wanted)
    index = {title: number for number, title in enumerate(names)}
    codes = [index[title] if wanted else -1 for title, wanted in zip(titles, here, strict=True)]
    return tuple(index), np.array(codes, dtype=np.int64)


def lanes_of_rows(labels: object, kinds: object, why: str, rows: int) -> tuple[tuple[Lane, ...], Ints]:
    """Return one lane per distinct label and kind, and the lane of each row."""
    names = [text("labels", label) for label in sequence("labels", labels)]
    classes = [kinds] * rows if is_a(kinds, Lifetime) else sequence("kinds", kinds)
    same_length(starts=range(rows), labels=names, kinds=classes)
    for kind in classes:
        instance("kinds", kind, Lifetime, "请从 Lifetime 的三类存活时间中选一类")
    keys = list(zip(names, classes, strict=True))
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    lanes = tuple(Lane(name, name, why, kind) for name, kind in order)  # type: ignore[arg-type]
    return lanes, np.array([order[key] for key in keys], dtype=np.int64)
