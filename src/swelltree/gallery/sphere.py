"""The floating sphere of IEA OES Task 10 (Wendt et al. 2019): radius 5 m, half under water."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import (
    WORLD,
    Body,
    IrregularSea,
    Jonswap,
    LinearPto,
    Slider,
    Sphere,
    System,
    Water,
)
from swelltree.gallery.pack import Ready, data_file, refined

if TYPE_CHECKING:
    import xarray as xr

FINE = 0.35  # of the panels of the data [m]
OMEGA = np.concatenate([np.arange(0.1, 3.05, 0.1), np.arange(3.2, 4.3, 0.2)])  # [rad/s]
COM = -2.0  # height of the centre of mass [m]


def sphere(lift: float = 0.0, damping: float = 0.0) -> Ready:
    """A sphere that heaves, with a damper where one is asked for.

    Args:
        lift: how far above its rest it is released [m].
        damping: of a power take-off to the ground [N s/m].
    """
    ball = Body(
        "sphere",
        mass=261_800.0,
        inertia=(1.69e6, 1.69e6, 2.61e6),
        position=(0.0, 0.0, COM),
        hull=Sphere(5.0, panel_size=0.7),
    )
    heave = Slider("heave", WORLD.at(0, 0, COM), ball, axis="z", position=lift)
    ptos = (LinearPto("pto", joint="heave", damping=damping),) if damping else ()
    system = System("sphere", (ball,), (heave,), ptos=ptos, water=Water(rho=1000.0))
    sea = IrregularSea(Jonswap(Hs=2.0, Tp=7.0), seed=1, ramp=20.0)
    return Ready(system, data_file("sphere"), sea, "IEA OES Task 10, Wendt et al. (2019)")


def compute() -> xr.Dataset:
    """The data again: some minutes.

    With the panels of the description (0.7 m) heave damping above 3.5 rad/s is 17 to 70 % from the
    series of Hulme (1982).
    """
    from swelltree.hydro.bem.run import run_bem

    return run_bem(refined(sphere().system, (FINE,)), OMEGA, (0.0,))
