"""The finished explorers, one module per section; each function in a module's ``EXPLORERS`` makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules


def all_explorers() -> Iterator[Callable]:
    """Yield every explorer's maker, section by section."""
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        yield from import_module(f"{__name__}.{module.name}").EXPLORERS
