"""Extremes and fatigue of many cases, against a closed form and the example of a standard."""

from __future__ import annotations

import numpy as np

from swelltree.results.extremes import (
    most_probable_maximum,
    peaks_over_threshold,
    weibull_tail,
)
from swelltree.results.fatigue import rainflow
from swelltree.validation.table import Check, case

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
