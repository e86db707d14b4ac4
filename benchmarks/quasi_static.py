"""Three chains of a buoy as elastic catenaries, compared with MoorPy.

    python benchmarks/quasi_static.py [--peer PYTHON_WITH_MOORPY]

One solve is the force of all three lines on the buoy at one position. Ours is timed as a call from
Python, in a batch of positions, and with the exact stiffness. MoorPy is only run, never imported
here; without it its rows stay empty.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.jit import jax, jnp
from swelltree.multibody.kinematics import Pose
from swelltree.studies.statics.mooring import _mooring_loads

COUNT, RADIUS, LENGTH, DEPTH = 400, 220.0, 235.0, 50.0


def system() -> sw.System:
    buoy = sw.Body("buoy", mass=1.5e5, inertia=(1e6, 1e6, 1e6))
    lines = []
    for k, angle in enumerate(np.radians([0.0, 120.0, 240.0])):
        c, s = np.cos(angle), np.sin(angle)
        ends = (RADIUS * c, RADIUS * s, -DEPTH), buoy.at(4 * c, 4 * s, -1.0)
        lines.append(sw.Line(f"line{k}", *ends, LENGTH, sw.chain(0.06), model="quasi_static"))
    joints = [sw.Weld("held", sw.WORLD, buoy)]
    return sw.System("moored", [buoy], joints, lines=lines, water=sw.Water(depth=DEPTH))


def shortest(function: Any, *args: Any) -> float:
    """Seconds of the quickest of several calls."""
    best = np.inf
    for _ in range(7):
        begin = time.perf_counter()
        jax.block_until_ready(function(*args))
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="python of an environment with MoorPy")
    peer = parser.parse_args().peer
    described = system()
    model = sw.compile(described)
    kind = sw.chain(0.06)
    # fairleads stay under water: MoorPy weighs what is above it in air
    low, high = [-6.0, -6.0, -2.0], [6.0, 6.0, 0.9]
    places = np.random.default_rng(1).uniform(low, high, (COUNT, 3))
    pose = Pose(jnp.zeros((1, 3)), jnp.eye(3)[None])

    def force(place: Any) -> Any:
        return _mooring_loads(model, pose, jnp.concatenate([place, jnp.zeros(3)])[None])[0][0]

    single, batch = jax.jit(force), jax.jit(jax.vmap(force))
    stiff = jax.jit(jax.vmap(jax.jacfwd(force)))
    points = jnp.asarray(places)
    rows = {"one call": 0.0, "in a batch": 0.0, "with stiffness, in a batch": 0.0}
    single(points[0])
    singles = []
    for _ in range(5):
        begin = time.perf_counter()
        for place in points:
            single(place).block_until_ready()
        singles.append((time.perf_counter() - begin) / COUNT)
    rows["one call"] = min(singles)
    forces = np.asarray(batch(points))
    rows["in a batch"] = shortest(batch, points) / COUNT
    stiff(points)
    rows["with stiffness, in a batch"] = shortest(stiff, points) / COUNT
    theirs: float | None = None
    if peer is not None and Path(peer).exists():
        case = {
            "depth": DEPTH,
            "rho": described.water.rho,
            "g": described.water.g,
            "mass": kind.mass_per_length,
            "EA": kind.EA,
            "weight": kind.weight_per_length(described.water.rho, described.water.g),
            "diameter": kind.diameter,
            "length": LENGTH,
            "anchors": [line.A.position for line in described.lines],
            "fairleads": [line.B.position for line in described.lines],
            "places": places.tolist(),
        }
        done = subprocess.run(
            [peer, str(Path(__file__).with_name("quasi_static_peer.py"))],
            input=json.dumps(case),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
        theirs = found["seconds"]
        apart = np.abs(np.array(found["forces"])[:, :3] - forces[:, :3]).max()
        print(f"largest difference of the forces {apart / np.abs(forces[:, :3]).max():.1e}")
        print(f"MoorPy, one solve {1e6 * theirs:9.1f} us")
    for name, seconds in rows.items():
        ratio = "" if theirs is None else f"{theirs / seconds:8.1f} times as fast"
        print(f"swelltree, {name:28s} {1e6 * seconds:9.1f} us {ratio}")


if __name__ == "__main__":
    main()
