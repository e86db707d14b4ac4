"""Weak scatterers beyond first order: mean force in a wave, energy of a large forced motion."""

from __future__ import annotations

import math

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Harmonic,
    Slider,
    Sphere,
    StreamFunctionWave,
    System,
    Water,
    WeakScatterer,
)
from swelltree.hydro.weak_scatterer.beach import FIRST, required_beach
from swelltree.hydro.weak_scatterer.effect import STAGES
from swelltree.hydro.weak_scatterer.incident.of_sea import steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Prepared,
    evaluate,
    prepare,
    surface_only,
)
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as Surface
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import Scene, build_scene
from swelltree.jit import Array, jax, jnp
from swelltree.studies.time.simulate import simulate
from swelltree.waves.sea import realise
from swelltree.waves.stream_function import StreamWave
from validation.table import Check, case

WATER = Water(rho=1000.0, depth=6.0)
OMEGA, STEPS, PERIODS = 2.2, 24, 6
# sphere of 1 m fixed 2.5 m deep: momentum through a sphere around it, of the first-order flow by
# boundary elements in the frequency domain, 10 to 28 rings of panels extrapolated [N/m^2]
MEAN_LIFT = 1457.0


def mean_lift(height: float, near: float, divisions: int) -> float:
    """Mean vertical force on the fixed sphere in a regular wave, per square of its amplitude.

    Args:
        height: of the wave [m].
        near: spacing of the free surface over the sphere [m].
        divisions: of its mesh.
    """
    radius = 19.0
    ball = sphere(divisions)
    beach = required_beach(OMEGA, (1.0 - FIRST) * radius, WATER.depth, WATER.g)
    tank = Tank(radius, WATER.depth, near=near, far=2.5, fine=2.0, levels=3, symmetric=True)
    floater = Floater("ball", ball.half(), (0.0, 0.0, -2.5))
    scene = build_scene(tank, [floater], WATER, beach=beach)
    waves = realise(StreamFunctionWave(height=height, omega=OMEGA), WATER)
    assert isinstance(waves, StreamWave)
    wave, dt = steep_wave(waves, WATER), 2.0 * math.pi / OMEGA / STEPS
    fixed = Bodies(scene.mean_position, scene.mean_rotation, jnp.zeros((1, 6)))
    # the geometry comes again in every period, and with it its matrices
    prepared = jax.jit(lambda scene, t: prepare(scene, wave, t, fixed))
    ready = [prepared(scene, (k + 0.5) * dt) for k in range(STEPS)]

    @jax.jit
    def rate(scene: Scene, built: Prepared, t: Array, top: Array) -> Array:
        found = surface_only(scene, wave, built, t, Surface(top[0], top[1]), fixed)
        return jnp.stack([found.potential, found.elevation])

    @jax.jit
    def lift(scene: Scene, built: Prepared, t: Array, top: Array) -> Array:
        return evaluate(scene, wave, built, t, Surface(top[0], top[1]), fixed).wrench[2]

    top, lifted = jnp.zeros((2, scene.boundary.surface)), []
    for n in range(PERIODS * STEPS):
        matrices = ready[n % STEPS]
        if n >= (PERIODS - 1) * STEPS:
            lifted.append(float(lift(scene, matrices, n * dt, top)))
        k, total = 0.0 * top, top
        for ahead, weight in STAGES:
            k = rate(scene, matrices, (n + ahead) * dt, top + ahead * dt * k)
            total = total + weight * dt * k
        top = total
    weight = WATER.rho * WATER.g * ball.volume
    return (float(np.mean(lifted)) - weight) / (0.5 * height) ** 2


@case("weak_scatterer", "mean_force_on_a_fixed_sphere", source="BEM, momentum of first order")
def mean_force_on_a_fixed_sphere() -> list[Check]:
    """A wave of 0.4 m over a sphere of 1 m, 2.5 m deep: it is drawn up, by second order."""
    ours = mean_lift(0.4, 0.75, 5)
    why = "102 vertices; the wave is not small"
    return [Check("lift per square of amplitude", ours, 0.1 * MEAN_LIFT, "N/m^2", why, MEAN_LIFT)]


@case("weak_scatterer", "forced_heave_of_a_sphere", source="invariant")
def forced_heave_of_a_sphere() -> list[Check]:
    """Heave of a radius to either side in still water: work is in the water or at its beach."""
    place = (0.0, 0.0, -2.5)
    ball = Body("ball", position=place, hull=Sphere(1.0, offset=place))
    motion = Harmonic(1.0, 1.8, offset=-1.0)
    rail = Slider("rail", WORLD.at(*place), ball, axis="z", motion=motion)
    tank = WeakScatterer(
        "sea", radius=21.0, spacing=0.9, far_spacing=2.5, levels=3, panel_size=0.5,
        symmetric=True, step=0.1,
    )  # fmt: skip
    model = compile_system(System("forced", [ball], [rail], [tank], water=Water(depth=8.0)))
    run = simulate(model, duration=7.0, output_step=0.35, progress=False)
    largest = float(run["weak_scatterer_fluid_energy"].max())
    missing = float(np.abs(run["energy_residual"]).max()) / largest
    taken = -float(run["work"].sel(element="sea beach")[-1]) / largest
    why = "error of the mesh, over the largest energy of the water"
    return [
        Check("energy that is missing", missing, 0.02, "", why),
        Check(
            "energy absorbed by the beach", float(taken > 0.05), 0.0, "", "waves came there", 1.0
        ),
    ]
