"""Make `barges.nc` again: hydrodynamic data of the demo's three barges, by a BEM run.

    python -m swelltree.data.make_barges [FILE]

takes a quarter of an hour. The panels are 2 m long, six to the shortest wave: with 3 m the roll
data contradict themselves by 7 % (added mass against damping), with 2 m by 1.3 %. Single precision
is more than the panels are worth.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.data.pack import write
from swelltree.system import System

if TYPE_CHECKING:
    import xarray as xr

OMEGA = np.concatenate([np.arange(0.12, 1.38, 0.04), np.arange(1.4, 2.25, 0.05)])  # [rad/s]
HEADINGS_DEG = (-60.0, -45.0, -30.0, -15.0, 0.0, 15.0, 30.0, 45.0, 60.0)


def barges_file() -> Path:
    """Where the packaged data lie."""
    return Path(str(resources.files("swelltree.data").joinpath("barges.nc")))


def make(system: System) -> xr.Dataset:
    """Hydrodynamic data of the barges."""
    from swelltree.hydro.bem.run import run_bem

    return run_bem(system, OMEGA, np.radians(HEADINGS_DEG).tolist())


def main(argv: list[str]) -> None:
    """Compute and write."""
    from swelltree.demo import demo_system

    path = Path(argv[0]) if argv else barges_file()
    write(make(demo_system()), path)
    sys.stdout.write(f"{path}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
