"""Mean forces on bodies at the surface: pressure on hulls in time against the far field."""

from __future__ import annotations

import math

import numpy as np

from swelltree.describe import Box, StreamFunctionWave, Water
from swelltree.hydro.weak_scatterer.beach import FIRST, required_beach
from swelltree.hydro.weak_scatterer.harmonic import harmonic_flow, mean_drift, pressure_drift
from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.incident.of_sea import steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import cylinder, hull_surface, sphere
from swelltree.hydro.weak_scatterer.mesh.surface import Surface
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Prepared,
    evaluate,
    prepare,
    surface_only,
)
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as State
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import Scene, build_scene
from swelltree.jit import Array, jax, jnp
from swelltree.waves.sea import realise
from swelltree.waves.stream_function import StreamWave
from validation.hydro.weak_scatterers.stepper import (
    STAGES,
    Rail,
    Simulation,
    simulation,
)
from validation.hydro.weak_scatterers.stepper import State as Stepped
from validation.hydro.weak_scatterers.truncated_cylinder import mean_force
from validation.table import Check, case

WATER = Water(rho=1000.0)
OMEGA = math.sqrt(WATER.g)  # of waves with k = 1 / m, so that Ka = 1 for bodies of 1 m
LENGTH = 2.0 * math.pi
STEPS = 24  # per period
SPACING = 0.4  # of the free surface [m]
HEMISPHERE = 2899.0  # free in heave: independent value of another code [N/m^2]


def scene_of(surface: Surface, size: float, mode: str) -> Scene:
    """Half a tank of 1.5 wavelengths around a body at the surface, with panels of a size [m]."""
    radius = 1.5 * LENGTH
    beach = required_beach(OMEGA, (1.0 - FIRST) * radius, radius, WATER.g)
    tank = Tank(radius, radius, SPACING, LENGTH / 8, fine=1.5, symmetric=True, levels=4)
    floater = Floater("body", surface, meridians=size)
    return build_scene(tank, [floater], WATER, mode, beach=beach)


def incident(amplitude: float) -> Incident:
    """A stream function wave in deep water."""
    waves = realise(StreamFunctionWave(height=2.0 * amplitude, omega=OMEGA), WATER)
    assert isinstance(waves, StreamWave)
    return steep_wave(waves, WATER)


def at_one_frequency(surface: Surface, size: float) -> tuple[float, float]:
    """Mean force on a held body per square of the amplitude: pressure, far field [N/m^2]."""
    flow = harmonic_flow(scene_of(surface, size, "linear"), OMEGA, math.inf)
    held = np.zeros(6, complex)
    return float(pressure_drift(flow, held)[0]), float(mean_drift(flow, held)[0])


def held_in_time(surface: Surface, size: float, amplitude: float, periods: int = 9) -> float:
    """The same from the pressure on the hull, mean of the last period of a run [N/m^2]."""
    scene, wave, dt = (
        scene_of(surface, size, "weak_scatterer"),
        incident(amplitude),
        2.0 * math.pi / OMEGA / STEPS,
    )
    fixed = Bodies(scene.mean_position, scene.mean_rotation, jnp.zeros((1, 6)))
    # the geometry comes again in every period, and with it its matrices
    prepared = jax.jit(lambda scene, t: prepare(scene, wave, t, fixed))
    ready = [prepared(scene, (k + 0.5) * dt) for k in range(STEPS)]

    @jax.jit
    def step(scene: Scene, built: Prepared, t: Array, top: Array) -> Array:
        def stage(carry: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], None]:
            k, total = carry
            state = State(*(top + row[0] * dt * k))
            rates = surface_only(scene, wave, built, t + row[0] * dt, state, fixed)
            k = jnp.stack([rates.potential, rates.elevation])
            return (k, total + row[1] * dt * k), None

        return jax.lax.scan(stage, (0.0 * top, top), jnp.asarray(STAGES))[0][1]

    @jax.jit
    def force(scene: Scene, built: Prepared, t: Array, top: Array) -> Array:
        return evaluate(scene, wave, built, t, State(*top), fixed).wrench[0]

    top, found = jnp.zeros((2, scene.boundary.surface)), []
    for n in range(periods * STEPS):
        if n >= (periods - 1) * STEPS:
            # with the matrices of this instant, not those of the middle of the step
            found.append(float(force(scene, prepared(scene, n * dt), n * dt, top)))
        top = step(scene, ready[n % STEPS], n * dt, top)
    return float(np.mean(found)) / amplitude**2


