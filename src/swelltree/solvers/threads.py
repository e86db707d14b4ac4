"""Threads of the linear algebra: for matrices of some hundred rows they would only wait."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@functools.lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The libraries with threads; looking for them takes milliseconds."""
    # scipy brings a library of its own, which must be there by now
    importlib.import_module("scipy.linalg")

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Context in which numpy and scipy use one thread."""
    return _libraries().limit(limits=1)
