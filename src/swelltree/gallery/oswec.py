"""A flap hinged near the seabed (OSWEC of the WEC-Sim examples)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Hinge,
    IrregularSea,
    Jonswap,
    LinearPto,
    System,
    Water,
    Weld,
)
from swelltree.gallery.pack import Ready, data_file

if TYPE_CHECKING:
    import xarray as xr

FLAP, BASE, HINGE = -3.9, -10.9, -8.9  # heights of centre of mass, foot and hinge [m]
DEPTH = 10.9  # [m]
# the lower edge of the flap is round; a box of the same volume ends here, and the base begins
DRAFT = 9.18  # [m]
OMEGA = np.concatenate([np.arange(0.1, 2.05, 0.1), np.arange(2.2, 4.1, 0.2)])  # [rad/s]
HEADINGS_DEG = (0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0)


def oswec(damping: float = 12e3, *, angle: float = 0.0) -> Ready:
    """A flap of 18 m by 11 m on a hinge, its base on the seabed.

    No water runs between them: the gap below the flap is closed.

    Args:
        damping: of the power take-off on the hinge [N m s/rad].
        angle: at which the flap is released [rad].
    """
    hull = Box(1.8, 18.0, 11.3, DRAFT, panel_size=0.8)
    flap = Body("flap", 127_000.0, (1.85e6,) * 3, position=(0.0, 0.0, FLAP), hull=hull)
    foot = Box(1.8, 18.0, DEPTH - DRAFT, DEPTH - DRAFT, offset=(0, 0, -DRAFT), panel_size=0.8)
    base = Body("base", 1000.0, (1.0, 1.0, 1.0), position=(0.0, 0.0, BASE), hull=foot)
    at_base, at_flap = base.at(0, 0, HINGE - BASE), flap.at(0, 0, HINGE - FLAP)
    system = System(
        "oswec",
        (flap, base),
        (
            Weld("seabed", WORLD.at(0, 0, BASE), base),
            Hinge("hinge", at_base, at_flap, position=angle),
        ),
        ptos=(LinearPto("pto", joint="hinge", damping=damping),),
        water=Water(rho=1000.0, depth=DEPTH),
    )
    # higher waves tilt the flap by more than the 15 degrees of linear hydrostatics
    sea = IrregularSea(Jonswap(Hs=1.2, Tp=8.0), seed=1, ramp=40.0)
    return Ready(system, data_file("oswec"), sea, "OSWEC example of WEC-Sim")


def compute() -> xr.Dataset:
    """Recompute the data: some minutes."""
    from swelltree.hydro.bem.run import run_bem

    return run_bem(oswec().system, OMEGA, np.radians(HEADINGS_DEG).tolist())
