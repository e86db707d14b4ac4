"""The OC3-Hywind spar with its turbine as one body, and its three mooring lines."""

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
    Line,
    LinearMooring,
    LineType,
    System,
    Water,
)
from swelltree.gallery.pack import Ready, data_file, refined

if TYPE_CHECKING:
    import xarray as xr

DEPTH = 320.0  # [m]
# mass [kg], height [m] and own pitch inertia [kg m^2] of floater, tower, nacelle with rotor
PARTS = (
    (7_466_330.0, -89.9155, 4.22923e9),
    (249_718.0, 43.4, 249_718.0 * 77.6**2 / 12.0),
    (350_000.0, 89.55, 4.4e7),
)
YAW_INERTIA = 1.6423e8 + 2.6e7  # floater and turbine [kg m^2]
ANCHORS, FAIRLEADS, FAIRLEAD_HEIGHT = 853.87, 5.2, -70.0  # radii and height [m]
LENGTH = 902.2  # of a line [m]
CHAIN = LineType("chain", diameter=0.09, mass_per_length=77.7066, EA=384.243e6)
OMEGA = np.concatenate([np.arange(0.05, 1.03, 0.05), np.arange(1.1, 2.6, 0.1)])  # [rad/s]
FINE = 1.2  # panels of the data [m]
HEADINGS_DEG = (0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0)


def spar(lines: str = "quasi_static", segments: int = 20) -> Ready:
    """A spar of 120 m draft on three chains in 320 m of water.

    Args:
        lines: theory of the mooring lines: "quasi_static", "dynamic" or "multibody".
        segments: of each dynamic line.
    """
    total = sum(m for m, _, _ in PARTS)
    com = sum(m * z for m, z, _ in PARTS) / total
    pitch = sum(m * (z - com) ** 2 + inertia for m, z, inertia in PARTS)
    hull = Axisymmetric(((4.7, -120.0), (4.7, -12.0), (3.25, -4.0), (3.25, 10.0)), panel_size=2.0)
    body = Body(
        "spar",
        total,
        (pitch, pitch, YAW_INERTIA),
        com=(0.0, 0.0, com),
        reference_point=(0.0, 0.0, 0.0),
        hull=hull,
    )
    turns = np.radians([180.0, 60.0, -60.0])
    moored = tuple(
        Line(
            f"line{k + 1}",
            (ANCHORS * np.cos(a), ANCHORS * np.sin(a), -DEPTH),
            body.at(FAIRLEADS * np.cos(a), FAIRLEADS * np.sin(a), FAIRLEAD_HEIGHT),
            LENGTH,
            CHAIN,
            lines,
            segments=None if lines == "quasi_static" else segments,
        )
        for k, a in enumerate(turns)
    )
    # the delta connection of the lines, which holds it in yaw, and the drag of its long hull
    extra = LinearMooring(
        "crowfoot",
        body,
        stiffness={"Yaw": 9.834e7},
        damping={"Surge": 1e5, "Sway": 1e5, "Heave": 1.3e5, "Yaw": 1.3e7},
    )
    system = System(
        "spar",
        (body,),
        (Free("float", WORLD, body),),
        lines=moored,
        moorings=(extra,),
        water=Water(depth=DEPTH),
    )
    # the data end at 2.3 rad/s: no seed may draw a shorter wave
    sea = IrregularSea(Jonswap(Hs=6.0, Tp=10.0), omega_max=2.25, seed=1, ramp=60.0)
    source = "OC3-Hywind, Jonkman (2010), NREL/TP-500-47535"
    return Ready(system, data_file("spar"), sea, source)


def compute() -> xr.Dataset:
    """The data again: some minutes.

    With the panels of the description (2 m) heave excitation contradicts itself by up to 19 % from
    2.2 rad/s on.
    """
    from swelltree.hydro.bem.run import run_bem

    return run_bem(refined(spar().system, (FINE,)), OMEGA, np.radians(HEADINGS_DEG).tolist())
