"""Plots of a whole run: motions and joints, the sea and the power, the energy budget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.report.channels import energy_terms
from swelltree.report.plots.time import (
    INK,
    SOFT,
    below,
    color,
    figure,
    heading,
    legend,
    no_tiny_range,
    plain,
    short,
    style,
)
from swelltree.results.displacement import motion_name, unwrapped
from swelltree.results.energy import energy_scale
from swelltree.results.line_ranges import line_ranges as ranges_of
from swelltree.results.units import prefixed, readable

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


TITLES = {
    "line_tension": "Tension",
    "line_node_tension": "Tension",
    "line_curvature": "Curvature",
    "line_bending_moment": "Bending moment",
    "line_clearance": "Clearance above the seabed",
}


def line_ranges(dataset: xr.Dataset, line: str | None = None, start: float | None = None) -> Figure:
    """Min, mean and max along a line over a run: tension, curvature, bending moment, clearance.

    Args:
        dataset: a result in time with lines.
        line: its name; the first if not given.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    found = ranges_of(dataset, start)
    names = [str(name) for name in found["line"].values]
    chosen = names[0] if line is None else line
    if chosen not in names:
        raise SwelltreeError(f"line '{chosen}' is not in the result.{suggest(chosen, names)}")
    some = found.sel(line=chosen)
    # a line without bending stiffness has no moment to show
    shown = [name for name in TITLES if name in some and np.nan_to_num(some[name].values).any()]
    fig, axes = figure(len(shown), 1, 8.6, 0.6 + 2.0 * len(shown))
    for ax, name in zip(axes[:, 0], shown, strict=True):
        values = some[name]
        where = "segment_distance" if "line_segment" in values.dims else "node_distance"
        low, mean, high = (values.sel(statistic=s).values for s in ("min", "mean", "max"))
        used = np.isfinite(mean)
        unit, factor = readable(str(values.attrs.get("units", "")))
        unit, scale = prefixed(unit, factor * float(np.nanmax(np.abs(high), initial=0.0)))
        low, mean, high = (scale * factor * x[used] for x in (low, mean, high))
        along = some[where].values[used]
        ax.fill_between(along, low, high, color="#d8e0e6", linewidth=0)
        ax.plot(along, high, color=color(3), linewidth=1.4, label="max")
        ax.plot(along, mean, color=color(0), linewidth=1.8, label="mean")
        ax.plot(along, low, color=color(2), linewidth=1.4, label="min")
        title = TITLES[name] if ax is not axes[0, 0] else f"{TITLES[name]} along {chosen}"
        heading(ax, title, unit)
        no_tiny_range(ax)
    legend(axes[0, 0], 3, columns=3)
    below(axes[-1, 0], "distance from end A along the line [m]")
    return fig


MOST_LINES = 12


def motion(dataset: xr.Dataset) -> Figure:
    """Displacement of every body and all joint coordinates.

    Args:
        dataset: from `simulate`.
    """
    time = dataset["time"].values
    moved = motions(dataset)
    turning = dataset["coordinate_turns"].values
    loose = without_free(dataset["coordinate"].values)
    sliding = any(not turning[k] for k in loose)
    fig, axes = figure(4, 2, 9.6, 9.2)
    names = [str(name) for name in dataset["body"].values]
    for column, group in enumerate((slice(0, 3), slice(3, 6))):
        dofs = dataset["dof"].values[group]
        for row, dof in enumerate(dofs):
            ax = axes[row, column]
            for i in range(len(names)):
                values = moved[:, i, 3 * column + row]
                ax.plot(time, values, color=color(i), linewidth=1.2)
            heading(ax, str(dof), "deg" if column else "m from the start")
            no_tiny_range(ax)
    values, labels = unwrapped(dataset["joint_coordinate"]).values, dataset["coordinate"].values
    if not sliding:
        axes[3, 0].set_axis_off()
        axes[2, 0].tick_params(labelbottom=True)
        below(axes[2, 0], "time [s]")
    for ax, of_turns, unit in ((axes[3, 0], False, "m"), (axes[3, 1], True, "deg")):
        chosen = [k for k in loose if turning[k] == of_turns][:MOST_LINES]
        if not of_turns and not sliding:
            continue
        for n, k in enumerate(chosen):
            y = np.degrees(values[:, k]) if of_turns else values[:, k]
            label = str(labels[k]).replace("__", " ")
            ax.plot(time, y, style(n), color=color(n), linewidth=1.2, label=label)
        heading(ax, "Joint angles" if of_turns else "Joint travel", unit)
        no_tiny_range(ax)
        if chosen:
            legend(ax, len(chosen), columns=3, fontsize=7)
        below(ax, "time [s]")
    if len(names) <= MOST_LINES:
        lines = axes[0, 0].lines
        built = fig.legend(
            lines,
            names,
            loc="outside upper center",
            ncols=min(8, len(names)),
            frameon=False,
            fontsize=8.5,
        )
        plain(built)
    return fig


