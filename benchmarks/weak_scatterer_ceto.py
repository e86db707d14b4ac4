"""Submerged sphere on a spring in a steep wave (Wuillaume et al. 2017, section 6.1), refined.

    python benchmarks/weak_scatterer_ceto.py 1.25 1.4 0.9 0.6

The first number is the amplitude of the wave [m], the others are spacings of the free surface over
the sphere [m]. Each line of JSON is one run: amplitude and phase of the linear mode on its mesh,
mean and amplitudes of the first three harmonics of heave over the amplitude of the wave, phase of
the first, vertices, and seconds for each second of the run.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.harmonic import harmonic
from swelltree.waves.sea import realise

OMEGA, RADIUS, DEPTH = 1.0, 3.5, 7.0  # rad/s, m, m
STIFFNESS, DAMPING = 302_478.6, 50_000.0
DURATION, STEP = 16.0 * np.pi, 0.08 * np.pi  # eight periods, 25 steps each


def system(spacing: float, mode: str = "weak_scatterer", **options: Any) -> sw.System:
    """The sphere on its rail, in half of a tank of 90 m."""
    place = (0.0, 0.0, -DEPTH)
    ball = sw.Body("ball", position=place, hull=sw.Sphere(RADIUS, offset=place))
    tank = sw.WeakScatterer(
        "tank",
        radius=90.0,
        spacing=spacing,
        far_spacing=12.0,
        levels=3,
        fine=max(4.0, 4.0 * spacing),
        panel_size=0.92,
        symmetric=True,
        mode=mode,
        **options,
    )
    return sw.System(
        "ceto",
        [ball],
        [sw.Slider("heave", sw.WORLD.at(*place), ball, axis="z")],
        [tank],
        ptos=[sw.LinearPto("pto", joint="heave", stiffness=STIFFNESS, damping=DAMPING)],
        water=sw.Water(depth=20.0),
    )


def harmonics(t: np.ndarray, z: np.ndarray, periods: int = 3) -> np.ndarray:
    """Mean and complex amplitudes exp(-i k omega t) of the last periods."""
    last = t > t[-1] - periods * 2.0 * np.pi / OMEGA
    t, z = t[last], z[last]
    waves = [f(k * OMEGA * t) for k in (1, 2, 3) for f in (np.cos, np.sin)]
    row = np.linalg.lstsq(np.stack([np.ones_like(t), *waves], -1), z, rcond=None)[0]
    return np.array([row[0], *(row[1::2] + 1j * row[2::2])])


def measure(amplitude: float, spacing: float) -> dict[str, Any]:
    """One line of the table."""
    model = sw.compile(system(spacing, step=min(STEP, 0.9 * limit(spacing))))
    wave = sw.StreamFunctionWave(height=2.0 * amplitude, omega=OMEGA, ramp=12.0)
    before = time.perf_counter()
    run = sw.simulate(model, wave, duration=DURATION, output_step=2.0 * STEP, progress=False)
    taken = time.perf_counter() - before
    z = run.joint_coordinate.values[:, 0]
    parts = harmonics(run.time.values, z) / amplitude
    effect = model.effect(WeakScatterers)
    assert effect is not None
    return {
        "amplitude": amplitude,
        "linear": linear(model, wave),
        "spacing": spacing,
        "vertices": effect.scene.boundary.vertices,
        "result": run.attrs["result"],
        "mean": round(float(parts[0].real), 4),
        "harmonics": [round(float(abs(x)), 4) for x in parts[1:]],
        "phase": round(float(np.angle(parts[1])), 4),
        "highest": round(float(z.max()), 3),
        "largest_perturbation": round(float(np.abs(run.weak_scatterer_elevation).max()), 3),
        "seconds_per_second": round(taken / DURATION, 2),
    }


def linear(model: Any, wave: Any) -> list[float]:
    """Amplitude and phase of the linear mode on the same mesh, after a long time."""
    scene = model.effect(WeakScatterers).in_sea(model, realise(wave, model.water)).scene
    A, B, F = harmonic(scene, OMEGA, model.water.depth)
    mass = float(model.bodies.mass[0]) + A[2, 2]
    heave = F[2] / (STIFFNESS - OMEGA**2 * mass - 1j * OMEGA * (B[2, 2] + DAMPING))
    return [round(float(abs(heave)), 4), round(float(np.angle(heave)), 4)]


def limit(spacing: float) -> float:
    """About the longest stable step; triangles have sides a little shorter than the spacing [s]."""
    return float(np.sqrt(8.0 * 0.8 * spacing / (np.pi * 9.81)))


if __name__ == "__main__":
    for size in sys.argv[2:] or ("1.4",):
        print(json.dumps(measure(float(sys.argv[1]), float(size))), flush=True)
