"""Weak scatterers against closed forms and against a frequency-domain solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    LinearPto,
    RegularWave,
    Slider,
    Sphere,
    System,
    Water,
    WeakScatterer,
)
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.mesh.hulls import ellipsoid, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, evaluate, prepare
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as Surface
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import Scene, build_scene
from swelltree.jit import jax, jnp
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

DEEP = Tank(60.0, 60.0, near=12.0, far=20.0, levels=3)  # m; far from the bodies
WHERE = (0.0, 0.0, -30.0)
# submerged sphere on a spring (Wuillaume et al. 2017, section 6.1): BEM in the frequency domain,
# direct method, extrapolated to no panel size
RAO, PHASE, A_INF = 2.179, -1.79, 88_869.0


def _evaluated(scene: Scene, velocity: list[float]) -> Any:
    zero = jnp.zeros(scene.boundary.surface)
    bodies = Bodies(scene.mean_position, scene.mean_rotation, jnp.array([velocity]))
    ready = jax.jit(prepare)(scene, Still(), 0.0, bodies)
    return jax.jit(evaluate)(scene, Still(), ready, 0.0, Surface(zero, zero), bodies)


@case("weak_scatterer", "added_mass_of_a_sphere", source="closed form")
def added_mass_of_a_sphere() -> list[Check]:
    """One half of the displacement, far from surface and walls."""
    ball, water = sphere(6), Water(g=0.0)
    scene = build_scene(DEEP, [Floater("ball", ball, WHERE)], water)
    ours = _evaluated(scene, [0.0] * 6).added_mass
    half = 0.5 * water.rho * ball.volume
    reason = "146 vertices; flat triangles converge with second order"
    return [
        Check(f"{name} over half the displacement", float(ours[i, i] / half), 2e-3, "", reason, 1.0)
        for i, name in ((0, "surge"), (2, "heave"))
    ]


@case("weak_scatterer", "moment_of_munk", source="Munk (1924), Kirchhoff (1869)")
def moment_of_munk() -> list[Check]:
    """Moment on an ellipsoid that moves steadily and askew."""
    egg = ellipsoid(6, (2.0, 1.2, 0.8))
    scene = build_scene(DEEP, [Floater("egg", egg, WHERE)], Water(g=0.0))
    nu = [1.0, 0.3, 0.6]
    ours = _evaluated(scene, [*nu, 0.0, 0.0, 0.0])
    want = -np.cross(nu, np.asarray(ours.added_mass)[:3, :3] @ nu)
    error = np.abs(np.asarray(ours.wrench)[3:] - want).max() / np.abs(want).max()
    return [Check("moment, error over the largest", float(error), 0.03, "", "146 vertices")]


@case("weak_scatterer", "submerged_sphere_on_a_spring", source="BEM; Wuillaume et al. (2017), 6.1")
def submerged_sphere_on_a_spring() -> list[Check]:
    """Linear mode: heave in a regular wave near resonance, after the transient."""
    amplitude, omega, place = 0.05, 1.0, (0.0, 0.0, -7.0)
    ball = Body("ball", position=place, hull=Sphere(3.5, offset=place))
    tank = WeakScatterer(
        "tank",
        radius=90.0,
        spacing=1.6,
        far_spacing=8.5,
        fine=4.0,
        panel_size=0.92,
        symmetric=True,
        mode="linear",
        step=0.2,
    )
    system = System(
        "submerged sphere",
        [ball],
        [Slider("heave", WORLD.at(*place), ball, axis="z")],
        [tank],
        ptos=[LinearPto("pto", joint="heave", stiffness=302478.6, damping=50_000.0)],
        water=Water(depth=20.0),
    )
    model = compile_system(system)
    sea = RegularWave(amplitude=amplitude, omega=omega, ramp=12.0)
    run = simulate(model, sea, duration=90.0, output_step=0.4, progress=False)
    last = run["time"].values > 90.0 - 4.0 * np.pi
    t, z = run["time"].values[last], run["joint_coordinate"].values[last, 0]
    basis = np.stack([np.ones_like(t), np.cos(omega * t), np.sin(omega * t)], -1)
    _, c, s = np.linalg.lstsq(basis, z, rcond=None)[0]
    X = (c + 1j * s) / amplitude
    effect = model.effect(WeakScatterers)
    assert effect is not None
    at_once = _evaluated_linear(effect.scene)
    reason = "604 vertices on the free surface, 85 on half the sphere"
    return [
        Check("heave per amplitude", float(abs(X)), 0.01 * RAO, "", reason, RAO),
        Check("phase", float(np.angle(X)), 0.03, "rad", "near resonance", PHASE),
        Check("added mass at once", at_once, 0.005 * A_INF, "kg", reason, A_INF),
    ]


def _evaluated_linear(scene: Scene) -> float:
    return float(_evaluated(scene, [0.0] * 6).added_mass[2, 2])
