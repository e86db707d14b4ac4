"""Range graphs of a line: min, mean and max of tension, bending and clearance along it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.report.plots.style import below, color, figure, heading, legend, no_tiny_range
from swelltree.report.units import prefixed, readable
from swelltree.results.line_ranges import line_ranges as ranges_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

TITLES = {
    "line_tension": "Tension",
    "line_node_tension": "Tension",
    "line_curvature": "Curvature",
    "line_bending_moment": "Bending moment",
    "line_clearance": "Clearance above the seabed",
}


def line_ranges(dataset: xr.Dataset, line: str | None = None, start: float | None = None) -> Figure:
    """Min, mean and max along a line over a run: tension, curvature, bending moment, clearance.

    Args:
        dataset: a result in time with lines.
        line: its name; the first if not given.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    found = ranges_of(dataset, start)
    names = [str(name) for name in found["line"].values]
    chosen = names[0] if line is None else line
    if chosen not in names:
        raise SwelltreeError(f"line '{chosen}' is not in the result.{suggest(chosen, names)}")
    some = found.sel(line=chosen)
    # a line without bending stiffness has no moment to show
    shown = [name for name in TITLES if name in some and np.nan_to_num(some[name].values).any()]
    fig, axes = figure(len(shown), 1, 8.6, 0.6 + 2.0 * len(shown))
    for ax, name in zip(axes[:, 0], shown, strict=True):
        values = some[name]
        where = "segment_distance" if "line_segment" in values.dims else "node_distance"
        low, mean, high = (values.sel(statistic=s).values for s in ("min", "mean", "max"))
        used = np.isfinite(mean)
        unit, factor = readable(str(values.attrs.get("units", "")))
        unit, scale = prefixed(unit, factor * float(np.nanmax(np.abs(high), initial=0.0)))
        low, mean, high = (scale * factor * x[used] for x in (low, mean, high))
        along = some[where].values[used]
        ax.fill_between(along, low, high, color="#d8e0e6", linewidth=0)
        ax.plot(along, high, color=color(3), linewidth=1.4, label="max")
        ax.plot(along, mean, color=color(0), linewidth=1.8, label="mean")
        ax.plot(along, low, color=color(2), linewidth=1.4, label="min")
        title = TITLES[name] if ax is not axes[0, 0] else f"{TITLES[name]} along {chosen}"
        heading(ax, title, unit)
        no_tiny_range(ax)
    legend(axes[0, 0], 3, columns=3)
    below(axes[-1, 0], "distance from end A along the line [m]")
    return fig
