"""Routines of LAPACK, imported when they are first needed."""

from __future__ import annotations

import functools
from typing import Any


@functools.lru_cache(maxsize=1)
def lapack() -> Any:
    """The module with them."""
    import scipy.linalg.lapack as routines

    return routines
