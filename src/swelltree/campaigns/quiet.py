"""Loaded by each process that a campaign starts: the keyboard stops the driver, which ends them."""

from __future__ import annotations

import logging
import signal

# where a process logs that its scheduler went, as it does when the driver is stopped
LOGGERS = ("distributed.worker", "distributed.core", "distributed.batched", "distributed.comm.tcp")


def dask_setup(worker: object) -> None:
    """Called by Dask in the main thread of a new process.

    The driver reports what becomes of cases and processes.

    Args:
        worker: of the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
