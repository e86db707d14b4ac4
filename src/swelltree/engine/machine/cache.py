"""Object code kept on disk, in a folder of the user's alone.

An entry is named by the hash of all that the code depends on: the text it is compiled from, LLVM's
version, the processor and its features. It holds the hash of its own content. What is broken, is
not the user's own or could have been written by others is not read but made again. Entries are
put in place whole, so that processes may share them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from hashlib import sha256
from pathlib import Path

MARK = b"swelltree object 1\n"
LARGEST = 64_000_000  # bytes of one entry


def entry_name(*parts: str) -> str:
    """Hash of what an entry depends on."""
    digest = sha256()
    for part in parts:
        content = part.encode()
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()


def _is_private(status: os.stat_result) -> bool:
    """Is it the user's own, and nobody else may write to it?"""
    if not hasattr(os, "getuid"):  # Windows: the folder of the user is protected by the system
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def private_folder(base: Path | None) -> Path | None:
    """The folder of object code in the user's cache; None where none may be used."""
    if base is None:
        return None
    folder = base / "machine"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
    except OSError:
        return None
    return folder if stat.S_ISDIR(status.st_mode) and _is_private(status) else None


def read(folder: Path | None, name: str) -> bytes | None:
    """Code of an entry; None where there is none that can be trusted."""
    if folder is None:
        return None
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in its place must not be waited for
    try:
        with os.fdopen(os.open(folder / name, flags), "rb") as file:
            status = os.fstat(file.fileno())
            whole = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
            if not (whole and _is_private(status)):
                return None
            content = file.read(LARGEST)
    except OSError:
        return None
    head = len(MARK) + 32
    code = content[head:]
    right = content[: len(MARK)] == MARK and content[len(MARK) : head] == sha256(code).digest()
    return code if right else None


def write(folder: Path | None, name: str, code: bytes) -> None:
    """Keep an entry; a disk that is full or cannot be written to is no failure."""
    if folder is None:
        return
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")  # only the user's
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + sha256(code).digest() + code)
        os.replace(temporary, folder / name)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
