"""Power take-offs against closed forms, conservation and bounds."""

from __future__ import annotations

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import HydraulicPto, LatchingPto, LinearPto
from swelltree.studies.periodic.steady_state import steady_state
from validation.pto.pto_systems import (
    DAMPING,
    MASS,
    OMEGA,
    STIFFNESS,
    WAVE,
    bank,
    budget_residuals,
    jackknife,
    latched_oscillation,
    machines,
    mean_power,
    oscillator,
)
from validation.run import places, run
from validation.table import Check, case


@case("pto", "pto_books", source="conservation of energy and oil")
def energy_terms() -> list[Check]:
    """Ten kinds of PTO in a regular wave: all energy is accounted for."""
    result = run(bank(machines()), 40.0, 0.05, rtol=1e-8, atol=1e-10)
    checks = [
        Check(f"{name}: energy residual", share, 1e-5, "of work", "rtol 1e-8, kinks of the law")
        for name, share in budget_residuals(result).items()
    ]
    oil = result["pto_oil_total"].sel(pto=["hydraulic", "relieved"]).values
    change = float(np.abs(oil / oil[0] - 1.0).max())
    return [*checks, Check("oil", change, 1e-12, "of all oil", "rounding")]


@case("pto", "periodic_oil", source="run in time until it repeats; conservation of oil")
def periodic_oil() -> list[Check]:
    """A closed hydraulic circuit in `steady_state`: the oil is that of the start."""
    period = 2 * np.pi / OMEGA
    ram = {
        "kind": HydraulicPto,
        "piston_area": 0.02,
        "precharge": 3e6,
        "start_pressure": 4e6,
        "gas_volume": 0.3,
        "low_gas_volume": 0.4,
        "motor_gain": 2e-9,
        "smoothing_velocity": 0.2,
    }
    model = compile_system(bank({"ram": ram}))
    found = steady_state(model, period=period, harmonics=15)
    last = run(model, 40 * period, period / 50).isel(time=slice(-51, -1))
    of_run = float(last["pto_oil_total"][0, 0])
    oil = float(np.abs(found["pto_oil_total"].values / of_run - 1.0).max())
    power = float(found["absorbed_power"].mean() / last["absorbed_power"].mean())
    return [
        Check("oil", oil, 1e-9, "of all oil", "rounding and tolerance of Newton"),
        Check("power over that of the run", power, 1e-3, "", "fifteen harmonics", reference=1.0),
    ]


@case("pto", "latch_times", source="closed form of an oscillator held at its ends")
def latch_times(formulation: str = "path_matrix") -> list[Check]:
    """Ten events in 12 s; an error in their times would grow from one to the next."""
    system = oscillator(LatchingPto("latch", joint="rail", release_after=0.7))
    result = run(system, 12.0, 0.1, formulation=formulation, rtol=1e-10, atol=1e-12)
    ours = result["joint_coordinate"].values[:, 0]
    error = np.abs(ours - latched_oscillation(result["time"].values, 0.7)).max()
    events = float(result.attrs["events"])
    return [
        Check("stroke", float(error), 1e-8, "m", "events are found within 1e-10 s"),
        Check("events", events, 0.0, "", "five locks, five releases", reference=10.0),
    ]


def damper_power(damping: np.ndarray) -> np.ndarray:
    """Mean power of linear dampers on the buoy of the bank, closed form [W]."""
    impedance = DAMPING + damping + 1j * (OMEGA * MASS - STIFFNESS / OMEGA)
    return 0.5 * damping * (WAVE / np.abs(impedance)) ** 2


@case(
    "pto", "latching", source="closed forms of the best damper and of matched impedance, F^2 / 8 B"
)
def latching() -> list[Check]:
    """A buoy in waves longer than its own period: latching against the best of all dampers."""
    chosen = {
        "damper": {"kind": LinearPto, "damping": 2e5},
        "latch": {"kind": LatchingPto, "damping": 1.5e5, "release_after": 1.8},
    }
    result = run(bank(chosen), 120.0, 0.05, rtol=1e-8, atol=1e-10)
    best = float(damper_power(np.geomspace(1e4, 1e7, 400)).max())
    one = mean_power(result, "damper", 72.0) / float(damper_power(np.array([2e5]))[0])
    latched = mean_power(result, "latch", 72.0)
    bound = WAVE**2 / (8 * DAMPING)
    return [
        Check("damper over its closed form", one, 1e-3, "", "transient of 72 s", reference=1.0),
        Check("best damper over latch", best / latched, 0.7, "", "latching wins by far"),
        Check("latch over matched impedance", latched / bound, 1.0, "", "no PTO absorbs more"),
    ]


@case("pto", "latch_formulations", source="agreement of formulations")
def formulations(names: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    """A double pendulum whose knee is latched between points, in two formulations."""
    model = compile_system(jackknife(release_after=0.4))
    runs = [run(model, 3.0, 0.05, formulation=name, rtol=1e-9, atol=1e-11) for name in names]
    apart = np.abs(places(runs[0]) - places(runs[1])).max()
    forces = [r["pto_latch_force"].values for r in runs]
    force = np.abs(forces[0] - forces[1]).max() / np.abs(forces[0]).max()
    creep = []
    for r in runs:
        mode, stroke = r["pto_mode"].values[:, 0], r["pto_stroke"].values[:, 0]
        both = (mode[1:] > 0.5) & (mode[:-1] > 0.5)
        creep.append(np.abs(np.diff(stroke))[both].max())
    return [
        Check("places", float(apart), 1e-8, "m", "rtol 1e-9, errors grow in a pendulum"),
        Check("force in the latch", float(force), 1e-7, "of largest", "the same"),
        Check("creep while locked", float(max(creep)), 1e-8, "m", "what is left of the rate"),
    ]
