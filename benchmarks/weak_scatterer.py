"""Cost of weak scatterers against the number of vertices: assembly, factorisation, one time step.

    python -m benchmarks.weak_scatterer 500 1000 2000

Each line is one size: a whole round tank with a submerged sphere in a steep regular wave, float64,
no symmetry. A step has four stages with one assembly and one factorisation ("mid"). Times are the
best of three; `stages` is the step without assembly and factorisation.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from swelltree.describe.environment.seas import StreamFunctionWave
from swelltree.describe.environment.water import Water
from swelltree.hydro.weak_scatterer.incident.of_sea import steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene, vertices_at
from swelltree.hydro.weak_scatterer.problem.assembly import assemble
from swelltree.hydro.weak_scatterer.problem.solve import factored
from swelltree.jit import jax, jnp, on_first_choice
from swelltree.waves.sea import realise
from validation.hydro.weak_scatterers.stepper import Rail, Simulation, simulation

WATER = Water(depth=20.0)


def scene_of(vertices: int) -> Any:
    """A tank with about so many vertices, a tenth of them on the sphere."""
    divisions = max(3, round(math.sqrt(0.1 * vertices / 4.0)))
    spacing = math.sqrt(math.pi * 90.0**2 / (0.75 * vertices))
    tank = Tank(90.0, 20.0, near=0.4 * spacing, far=1.5 * spacing, fine=6.0, levels=4)
    return build_scene(tank, [Floater("ball", sphere(divisions, 3.5), (0.0, 0.0, -7.0))], WATER)


def best(work: Callable[..., Any], *arguments: Any) -> float:
    """Seconds of the best of three calls, after one that compiles."""
    jax.block_until_ready(work(*arguments))
    times = []
    for _ in range(3):
        before = time.perf_counter()
        jax.block_until_ready(work(*arguments))
        times.append(time.perf_counter() - before)
    return min(times)


def simulated(vertices: int) -> tuple[Simulation, Any]:
    """The sphere on its rail in a steep wave, and its start."""
    scene = scene_of(vertices)
    wave = steep_wave(realise(StreamFunctionWave(height=1.0, omega=1.0), WATER), WATER)
    mass = WATER.rho * 4.0 / 3.0 * math.pi * 3.5**3
    rail = Rail(
        jnp.array([0.0, 0.0, -7.0]), jnp.array([0.0, 0.0, 1.0]), mass, -mass * WATER.g, 3e5, 5e4
    )
    s = simulation(scene, wave, rail)
    return s, s.start(np.zeros(1), np.zeros(1))


def measure(vertices: int) -> dict[str, Any]:
    """One line of the table."""
    s, start = simulated(vertices)
    scene, wave = s.scene, s.wave
    bodies = s.system.at(start.t, start.q, start.v).bodies
    x = vertices_at(scene, wave, 0.0, bodies.position, bodies.rotation)
    built = jax.jit(assemble)
    matrix = built(scene.boundary, x).unknowns
    step = jax.jit(Simulation.step)
    ready = jax.jit(Simulation.prepared)(s, start)
    return {
        "device": jax.devices()[0].device_kind,
        "vertices": scene.boundary.vertices,
        "triangles": len(scene.boundary.triangles),
        "assembly_s": round(best(built, scene.boundary, x), 5),
        "factorisation_s": round(best(jax.jit(factored), matrix), 5),
        "stages_s": round(best(step, s, start, 0.2, ready), 5),
        "step_s": round(best(step, s, start, 0.2), 5),
    }


if __name__ == "__main__":
    with on_first_choice():
        for size in sys.argv[1:] or ("500",):
            print(json.dumps(measure(int(size))), flush=True)
