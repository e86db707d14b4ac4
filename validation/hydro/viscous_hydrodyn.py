"""Drag of the members of a spar against HydroDyn of OpenFAST (OC3-Hywind).

Members only drag there, since potential flow gives the rest; their force is what the total holds
beyond the listed parts and the additional linear damping and stiffness. The waves are known by
their elevation during 60 s: the likeliest Gaussian sea through it gives the velocities below,
which are good some seconds away from the ends of the record.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import WORLD, Body, MorisonMember, System, Water, Weld
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion
from validation.hydro.hydro_forces import columns
from validation.hydro.viscous import held_wrench
from validation.signals import rms_error
from validation.table import Check, case

AXES = ("Fxi", "Fyi", "Fzi", "Mxi", "Myi", "Mzi")
DEPTH, GRAVITY = 320.0, 9.80665


def member_drag(reference: dict[str, np.ndarray]) -> np.ndarray:
    """Force and moment of the members about the origin, (time, 6)."""

    def rows(prefix: str, names: tuple[str, ...]) -> np.ndarray:
        return np.stack([reference[prefix + name] for name in names], axis=1)

    total = rows("Hydro", AXES) - sum(rows(f"B1{part}", AXES) for part in ("Wvs", "HDS", "Rdt"))
    damping = np.array([1e5, 1e5, 1.3e5, 0.0, 0.0, 1.3e7])
    moved = total + damping * velocities(reference)
    moved[:, 5] += 98.34e6 * reference["B1Yaw"]
    return moved


def velocities(reference: dict[str, np.ndarray]) -> np.ndarray:
    """Velocity of the spar at the origin, (time, 6)."""
    names = ("TVxi", "TVyi", "TVzi", "RVxi", "RVyi", "RVzi")
    return np.stack([reference[f"B1{name}"] for name in names], axis=1)


def likely_waves(time: np.ndarray, elevation: np.ndarray, Hs: float, Tp: float) -> Components:
    """Components whose sum is the elevation, likeliest under a Pierson-Moskowitz spectrum."""
    omega = 2 * np.pi / 600.0 * np.arange(15, 300)
    peak = 2 * np.pi / Tp
    S = 5 / 16 * Hs**2 * peak**4 * omega**-5 * np.exp(-1.25 * (peak / omega) ** 4)
    size = np.sqrt(S * (omega[1] - omega[0]))
    angle = np.outer(time, omega)
    basis = np.hstack([np.cos(angle) * size, np.sin(angle) * size])
    normal = basis.T @ basis + 1e-6 * np.eye(basis.shape[1])
    x = np.linalg.solve(normal, basis.T @ elevation)
    A = size * (x[: len(omega)] + 1j * x[len(omega) :])
    k = np.asarray(dispersion(omega, DEPTH, GRAVITY))
    return Components(np.abs(A), omega, k, 0.0 * omega, np.angle(A))


def spar_members() -> Model:
    """The three members of the spar, drag only, up to the still water."""
    body = Body("spar", mass=8e6, inertia=(5e9, 5e9, 2e8))
    more = {"Cd": 0.6, "inertia": False, "surface": "still"}
    rows = [(-120.0, -12.0, 9.4, 9.4, 216), (-12.0, -4.0, 9.4, 6.5, 16), (-4.0, 10.0, 6.5, 6.5, 28)]
    members = [
        MorisonMember(
            f"part{i}", body.at(0, 0, low), body.at(0, 0, high), a, b, strips=strips, **more
        )
        for i, (low, high, a, b, strips) in enumerate(rows)
    ]
    water = Water(1025.0, GRAVITY, DEPTH)
    return compile_system(System("spar", [body], [Weld("held", WORLD, body)], members, water=water))


@case(
    "viscous",
    "hydrodyn_member_drag",
    source="OpenFAST HydroDyn, OC3-Hywind",
    needs="hydrodyn_oc3_spar",
)
def hydrodyn_member_drag(folder: Path) -> list[Check]:
    """Surge force and pitch moment of the members' drag from 10 to 50 s."""
    reference = columns(folder / "driver.out.gz")
    time = reference["Time"]
    waves = likely_waves(time[::8], reference["Wave1Elev"][::8], 6.0, 10.0)
    model = spar_members()
    inside = np.flatnonzero((time >= 10.0) & (time <= 50.0))[::20]
    v = velocities(reference)
    ours = np.array([held_wrench(model, waves, float(time[i]), v[i], "constant") for i in inside])
    expected = member_drag(reference)[inside]
    why = "waves known by 60 s of elevation"
    return [
        Check(name, 100 * rms_error(ours[:, k], expected[:, k]), 2.5, "% rms", why)
        for name, k in (("Fx", 0), ("My", 4))
    ]
