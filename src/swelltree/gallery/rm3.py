"""The point absorber RM3 (Reference Model Project): a float that slides on a spar with a plate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import (
    WORLD,
    Axisymmetric,
    Body,
    Free,
    IrregularSea,
    Jonswap,
    LinearMooring,
    LinearPto,
    Planar,
    Slider,
    System,
    Water,
)
from swelltree.describe.bodies.solids import hull_immersed
from swelltree.describe.errors import SwelltreeError, listed
from swelltree.gallery.pack import Ready, data_file, refined

if TYPE_CHECKING:
    import xarray as xr

FLOAT, SPAR = -0.72, -21.29  # heights of the centres of mass [m]
MASSES = (725_834.0, 886_691.0)  # of float and spar, as published [kg]
INERTIA = (
    (20_907_301.0, 21_306_090.66, 37_085_481.11),
    (94_419_614.57, 94_407_091.24, 28_542_224.82),
)
FLOAT_HULL = Axisymmetric(((5.0, -3.0), (10.0, -2.0), (10.0, 2.0)), bore=3.0, panel_size=1.1)
PLATE = -28.95  # height of the middle of the heave plate [m]
THICK, THICK_IN_BEM = 0.1, 0.6  # of the plate: panels larger than their distance fail [m]
# of the whole plate; the description gives those of the true one
STATICS = ("hydrostatic_stiffness", "displaced_volume", "center_of_buoyancy")
FINE = (0.5, 0.75)  # of the panels of the data [m]: as many around the float as around the plate
# [rad/s]; beyond the sea, so that added mass and damping agree with that at infinite frequency
OMEGA = np.concatenate([np.arange(0.2, 2.25, 0.1), np.arange(2.4, 3.05, 0.2)])
MOVES = ("heave", "planar", "free")


def rm3(
    damping: float = 1.2e6,
    *,
    moves: str = "heave",
    start: tuple[float, float] = (0.0, 0.0),
    masses: tuple[float, float] | None = None,
) -> Ready:
    """A float on a spar with a power take-off between them.

    Args:
        damping: of the power take-off [N s/m].
        moves: DOFs of the spar: "heave", "planar" (surge, heave, pitch) or "free" (all six);
            all but heave are held by a soft mooring.
        start: initial heave of float and spar [m].
        masses: of float and spar [kg]; what they displace if not given.
    """
    if moves not in MOVES:
        raise SwelltreeError(f"rm3: moves {moves!r} is not known. Give one of {listed(MOVES)}.")
    if masses is None:
        first, second = (1000.0 * hull_immersed(x).volume for x in (FLOAT_HULL, spar_hull(THICK)))
        masses = first, second
    buoy = Body("float", masses[0], INERTIA[0], position=(0.0, 0.0, FLOAT), hull=FLOAT_HULL)
    spar = Body("spar", masses[1], INERTIA[1], position=(0.0, 0.0, SPAR), hull=spar_hull(THICK))
    at = WORLD.at(0, 0, SPAR)
    ground = {
        "heave": lambda: Slider("ground", at, spar, axis="z", position=start[1]),
        "planar": lambda: Planar("ground", at, spar, axis="y"),
        "free": lambda: Free("ground", at, spar),
    }[moves]()
    guide = Slider("guide", spar.at(0, 0, FLOAT - SPAR), buoy, position=start[0] - start[1])
    moored_dofs = {"planar": ("Surge",), "free": ("Surge", "Sway", "Yaw")}.get(moves, ())
    moorings = [
        LinearMooring(
            "mooring",
            spar,
            stiffness={dof: 1e5 if dof != "Yaw" else 1e7 for dof in moored_dofs},
            damping={dof: 1e5 if dof != "Yaw" else 1e7 for dof in moored_dofs},
        )
    ]
    system = System(
        "rm3",
        (buoy, spar),
        (ground, guide),
        ptos=(LinearPto("pto", joint="guide", damping=damping),),
        moorings=tuple(moorings if moored_dofs else ()),
        water=Water(rho=1000.0),
    )
    sea = IrregularSea(Jonswap(Hs=2.5, Tp=8.0), seed=1, omega_max=2.2, ramp=40.0)
    source = "Reference Model 3 (Neary et al. 2014), dimensions and masses as in WEC-Sim's example"
    return Ready(system, data_file("rm3"), sea, source, STATICS)


def spar_hull(thickness: float) -> Axisymmetric:
    """A column with a heave plate.

    It has a corner where the float begins: above it no water meets the column.

    Args:
        thickness: of the plate [m].
    """
    low, high = PLATE - 0.5 * thickness, PLATE + 0.5 * thickness
    rows = ((15.0, low), (15.0, high), (3.0, high), (3.0, -3.0), (3.0, 8.0))
    return Axisymmetric(rows, panel_size=1.5)


def compute() -> xr.Dataset:
    """Recompute the data: some minutes.

    With the panels of the description the damping of surge and pitch of the spar differs from its
    mirror entry by 7 %, with these by less than 2 %.
    """
    from swelltree.hydro.bem.run import run_bem

    buoy, spar = rm3().system.bodies
    thick = rm3().system.replace(bodies=(buoy, spar.replace(hull=spar_hull(THICK_IN_BEM))))
    return run_bem(refined(thick, FINE), OMEGA, (0.0,))
