"""Extremes and fatigue of many cases, against a closed form and the example of a standard."""

from __future__ import annotations

import numpy as np

from swelltree.results.extremes import (
    most_probable_maximum,
    peaks_over_threshold,
    weibull_tail,
)
from swelltree.results.fatigue import rainflow
from swelltree.results.line_fatigue import TN_CURVES, YEAR, line_damage
from validation.table import Check, case

PRINTED = {3.0: 0.5, 4.0: 1.5, 6.0: 0.5, 8.0: 1.0, 9.0: 0.5}


@case("many_cases", "rainflow", source="ASTM E1049-85 (2017), fig. 6")
def astm_example() -> list[Check]:
    """The history of the standard's figure."""
    ranges, _, counts = rainflow([-2, 1, -3, 5, -1, 3, -4, 4, -2])
    return [
        Check(
            f"cycles of range {size:g}",
            float(counts[ranges == size].sum()),
            1e-12,
            "",
            "counted",
            reference=often,
        )
        for size, often in PRINTED.items()
    ]


@case("many_cases", "T-N fatigue of lines", source="cycles over cycles to failure")
def regular_tension() -> list[Check]:
    """Ten cycles of 0.1 of the breaking load about 0.25 of it, in 50 s."""
    import xarray as xr

    time = np.linspace(0.0, 50.0, 501)
    load = 4e6
    tension = load * (0.25 + 0.05 * np.cos(2.0 * np.pi * time / 5.0))
    run = xr.Dataset(
        {"fairlead_tension": (("time", "line"), tension[:, None])},
        {"time": time, "line": ["line"]},
    )
    checks = []
    for name, curve in TN_CURVES.items():
        rate = float(line_damage(run, name, load).fairlead_tension_damage_rate[0])
        exact = 0.2 * YEAR * 0.1**curve.m * 10.0 ** (0.25 * curve.mean_load) / curve.K
        why = "one crest more than whole cycles in the mean"
        checks.append(Check(name.replace("_", " "), rate / exact, 1e-3, "", why, reference=1.0))
    return checks


@case("many_cases", "extremes", source="Longuet-Higgins (1952), most probable maximum")
def rayleigh_maximum() -> list[Check]:
    """Three-hour maximum of Rayleigh peaks from 24 hours of them, three ways."""
    per_hour, hours = 450, 24
    runs = np.random.default_rng(11).rayleigh(1.0, (hours, per_hour))
    exact = float(np.sqrt(2.0 * np.log(3 * per_hour)))
    time = 3600.0 * hours
    power_by_way = {
        "Weibull tail": weibull_tail(runs, time),
        "peaks over threshold": peaks_over_threshold(runs, time),
        "maxima of the runs": most_probable_maximum(runs.max(axis=1), 3600.0).value,
    }
    reason = "scatter of 24 runs, 2 %"
    return [
        Check(way, value, 0.05 * exact, "std", reason, reference=exact)
        for way, value in power_by_way.items()
    ]
