"""One driver per store: a lock that the system takes back when its owner dies.

The lock is held on an open file, so that a killed driver leaves none behind; what is written in the
file only says whose it is. On file systems of several machines a thread of the owner also renews
the file, and a lock that the system cannot query (no `flock` there) counts as left behind when it
was not renewed for two minutes.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from pathlib import Path
from typing import IO

from swelltree.system.errors import SwelltreeError
from swelltree.system.files.plain_files import plain_text
from swelltree.system.files.whole_files import unwritable
from swelltree.system.named_values import NamedValues

FILE = "lock.json"
STALE = 120.0  # s without renewal
RENEWED = 10.0  # s between renewals


class DriverLock:
    """Held by the one process that drives a campaign into a store.

    Args:
        folder: of the store.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._file: IO[str] | None = None
        self._ended = threading.Event()

    def __enter__(self) -> DriverLock:
        try:
            file = self.path.open("a+", encoding="utf-8")
        except OSError as error:
            raise unwritable(self.path, error) from None
        if not _taken(file):
            owner = self.owner()
            file.close()
            raise SwelltreeError(
                f"campaign '{self.path.parent}' is being run by process {owner.get('process')} on "
                f"'{owner.get('machine')}' since {owner.get('since')}. Wait for it, or end it."
            )
        self._file = file
        owner = {
            "machine": platform.node(),
            "process": os.getpid(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        try:
            file.truncate(0)
            file.write(json.dumps(owner))
            file.flush()
        except OSError as error:
            self.path.unlink(missing_ok=True)
            raise unwritable(self.path, error) from None
        threading.Thread(target=self._renew, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._file is not None
        self._ended.set()
        self.path.unlink(missing_ok=True)
        self._file.close()

    def _renew(self) -> None:
        """Say that the owner is alive, until it ends: a block or a queue may take hours."""
        while not self._ended.wait(RENEWED):
            try:
                os.utime(self.path)
            except OSError:  # removed by hand: the lock on the open file is still ours
                return

    def owner(self) -> NamedValues:
        """What the file says."""
        try:
            return dict(json.loads(plain_text(self.path)))
        except (OSError, ValueError):
            return {"process": "unknown", "machine": "unknown", "since": "unknown time"}


def _taken(file: IO[str]) -> bool:
    """Whether the lock on an open file is ours now."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: judge by age
        return _is_stale(Path(file.name))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return _is_stale(Path(file.name))
    # the owner before removes the file when it ends: is it still the one of that name?
    try:
        return os.fstat(file.fileno()).st_ino == file_number(Path(file.name))
    except OSError:
        return False


def file_number(path: Path) -> int:
    """The number of a file in its file system."""
    return path.stat().st_ino


def _is_stale(path: Path) -> bool:
    stat = path.stat()
    return stat.st_size == 0 or time.time() - stat.st_mtime > STALE
