"""A sphere of 5 m dropped onto the water, its energy by terms.

    python benchmarks/weak_scatterer_drop.py LIFT SPACING [seconds]

The sphere of IEA OES Task 10, released LIFT metres above its rest, with SPACING metres between
vertices of the free surface beside it. One line of JSON has the terms of the energy balance and
its residual, over the largest kinetic energy of the sphere; the next lines are time series of them.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

import swelltree as sw

POWERS = ("beach", "waterline", "smoothing")


def drop(lift: float, spacing: float, seconds: float) -> None:
    """Run it and print what happened."""
    ball = sw.Body("ball", hull=sw.Sphere(5.0))
    joint = sw.Slider("heave", sw.WORLD, ball, axis="z", position=lift)
    tank = sw.WeakScatterer(
        "tank", radius=45.0, spacing=spacing, far_spacing=5.0, fine=5.0, panel_size=0.8 * spacing,
        levels=3, symmetric=True, crossing=["ball"], step=0.06 * min(1.0, (spacing / 1.5) ** 0.5),
    )  # fmt: skip
    model = sw.compile(sw.System("drop", [ball], [joint], [tank], water=sw.Water(rho=1000.0)))
    before = time.perf_counter()
    run = sw.simulate(model, duration=seconds, output_step=0.2, progress=False)
    t, z = run.time.values, run.joint_coordinate.values[:, 0]
    moved = float(run.kinetic_energy.sum("body").max())
    missing = run.energy_residual.values / moved
    line = {
        "lift": lift,
        "spacing": spacing,
        "result": run.attrs["result"],
        "lowest": round(float(z.min()), 3),
        "next_highest": round(float(z[t > 3.0].max(initial=-lift)), 3),
        "missing": round(float(np.abs(missing).max()), 4),
        "highest_water": round(float(np.abs(run.weak_scatterer_elevation).max()), 2),
        "seconds": round(time.perf_counter() - before, 1),
    }
    print(json.dumps(line), flush=True)
    for k in range(len(t)):
        row = {"t": round(float(t[k]), 2), "z": round(float(z[k]), 3)}
        row |= {"state": float(run.weak_scatterer_state[k, 0]), "missing": round(missing[k], 4)}
        for name in POWERS:
            work = float(run.work.sel(element=f"tank {name}")[k])
            row[name] = round(work / moved, 4)
        row["meshes"] = round(float(run.weak_scatterer_remeshing[k]) / moved, 4)
        row["water"] = round(float(run.weak_scatterer_fluid_energy[k]) / moved, 4)
        row["highest"] = round(float(np.abs(run.weak_scatterer_elevation[k]).max()), 2)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    drop(*(float(word) for word in sys.argv[1:3]), float([*sys.argv, 6.0][3]))
