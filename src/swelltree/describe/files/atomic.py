"""Files written whole or not at all, and paths given by users and files, which are checked.

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
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, error_in_file, shown

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


LONGEST = 200  # bytes, which leaves room for an ending
TAKEN = {"hydro": "the data that `swelltree bem` writes"}  # other files of the same folder
FORBIDDEN = re.compile(r'[/\\<>:"|?*]')  # by one of the systems that files travel between


def file_stems(names: Sequence[str]) -> dict[str, str]:
    """File name without ending for every study of a case, by its name.

    Signs that file systems do not allow become "_". Names that would share a file, also where
    capitals make no difference, are rejected.
    """
    stems: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        stem = FORBIDDEN.sub("_", name)
        if len(stem.encode()) > LONGEST:
            raise SwelltreeError(
                f"study '{name[:40]}...': its name of {len(name)} letters is too long for a file. "
                f"Give at most {LONGEST}."
            )
        key = unicodedata.normalize("NFC", stem).casefold()
        if key in TAKEN:
            raise SwelltreeError(
                f"study '{name}': its results would lie in the file of {TAKEN[key]}. "
                "Give it another name."
            )
        if key in owners:
            raise SwelltreeError(
                f"study '{name}': its results would lie in the same file '{stem}.nc' as those of "
                f"study '{owners[key]}'. Give one of them another name."
            )
        owners[key], stems[name] = name, stem
    return stems


# --- Files that are read whole: regular ones, whose size is known before anything is read

MAX_BYTES = 4 * 2**30
NOT_A_FILE = "it is a pipe or a device, not a file"


def is_special(mode: int) -> bool:
    """Whether a path is neither a regular file nor a folder."""
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
    """Content of a file as UTF-8 text with normalised line ends."""
    text = plain_bytes(path, most).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def user_path(path: str | Path, what: str) -> Path:
    """The path of something to be read, which may not be there but could be.

    Args:
        path: as given.
        what: it names, for the message: "hydro data", "case file".
    """
    try:
        status = os.stat(path)
    except ValueError:
        why = "it holds a NUL character"
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            return Path(path)  # whoever reads it says what is wrong
        why = "it is too long"
    else:
        if not is_special(status.st_mode):
            return Path(path)
        raise SwelltreeError(
            f"{what} {shown(str(path))}: {NOT_A_FILE}. Write its content to a file, and give that."
        )
    raise SwelltreeError(
        f"{what} {shown(str(path))}: no file can have this name: {why}. Check the path."
    )
