"""Optimal periodic force against model predictive control on one sea: power and cost.

    python benchmarks/predictive.py

A heaving float (the data of the tests) in an irregular sea that repeats, with the same limits of
force and stroke and the same fitted radiation on both sides. In time the sea grows over half of
its period, and then runs for whole periods: the power of each is reported, so that one sees whether
the start still matters. Cost is CPU seconds, warm, per period of the sea.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from chain import report

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from made_hydro import MASS, heaving_float

LIMITS = {"force_max": 1e5, "stroke_max": 0.6}
PERIODS = 3  # after the start


def model_of() -> Any:
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    system = sw.System(
        "heaving",
        [body],
        [sw.Slider("rail", sw.WORLD, body)],
        water=sw.Water(rho=1000.0),
        ptos=[sw.LinearPto("pto", joint="rail")],
    )
    return sw.compile(system, heaving_float(), fit={"error": 1e-3})


def sea_of(ramp: float = 0.0) -> Any:
    return sw.IrregularSea(
        sw.Jonswap(0.8, 7.0),
        components=20,
        spacing="equal",
        jitter=False,
        omega_min=0.5,
        omega_max=2.0,
        ramp=ramp,
    )


def cpu(call: Any) -> tuple[float, Any]:
    """CPU seconds of a second call, and its result."""
    call()
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def in_time(model: Any, repeat: float, before: Any = None, **options: Any) -> dict[str, Any]:
    """Power of every whole period, and what it costs."""
    lead = round(0.5 * repeat / (repeat / 1000)) * repeat / 1000
    times = np.arange(round((lead + PERIODS * repeat) / (repeat / 1000)) + 1) * repeat / 1000
    sea = sea_of(ramp=lead)

    def call() -> Any:
        if before is not None:
            before()
        return sw.simulate(model, sea, times=times, progress=False, **options)

    spent, run = cpu(call)
    first = round(lead / (repeat / 1000))
    power = run.absorbed_power.sel(pto="pto").values[first:-1].reshape(PERIODS, 1000).mean(axis=1)
    stroke = run.pto_stroke.sel(pto="pto").values
    force = run.pto_force.sel(pto="pto").values
    return {
        "power": [round(float(p), 1) for p in power],
        "cpu_per_period": spent / (PERIODS + lead / repeat),
        "largest_force": float(np.abs(force).max()),
        "largest_stroke": float(np.abs(stroke).max()),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    model, sea = model_of(), sea_of()
    for harmonics in (40, 80, 160):
        spent, best = cpu(
            lambda n=harmonics: sw.optimal_control(
                model,
                sea,
                "pto",
                radiation="state_space",
                harmonics=n,
                compare=False,
                replay=False,
                **LIMITS,
            )
        )
        report(
            who="periodic optimum",
            harmonics=harmonics,
            power=[round(best.attrs["mean_power"], 1)],
            cpu_per_period=spent,
            largest_force=float(np.abs(best.force).max()),
            largest_stroke=float(np.abs(best.stroke).max()),
        )
    repeat = float(best.attrs["period"])
    passive = sw.optimal_control(
        model, sea, "pto", radiation="state_space", harmonics=40, replay=False, **LIMITS
    )
    damper = sw.damping_law(float(passive.passive_damping[0]))
    report(who="best damper in time", **in_time(sw.controlled(model, "pto", damper), repeat))
    lead = 0.5 * repeat
    again = sw.replayed(model, best, ramp=lead)
    report(who="periodic optimum replayed", **in_time(again, repeat))
    under, mpc = sw.with_mpc(model, sea_of(ramp=lead), "pto", **LIMITS)
    steps = {"solver": "rk4", "step": mpc.sample / 4}
    report(who="model predictive control", **in_time(under, repeat, mpc.forget, **steps))


if __name__ == "__main__":
    main()
