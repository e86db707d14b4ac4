"""Two barges in a tank, the first on a pivot at its waterline (Ó Catháin et al. 2006).

The barges are those of Paparella et al. (2015), Table I, without the damping plate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Hinge,
    LinearMooring,
    LinearPto,
    RegularWave,
    System,
    Water,
)
from swelltree.describe.bodies.hulls import Hull
from swelltree.describe.joints.joint import Joint
from swelltree.describe.mooring.line import LinearDamping
from swelltree.gallery.pack import Ready, data_file, refined

if TYPE_CHECKING:
    import xarray as xr

OMEGA = np.arange(0.5, 11.1, 0.25)  # [rad/s]
FINE = (0.048, 0.046)  # panels of the data [m], an even number across: half of them are solved
PLANAR = ("Surge", "Heave", "Pitch")  # degrees of freedom of the data
ARM1, ARM2 = 0.78, 1.48  # from each waterline origin to the hinge [m]
PTO_DAMPING, PITCH_STIFFNESS = 850.0, 3.5e4  # N s/m, N m/rad
BOX = Box(1.1, 0.67, 0.57, 0.37, panel_size=0.1)  # hull of barge 1
Losses = dict[str, dict[str, float]]


def tank(losses: Losses | None = None) -> Ready:
    """The barges, the first on a pivot at its waterline origin (the 2-DoF form of the paper).

    Args:
        losses: linear damping by body and DOF.
    """
    system = hinged_pair(
        "two barges in a tank",
        lambda one: Hinge("pivot", WORLD, one),
        {"Pitch": PITCH_STIFFNESS},
        losses,
    )
    wave = RegularWave(amplitude=0.025, omega=5.0, ramp=10.0)
    return Ready(
        system, data_file("tank"), wave, "Ó Catháin et al. (2006); Paparella et al. (2015)"
    )


def hinged_pair(
    name: str,
    root: Callable[[Body], Joint],
    stiffness: dict[str, float],
    losses: Losses | None = None,
    hull: Hull = BOX,
) -> System:
    """The two barges of Table I with their hinge, ram and mooring.

    Args:
        name: of the system.
        root: joint that carries barge 1.
        stiffness: of the mooring of barge 1, by DOF.
        losses: linear damping by body and DOF.
        hull: of barge 1.
    """
    one = Body(
        "barge1",
        272.69,
        (20.0, 34.8793, 50.0),
        com=(0, 0, -0.084),
        reference_point=(0, 0, 0),
        hull=hull,
    )
    two = Body(
        "barge2",
        128.0,
        (4.5, 66.8203, 71.0),
        com=(0, 0, -0.0175),
        position=(ARM1 + ARM2, 0, 0),
        reference_point=(0, 0, 0),
        hull=Box(2.5, 0.64, 0.12, 0.08, panel_size=0.1),
    )
    return System(
        name,
        bodies=(one, two),
        joints=(root(one), Hinge("hinge", one.at(ARM1, 0, 0), two.at(-ARM2, 0, 0))),
        ptos=(LinearPto("ram", one.at(0.35, 0, 0.1), two.at(-0.55, 0, 0.1), damping=PTO_DAMPING),),
        moorings=(
            LinearMooring("mooring", one, stiffness=stiffness),
            *(
                LinearDamping(f"losses_{body}", body, damping=values)
                for body, values in (losses or {}).items()
            ),
        ),
        water=Water(rho=1000.0),
    )


def compute() -> xr.Dataset:
    """The data again: some minutes.

    With the panels of the description (0.1 m) damping and excitation contradict themselves by more
    than 5 % from 7.75 rad/s on.
    """
    from swelltree.hydro.bem.run import run_bem

    return run_bem(refined(tank().system, FINE), OMEGA, (0.0,), dofs=PLANAR)
