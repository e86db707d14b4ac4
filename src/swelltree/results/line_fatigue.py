r"""Fatigue of mooring lines by T-N curves: damage along every line.

A T-N curve gives the cycles N to failure under tension ranges T of a line with breaking load B,

.. math:: N R^m = K\, 10^{-c\, \bar L}, \qquad R = T/B, \quad \bar L = \bar T/B,

where only wire ropes depend on the mean tension. Cycles are counted by rainflow, and damages of all
cycles add up (Palmgren and Miner).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.jit import Array
from swelltree.results.fatigue import rainflow
from swelltree.results.statistics import settled

if TYPE_CHECKING:
    import xarray as xr

YEAR = 365.25 * 86400.0  # s
TENSIONS = ("fairlead_tension", "anchor_tension", "line_tension", "line_node_tension")


@dataclass(frozen=True)
class TNCurve:
    """Cycles to failure of a line under tension ranges.

    Args:
        m: exponent of the tension range over the breaking load.
        K: cycles to failure at a range of the breaking load, at mean tension zero.
        mean_load: decades of K lost per mean tension of the breaking load.
    """

    m: float
    K: float
    mean_load: float = 0.0

    def __post_init__(self) -> None:
        if not (self.m > 0.0 and self.K > 0.0):
            raise SwelltreeError(f"TNCurve: m {self.m} and K {self.K} must be positive.")

    def damage(self, ratio: Array, cycles: Array = 1.0, mean: Array = 0.0) -> np.ndarray:
        """Damage of cycles; one is failure.

        Args:
            ratio: tension ranges (double amplitudes) over the breaking load.
            cycles: how many of each.
            mean: mean tension over the breaking load.
        """
        ratio, mean = np.asarray(ratio, float), np.asarray(mean, float)
        return np.asarray(cycles) * ratio**self.m * 10.0 ** (self.mean_load * mean) / self.K


# API RP 2SK, 3rd edition (2005), section on fatigue; chain over the breaking load of grade R3
TN_CURVES = {
    "studlink_chain": TNCurve(3.0, 1000.0),
    "studless_chain": TNCurve(3.0, 316.0),
    "six_strand_rope": TNCurve(4.09, 10.0**3.20, 2.79),
    "spiral_strand": TNCurve(5.05, 10.0**3.25, 3.43),
}


def line_damage(
    dataset: xr.Dataset,
    curve: str | TNCurve,
    breaking_load: float | Mapping[str, float],
    start: float | None = None,
) -> xr.Dataset:
    """Fatigue damage at the ends and along every line, per year in the sea of a run.

    Returns `damage_rate` of every tension in the result, as `line_tension_damage_rate` (line,
    line_segment) [1/year]; its inverse is the life in that sea. Records with gaps, as of segments
    on a winch, have none: not a number.

    Args:
        dataset: a result in time with lines; cases of a batch may be further dimensions.
        curve: name of one of `TN_CURVES`, or a curve.
        breaking_load: that tension ranges are taken over [N], or one by name of line.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    import xarray as xr

    if isinstance(curve, str):
        if curve not in TN_CURVES:
            raise SwelltreeError(
                f"line_damage: curve '{curve}' is not known.{suggest(curve, TN_CURVES)} Give one "
                f"of {listed(TN_CURVES)}, or TNCurve(m, K)."
            )
        curve = TN_CURVES[curve]
    found = [name for name in TENSIONS if name in dataset and "time" in dataset[name].dims]
    if not found:
        raise SwelltreeError("line_damage: there are no lines. Give a run of a system with lines.")
    names = [str(name) for name in dataset["line"].values]
    loads = (
        breaking_load if isinstance(breaking_load, Mapping) else dict.fromkeys(names, breaking_load)
    )
    missing = [name for name in names if not loads.get(name, 0.0) > 0.0]
    if missing:
        raise SwelltreeError(
            f"line_damage: line '{missing[0]}' has no positive breaking load. Give it in newtons, "
            "for example LineType.breaking_load."
        )
    load = xr.DataArray([float(loads[name]) for name in names], {"line": names}, ("line",))
    first = settled(dataset) if start is None else float(start)
    stored = dataset.isel(time=dataset["time"].values >= first)
    time = stored["time"].values
    if len(time) < 2:
        raise SwelltreeError(f"line_damage: start {first:g} s leaves no samples. Give less.")
    per_year = YEAR / float(time[-1] - time[0])
    law = curve

    def of_samples(values: np.ndarray) -> np.ndarray:
        out = np.full(values.shape[:-1], np.nan)
        for place in np.ndindex(out.shape):
            x = values[place]
            if np.isfinite(x).all():
                ranges, _, counts = rainflow(x)
                out[place] = per_year * law.damage(ranges, counts, x.mean()).sum()
        return out

    result = {}
    for name in found:
        ratio = stored[name] / load
        rate = xr.apply_ufunc(of_samples, ratio, input_core_dims=[["time"]])
        words = str(dataset[name].attrs.get("long_name", name.replace("_", " ")))
        result[f"{name}_damage_rate"] = rate.assign_attrs(
            units="1/year", long_name=f"fatigue damage per year: {words}"
        )
    about = {"m": law.m, "K": law.K, "mean_load": law.mean_load, "statistics_from": first}
    return xr.Dataset(result, attrs=about)
