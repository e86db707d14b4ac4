"""What a run did, on one screen: extremes, closure, energy budget, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.results.design_values import HEADS, MPM, design_tables
from swelltree.results.displacement import motion_name
from swelltree.results.energy import aliased, energy_scale, mean_energy_terms
from swelltree.results.statistics import ramp_of, settled, statistic, window_text
from swelltree.results.summary_statics import mode_tables, rest_tables

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


LOOSE_CLOSURE = 1e-6  # m, rad
LOOSE_ENERGY = 1e-3  # of the energy that moved
STYLE: NamedValues = {"title_justify": "left", "title_style": "italic"}


def budget(dataset: xr.Dataset) -> list[tuple[str, float, float]]:
    """Terms of the energy budget over the run: name, change of stored energy, work [J].

    Kinetic energy counts as stored; elements that did nothing are left out.
    """
    kinetic = dataset["kinetic_energy"].sum("body").values
    rows = [("kinetic", float(kinetic[-1] - kinetic[0]), 0.0)]
    for name in dataset["element"].values:
        stored = dataset["potential_energy"].sel(element=name).values
        work = float(dataset["work"].sel(element=name).values[-1])
        if stored.any() or work:
            rows.append((str(name), float(stored[-1] - stored[0]), work))
    return rows


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
    """What makes a run more exact: tolerances steer adaptive solvers only."""
    solver = str(dataset.attrs.get("solver", ""))
    if solver in ("rk4", "two_step", "interior_point"):
        return f"take a smaller step (it was {float(dataset.attrs.get('step', np.nan)):.3g} s)"
    if dataset.attrs.get("study") == "steady_state":
        return "give more harmonics"
    return "lower rtol"


def residuals(dataset: xr.Dataset) -> list[tuple[float, float]]:
    """Energy residual at the end and its max [J], each also as a fraction of what moved."""
    scale = energy_scale(dataset)
    values = dataset["energy_residual"].values
    chosen = (float(values[-1]), float(values[np.abs(values).argmax()]))
    return [(value, abs(value) / scale if scale > 0 else 0.0) for value in chosen]


def relative_residual(dataset: xr.Dataset) -> float:
    """Max energy residual as a fraction of the energy that moved."""
    return residuals(dataset)[1][1]


def extremes(dataset: xr.Dataset) -> list[tuple[str, list[tuple[float, float]]]]:
    """Min and max displacement [m] and rotation [deg], body by body."""
    moved = dataset[motion_name(dataset)]
    low, high = (statistic(moved, name).copy() for name in ("min", "max"))
    low[:, 3:], high[:, 3:] = np.degrees(low[:, 3:]), np.degrees(high[:, 3:])
    return [
        (str(name), [(float(a), float(b)) for a, b in zip(low[i], high[i], strict=True)])
        for i, name in enumerate(dataset["body"].values)
    ]


def spread(low: float, high: float) -> str:
    """A range as it stands in a table."""
    if high - low < 5e-4:
        return "-" if abs(high) < 5e-4 else f"{high:.3g}"
    return f"{low:.3g}..{high:.3g}"


@np.errstate(all="ignore")  # files of others hold any number
def summary(dataset: xr.Dataset, title: str = "") -> RenderableType:
    """A result as tables for the terminal.

    Args:
        dataset: of any study.
        title: heading.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(title, style="bold")] if title else []
    if "position" in dataset and "time" in dataset.dims:
        periodic = dataset.attrs.get("study") == "steady_state"
        parts.append(periodic_line(dataset) if periodic else _run_line(dataset))
        if dataset.sizes["body"]:
            parts.append(_extremes_table(dataset))
        parts += _design_tables(dataset)
        if "spring_tension" in dataset:
            parts.append(_springs_line(dataset))
        if "delivered_power" in dataset:
            parts.append(_pto_table(dataset))
        if "work" in dataset and dataset.sizes["body"]:
            parts.append(_budget_table(dataset))
    elif "rao" in dataset:
        parts += rao_tables(dataset, STYLE)
    elif "standard_deviation" in dataset:
        parts += response_tables(dataset, STYLE)
    elif "position" in dataset:
        parts += rest_tables(dataset, STYLE)
    elif "utilisation" in dataset:
        parts += operability_tables(dataset, STYLE)
    elif "natural_period" in dataset:
        parts += mode_tables(dataset, STYLE)
    parts += [Text(f"! {sentence}", style="yellow") for sentence in warnings_of(dataset)]
    return Group(*parts)


