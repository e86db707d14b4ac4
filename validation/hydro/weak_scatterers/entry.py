"""Bodies that hit the water, and studies that weak scatterers reject."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    RegularWave,
    Slider,
    Sphere,
    System,
    Water,
    WeakScatterer,
)
from swelltree.describe.bodies.meshes import Panels
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.entry import added_masses
from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
from swelltree.studies.linear.modes import modes
from swelltree.studies.linear.rao import rao
from swelltree.studies.periodic.steady_state import steady_state
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

RADIUS, LIFT = 0.5, 0.3  # m
UP = np.array([0.0, 0.0, 1.0])


def dropped_ball(spacing: float) -> System:
    """A ball as heavy as the water it displaces, above still water."""
    mass = 1000.0 * 4.0 / 3.0 * np.pi * RADIUS**3
    ball = Body("ball", mass=mass, inertia=(0.1 * mass,) * 3, hull=Sphere(RADIUS))
    tank = WeakScatterer(
        "tank", radius=5.0, spacing=spacing, far_spacing=1.0, levels=2, fine=0.8, depth=4.0,
        panel_size=0.8 * spacing, symmetric=True, crossing=["ball"],
    )  # fmt: skip
    rail = Slider("heave", WORLD, ball, axis="z", position=RADIUS + LIFT)
    return System("drop", [ball], [rail], [tank], water=Water(rho=1000.0))


def _integral(run: Any, name: str) -> np.ndarray:
    rate, t = run[name].values, run.time.values
    return np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(t))])


@case("weak_scatterer", "ball_dropped_into_water", source="energy and mass; von Karman (1929)")
def ball_dropped_into_water() -> list[Check]:
    """A ball of 0.5 m from 0.3 m above the water, until it is in the mesh and well under."""
    run = simulate(compile_system(dropped_ball(0.35)), duration=0.9, output_step=0.05,
                   progress=False)  # fmt: skip
    moved = float(run.kinetic_energy.sum("body").max())
    displaced = run.weak_scatterer_displaced_mass.sum("body").values
    found = run.weak_scatterer_surface_mass + run.weak_scatterer_remeshing_mass
    for part in ("beach", "swept"):
        found = found + _integral(run, f"weak_scatterer_{part}_mass_rate")
    missing = float(np.abs(found.values - displaced).max())
    brought = float(np.abs(run.weak_scatterer_remeshing).max())
    why = "fixed steps; two meshes"
    return [
        Check("energy that is missing", float(np.abs(run.energy_residual).max()) / moved, 0.02, "",
              why),
        Check("energy added by the new mesh", brought / moved, 0.02, "", why),
        Check("mass of water that is missing", missing / displaced.max(), 0.02, "", why),
        Check("state at the end (under water)", float(run.weak_scatterer_state[-1, 0]), 0.0, "",
              "none", 2.0),
    ]  # fmt: skip


@case("weak_scatterer", "added_mass_on_the_way_in", source="closed forms")
def added_mass_on_the_way_in() -> list[Check]:
    """A sphere below a surface without potential: half under, and far below it."""
    ball, half = sphere(8), 2.0 / 3.0 * np.pi
    faces = ball.triangles[:, [0, 1, 2, 2]]
    wet = [Panels(ball.vertices - [0, 0, z], faces).immersed().triangles for z in (0.0, 12.0)]
    cut, deep = added_masses(wet, UP, 1.0)
    why = "512 triangles with constant potential"
    return [
        Check("half under, heave over displacement", cut[2] / half, 0.01, "", why, 0.5),
        Check("half under, surge over displacement", cut[0] / half, 0.02, "", why, 0.2732),
        Check("deep, heave over displacement", deep[2] / (2.0 * half), 0.01, "", why, 0.5),
    ]


@case("weak_scatterer", "studies_that_reject_it", source="none: they need a linear model")
def studies_that_reject_it() -> list[Check]:
    """Modes, RAO and steady state reject weak scatterers, instead of results without water."""
    ball = Body("ball", hull=Sphere(RADIUS))
    tank = WeakScatterer("tank", 5.0, 0.6, far_spacing=1.0, levels=2, symmetric=True, mode="linear")
    rail = Slider("heave", WORLD, ball, axis="z")
    model = compile_system(System("afloat", [ball], [rail], [tank]))
    wave = RegularWave(amplitude=0.02, omega=3.0)
    asked = {
        "modes": lambda: modes(model),
        "rao": lambda: rao(model, omega=[3.0]),
        "steady_state": lambda: steady_state(model, wave),
    }
    checks = []
    for name, study in asked.items():
        try:
            study()
            rejected = 0.0
        except SwelltreeError as error:
            rejected = 1.0 if "weak scatterer" in str(error) else 0.0
        checks.append(Check(f"{name} rejected", rejected, 0.0, "", "yes or no", 1.0))
    return checks
