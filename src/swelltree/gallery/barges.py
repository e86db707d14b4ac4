"""Three hinged barges with a damper on each hinge, those of MBS4WEC (large size)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Cos2s,
    Free,
    Hinge,
    IrregularSea,
    Jonswap,
    LinearDamping,
    LinearMooring,
    LinearPto,
    System,
)
from swelltree.gallery.pack import Ready, data_file

if TYPE_CHECKING:
    import xarray as xr

LENGTH, WIDTH, HEIGHT, DRAFT = 75.0, 25.0, 12.5, 7.5  # of a barge [m]
SPACING = 80.0  # between the middles [m]
DAMPING = 1.0e9  # of the power take-off on each hinge [N m s/rad]
ROLL_DAMPING = 1.0e8  # of eddies at the bilges, 5 % of critical damping [N m s/rad]
# [rad/s]; the water between two barges sloshes at 1.06 rad/s, which asks for smaller steps there
RESONANCE = (1.02, 1.06, 1.1, 1.14)
OMEGA = np.union1d(
    np.concatenate([np.arange(0.12, 1.38, 0.04), np.arange(1.4, 2.25, 0.05)]), RESONANCE
)
HEADINGS_DEG = (0.0, 15.0, 30.0, 45.0, 60.0)  # and their mirror images


def barges(damping: float = DAMPING) -> Ready:
    """Three barges of 75 m, two hinges with power take-offs, a mooring on the first barge.

    The damping of roll is not of the source, whose waves come from ahead.

    Args:
        damping: of each power take-off [N m s/rad].
    """
    return Ready(
        _system(damping), data_file("barges"), _sea(), "MBS4WEC (Bosma et al.), large barges"
    )


def _system(damping: float = DAMPING) -> System:
    hull = Box(LENGTH, WIDTH, HEIGHT, DRAFT, panel_size=2.0)
    above = 0.5 * HEIGHT - DRAFT  # height of the middle of a barge
    a, b, c = (
        Body(f"barge{i + 1}", position=(SPACING * i, 0.0, above), hull=hull) for i in range(3)
    )
    front, back = (0.5 * SPACING, 0.0, -above), (-0.5 * SPACING, 0.0, -above)
    return System(
        "three hinged barges",
        bodies=(a, b, c),
        joints=(
            Free("float", WORLD.at(*a.position), a),
            Hinge("hinge1", a.at(*front), b.at(*back)),
            Hinge("hinge2", b.at(*front), c.at(*back)),
        ),
        ptos=(
            LinearPto("pto1", joint="hinge1", damping=damping),
            LinearPto("pto2", joint="hinge2", damping=damping),
        ),
        moorings=(
            LinearMooring(
                "mooring",
                a,
                stiffness={"Surge": 6.25e5, "Sway": 6.25e5, "Yaw": 3.906e8},
                damping={"Surge": 9.88e5, "Sway": 9.88e5, "Yaw": 6.176e8},
            ),
            *(
                LinearDamping(f"bilges{i + 1}", x, {"Roll": ROLL_DAMPING})
                for i, x in enumerate((a, b, c))
            ),
        ),
    )


def _sea() -> IrregularSea:
    """A short-crested wind sea of 4 m that meets the first barge a little off its bow.

    In waves shorter than 10.5 s forces change too quickly between the headings of the data.
    """
    return IrregularSea(
        Jonswap(Hs=4.0, Tp=10.5),
        seed=7,
        components=144,
        omega_max=2.2,
        beta=0.1,
        spreading=Cos2s(s=25, directions=9),
        ramp=15.0,
    )


def compute() -> xr.Dataset:
    """The data again: a quarter of an hour.

    The panels are 2 m long, six to the shortest wave: with 3 m the roll data contradict themselves
    by 7 % (added mass against damping), with 2 m by 1.3 %.
    """
    from swelltree.hydro.bem.run import run_bem
    from swelltree.hydro.data.mirrored import mirror_headings

    return mirror_headings(run_bem(_system(), OMEGA, np.radians(HEADINGS_DEG).tolist()))
