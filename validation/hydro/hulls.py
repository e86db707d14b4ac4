"""Buoyancy and Froude-Krylov forces on the actual wetted hull against closed forms and codes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Cylinder,
    Free,
    RegularWave,
    Slider,
    Sphere,
    System,
    Water,
)
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.readers.read import read_hydro
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import State, formulation
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.waves.sea import realise
from validation.hydro.hydro_sphere import MEAN, heave, water_of
from validation.run import run
from validation.table import Check, case

if TYPE_CHECKING:
    from swelltree.describe.bodies.hulls import Hull


def floating(hull: Hull, **body: Any) -> Model:
    """A free hull that acts on its wetted surface, without hydrodynamic data."""
    floater = Body("hull", hull=hull, **body)
    return compile_system(System("hull", [floater], [Free("free", WORLD, floater)]), nonlinear=True)


def hull_force(model: Model, t: float = 0.0, heave: float = 0.0, roll: float = 0.0) -> np.ndarray:
    """Wrench of the water on the hull at a height and a roll angle, (6,)."""
    q = np.array(model.start.q)
    q[2] += heave
    q[3:] = [math.cos(0.5 * roll), math.sin(0.5 * roll), 0.0, 0.0]
    how = formulation("path_matrix")
    motion = how.kinematics(model, np.array(t), State(q, np.zeros(6), np.zeros(0))).motion
    return total_loads(model, np.array(t), motion).channels["hull_force"][0]


@case("hydro", "hull_righting_moment", source="formula of wall-sided ships")
def righting_moment() -> list[Check]:
    """A box heels at its displacement; corners of deck and bottom stay dry and wet."""
    beam, draft, length = 8.0, 3.0, 20.0
    model = floating(
        Box(length, beam, 6.0, draft), reference_point=(0.0, 0.0, 0.0), com=(0.0, 0.0, 0.0)
    )
    lift = Water().rho * Water().g * length * beam * draft
    metacentre = beam**2 / (12.0 * draft)
    checks = []
    for angle in (5.0, 20.0, 35.0):
        roll = math.radians(angle)
        arm = math.sin(roll) * (metacentre - 0.5 * draft + 0.5 * metacentre * math.tan(roll) ** 2)
        off = abs(-hull_force(model, roll=roll)[3] / (lift * arm) - 1.0)
        checks.append(Check(f"righting moment at {angle:g}°", off, 1e-10, "", "both are exact"))
    return checks


@case("hydro", "hull_sphere_cap", source="volume of a spherical cap")
def sphere_cap() -> list[Check]:
    """Buoyancy of a sphere from half out to all under."""
    checks = []
    for size, allowed in ((0.7, 8e-3), (0.35, 2e-3)):
        model = floating(Sphere(5.0, panel_size=size), reference_point=(0.0, 0.0, 0.0))
        off = []
        for z in (4.0, 2.0, 0.0, -3.0, -6.0):
            depth = min(max(5.0 - z, 0.0), 10.0)
            volume = math.pi * depth**2 * (15.0 - depth) / 3.0
            lift = hull_force(model, heave=z)[2] / (Water().rho * Water().g)
            off.append(abs(lift - volume) / (4.0 / 3.0 * math.pi * 125.0))
        reason = "chords of panels; falls with the square of their size"
        checks.append(Check(f"volume, panels of {size} m", max(off), allowed, "of all", reason))
    return checks


@case("hydro", "hull_froude_krylov", source="closed form for an upright cylinder")
def froude_krylov() -> list[Check]:
    """First harmonic of the force of a wave of 1 cm on a held cylinder."""
    from scipy.special import j1

    radius, draft, omega = 5.0, 4.0, 1.1
    floats = floating(Cylinder(radius, draft, 6.0, panel_size=0.8), reference_point=(0.0, 0.0, 0.0))
    k, rho_g = omega**2 / floats.water.g, floats.water.rho * floats.water.g
    up = rho_g * math.exp(-k * draft) * 2.0 * math.pi * radius * j1(k * radius) / k
    ahead = rho_g * radius * (1.0 - math.exp(-k * draft)) / k * 2.0 * math.pi * j1(k * radius)
    checks = []
    for name, beta in (("head", 0.0), ("oblique", 0.7)):
        wave = RegularWave(0.01, omega=omega, beta=beta)
        model = apply_sea(floats, realise(wave, floats.water), 10.0)
        t = 2.0 * np.pi / omega * np.arange(16) / 16
        force = np.array([hull_force(model, time) for time in t])
        F = 2.0 * (force * np.exp(1j * omega * t)[:, None]).mean(0) / 0.01
        along = F[0] * math.cos(beta) + F[1] * math.sin(beta)
        reason = "panels of 0.8 m, a twelfth of a wavelength round"
        checks += [
            Check(f"heave, {name}", abs(F[2] - up) / up, 0.01, "", reason),
            Check(f"ahead, {name}", abs(along + 1j * ahead) / ahead, 0.01, "", reason),
        ]
    return checks


@case("hydro", "hull_capsize", source="conservation of energy")
def capsize() -> list[Check]:
    """A barge turns right round; buoyancy stores energy, so the balance is a true one."""
    barge = Body("hull", hull=Box(20.0, 8.0, 6.0, 3.0), com=(0.0, 0.0, 2.5))
    joint = Free("free", WORLD, barge, velocity={"Roll": 4.0, "Pitch": 0.1})
    model = compile_system(System("barge", [barge], [joint]), nonlinear=True)
    result = run(model, 10.0, 0.05, rtol=1e-8, atol=1e-10)
    kinetic = result["kinetic_energy"].sum("body").values
    change = np.abs(result["energy_residual"].values).max() / kinetic.max()
    up = result["rotation"].values[:, 0, 2, 2]
    turns = float((np.diff(np.sign(up)) != 0).sum()) / 2.0
    return [
        Check("energy", float(change), 1e-5, "K", "rtol 1e-8"),
        Check("turns short of one", max(0.0, 1.0 - turns), 0.0, "", "it must go right round"),
    ]


@case("hydro", "hull_sphere_decay", source="IEA OES Task 10: six codes", needs="ts_sphere")
def sphere_decay(folder: Path) -> list[Check]:
    """Free decay from 1 m above rest with buoyancy of the actual hull."""
    table = np.loadtxt(folder / "decay" / "sphere_decay_ref_data.txt", skiprows=1)
    time, *codes = table.T
    path = folder.parent / "bem_sphere" / "iea_oes_task10" / "sphere.h5"
    data = read_hydro(path, names=["sphere"], check=False)

    def model(start: float) -> Model:
        body = Body(
            "sphere",
            mass=261_800.0,
            inertia=(1e6, 1e6, 1e6),
            position=(0.0, 0.0, MEAN),
            hull=Sphere(5.0, panel_size=0.45),
        )
        slider = Slider("heave", WORLD.at(0.0, 0.0, MEAN), body, axis="z", position=start)
        system = System("sphere", [body], [slider], water=water_of(data))
        return compile_system(system, hydro=data, fit={"error": 0.01}, nonlinear=True)

    level = float(heave(equilibrium(model(0.0))))
    ours = heave(run(model(level - MEAN + 1.0), times=time, rtol=1e-8, atol=1e-9)) - level
    # without ProteusDS, an outlier
    low, high = np.min(codes[1:], axis=0), np.max(codes[1:], axis=0)
    outside = np.maximum(np.maximum(low - ours, ours - high), 0.0)
    return [
        Check("outside all codes", float(outside.max()), 0.03, "m", "spread of the codes"),
    ]
