"""Files that are read whole: regular ones, whose size is known before anything is read.

A pipe has no end until somebody writes to it, a device such as /dev/zero has none at all.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 4 * 2**30
NOT_A_FILE = "it is a pipe or a device, not a file"


def is_special(mode: int) -> bool:
    """Is it something that cannot be read like a file or looked through like a folder?"""
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def plain_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """What is in a regular file.

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        OSError: where there is none, where it is a pipe, a device or too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # opening a pipe waits for whoever writes to it
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, NOT_A_FILE, str(path))
        if status.st_size > most:
            why = f"it has {status.st_size} bytes, more than the {most} that are read"
            raise OSError(errno.EFBIG, why, str(path))
        return file.read(status.st_size)  # no more room than that is taken


def plain_text(path: str | Path, most: int = MAX_BYTES, errors: str = "strict") -> str:
    """The same as text in UTF-8, with any kind of line ends."""
    text = plain_bytes(path, most).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")
