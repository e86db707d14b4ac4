"""Paths that users and files give: invalid file names are reported."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from swelltree.system.errors import SwelltreeError, shown
from swelltree.system.files.plain_files import NOT_A_FILE, is_special


def given_path(path: str | Path, what: str) -> Path:
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
