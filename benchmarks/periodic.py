"""Periodic motions by Fourier series against Runge-Kutta: Figs. 6 and 7 of Paparella et al. (2015).

The hinge barge of the paper in a regular wave. Pseudo-spectral solutions give the steady state;
Runge-Kutta gives the stated seconds, transient included. "first" is a call with nothing compiled,
"warm" a later one.
`paper` lines solve the paper's planar equations (N_x = 1, the Runge-Kutta loop compiled),
`general` lines are `steady_state` (N = 9) and `simulate` (rk4), which also build the dataset. The
last line is an irregular sea of 256 harmonics on the barge with drag and friction.
`python benchmarks/periodic.py` prints one line of JSON each; `--figure FILE` draws them.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from chain import best_of, report

os.environ.setdefault("SWELLTREE_CACHE_DIR", "off")  # first calls compile
OMEGA, AMPLITUDE = 3.4, 0.06  # rad/s, m
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)  # s, Fig. 6
DURATIONS = (15.0, 50.0, 150.0, 500.0, 1000.0)  # s, Fig. 7
SHORT, COMMON = 15.0, 0.05  # s
Row = dict[str, Any]


def timed(call: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """Seconds of the first call, with nothing compiled, and of a later one."""
    import jax

    jax.clear_caches()
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    return first, best_of(call, repeats=repeats)


def spectral() -> list[Row]:
    """Steady states, the paper's equations and the general model, ODE and DAE."""
    from validation.hydro import hinge_barge as barge

    own, rows = barge.literal(), []
    for form in ("ode", "dae"):
        call = lambda: barge.paper.periodic(own, OMEGA, AMPLITUDE, form=form)  # noqa: B023, E731
        first, warm = timed(call)
        rows.append({"who": "paper", "method": f"PS-{form.upper()}", "first": first, "warm": warm})
    for form, name in (("ODE", "path_matrix"), ("DAE", "lagrange")):
        call = lambda: barge.general(OMEGA, AMPLITUDE, name, 9)  # noqa: B023, E731
        first, warm = timed(call)
        rows.append({"who": "general", "method": f"PS-{form}", "first": first, "warm": warm})
    return rows


def stepped(who: str, step: float, duration: float) -> Row:
    """One run in time."""
    import swelltree as sw
    from validation.hydro import hinge_barge as barge

    own, model = barge.literal(), barge.tank_model()
    wave = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA, ramp=5.0)

    def paper() -> Any:
        times = step * np.arange(round(duration / step) + 1)
        return barge.paper.simulate_barge(own, OMEGA, AMPLITUDE, times, 5.0)

    def general() -> Any:
        sample = max(0.1, duration / 200)
        return sw.simulate(
            model,
            wave,
            duration=duration,
            output_step=sample,
            solver="rk4",
            step=step,
            progress=False,
        )

    first, warm = timed(paper if who == "paper" else general)
    return {
        "who": who,
        "method": "RK",
        "step": step,
        "duration": duration,
        "first": first,
        "warm": warm,
    }


def irregular() -> list[Row]:
    """Three DOFs, drag and friction, 256 harmonics."""
    import swelltree as sw
    from validation.hydro import hinge_barge as barge

    sea = sw.IrregularSea(
        sw.Jonswap(Hs=0.06, Tp=2.0),
        components=112,
        omega_min=1.0,
        omega_max=8.0,
        spacing="equal",
        jitter=False,
        seed=1,
    )
    model = barge.rough_model()
    found: list[Any] = []

    def call() -> None:
        found[:] = [sw.steady_state(model, sea, 256)]

    first, warm = timed(call)
    result = found[0]
    return [
        {
            "who": "irregular",
            "method": "PS-ODE",
            "first": first,
            "warm": warm,
            "harmonics": 256,
            "newton_iterations": int(result.attrs["newton_iterations"]),
            "period": float(result.attrs["period"]),
        }
    ]


def figure(rows: list[Row], path: Path) -> None:
    """Both figures of the paper, warm and with the first call."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 2, figsize=(11, 8), sharey="row")
    for row, who in enumerate(("paper", "general")):
        own = [r for r in rows if r["who"] == who]
        for axis, key, fixed, value in (
            (axes[row, 0], "step", "duration", SHORT),
            (axes[row, 1], "duration", "step", COMMON),
        ):
            runs = [r for r in own if r["method"] == "RK" and r[fixed] == value]
            runs.sort(key=lambda r: r[key])
            x = [r[key] for r in runs]
            axis.loglog(x, [r["warm"] for r in runs], "k-o", label="Runge-Kutta")
            axis.loglog(x, [r["first"] for r in runs], "k:", label="Runge-Kutta, first call")
            for r, colour in zip((r for r in own if r["method"] != "RK"), "rb", strict=True):
                axis.axhline(r["warm"], color=colour, label=r["method"])
                axis.axhline(r["first"], color=colour, ls=":", label=f"{r['method']}, first call")
            axis.set_xlabel("time step [s]" if key == "step" else "simulated time [s]")
            axis.set_title(f"{who}: {fixed} {value:g} s")
            axis.grid(True, alpha=0.3)
        axes[row, 0].set_ylabel("time of a call [s]")
    axes[0, 0].legend(fontsize=8)
    fig.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)


def measure() -> list[Row]:
    """Everything, one after the other."""
    rows = spectral()
    for who in ("paper", "general"):
        pairs = [(step, SHORT) for step in STEPS] + [(COMMON, d) for d in DURATIONS[1:]]
        rows += [stepped(who, step, duration) for step, duration in pairs]
    return rows + irregular()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, help="draw both figures into this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = measure()
    for row in rows:
        report(**row)
    if options.figure:
        figure(rows, options.figure)


if __name__ == "__main__":
    main()
