"""Files written whole or not at all, by every part of the package.

A file is made under a temporary name in its own folder and takes its name when it is complete. The
temporary name contains the machine and the process, so that what a killed process left behind is
found and removed by the next one that writes there.
"""

from __future__ import annotations

import errno
import functools
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, error_in_file

DAY = 86400.0  # s: leftovers of other machines, whose processes cannot be asked, live this long
LEFTOVER = re.compile(r"\.swelltree-(?P<machine>[0-9A-Za-z_]*)-(?P<process>\d+)-[0-9a-f]+\.tmp")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that becomes `path` at the end of the block, if nothing goes wrong in it.

    Raises:
        OSError: when the folder or the disk does not allow it; see `unwritable`.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "its name holds a NUL character")
    clean_up_once(path.parent)
    name = f".swelltree-{_machine()}-{os.getpid()}-{secrets.token_hex(6)}.tmp"
    temporary = path.parent / name
    # made by us and by nobody else, as readable as other files
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: Path, content: str | bytes | memoryview) -> Path:
    """Write text or bytes atomically, replacing an existing file."""
    if os.path.isdir(path):
        raise SwelltreeError(f"cannot write '{path}': it is a folder. Name a file in it.")
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())  # a full disk is reported now, not after renaming
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def unwritable(path: Path, error: OSError) -> SwelltreeError:
    """Why a file cannot be written, and what to do."""
    if not os.path.isdir(path.parent):
        return error_in_file(
            f"cannot write '{path}': the folder '{path.parent}' does not exist. Make it first."
        )
    todo = "Choose a folder you may write to."
    if is_full(error):
        todo = "Free some space or choose a folder on another disk."
    elif error.errno in (errno.ENAMETOOLONG, errno.EINVAL):
        todo = "Give it another name."
    shown = str(path).replace("\0", "\\0")
    return error_in_file(f"cannot write '{shown}': {error.strerror or error}. {todo}")


def is_full(error: OSError) -> bool:
    """Whether the disk is full or the file size limit is exceeded."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def clean_up(folder: Path) -> None:
    """Remove temporary files of ended processes from a folder."""
    for file in folder.glob(".swelltree-*.tmp"):
        match = LEFTOVER.fullmatch(file.name)
        if match is None:
            continue
        try:
            if match["machine"] == _machine() and os.name == "posix":
                left = not _is_alive(int(match["process"]))
            else:
                left = time.time() - file.stat().st_mtime > DAY
            if left:
                file.unlink()
        except OSError:  # another process was quicker, or the folder is not ours to clean
            continue


@functools.lru_cache(maxsize=256)
def clean_up_once(folder: Path) -> None:
    """Clean up a folder once per process."""
    clean_up(folder)


@functools.cache
def _machine() -> str:
    return re.sub(r"[^0-9A-Za-z]", "_", platform.node())[:40]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it lives, and belongs to someone else
        return True
    return True
