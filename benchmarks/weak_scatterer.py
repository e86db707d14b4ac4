"""Cost of weak scatterers against the number of vertices: assembly, factorisation, one time step.

    python -m benchmarks.weak_scatterer 500 1000 2000
    python -m benchmarks.weak_scatterer --gmres 500 1000 2000

Each line is one size: a whole round tank with a submerged sphere in a steep regular wave, float64,
no symmetry. A step has four stages with one assembly and one factorisation ("mid"). Times are the
best of three; `stages` is the step without assembly and factorisation. With --gmres the same step
is solved with the factors of the mean geometry, float64 and float32, half a period of the wave
later: `own_factors` shows whether these were too far away and the matrix got factors of its own.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.describe.environment.seas import StreamFunctionWave
from swelltree.describe.environment.water import Water
from swelltree.hydro.weak_scatterer.incident.of_sea import steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Retained, prepare, stored_for_run
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


def measure_gmres(vertices: int) -> dict[str, Any]:
    """The same step by new factors and by old ones, half a period after the mean geometry."""
    s, start = simulated(vertices)
    later = replace(start, t=jnp.asarray(math.pi))
    bodies = s.system.at(later.t, later.q, later.v).bodies
    step, make = jax.jit(Simulation.step), jax.jit(prepare)
    row: dict[str, Any] = {
        "device": jax.devices()[0].device_kind,
        "vertices": s.scene.boundary.vertices,
    }
    for name, single in (("direct", None), ("float64", False), ("float32", True)):
        stored = Retained() if single is None else stored_for_run(s.scene, s.wave, True, single)
        ready = make(s.scene, s.wave, later.t, bodies, stored)
        row[f"{name}_prepare_s"] = round(best(make, s.scene, s.wave, later.t, bodies, stored), 5)
        row[f"{name}_stages_s"] = round(best(step, s, later, 0.2, ready), 5)
        if single is not None:
            own = not bool(jnp.array_equal(ready.factors.factors.lu, stored.factors.lu))
            row[f"{name}_own_factors"] = own
    return row


if __name__ == "__main__":
    sizes = [word for word in sys.argv[1:] if word != "--gmres"]
    work = measure_gmres if "--gmres" in sys.argv else measure
    with on_first_choice():
        for size in sizes or ("500",):
            print(json.dumps(work(int(size))), flush=True)