def heaving_hemisphere(amplitude: float, periods: int = 9) -> tuple[float, float, float, float]:
    """Mean force on a hemisphere free in heave, per square of the amplitude [N/m^2].

    Returns:
        from the pressure in time; from pressure and far field at one frequency; and from the far
        field of the heave that the run came to.
    """
    surface, size, mass = sphere(12), 0.2, WATER.rho * 2.0 / 3.0 * math.pi
    flow = harmonic_flow(scene_of(surface, size, "linear"), OMEGA, math.inf)
    A, B, F = flow.coefficients
    stiffness = WATER.rho * WATER.g * math.pi
    impedance = -(OMEGA**2) * (mass + A[2, 2]) - 1j * OMEGA * B[2, 2] + stiffness
    heave = F[2] / impedance
    velocity = np.zeros(6, complex)
    velocity[2] = -1j * OMEGA * heave
    rail = Rail(jnp.zeros(3), jnp.array([0.0, 0.0, 1.0]), mass, -mass * WATER.g, 0.0, 0.0)
    run = simulation(scene_of(surface, size, "weak_scatterer"), incident(amplitude), rail)

    @jax.jit
    def force(run: Simulation, state: Stepped) -> Array:
        found = run.evaluated(run.prepared(state), state)
        return found.water.wrench[0] - found.water.added_mass[0, 2] * found.acceleration[0]

    step, dt, found = jax.jit(Simulation.step), 2.0 * math.pi / OMEGA / STEPS, []
    heaved = []
    # near the motion that it comes to
    state = run.start([amplitude * heave.real], [amplitude * velocity[2].real])
    for n in range(periods * STEPS):
        if n >= (periods - 2) * STEPS:
            heaved.append(float(state.q[0]) * np.exp(1j * OMEGA * n * dt))
            if n % 2 == 0:
                found.append(float(force(run, state)))
        state = step(run, state, dt)
    pressure, far = (float(way(flow, velocity)[0]) for way in (pressure_drift, mean_drift))
    moved = velocity * 2.0 * np.mean(heaved) / amplitude / heave
    return float(np.mean(found)) / amplitude**2, pressure, far, float(mean_drift(flow, moved)[0])


def held_body(surface: Surface, size: float) -> list[Check]:
    """Both ways agree at one frequency and in time, and the force grows with the square."""
    pressure, far = at_one_frequency(surface, size)
    small, large = (held_in_time(surface, size, amplitude) for amplitude in (0.05, 0.1))
    slope = 2.0 + math.log2(large / small)
    why = "error of the mesh"
    return [
        Check("pressure over far field at one frequency", pressure / far, 0.02, "", why, 1.0),
        Check("pressure in time over far field", small / far, 0.02, "", why, 1.0),
        Check("slope in the amplitude", slope, 0.05, "", "waves of a steepness of 0.1", 2.0),
    ]


@case("weak_scatterer", "mean_drift_of_a_held_cylinder", source="Garrett (1971)")
def mean_drift_of_a_held_cylinder() -> list[Check]:
    """Radius 1 m, 2 m deep, Ka = 1: pressure up to the perturbed surface."""
    surface, size = cylinder(1.0, 4.0, 0.28), 0.28
    exact = mean_force(1.0, 1.0, 2.0, 12.0, WATER.rho, WATER.g)
    pressure, far = at_one_frequency(surface, size)
    why = "110 vertices on half of the hull"
    return [
        Check("pressure at one frequency", pressure, 0.02 * exact, "N/m^2", why, exact),
        Check("far field", far, 0.02 * exact, "N/m^2", why, exact),
        *held_body(surface, size),
    ]


@case("weak_scatterer", "mean_drift_of_a_held_hemisphere", source="far field of the same mesh")
def mean_drift_of_a_held_hemisphere() -> list[Check]:
    """Radius 1 m, Ka = 1."""
    return held_body(sphere(8), 0.3)


@case("weak_scatterer", "mean_drift_of_a_held_box", source="far field of the same mesh")
def mean_drift_of_a_held_box() -> list[Check]:
    """A cube of 2 m, half under water, with sharp edges."""
    box = Box(length=2.0, width=2.0, height=2.0, draft=1.0, panel_size=0.25)
    return held_body(hull_surface(box), 0.25)


@case("weak_scatterer", "mean_drift_of_a_heaving_hemisphere", source="far field, BEM")
def mean_drift_of_a_heaving_hemisphere() -> list[Check]:
    """Free in heave near resonance, Ka = 1: without the strip it is 1.9 times as large."""
    near, pressure, far, moved = heaving_hemisphere(0.03)
    why = "near resonance, where radiated and scattered waves cancel"
    motion = "waterplane 0.2 % too large; a milliradian of heave changes the force by 0.3 %"
    return [
        Check("pressure at one frequency", pressure, 0.04 * HEMISPHERE, "N/m^2", why, HEMISPHERE),
        Check("far field", far, 0.04 * HEMISPHERE, "N/m^2", why, HEMISPHERE),
        Check("pressure over far field", pressure / far, 0.02, "", "the same mesh", 1.0),
        Check("pressure in time", near, 0.06 * HEMISPHERE, "N/m^2", motion, HEMISPHERE),
        Check("the same over far field of that heave", near / moved, 0.02, "", "mesh", 1.0),
    ]
