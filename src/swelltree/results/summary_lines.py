"""Tensions at the ends of lines in summaries of equilibria."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType

ENDS = (("anchor_tension", "tension at A\nN"), ("fairlead_tension", "tension at B\nN"))


def line_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """The tension at both ends of every line at equilibrium; none without lines."""
    from rich.table import Table

    if "line" not in dataset.dims or any(name not in dataset for name, _ in ENDS):
        return []
    table = Table(title="lines", **style)
    table.add_column("line", style="cyan")
    values = []
    for name, heading in ENDS:
        table.add_column(heading, justify="right")
        values.append(dataset[name].values)
    for line, *tensions in zip(dataset["line"].values, *values, strict=True):
        table.add_row(str(line), *(f"{tension:.5g}" for tension in tensions))
    return [table]
