"""`python -m swelltree.gallery NAME [FILE]` computes the data of a system again, and packs them.

They end below the first frequency at which they contradict themselves by more than 5 %. The barges
take a quarter of an hour, the others some minutes.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.gallery.pack import data_file, sound, write

NAMES = ("barges", "hinge_barge", "oswec", "rm3", "spar", "sphere", "tank")


def main(argv: list[str]) -> None:
    if not argv or argv[0] not in NAMES:
        name = argv[0] if argv else ""
        raise SwelltreeError(
            f"the gallery has no '{name}'.{suggest(name, NAMES)} It has {listed(NAMES)}."
        )
    module = importlib.import_module(f"swelltree.gallery.{argv[0]}")
    path = Path(argv[1]) if len(argv) > 1 else data_file(argv[0])
    write(sound(module.compute()), path)
    sys.stdout.write(f"{path}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SwelltreeError as mistake:
        sys.stderr.write(f"{mistake}\n")
        sys.exit(2)
