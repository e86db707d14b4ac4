"""Plots of computed water: the free surface from above, and the pressure on hulls from the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError
from swelltree.views.plot.style import below, figure, heading
from swelltree.views.units import prefixed

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def free_surface(dataset: xr.Dataset, time: float | None = None) -> Figure:
    """The free surface around weak scatterers, and the pressure on their hulls, at one time.

    Args:
        dataset: result of a run with weak scatterers.
        time: the sample nearest to it is shown [s]; that of the highest perturbation if not given.
    """
    if "weak_scatterer_surface" not in dataset:
        raise SwelltreeError(
            "plot.free_surface: this result has no computed free surface. Describe a WeakScatterer "
            "and simulate."
        )
    added = np.abs(dataset["weak_scatterer_elevation"].values).max(1)
    at = int(np.argmax(added))
    if time is not None:
        at = int(np.argmin(np.abs(dataset["time"].values - time)))
    now = dataset.isel(time=at)
    fig, axes = figure(1, 2, 11.0, 4.4, sharex=False)
    x, y, z = now["weak_scatterer_surface"].values.T
    top = _triangles(now, "surface")
    left, right = axes[0]
    shades = left.tripcolor(x, y, top, z, cmap="RdBu_r", shading="gouraud")
    fig.colorbar(shades, ax=left, shrink=0.85)
    heading(left, f"free surface at {float(now['time']):.4g} s", "m")
    left.set_aspect("equal")
    below(left, "x [m]")
    x, _, z = now["weak_scatterer_hull"].values.T
    pressure = now["weak_scatterer_pressure"].values
    unit, factor = prefixed("Pa", float(np.abs(pressure).max()))
    hull = _triangles(now, "hull")
    shades = right.tripcolor(x, z, hull, factor * pressure, shading="gouraud")
    fig.colorbar(shades, ax=right, shrink=0.85)
    heading(right, "pressure on hulls, from the side", unit)
    right.set_aspect("equal")
    below(right, "x [m]")
    return fig


def _triangles(now: xr.Dataset, name: str) -> np.ndarray:
    """Of one time; a mesh that changes has room to spare."""
    faces = now[f"weak_scatterer_{name}_triangles"].values.astype(int)
    return faces[faces[:, 0] != faces[:, 1]]
