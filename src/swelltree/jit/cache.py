"""Caches on disk, in folders of the user's alone: object code, and the rule for all others.

One rule: the folder and each file in it belong to the user and nobody else may write to them, an
entry is named by the hash of what it was made from, and it holds a hash of this name and of its
content, which is compared before anything of it is used. `hydro.cache` keeps to it, too.

An entry is named by the hash of all that the code depends on: the text it is compiled from, LLVM's
version, the processor and its features. What is broken, is
not the user's own or could have been written by others is not read but made again. Entries are
put in place whole, so that processes may share them. What was not used for long goes, and the
oldest where all together are too large. The folder of XLA's programs is kept likewise.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import time
from hashlib import sha256
from pathlib import Path

MARK = b"swelltree object 2\n"
MAX_ENTRY_BYTES = 64_000_000  # bytes of one entry
MAX_BYTES = 1_000_000_000  # bytes of all
FREED_FRACTION = 0.2  # of these, after some had to go
DAY = 86_400.0  # s
UNUSED = 90 * DAY  # s, after which an entry goes
NEW = ".new-"  # how names of files begin that are being written
SELDOM = 3600.0  # s, between two looks at all entries of a folder
CLEANED = ".cleaned"  # file that records when that was
OBJECTS = r"[0-9a-f]{64}"  # names of entries


def hashed(*parts: str | bytes) -> str:
    """Name of an entry that is made from some contents."""
    digest = sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()


def _is_private(status: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):  # Windows: the folder of the user is protected by the system
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def private_folder(base: Path | None, name: str = "machine") -> Path | None:
    """A folder in the user's cache that nobody else can write to; None where there is none."""
    if base is None:
        return None
    folder = base / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
    except OSError:
        return None
    return folder if stat.S_ISDIR(status.st_mode) and _is_private(status) else None


def private_bytes(path: Path, largest: int) -> bytes | None:
    """Content of a file of the user; None if it is a link or large, or others may write to it."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in its place must not be waited for
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            full = stat.S_ISREG(status.st_mode) and status.st_size <= largest
            if not (full and _is_private(status)):
                return None
            content = file.read(status.st_size)
        if time.time() - status.st_mtime > DAY:
            os.utime(path)  # it was used
    except OSError:
        return None
    return content


def read(folder: Path | None, name: str) -> bytes | None:
    """Content of an entry; None where there is none that can be trusted."""
    content = None if folder is None else private_bytes(folder / name, MAX_ENTRY_BYTES)
    if content is None:
        return None
    head = len(MARK) + 32
    code = content[head:]
    right = content[: len(MARK)] == MARK and content[len(MARK) : head] == _digest(name, code)
    return code if right else None


def _digest(name: str, code: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + code).digest()


def write(folder: Path | None, name: str, code: bytes) -> None:
    """Write an entry; a full or read-only disk is ignored."""
    if folder is None:
        return
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=NEW)  # only the user's
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + _digest(name, code) + code)
        os.replace(temporary, folder / name)
        clean_seldom(folder)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def clean_seldom(folder: Path, names: str = OBJECTS) -> None:
    """`clean` at most once an hour: listing thousands of entries takes a tenth of a second."""
    mark = folder / CLEANED
    with contextlib.suppress(OSError):
        if time.time() - mark.stat().st_mtime < SELDOM:
            return
    with contextlib.suppress(OSError):  # a folder that cannot be written to stays as it is
        mark.touch()
        clean(folder, names=names)


def clean(folder: Path, most: int = MAX_BYTES, names: str = OBJECTS) -> None:
    """Remove entries that were not used for long, and the oldest above a total size."""
    now, entries = time.time(), []
    with os.scandir(folder) as files:
        for file in files:
            half_written = file.name.startswith(NEW)
            if not half_written and re.fullmatch(names, file.name) is None:
                continue
            with contextlib.suppress(OSError):  # another process may have removed it
                status = file.stat(follow_symlinks=False)
                used = max(status.st_mtime, status.st_atime)
                if now - used > (DAY if half_written else UNUSED):
                    os.unlink(file.path)
                elif not half_written:
                    entries.append((used, status.st_size, file.path))
    total = sum(size for _, size, _ in entries)
    if total <= most:
        return
    for _, size, path in sorted(entries):
        if total <= (1.0 - FREED_FRACTION) * most:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