def motions(dataset: xr.Dataset) -> np.ndarray:
    """(time, body, dof): displacements [m] and rotations [deg]."""
    name = motion_name(dataset)
    values = unwrapped(dataset[name]).values.copy()
    values[:, :, 3:] = np.degrees(values[:, :, 3:])
    return values if name == "displacement" else values - values[:1]


def without_free(labels: Iterable[object]) -> list[int]:
    """Coordinates except those of joints with six DOFs, which are body motions."""
    joints = [str(label).split("__")[0] for label in labels]
    return [k for k, joint in enumerate(joints) if joints.count(joint) < 6]


def energy(dataset: xr.Dataset) -> Figure:
    """Energies since the start by kind, the work of each element, and the residual.

    Args:
        dataset: from `simulate`.
    """
    time = dataset["time"].values
    unit, factor = prefixed("J", energy_scale(dataset))
    fig, axes = figure(3, 1, 9.6, 7.4, height_ratios=(3, 2, 1.2))
    top, middle, low = axes[:, 0]
    terms = energy_terms(dataset)
    for n, (name, values) in enumerate(terms.items()):
        look = {"color": color(n), "linewidth": 1.5}
        if name == "sum":
            look = {"color": INK, "linewidth": 1.8}
        elif name == "start + work done":
            look = {"color": "#c8553d", "linewidth": 1.4, "linestyle": "--"}
        top.plot(time, factor * values, label=name, **look)
    heading(top, "Energy since the start", unit)
    legend(top, max(len(terms), 1), columns=5)
    names = [str(name) for name in dataset["element"].values]
    lifting = [name == "hydrostatics" for name in names]
    work = np.where(lifting, 0.0, dataset["work"].values)
    # the elements that did most work have a line of their own, the others one together
    order = [k for k in np.argsort(-np.abs(work[-1])) if work[:, k].any()]
    for n, k in enumerate(order[:7]):
        middle.plot(time, factor * work[:, k], color=color(n), linewidth=1.3, label=names[k])
    if len(order) > 7:
        rest = work[:, order[7:]].sum(1)
        middle.plot(time, factor * rest, ":", color=INK, linewidth=1.3, label="others")
    heading(middle, "Work done on the system by dampers and drives", unit)
    if order:
        legend(middle, min(8, len(order)), columns=4)
    residual = np.abs(dataset["energy_residual"].values)
    shown = np.where(residual > 0, residual, np.nan)  # a logarithm has no zero
    if (residual > 0).any():
        low.semilogy(time, shown, color="#5b6b79", linewidth=1.0)
    heading(low, "Size of the residual: energy not accounted for", "J")
    below(low, "time [s]")
    return fig


def sea(dataset: xr.Dataset) -> Figure:
    """Free surface, joint angles and absorbed power of a run in waves.

    Args:
        dataset: from `simulate`.
    """
    time = dataset["time"].values
    angles = [
        k
        for k in without_free(dataset["coordinate"].values)
        if dataset["coordinate_turns"].values[k]
    ][:MOST_LINES]
    rows = ["elevation"] + ["angles"] * bool(angles) + ["power"] * ("absorbed_power" in dataset)
    fig, axes = figure(len(rows), 1, 9.6, 0.6 + 2.0 * len(rows))
    ax = axes[0, 0]
    ax.plot(time, dataset["elevation"].values, color=color(0), linewidth=1.2)
    ax.fill_between(time, dataset["elevation"].values, color=color(0), alpha=0.12, linewidth=0)
    heading(ax, "Free surface at the origin", "m")
    if angles:
        ax = axes[1, 0]
        turned = np.degrees(unwrapped(dataset["joint_coordinate"]).values)
        for n, k in enumerate(angles):
            y = turned[:, k]
            label = str(dataset["coordinate"].values[k]).replace("__", " ")
            ax.plot(time, y, color=color(n), linewidth=1.2, label=label)
        heading(ax, "Joint angles", "deg")
        legend(ax, len(angles), columns=4)
    if "absorbed_power" in dataset:
        ax = axes[-1, 0]
        power = dataset["absorbed_power"]
        top = float(np.abs(power.values).max(initial=0.0))
        unit, factor = prefixed("W", top)
        for n, name in enumerate(dataset["pto"].values[:MOST_LINES]):
            values = factor * power.sel(pto=name).values
            label = f"{name}: mean {values.mean():.3g} {unit}"
            ax.plot(time, values, color=color(n), linewidth=1.2, label=label)
            ax.axhline(values.mean(), color=color(n), linewidth=1.0, linestyle="--")
        heading(ax, "Absorbed power", unit)
        legend(ax, dataset.sizes["pto"], columns=4)
    below(axes[-1, 0], "time [s]")
    return fig