def _run_line(dataset: xr.Dataset) -> RenderableType:
    from rich.text import Text

    attrs, time = dataset.attrs, dataset["time"].values
    steps = attrs.get("steps_accepted", "?")
    return Text(
        f"{time[-1]:g} s, {len(time)} samples, {attrs.get('formulation', '?')}, "
        f"{attrs.get('solver', '?')}, {steps} steps; "
        f"joints closed within {float(dataset['closure'].values.max()):.1e}",
        style="dim",
    )


def _extremes_table(dataset: xr.Dataset) -> RenderableType:
    from rich.table import Table

    away = dataset[motion_name(dataset)].attrs.get("measured_from")
    since = f" from {away}" if away else ""
    title = f"motion of the reference points{since}, {window_text(dataset)}"
    table = Table(title=title, **STYLE)
    table.add_column("body", style="cyan")
    table.add_column("")
    for dof in dataset["dof"].values:
        unit = "m" if dof in ("Surge", "Sway", "Heave") else "deg"
        table.add_column(f"{dof}\n{unit}", justify="right")
    for name, ranges in extremes(dataset):
        table.add_row(name, "min", *(_short(pair[0]) for pair in ranges))
        table.add_row("", "max", *(_short(pair[1]) for pair in ranges), end_section=True)
    return table


def _design_tables(dataset: xr.Dataset) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for built in design_tables(dataset):
        table = Table(title=f"{built.title} \\[{built.unit}], {window_text(dataset)}", **STYLE)
        table.add_column(built.item, style="cyan")
        for heading in HEADS:
            table.add_column(heading, justify="right")
        for name, *numbers in built.rows:
            table.add_row(name, *(f"{x:.4g}" if np.isfinite(x) else "-" for x in numbers))
        parts.append(table)
    return [*parts, Text(MPM, style="dim")] if parts else []


def _short(value: float) -> str:
    return "-" if abs(value) < 5e-4 else f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def _springs_line(dataset: xr.Dataset) -> RenderableType:
    from rich.table import Table

    table = Table(title=f"springs, maximum {window_text(dataset)}", **STYLE)
    table.add_column("spring", style="cyan")
    table.add_column("tension \\[N]", justify="right")
    table.add_column("length \\[m]", justify="right")
    tension, length = (statistic(dataset[f"spring_{x}"], "max") for x in ("tension", "length"))
    for i, name in enumerate(dataset["spring"].values):
        table.add_row(str(name), f"{tension[i]:.4g}", f"{length[i]:.4g}")
    return table


def _pto_table(dataset: xr.Dataset) -> RenderableType:
    from rich.table import Table

    table = Table(title=f"power take-offs, mean {window_text(dataset)} \\[W]", **STYLE)
    table.add_column("pto", style="cyan")
    for heading in ("absorbed", "delivered", "lost", "efficiency"):
        table.add_column(heading, justify="right")
    for name, absorbed, delivered, lost in mean_energy_terms(dataset):
        share = f"{delivered / absorbed:.1%}" if absorbed > 0 else "-"
        table.add_row(name, f"{absorbed:.5g}", f"{delivered:.5g}", f"{lost:.5g}", share)
    return table


def _budget_table(dataset: xr.Dataset) -> RenderableType:
    from rich.table import Table

    table = Table(title="energy budget \\[J]", **STYLE)
    table.add_column("element", style="cyan")
    table.add_column("stored, change", justify="right")
    table.add_column("work done", justify="right")
    rows = budget(dataset)
    for name, stored, work in rows:
        table.add_row(name, f"{stored:.6g}" if stored else "-", f"{work:.6g}" if work else "-")
    table.add_section()
    table.add_row("sum", f"{sum(r[1] for r in rows):.6g}", f"{sum(r[2] for r in rows):.6g}")
    last, worst = residuals(dataset)
    table.add_row("residual at the end", f"{last[0]:.2e}", f"{last[1]:.1e} of moved")
    table.add_row("largest residual", f"{worst[0]:.2e}", f"{worst[1]:.1e} of moved")
    return table
