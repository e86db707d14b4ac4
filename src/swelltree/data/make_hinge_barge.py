"""Make `hinge_barge.nc` again: data of the hinge barge with its damping plate, by a BEM run.

    python -m swelltree.data.make_hinge_barge [FILE]

takes a minute. The device is that of Paparella et al. (2015), Table I. The plate takes part in the
hydrodynamics only: it is as heavy as the water it displaces.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.data.make_tank import BOX, hinged_pair
from swelltree.data.pack import write
from swelltree.system import WORLD, System
from swelltree.system.bodies.hulls import Plate, Union
from swelltree.system.joints.kinds import SubsetJoint

if TYPE_CHECKING:
    import xarray as xr

TESTED = np.linspace(2.61, 7.85, 14)  # frequencies of the tank tests [rad/s]
# each Green function where it does well: the first makes the damping of the deep plate negative
# above 8 rad/s, the second at single frequencies below
BANDS = {
    "liang_wu_noblesse": np.union1d(np.linspace(0.5, 8.0, 31), TESTED),
    "delhommeau": np.linspace(8.25, 9.25, 5),
}
STIFFNESS = {"Heave": 3.5e4, "Pitch": 3.5e4}  # of the mooring of barge 1 [N/m, N m/rad]
NAMES = ("barge1", "barge2")
STATICS = ("hydrostatic_stiffness", "displaced_volume", "center_of_buoyancy")


def hinge_barge_file() -> Path:
    """Where the packaged data lie."""
    return Path(str(resources.files("swelltree.data").joinpath("hinge_barge.nc")))


def hinge_barge_data() -> xr.Dataset:
    """Hydrodynamics with the plate, without the statics, which are those of the boxes alone."""
    from swelltree.hydro.readers.read import read_hydro

    return read_hydro(hinge_barge_file(), check=False).drop_vars(list(STATICS))


def losses(data: xr.Dataset) -> dict[str, dict[str, float]]:
    """Viscous damping: 5 % of the largest radiation damping at the tested frequencies."""
    B = data["radiation_damping"]
    omega = B["omega"]
    B = B.isel(omega=(omega >= TESTED[0] - 1e-9) & (omega <= TESTED[-1] + 1e-9)).max("omega")
    return {
        body: {
            dof: 0.05
            * float(B.sel(influenced_dof=f"{body}__{dof}", radiating_dof=f"{body}__{dof}"))
            for dof in ("Heave", "Pitch")
        }
        for body in NAMES
    }


def hinge_barge_system(
    damping: dict[str, dict[str, float]] | None = None, plate: bool = False
) -> System:
    """Two barges, the first may heave and pitch; the second hangs on it.

    Args:
        damping: linear damping by body and freedom.
        plate: with the damping plate in the hull of barge 1, for a BEM run.
    """
    deep = Plate(2.2, 1.34, 0.03, depth=1.47, panel_size=0.15)
    return hinged_pair(
        "hinge barge",
        lambda one: SubsetJoint("root", WORLD, one, dofs=("Heave", "Pitch")),
        STIFFNESS,
        damping,
        Union((BOX, deep)) if plate else BOX,
    )


def main(argv: list[str]) -> None:
    """Compute and write."""
    import xarray as xr

    from swelltree.hydro.bem.run import run_bem

    path = Path(argv[0]) if argv else hinge_barge_file()
    system = hinge_barge_system(plate=True)
    low, high = (run_bem(system, omega, (0.0,), green=g) for g, omega in BANDS.items())
    high = high.isel(omega=np.isin(high["omega"], BANDS["delhommeau"]))
    keys = [name for name in low if "omega" in low[name].dims]
    both = xr.concat([low[keys], high[keys]], dim="omega").sortby("omega")
    write(low.drop_dims("omega").merge(both), path)
    sys.stdout.write(f"{path}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
