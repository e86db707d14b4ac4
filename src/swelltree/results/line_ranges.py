"""Range graphs of lines: statistics of tension, bending and clearance along their length."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.mooring.seabed import bed_plane, make_bed
from swelltree.results.statistics import statistics

if TYPE_CHECKING:
    import xarray as xr

ALONG = ("line_tension", "line_node_tension", "line_curvature", "line_bending_moment")


def line_ranges(dataset: xr.Dataset, start: float | None = None) -> xr.Dataset:
    """Statistics along every line: min, mean, max and the others of `statistics`.

    The coordinates `node_distance` and `segment_distance` are the mean distance from end A along
    the line [m]. Idle segments of shorter lines and of winches do not count.

    Args:
        dataset: a result in time with lines.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    if "line_position" not in dataset or "time" not in dataset["line_position"].dims:
        raise SwelltreeError("line_ranges: there are no lines. Give a run of a system with lines.")
    import xarray as xr

    place = dataset["line_position"]
    length = (place.diff("line_node") ** 2).sum("axis", skipna=False) ** 0.5
    length = length.rename(line_node="line_segment")
    used = length > 0.0
    # a node is used with the segment that ends there; the last idle one is end A itself
    after = used.rename(line_segment="line_node").pad(line_node=(0, 1), constant_values=True)
    after = after.astype(bool)
    chosen = {}
    for name in ALONG:
        if name in dataset:
            values = dataset[name]
            chosen[name] = values.where(used if "line_segment" in values.dims else after)
    clearance = _clearance(dataset, place)
    if clearance is not None:
        chosen["line_clearance"] = clearance.where(after)
        chosen["line_clearance"].attrs = {"units": "m", "long_name": "distance from the seabed"}
    found = xr.Dataset(chosen, attrs=dataset.attrs)
    found["time"] = dataset["time"]
    ranges = statistics(found, start)
    window = dataset["time"] >= ranges.attrs["statistics_from"]
    mean = length.isel(time=window.values).fillna(0.0).mean("time")
    end = mean.cumsum("line_segment")
    about = {"units": "m", "long_name": "mean distance from end A along the line"}
    nodes = end.rename(line_segment="line_node").pad(line_node=(1, 0), constant_values=0.0)
    return ranges.assign_coords(
        node_distance=nodes.assign_attrs(about),
        segment_distance=(end - 0.5 * mean).assign_attrs(about),
    )


def _clearance(dataset: xr.Dataset, place: xr.DataArray) -> xr.DataArray | None:
    """Distance of points of lines from the seabed [m]; None without a bed."""
    drawing = json.loads(dataset.attrs.get("drawing", "") or "{}")
    depth, shape = drawing.get("depth"), drawing.get("bed") or {}
    grid = None
    if "depth" in shape:
        grid = shape["x"], shape["y"], -np.asarray(shape["depth"], float)
    elif depth is None:
        return None
    bed = make_bed(depth or 0.0, shape.get("slope", (0.0, 0.0)), grid=grid)
    r = place.transpose(..., "axis")
    normal, offset = bed_plane(bed, r.values)
    return r.isel(axis=0, drop=True).copy(data=(normal * r.values).sum(-1) - offset)
