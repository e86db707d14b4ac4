"""Loaded by each process that a campaign starts: the keyboard stops the driver, which ends them."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Called by Dask in the main thread of a new process.

    Args:
        worker: of the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
