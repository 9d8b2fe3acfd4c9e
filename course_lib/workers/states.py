"""A state cut to what one worker keeps, and states put together again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..trainer import State
from ..trainer.workbench import Arrays

ITEMS = ("weights", "master", "first", "second")  # what an update leaves


def cut_state(state: State, cut: Callable[[Arrays], Arrays]) -> State:
    """Return the state with ``cut`` done to each of its items."""
    return replace(
        state,
        weights=cut(state.weights),
        grads=cut(state.grads),
        master=cut(state.master),
        first=cut(state.first),
        second=cut(state.second),
    )


def joined_state(state: State, whole: Callable[[str], Arrays]) -> State:
    """Return the state with ``whole(item)`` for each of ``ITEMS``; gradients are left out."""
    weights, master, first, second = map(whole, ITEMS)
    return replace(state, weights=weights, grads={}, master=master, first=first, second=second)
