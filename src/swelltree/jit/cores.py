"""How many cores there are for this process."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use: a job of a cluster has fewer than its machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Threads that this process may start: what OMP_NUM_THREADS allows, or one for each core."""
    requested = os.environ.get("OMP_NUM_THREADS", "").strip()
    return int(requested) if requested.isdigit() and int(requested) > 0 else cores()
