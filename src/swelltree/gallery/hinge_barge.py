"""The hinge barge with its damping plate in heave and pitch (Paparella et al. 2015, Table I).

The plate takes part in the hydrodynamics only: it is as heavy as the water it displaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import WORLD, RegularWave
from swelltree.describe.bodies.hulls import Plate, Union
from swelltree.describe.joints.kinds import SubsetJoint
from swelltree.gallery.pack import Ready, data_file, refined
from swelltree.gallery.tank import BOX, PLANAR, Losses, hinged_pair

if TYPE_CHECKING:
    import xarray as xr

TESTED = np.linspace(2.61, 7.85, 14)  # frequencies of the tank tests [rad/s]
# [rad/s]; the water between the barges sloshes at 8.9 rad/s, which asks for smaller steps there
RESONANCE = np.linspace(8.65, 9.15, 11)
OMEGA = np.unique(
    np.round([*np.arange(0.5, 2.5, 0.5), *TESTED, *np.arange(2.5, 10.1, 0.25), *RESONANCE], 6)
)
# panels of box and plate, and of barge 2 [m]: an even number across, half of them are solved
FINE = ((0.67 / 14, 1.34 / 20), 0.64 / 14)
STIFFNESS = {"Heave": 3.5e4, "Pitch": 3.5e4}  # of the mooring of barge 1 [N/m, N m/rad]
NAMES = ("barge1", "barge2")
# those of the boxes alone are taken, without the plate
STATICS = ("hydrostatic_stiffness", "displaced_volume", "center_of_buoyancy")


def hinge_barge(losses: Losses | None = None, plate: bool = False) -> Ready:
    """Two barges, the first may heave and pitch; the second hangs on it.

    Args:
        losses: linear damping by body and DOF, such as `viscous_losses` gives.
        plate: with the damping plate in the hull of barge 1, for a BEM run.
    """
    deep = Plate(2.2, 1.34, 0.03, depth=1.47, panel_size=0.15)
    system = hinged_pair(
        "hinge barge",
        lambda one: SubsetJoint("root", WORLD, one, dofs=("Heave", "Pitch")),
        STIFFNESS,
        losses,
        Union((BOX, deep)) if plate else BOX,
    )
    # away from the resonance of barge 1 on its mooring at 3.9 rad/s, which only `losses` limit
    wave = RegularWave(amplitude=0.025, omega=5.0, ramp=10.0)
    return Ready(
        system, data_file("hinge_barge"), wave, "Paparella et al. (2015), Table I", STATICS
    )


def viscous_losses(data: xr.Dataset) -> Losses:
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


def compute() -> xr.Dataset:
    """Recompute the data: some minutes.

    With panels of 0.1 m, and 0.15 m on the plate, heave excitation of barge 1 contradicts itself by
    up to 43 % above 8 rad/s.
    """
    from swelltree.hydro.bem.run import run_bem

    return run_bem(refined(hinge_barge(plate=True).system, FINE), OMEGA, (0.0,), dofs=PLANAR)
