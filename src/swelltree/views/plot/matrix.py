"""A matrix of numbers over two dimensions, such as power over sea states, as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError
from swelltree.views.plot.style import INK, below, figure, heading

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
SCALED = ("W", "Wh", "W/m", "N", "N m")
MOST_TEXTS = 400  # cells that still have room for their number


def matrix(values: xr.DataArray, title: str = "") -> Figure:
    """Cells of two dimensions with their numbers; the darker the larger, gaps stay white.

    Args:
        values: over two dimensions; of more, choose with `.sel`.
        title: heading; the long name of the values if not given.
    """
    if values.ndim != 2:
        raise SwelltreeError(
            f"plot.matrix: the values have {values.ndim} dimensions. Choose two with .sel(...)."
        )
    rows, columns = (str(name) for name in values.dims)
    x = np.asarray(values.values, float)
    unit, factor = _scaled(str(values.attrs.get("units", "")), x)
    x = x * factor
    height, width = x.shape
    fig, axes = figure(1, 1, max(4.6, 1.6 + 0.62 * width), max(2.4, 1.2 + 0.42 * height))
    ax = axes[0, 0]
    ax.grid(False)
    top = np.nanmax(x, initial=0.0) or 1.0
    low = min(np.nanmin(x, initial=0.0), 0.0)
    ax.imshow(x, origin="lower", aspect="auto", cmap="YlGnBu", vmin=low, vmax=top * 1.15)
    if x.size <= MOST_TEXTS:
        for (i, j), value in np.ndenumerate(x):
            if np.isfinite(value):
                ink = "white" if value - low > 0.62 * (top - low) else INK
                ax.text(j, i, _short(value, top), ha="center", va="center", fontsize=7.5, color=ink)
    ax.set_xticks(range(width), [f"{v:g}" for v in values[columns].values])
    ax.set_yticks(range(height), [f"{v:g}" for v in values[rows].values])
    below(ax, _axis(values, columns))
    ax.set_ylabel(_axis(values, rows), fontsize=8.5, color=INK)
    heading(ax, title or str(values.attrs.get("long_name", values.name or "")), unit)
    return fig


def _scaled(unit: str, x: np.ndarray) -> tuple[str, float]:
    top = float(np.nanmax(np.abs(x), initial=0.0))
    if unit in SCALED:
        for size, prefix in PREFIXES:
            if top >= size:
                return prefix + unit, 1.0 / size
    return unit, 1.0


def _short(value: float, top: float) -> str:
    if top >= 100.0:
        return f"{value:.0f}"
    return f"{value:.1f}" if top >= 10.0 else f"{value:.2f}"


def _axis(values: xr.DataArray, name: str) -> str:
    unit = values[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name
