"""Small helpers for tests: where the reference data lie."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def refdata(*parts: str) -> Path:
    """Path to a file or folder of the reference data; the test is skipped where there are none.

    They are results of other codes and not part of the repository: `SWELLTREE_REFDATA` names their
    folder, by default `../shared/refdata` beside the clone.
    """
    folder = Path(os.environ.get("SWELLTREE_REFDATA", ROOT.parent / "shared" / "refdata"))
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip("skipped: no reference data")
    return path


PENDULUM = """
[system]
name = "pendulum"
bodies = [{ name = "bob", mass = 10.0, inertia = [0.1, 0.1, 0.1], position = [0, 0, -1] }]
forces = [FORCES]

[[system.joints]]
name = "pivot"
type = "hinge"
position = 0.2
base = "world"
follower = { body = "bob", position = [0, 0, 1] }
"""  # a case file that tests of the command line add studies to
