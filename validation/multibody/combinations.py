"""Every feature with every other: each pair runs a short case.

Two floats, "fore" and "aft", on a hinge. A pair switches two features on; the run must end well,
move, and keep its energy budget. Features:

    nonlinear   hydrostatics and Froude-Krylov force of "fore" on its actual hull; the data have
                no second-order force of that float, which would be counted twice
    morison     a member under "aft"
    drift       mean drift and Newman's slow drift of "aft"
    pto         rectified hydraulics on the hinge
    latching    a latch on the hinge
    measured    a sea rebuilt from a measured record
    spreading   a short-crested sea
    loop        a rigid tether from "fore" to the seabed, which closes a loop
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile
from swelltree.describe import (
    WORLD,
    Body,
    Cos2s,
    Cylinder,
    Distance,
    Free,
    Hinge,
    HydraulicPto,
    IrregularSea,
    Jonswap,
    LatchingPto,
    LinearMooring,
    MeasuredWave,
    MorisonMember,
    RegularWave,
    SeaOf,
    System,
    Water,
)
from swelltree.results.energy import energy_scale
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.environment.seas import Sea
    from swelltree.describe.joints.joint import Joint


FEATURES = (
    "nonlinear",
    "morison",
    "drift",
    "pto",
    "latching",
    "measured",
    "spreading",
    "loop",
)
APART = {frozenset(("pto", "latching"))}  # two PTOs on one hinge test nothing more
PAIRS = tuple(p for p in itertools.combinations(FEATURES, 2) if frozenset(p) not in APART)
RHO, RADIUS, DRAFT, DISTANCE = 1025.0, 3.0, 2.0, 10.0
DURATION, OUTPUT = 12.0, 0.25
DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")


def data() -> xr.Dataset:
    """Smooth hydrodynamic data of both floats in closed form, headings all around."""
    import xarray as xr

    omega = np.linspace(0.2, 4.0, 39)
    mass = RHO * np.pi * RADIUS**2 * DRAFT
    size = mass * np.array([0.5, 0.5, 0.8, 1.0, 1.0, 0.2])
    s = 1j * omega
    K = 0.8 * s / ((s + 0.6) ** 2 + 1.0)  # a passive memory
    both = np.concatenate([size, size])
    A = np.diag(both) + (K.imag / omega)[:, None, None] * np.diag(both)
    B = K.real[:, None, None] * np.diag(both)
    beta = np.radians(np.arange(0.0, 360.0, 30.0))
    lift = RHO * 9.81 * np.pi * RADIUS**2
    heave = lift * np.exp(-(omega**2) / 9.81 * DRAFT)
    side = -1j * heave * omega**2 / 9.81 * DRAFT * 1.5
    F = np.zeros((len(omega), len(beta), 12), complex)
    for place, first in ((0.0, 0), (DISTANCE, 6)):
        way = np.exp(1j * omega[:, None] ** 2 / 9.81 * place * np.cos(beta)[None])
        F[:, :, first] = side[:, None] * np.cos(beta) * way
        F[:, :, first + 1] = side[:, None] * np.sin(beta) * way
        F[:, :, first + 2] = heave[:, None] * way
    drift = np.full((len(omega), len(beta), 12), 0.0)
    push = 0.5 * RHO * 9.81 * RADIUS * omega**4 / (1 + omega**4)
    drift[:, :, 6] = push[:, None] * np.cos(beta)
    drift[:, :, 7] = push[:, None] * np.sin(beta)
    labels = [f"{body}__{dof}" for body in ("fore", "aft") for dof in DOFS]
    rows, waves = (
        ("omega", "influenced_dof", "radiating_dof"),
        ("omega", "wave_direction", "influenced_dof"),
    )
    last = np.diag(both)[None]
    return xr.Dataset(
        {
            "added_mass": (rows, np.concatenate([A, last])),
            "radiation_damping": (rows, np.concatenate([B, 0.0 * last])),
            "excitation_force": (waves, np.concatenate([F, 0.0 * F[:1]])),
            "mean_drift": (waves, np.concatenate([drift, 0.0 * drift[:1]])),
            "rotation_center": (("body", "xyz"), [[0.0, 0.0, 0.0], [DISTANCE, 0.0, 0.0]]),
            "rho": RHO,
            "g": 9.81,
            "water_depth": np.inf,
        },
        {
            "omega": np.append(omega, np.inf),
            "wave_direction": beta,
            "influenced_dof": labels,
            "radiating_dof": labels,
            "body": ["fore", "aft"],
            "xyz": ["x", "y", "z"],
        },
        {"time_convention": "exp(-iwt)"},
    )


def system(features: set[str]) -> System:
    """The floats with the elements that the features ask for."""

    def floater(name: str, x: float) -> Body:
        return Body(
            name,
            "displacement",
            "homogeneous",
            com=(0.0, 0.0, -1.2),
            position=(x, 0.0, 0.0),
            reference_point=(0.0, 0.0, 0.0),
            hull=Cylinder(RADIUS, DRAFT, 2 * DRAFT, panel_size=1.2),
        )

    fore, aft = floater("fore", 0.0), floater("aft", DISTANCE)
    joints: list[Joint] = [
        Free("free", WORLD, fore),
        Hinge("hinge", fore.at(5.0, 0.0, 0.0), aft.at(-5.0, 0.0, 0.0), axis="y"),
    ]
    if "loop" in features:
        joints.append(Distance("tether", WORLD.at(0.0, 0.0, -40.0), fore.at(0.0, 0.0, -2.0)))
    forces, ptos = [], []
    if "morison" in features:
        low, high = aft.at(0.0, 0.0, -8.0), aft.at(0.0, 0.0, -2.0)
        forces.append(MorisonMember("column", low, high, 1.0, strips=6))
    if "pto" in features:
        ram = {"piston_area": 0.4, "precharge": 2e5, "gas_volume": 2.0, "motor_gain": 2e-7}
        ptos.append(HydraulicPto("ram", joint="hinge", **ram))
    if "latching" in features:
        ptos.append(LatchingPto("latch", joint="hinge", damping=2e5, release_after=0.7))
    hold = {"Surge": 2e4, "Sway": 2e4, "Yaw": 2e6}
    return System(
        "combination",
        [fore, aft],
        joints,
        forces=forces,
        ptos=ptos,
        moorings=[LinearMooring("mooring", fore, stiffness=hold, damping=hold)],
        water=Water(rho=RHO),
    )


def sea(features: set[str]) -> Sea:
    """Regular, measured, short-crested, or both together."""
    trains: list[Sea] = []
    if "measured" in features:
        t = np.arange(0.0, 60.0, 0.25)
        record = 0.3 * np.cos(2 * np.pi * 8 * t / 60.0) + 0.2 * np.cos(2 * np.pi * 11 * t / 60 + 1)
        trains.append(MeasuredWave(time=tuple(t), elevation=tuple(record)))
    if "spreading" in features:
        spread = Cos2s(s=8.0, directions=5)
        trains.append(
            IrregularSea(
                Jonswap(0.8, 6.0), components=20, spreading=spread, omega_min=0.4, omega_max=3.0
            )
        )
    if not trains:
        return RegularWave(amplitude=0.4, period=6.0)
    return trains[0] if len(trains) == 1 else SeaOf(trains=tuple(trains))


def run(features: set[str], duration: float = DURATION) -> xr.Dataset:
    """A short run with the features."""
    from swelltree.studies.time.simulate import simulate

    model = compile(
        system(features),
        data(),
        fit={"error": 0.05},
        nonlinear=["fore"] if "nonlinear" in features else False,
        drift="newman" if "drift" in features else None,
    )
    return simulate(model, sea(features), duration=duration, output_step=OUTPUT, progress=False)


def checked(result: xr.Dataset, name: str) -> list[Check]:
    """It ended well, it moved, and its energy budget closes."""
    finite = bool(np.isfinite(result.position.values).all()) and result.attrs["result"] == "success"
    moved = float(np.ptp(result.position.values[:, :, 2], axis=0).max())
    residual = float(np.abs(result.energy_residual).max()) / energy_scale(result)
    return [
        Check(
            f"{name}: a float heaved",
            moved if finite else np.nan,
            2.9,
            "m",
            "waves of 0.5 to 1 m: more than 0.1, less than 6 m",
            3.0,
        ),
        Check(f"{name}: energy residual", residual, 1e-4, "", "of the energy passed"),
    ]


@case("combinations", "pairs", source="energy balance of every pair of features")
def pairs() -> list[Check]:
    """Every pair of features runs."""
    return [check for pair in PAIRS for check in checked(run(set(pair)), " + ".join(pair))]
