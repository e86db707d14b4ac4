"""Routines of LAPACK, imported when they are first needed."""

from __future__ import annotations

import functools
from types import ModuleType


@functools.lru_cache(maxsize=1)
def lapack() -> ModuleType:
    """The module with them."""
    import scipy.linalg.lapack as routines

    return routines
