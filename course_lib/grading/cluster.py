"""Grade on a Dask cluster: its own executor, no scheduler of ours. Needs the extra ``cluster``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..errors import CourseError


@contextmanager
def cluster(address: str) -> Iterator[Callable[[], Executor]]:
    """Connect to a scheduler and yield what makes executors on it; its workers need this package."""
    try:
        from distributed import Client
    except ImportError:
        raise CourseError(
            "没有安装 Dask，用不了 --scheduler", remedy="请运行 pip install distributed，或去掉 --scheduler"
        ) from None
    try:
        connect: Any = Client  # typed only in part
        client = connect(address, timeout=10, set_as_default=False)
    except Exception as error:  # of many libraries below it
        raise CourseError(
            "连不上 Dask 的调度器", got=address, remedy="请检查地址与网络，写成 tcp://主机:8786 这样"
        ) from error
    try:
        # Equal calls are otherwise run once: two students with the same bytes would share a kernel.
        yield partial(client.get_executor, pure=False)
    finally:
        client.close()
