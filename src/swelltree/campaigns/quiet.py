"""Loaded by every process of a campaign: the keyboard stops the driver, which ends the others."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Called by Dask in the main thread of a new process.

    Args:
        worker: of the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
