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

from swelltree.system import System

if TYPE_CHECKING:
    import xarray as xr

OMEGA = np.concatenate([np.arange(0.12, 1.38, 0.04), np.arange(1.4, 2.25, 0.05)])  # [rad/s]
HEADINGS_DEG = (-60.0, -45.0, -30.0, -15.0, 0.0, 15.0, 30.0, 45.0, 60.0)
KEPT = (
    "added_mass",
    "radiation_damping",
    "excitation_force",
    "hydrostatic_stiffness",
    "inertia_matrix",
    "center_of_mass",
    "rotation_center",
    "center_of_buoyancy",
    "displaced_volume",
    "rho",
    "g",
    "water_depth",
)


def barges_file() -> Path:
    """Where the packaged data lie."""
    return Path(str(resources.files("swelltree.data").joinpath("barges.nc")))


def make(system: System) -> xr.Dataset:
    """Hydrodynamic data of the barges."""
    from swelltree.hydro.bem import run_bem

    return run_bem(system, OMEGA, np.radians(HEADINGS_DEG).tolist())


def write(data: xr.Dataset, path: Path) -> None:
    """Write what a run needs, small: single precision, compressed, complex as (re, im)."""
    import xarray as xr

    data = data[list(KEPT)]
    force = data["excitation_force"]
    parts = xr.concat([force.real, force.imag], dim="complex").astype("float32")
    data = data.assign(excitation_force=parts.assign_attrs(force.attrs))
    data = data.assign_coords(complex=["re", "im"])
    for name in ("added_mass", "radiation_damping"):
        # what symmetry makes zero is zero, and takes no room
        values = data[name]
        size = np.sqrt(np.abs(values.values).max(axis=0).diagonal())
        small = np.abs(values.values) < 1e-7 * size[:, None] * size[None, :]
        data[name] = values.copy(data=np.where(small, 0.0, values.values)).astype("float32")
    packed = {"zlib": True, "complevel": 9, "shuffle": True}
    encoding = dict.fromkeys(("added_mass", "radiation_damping", "excitation_force"), packed)
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def main(argv: list[str]) -> None:
    """Compute and write."""
    from swelltree.demo import demo_system

    path = Path(argv[0]) if argv else barges_file()
    write(make(demo_system()), path)
    sys.stdout.write(f"{path}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
