"""Names of studies as names of files: checked before anything runs, never the same twice."""

import re
import unicodedata
from collections.abc import Sequence

from swelltree.system.errors import SwelltreeError

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
