"""The worked examples as steps, one module per section; ``walk`` opens one in the player."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ...arguments import choice
from .steps import Question, Step, Walk

if TYPE_CHECKING:
    from ..walkthrough import Walkthrough

__all__ = ["Question", "Step", "Walk", "all_walks", "walk"]


def all_walks() -> dict[str, Callable[[], Walk]]:
    """Return name → maker of every walkthrough, section by section."""
    names = sorted(found.name for found in iter_modules(__path__) if found.name.startswith("section_"))
    found: dict[str, Callable[[], Walk]] = {}
    for name in names:
        found |= import_module(f"{__name__}.{name}").WALKS
    return found


def walk(name: str, *, step: Any = 1) -> Walkthrough:
    """Return a worked example in the player, at a step counted from 1; ``name`` is one of ``all_walks()``."""
    from ..walkthrough import Walkthrough

    known = all_walks()
    return Walkthrough(known[choice("例子", name, known)](), step=step)
