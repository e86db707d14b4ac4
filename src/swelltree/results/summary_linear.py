"""Summaries of studies in the frequency domain, and of periodic motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType


def _motion_table(
    title: str, dataset: xr.Dataset, values: np.ndarray, style: NamedValues, per: str
) -> RenderableType:
    """One row per body of values (body, dof), rotations in degrees."""
    from rich.table import Table

    table = Table(title=title, **style)
    table.add_column("body", style="cyan")
    for dof in dataset["dof"].values:
        unit = "m" if dof in ("Surge", "Sway", "Heave") else "deg"
        table.add_column(f"{dof}\n{unit}{per}", justify="right")
    shown = values.copy()
    shown[:, 3:] = np.degrees(shown[:, 3:])
    for name, row in zip(dataset["body"].values, shown, strict=True):
        table.add_row(str(name), *("-" if abs(x) < 5e-4 else f"{x:.3g}" for x in row))
    return table


def rao_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """The largest motion per metre of wave, and where it is."""
    from rich.text import Text

    motion = np.abs(dataset["rao"].values)
    omega = dataset["omega"].values
    largest = motion.max(axis=(0, 1))
    i, _, body, dof = np.unravel_index(int(motion.argmax()), motion.shape)
    where = f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}"
    line = f"{len(omega)} frequencies, {omega[0]:.3g} to {omega[-1]:.3g} rad/s; most: {where} at "
    return [
        Text(f"{line}{omega[i]:.3g} rad/s", style="dim"),
        _motion_table("largest motion per metre of wave", dataset, largest, style, "/m"),
    ]


def response_tables(dataset: xr.Dataset, style: NamedValues) -> list[RenderableType]:
    """Standard deviations, and the mean power of every damper."""
    from rich.text import Text

    deviation = dataset["standard_deviation"].values
    parts = [_motion_table("standard deviation", dataset, deviation, style, "")]
    power = [
        f"{name} {float(value):.4g} W"
        for name, value in zip(dataset["pto"].values, dataset["absorbed_power"].values, strict=True)
        if value
    ]
    return parts + ([Text("mean absorbed power: " + ", ".join(power))] if power else [])


def periodic_line(dataset: xr.Dataset) -> RenderableType:
    """How a periodic motion was found."""
    from rich.text import Text

    attrs = dataset.attrs
    text = (
        f"period {attrs['period']:.6g} s, {attrs['harmonics']} harmonics, {attrs['form']} form "
        f"({attrs['formulation']}), {attrs['newton_iterations']} Newton steps, estimated error "
        f"{attrs['estimated_error']:.1e}"
    )
    pinned = str(attrs.get("pinned", ""))
    return Text(text + (f"; {pinned}" if pinned else ""), style="dim")
