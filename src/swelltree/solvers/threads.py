"""Threads of the linear algebra: for matrices of some hundred rows they would only wait."""

from __future__ import annotations

import functools
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The libraries with threads; looking for them takes milliseconds."""
    return ThreadpoolController()


def one_thread() -> Any:
    """Context in which numpy and scipy use one thread."""
    return _libraries().limit(limits=1)
