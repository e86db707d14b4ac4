"""What a run did, on one screen: extremes, closure, energy budget, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.results.design_values import MPM
from swelltree.results.energy import aliased
from swelltree.results.statistics import ramp_of, settled
from swelltree.results.tables import (
    Table,
    budget_table,
    extremes_table,
    load_tables,
    mode_table,
    motion_table,
    operability_table,
    pto_table,
    residuals,
    still_tables,
    tension_tables,
)

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType
    from rich.text import Text

LOOSE_CLOSURE = 1e-6  # m, rad
LOOSE_ENERGY = 1e-3  # of the energy that moved


def warnings_of(dataset: xr.Dataset) -> list[str]:
    """Warnings about a result, as messages."""
    out = []
    if dataset.attrs.get("result", "success") != "success":
        out.append(str(dataset.attrs.get("message", "the run did not finish.")))
    if dataset.attrs.get("unstable_modes", 0):
        out.append(f"{dataset.attrs['unstable_modes']} modes grow: this equilibrium is not stable.")
    if "time" in dataset.dims and ramp_of(dataset) > settled(dataset):
        out.append(
            f"the run ends within the ramp of {ramp_of(dataset):g} s: its statistics are those of "
            "a growing sea. Simulate longer."
        )
    if sentence := aliased(dataset):
        out.append(sentence)
    if "closure" in dataset:
        worst = float(np.nanmax(dataset["closure"].values))
        if worst > LOOSE_CLOSURE:
            out.append(f"joints open by up to {worst:.2g} m or rad: {remedy(dataset)}.")
    if "energy_residual" in dataset and "time" in dataset.dims:
        share = relative_residual(dataset)
        if share > LOOSE_ENERGY:
            left = f"{share:.1%} of the energy that moved is not accounted for"
            out.append(f"{left}: {remedy(dataset)}.")
    return out


def remedy(dataset: xr.Dataset) -> str:
    """How to improve the accuracy of a run: only adaptive solvers have tolerances."""
    solver = str(dataset.attrs.get("solver", ""))
    if solver in ("rk4", "two_step", "interior_point"):
        return f"take a smaller step (it was {float(dataset.attrs.get('step', np.nan)):.3g} s)"
    if dataset.attrs.get("study") == "steady_state":
        return "give more harmonics"
    return "lower rtol"


def relative_residual(dataset: xr.Dataset) -> float:
    """Maximum energy residual as a fraction of the exchanged energy."""
    return residuals(dataset)[1][1]


@np.errstate(all="ignore")  # files of others hold any number
def summary(dataset: xr.Dataset, title: str = "") -> RenderableType:
    """A result as tables for the terminal.

    Args:
        dataset: of any study.
        title: heading.
    """
    from rich.console import Group
    from rich.text import Text

    parts = [Text(title, style="bold")] if title else []
    parts += [x if isinstance(x, Text) else _printed(x) for x in _parts(dataset)]
    parts += [Text(f"! {sentence}", style="yellow") for sentence in warnings_of(dataset)]
    return Group(*parts)


def _parts(dataset: xr.Dataset) -> list[Table | Text]:
    if "position" in dataset and "time" in dataset.dims:
        periodic = dataset.attrs.get("study") == "steady_state"
        parts = [_periodic_line(dataset) if periodic else _run_line(dataset)]
        parts += [extremes_table(dataset)] if dataset.sizes["body"] else []
        loads = load_tables(dataset)
        parts += [*loads, _dim(MPM)] if loads else []
        parts += tension_tables(dataset)
        parts += [pto_table(dataset)] if "delivered_power" in dataset else []
        has_budget = "work" in dataset and dataset.sizes["body"]
        return parts + ([budget_table(dataset)] if has_budget else [])
    if "rao" in dataset:
        return _rao_parts(dataset)
    if "standard_deviation" in dataset:
        return [*still_tables(dataset), *_power_line(dataset)]
    if "position" in dataset:
        message = dataset.attrs.get("message")
        parts = [] if message is None else [_dim(str(message))]
        return [*parts, *still_tables(dataset), *tension_tables(dataset)]
    if "utilisation" in dataset:
        return [operability_table(dataset)]
    if "natural_period" in dataset and not dataset.sizes["mode"]:
        return [_dim("no modes: nothing moves, lines are taken at rest")]
    return [mode_table(dataset)] if "natural_period" in dataset else []


def _printed(table: Table) -> RenderableType:
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=Text(table.title, style="italic"), title_justify="left")
    for i, head in enumerate(table.heads):
        grid.add_column(Text(head), style="" if i else "cyan", justify="right" if i else "left")
    for i, row in enumerate(table.rows):
        if table.total and i == len(table.rows) - table.total:
            grid.add_section()
        grid.add_row(*map(Text, row))
    return Group(grid, _dim(table.about)) if table.about else grid


def _dim(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="dim")


def _rao_parts(dataset: xr.Dataset) -> list[Table | Text]:
    """The largest motion per metre of wave, and where it is."""
    motion, omega = np.abs(dataset["rao"].values), dataset["omega"].values
    i, _, body, dof = np.unravel_index(int(motion.argmax()), motion.shape)
    where = f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}"
    line = f"{len(omega)} frequencies, {omega[0]:.3g} to {omega[-1]:.3g} rad/s; most: {where} at "
    largest = motion.max(axis=(0, 1))
    return [
        _dim(f"{line}{omega[i]:.3g} rad/s"),
        motion_table("largest motion per metre of wave", dataset, largest, "/m"),
    ]


def _power_line(dataset: xr.Dataset) -> list[Table | Text]:
    """The mean power of every damper in a sea."""
    rows = zip(dataset["pto"].values, dataset["absorbed_power"].values, strict=True)
    power = [f"{name} {float(value):.4g} W" for name, value in rows if value]
    return [_dim("mean absorbed power: " + ", ".join(power))] if power else []


def _periodic_line(dataset: xr.Dataset) -> Text:
    """How a periodic motion was found."""
    attrs = dataset.attrs
    text = (
        f"period {attrs['period']:.6g} s, {attrs['harmonics']} harmonics, {attrs['form']} form "
        f"({attrs['formulation']}), {attrs['newton_iterations']} Newton steps, estimated error "
        f"{attrs['estimated_error']:.1e}"
    )
    pinned = str(attrs.get("pinned", ""))
    return _dim(text + (f"; {pinned}" if pinned else ""))


def _run_line(dataset: xr.Dataset) -> Text:
    attrs, time = dataset.attrs, dataset["time"].values
    steps = attrs.get("steps_accepted", "?")
    return _dim(
        f"{time[-1]:g} s, {len(time)} samples, {attrs.get('formulation', '?')}, "
        f"{attrs.get('solver', '?')}, {steps} steps; "
        f"joints closed within {float(dataset['closure'].values.max()):.1e}"
    )
