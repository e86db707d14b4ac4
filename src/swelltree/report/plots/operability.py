"""The table of operability as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.report.plots.style import INK, SOFT, below, figure, heading, short

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

GOOD, NEAR, BAD, NONE = "#cfe8d5", "#f7e7b5", "#f2c4bd", "#c9ced3"
CLOSE = 0.85  # of a limit: less is well within it


def operability(dataset: xr.Dataset) -> Figure:
    """Cells of two conditions: the part of the limits that is used, and by what.

    Green is within all limits, yellow near one, red beyond; grey has no result.

    Args:
        dataset: from `swelltree.operability`, over two conditions; of more, choose with `.sel`.
    """
    if "utilisation" not in dataset:
        raise SwelltreeError("plot.operability: this is not a result of operability(...).")
    use = dataset["utilisation"]
    if use.ndim != 2:
        raise SwelltreeError(
            f"plot.operability: the table has {use.ndim} conditions. Choose two with .sel(...)."
        )
    rows, columns = (str(name) for name in use.dims)
    values, names = use.values, dataset["governing"].values
    height, width = values.shape
    fig, axes = figure(1, 1, 2.2 + 1.5 * width, 1.4 + 0.75 * height)
    ax = axes[0, 0]
    ax.grid(False)
    for (i, j), part in np.ndenumerate(values):
        shade = BAD if part > 1.0 else NEAR if part > CLOSE else GOOD
        if not np.isfinite(part):
            shade = NONE  # no result: neither good nor bad
        ax.fill_between((j - 0.5, j + 0.5), i - 0.5, i + 0.5, color=shade, linewidth=0)
        text = f"{part:.2f}" if np.isfinite(part) else "failed"
        ax.text(j, i + 0.08, text, ha="center", va="bottom", fontsize=11, color=INK)
        label = short(str(names[i, j]).replace("_", " "), 22)
        ax.text(j, i - 0.08, label, ha="center", va="top", fontsize=7.5, color=SOFT)
    for k in range(1, width):
        ax.axvline(k - 0.5, color="white", linewidth=2)
    for k in range(1, height):
        ax.axhline(k - 0.5, color="white", linewidth=2)
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(-0.5, height - 0.5)
    ax.set_xticks(range(width), [f"{x:g}" for x in use[columns].values])
    ax.set_yticks(range(height), [f"{x:g}" for x in use[rows].values])
    below(ax, _axis(use, columns))
    ax.set_ylabel(_axis(use, rows), fontsize=8.5, color=INK)
    heading(
        ax,
        "Part of the limits that is used",
        str(dataset.attrs.get("limits", "")).replace("_", " "),
    )
    return fig


def _axis(use: xr.DataArray, name: str) -> str:
    unit = use[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name
