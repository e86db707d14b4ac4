"""The table of `operability` on a page: verdict, governing limit and numbers of every case."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from swelltree.views.html import card, table
from swelltree.views.tables import short

if TYPE_CHECKING:
    import xarray as xr

VERDICT = ("state", "utilisation", "governing", "operable")


def operability_card(dataset: xr.Dataset) -> str:
    """Every case in a row, what it may be above.

    Args:
        dataset: from `swelltree.operability`.
    """
    state = dataset["state"]
    numbers = [str(name) for name in dataset.data_vars if name not in VERDICT]
    units = {name: dataset[name].attrs.get("units", "") for name in state.dims}
    heads = [f"{name} [{units[name]}]" if units[name] else str(name) for name in state.dims]
    rows = []
    for place in np.ndindex(state.shape):
        where = [short(float(dataset[d].values[i])) for d, i in zip(state.dims, place, strict=True)]
        values = [dataset[name].values[place] for name in ("utilisation", *numbers)]
        use, *others = (short(float(value)) for value in values)
        governing = str(dataset["governing"].values[place]) or "–"
        rows.append([*where, str(state.values[place]), use, governing, *others])
    count = int((state == "operable").sum())
    about = f"{count} of {state.size} cases are operable. Limits: {dataset.attrs['limits']}."
    content = table([*heads, "state", "part of limit", "governing", *numbers], rows)
    return card("Operability", f'<p class="about">{escape(about)}</p>' + content)
