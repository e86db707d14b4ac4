"""Summaries of studies without time: the equilibrium, and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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


def rest_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """Equilibrium pose of every body, and the tensions of lines and springs."""
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    if "message" in dataset.attrs:
        parts.append(Text(str(dataset.attrs["message"]), style="dim"))
    table = Table(title="equilibrium", **style)
    table.add_column("body", style="cyan")
    for i, dof in enumerate(dataset["dof"].values):
        table.add_column(f"{dof}\n{'m' if i < 3 else 'deg'}", justify="right")
    values = dataset["position"].values.copy()
    values[:, 3:] = np.degrees(values[:, 3:])
    for name, row in zip(dataset["body"].values, values, strict=True):
        table.add_row(str(name), *(_short(x) for x in row))
    parts += [table] if dataset.sizes["body"] else []
    parts += line_tables(dataset, style)
    if "spring_tension" in dataset:
        table = Table(title="springs", **style)
        table.add_column("spring", style="cyan")
        table.add_column("tension\nN", justify="right")
        table.add_column("length\nm", justify="right")
        for i, name in enumerate(dataset["spring"].values):
            tension, length = (
                dataset["spring_tension"].values[i],
                dataset["spring_length"].values[i],
            )
            table.add_row(str(name), f"{tension:.5g}", f"{length:.5g}")
        parts.append(table)
    return parts


def mode_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """Period and damping of every mode, and what moves most in it."""
    from rich.table import Table
    from rich.text import Text

    if not dataset.sizes["mode"]:
        return [Text("no modes: nothing moves, lines are taken at rest", style="dim")]
    table = Table(title="modes", **style)
    headings = ("mode", "natural period\ns", "damped period\ns", "damping\nof critical")
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("moves most\nby energy", style="cyan")
    share = dataset["energy_share"].values
    for i, mode in enumerate(dataset["mode"].values):
        body, dof = np.unravel_index(share[i].argmax(), share[i].shape)
        most = f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}"
        columns = ("natural_period", "damped_period", "damping_ratio")
        *periods, damping = (float(dataset[name].values[i]) for name in columns)
        table.add_row(
            str(mode),
            *(f"{period:.4g}" if np.isfinite(period) else "-" for period in periods),
            f"{damping:.4f}" if abs(damping) > 5e-5 else "-",
            most,
        )
    return [table, Text(f"added mass {dataset.attrs.get('added_mass', '?')}", style="dim")]


def _short(value: float) -> str:
    return "-" if abs(value) < 5e-4 else f"{value:.3f}"
