"""Paths that users and files give: invalid file names are reported."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, shown

# --- Names of studies as names of files: checked before anything runs, never the same twice

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
