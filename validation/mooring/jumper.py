"""A flexible jumper whose top end is moved (Lowe and Langley 2006), with bending stiffness."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import WORLD, Body, Line, LineType, Slider, System, Table, Water
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

PERIOD = 27.0  # s
SEGMENTS = 68


def _moved(t: np.ndarray) -> np.ndarray:
    """Motion of the top end [m]: 10 m in 27 s, growing smoothly over the first period."""
    part = np.clip(t / PERIOD, 0.0, 1.0)
    return 10.0 * np.sin(2 * np.pi * t / PERIOD) * part**3 * (6 * part**2 - 15 * part + 10)


def jumper(axis: str) -> System:
    """170 m of flexible pipe between a fixed end and one that is moved along an axis."""
    top = Body("top", mass=1000.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, -5))
    length = 170.0 / SEGMENTS
    damping = 0.5 * length * np.sqrt(165.0 * 500e6)
    pipe = LineType("pipe", 0.396, 165.0, EA=500e6, BA=damping, EI=120.8e3, Cdn=1.0)
    t = np.linspace(0.0, 110.0, 1101)
    motion = Table(t.tolist(), _moved(t).tolist())
    return System(
        "jumper",
        [top],
        [Slider("drive", WORLD.at(0, 0, -5), top, axis=axis, motion=motion)],
        water=Water(rho=1000.0, g=9.807),
        lines=[Line("jumper", (-100, 0, -55), top, 170.0, pipe, segments=SEGMENTS)],
    )


def _run(folder: Path, number: int) -> list[Check]:
    reference = np.loadtxt(folder / f"case{number}.csv", delimiter=",")
    model = compile_system(jumper("xyz"[number - 1]))
    run = simulate(model, duration=107.0, output_step=0.1, step=0.1)
    t, tension = run.time.values - PERIOD, run.fairlead_tension.values[:, 0] / 1e3
    during = (reference[:, 0] > 0.0) & (reference[:, 0] < t[-1])
    gap = np.interp(reference[during, 0], t, tension) - reference[during, 1]
    return [
        Check("top tension", float(np.abs(gap).max()), 1.0, "kN", "digitised curves"),
        Check("steps that failed", float(run.attrs["steps_rescued"]), 0.5, "", "none"),
    ]


def _case(number: int, word: str) -> Callable[..., list[Check]]:
    @case(
        "lines",
        f"jumper moved {word}",
        source="Lowe and Langley (2006), digitised",
        needs="moor_lowe_langley",
    )
    def run(folder: Path) -> list[Check]:
        return _run(folder, number)

    return run


surge, sway, heave = (
    _case(k + 1, word) for k, word in enumerate(("along it", "across it", "up and down"))
)
