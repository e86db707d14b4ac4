"""Where reference data of other codes lie.

`SWELLTREE_REFDATA` names the folder; else it is `shared/refdata` beside the clone.
"""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("SWELLTREE_REFDATA", Path(__file__).parents[2] / "shared" / "refdata"))


def reference(*parts: str) -> Path:
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        raise SystemExit(
            f"no reference data: set SWELLTREE_REFDATA to their folder ({path} is missing)."
        )
    return path
