"""Tensions at the ends of lines in summaries of runs and states of rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swelltree.results.statistics import statistic, window_text

if TYPE_CHECKING:
    import xarray as xr

ENDS = (("anchor_tension", "tension at A\nN"), ("fairlead_tension", "tension at B\nN"))


def line_tables(dataset: xr.Dataset, style: dict[str, Any]) -> list[Any]:
    """The tension at both ends of every line, in a run the greatest; none without lines."""
    from rich.table import Table

    if "line" not in dataset.dims or any(name not in dataset for name, _ in ENDS):
        return []
    runs = "time" in dataset.dims
    title = f"lines, greatest {window_text(dataset)}" if runs else "lines"
    table = Table(title=title, **style)
    table.add_column("line", style="cyan")
    values = []
    for name, heading in ENDS:
        table.add_column(heading, justify="right")
        values.append(statistic(dataset[name], "max") if runs else dataset[name].values)
    for line, *tensions in zip(dataset["line"].values, *values, strict=True):
        table.add_row(str(line), *(f"{tension:.5g}" for tension in tensions))
    return [table]
