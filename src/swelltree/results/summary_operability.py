"""Summary of `operability`: the part of its limits that every case uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType


def operability_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """One row for each case: its conditions, verdict, use of limits and what governs."""
    from rich.table import Table

    state = dataset["state"]
    title = f"{int((state == 'operable').sum())} of {state.size} cases are operable"
    table = Table(title=title, **style)
    for name in state.dims:
        unit = dataset[name].attrs.get("units", "")
        table.add_column(f"{name}\n{unit}", justify="right")
    for heading in ("state", "part of\nlimit", "governing"):
        table.add_column(heading)
    for place in np.ndindex(state.shape):
        where = [f"{float(dataset[d].values[i]):g}" for d, i in zip(state.dims, place, strict=True)]
        use = float(dataset["utilisation"].values[place])
        use_text = "-" if np.isnan(use) else f"{use:.2f}"
        cell = str(state.values[place]), use_text, str(dataset["governing"].values[place])
        table.add_row(*where, *cell)
    return [table]
