"""Plots of a run: motions, joint coordinates, energy budget.

Figures are made without a display; nothing here touches the plotting state of the user.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.results.energy import energy_scale
from swelltree.views.scene import COLORS

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

INK = "#22303c"
STILL = 1e-6  # share of the largest motion below which a panel is left out
MOST_LINES = 12


def figure(rows: int, columns: int, width: float, height: float, **more: Any) -> tuple[Any, Any]:
    """A figure with quiet axes, (rows, columns) of them."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = fig.subplots(rows, columns, squeeze=False, sharex=True, **more)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color("#9aa7b2")
        ax.tick_params(colors="#5b6b79", labelsize=8)
        ax.grid(True, color="#e6ebef", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.margins(x=0)
    return fig, axes


def heading(ax: Any, text: str, unit: str) -> None:
    """Name of a panel with its unit."""
    ax.set_title(text, loc="left", fontsize=9.5, color=INK, fontweight="bold")
    ax.set_title(unit, loc="right", fontsize=8, color="#5b6b79")


def plot_motion(dataset: xr.Dataset) -> Figure:
    """Displacement of every body from its first sample, and all joint coordinates."""
    time = dataset["time"].values
    moved = motions(dataset)
    turning = dataset["coordinate_unit"].values == "rad"
    loose = _without_free(dataset["coordinate"].values, dataset)
    sliding = any(not turning[k] for k in loose)
    fig, axes = figure(4, 2, 9.6, 9.2)
    names = [str(name) for name in dataset["body"].values]
    for column, group in enumerate((slice(0, 3), slice(3, 6))):
        dofs = dataset["dof"].values[group]
        for row, dof in enumerate(dofs):
            ax = axes[row, column]
            for i in range(len(names)):
                values = moved[:, i, 3 * column + row]
                ax.plot(time, values, color=COLORS[i % len(COLORS)], linewidth=1.2)
            heading(ax, str(dof), "deg" if column else "m from the start")
            _no_tiny_range(ax)
    values, labels = dataset["joint_coordinate"].values, dataset["coordinate"].values
    if not sliding:
        axes[3, 0].set_axis_off()
        axes[2, 0].tick_params(labelbottom=True)
        axes[2, 0].set_xlabel("time [s]", fontsize=8.5, color=INK)
    for ax, of_turns, unit in ((axes[3, 0], False, "m"), (axes[3, 1], True, "deg")):
        chosen = [k for k in loose if turning[k] == of_turns][:MOST_LINES]
        if not of_turns and not sliding:
            continue
        for n, k in enumerate(chosen):
            y = np.degrees(np.unwrap(values[:, k])) if of_turns else values[:, k]
            style = "-" if n < len(COLORS) else "--"
            label = str(labels[k]).replace("__", " ")
            ax.plot(time, y, style, color=COLORS[n % len(COLORS)], linewidth=1.2, label=label)
        heading(ax, "Joint angles" if of_turns else "Joint travel", unit)
        _no_tiny_range(ax)
        if chosen:
            _legend(ax, len(chosen), columns=3, fontsize=7)
        ax.set_xlabel("time [s]", fontsize=8.5, color=INK)
    if len(names) <= MOST_LINES:
        lines = axes[0, 0].lines
        fig.legend(
            lines,
            names,
            loc="outside upper center",
            ncols=min(8, len(names)),
            frameon=False,
            fontsize=8.5,
        )
    return fig


def motions(dataset: xr.Dataset) -> np.ndarray:
    """(time, body, dof): displacements [m] and Euler angles [deg], both from the first sample."""
    values = dataset["position"].values.copy()
    values[:, :, 3:] = np.degrees(np.unwrap(values[:, :, 3:], axis=0))
    return values - values[:1]


def _without_free(labels: Any, dataset: xr.Dataset) -> list[int]:
    """Coordinates that are not those of a joint with six freedoms: these are body motions."""
    joints = [str(label).split("__")[0] for label in labels]
    return [k for k, joint in enumerate(joints) if joints.count(joint) < 6]


def _no_tiny_range(ax: Any) -> None:
    """Rounding errors are not blown up to fill a panel."""
    low, high = ax.get_ylim()
    if high - low < 1e-6:
        ax.set_ylim(-1.0, 1.0)


def _legend(ax: Any, entries: int, columns: int, fontsize: float = 8) -> None:
    """A legend above the lines, in room made for it."""
    rows = -(-entries // columns)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + (0.02 + 0.11 * rows) * (high - low))
    ax.legend(fontsize=fontsize, frameon=False, ncols=columns, loc="upper left", borderaxespad=0.2)


def plot_energy(dataset: xr.Dataset) -> Figure:
    """Energies since the start by kind, the work of each element, and the residual."""
    time = dataset["time"].values
    scale = energy_scale(dataset)
    unit, factor = ("MJ", 1e-6) if scale > 2e7 else ("kJ", 1e-3) if scale > 2e3 else ("J", 1.0)
    fig, axes = figure(3, 1, 9.6, 7.4, height_ratios=(3, 2, 1.2))
    top, middle, low = axes[:, 0]
    kinetic = dataset["kinetic_energy"].sum("body").values
    stored = dataset["potential_energy"].values
    work = dataset["work"].values
    names = [str(name) for name in dataset["element"].values]
    still = [name in ("gravity", "buoyancy") for name in names]
    weight = stored[:, still].sum(1)
    # linear hydrostatics gives back what it takes: shown with the weight it carries
    lifting = [name == "hydrostatics" for name in names]
    weight = weight - work[:, lifting].sum(1)
    work = np.where(lifting, 0.0, work)
    elastic = stored[:, np.logical_not(still)].sum(1)
    groups = (
        ("kinetic", kinetic, COLORS[0]),
        ("springs", elastic, COLORS[1]),
        ("weight and buoyancy", weight - weight[0], COLORS[2]),
    )
    for name, values, color in groups:
        top.plot(time, factor * values, color=color, linewidth=1.5, label=name)
    total = kinetic + elastic + weight - weight[0]
    top.plot(time, factor * total, color=INK, linewidth=1.8, label="sum")
    start = total[0] + work.sum(1)
    top.plot(time, factor * start, "--", color="#c8553d", linewidth=1.4, label="start + work done")
    heading(top, "Energy", unit)
    _legend(top, 5, columns=5)
    # the elements that did most work have a line of their own, the others one together
    order = [k for k in np.argsort(-np.abs(work[-1])) if work[:, k].any()]
    for n, k in enumerate(order[:7]):
        middle.plot(time, factor * work[:, k], color=COLORS[n], linewidth=1.3, label=names[k])
    if len(order) > 7:
        rest = work[:, order[7:]].sum(1)
        middle.plot(time, factor * rest, ":", color=INK, linewidth=1.3, label="others")
    heading(middle, "Work done on the system by dampers and drives", unit)
    if order:
        _legend(middle, min(8, len(order)), columns=4)
    residual = np.abs(dataset["energy_residual"].values)
    shown = np.where(residual > 0, residual, np.nan)  # a logarithm has no zero
    if (residual > 0).any():
        low.semilogy(time, shown, color="#5b6b79", linewidth=1.0)
    heading(low, "Size of the residual: energy not accounted for", "J")
    low.set_xlabel("time [s]", fontsize=8.5, color=INK)
    return fig


def plot_sea(dataset: xr.Dataset) -> Figure:
    """Free surface, joint angles and absorbed power of a run in waves."""
    time = dataset["time"].values
    angles = [
        k
        for k in _without_free(dataset["coordinate"].values, dataset)
        if dataset["coordinate_unit"].values[k] == "rad"
    ][: len(COLORS)]
    rows = ["elevation"] + ["angles"] * bool(angles) + ["power"] * ("absorbed_power" in dataset)
    fig, axes = figure(len(rows), 1, 9.6, 0.6 + 2.0 * len(rows))
    ax = axes[0, 0]
    ax.plot(time, dataset["elevation"].values, color=COLORS[0], linewidth=1.2)
    ax.fill_between(time, dataset["elevation"].values, color=COLORS[0], alpha=0.12, linewidth=0)
    heading(ax, "Free surface at the origin", "m")
    if angles:
        ax = axes[1, 0]
        for n, k in enumerate(angles):
            y = np.degrees(np.unwrap(dataset["joint_coordinate"].values[:, k]))
            label = str(dataset["coordinate"].values[k]).replace("__", " ")
            ax.plot(time, y, color=COLORS[n], linewidth=1.2, label=label)
        heading(ax, "Joint angles", "deg")
        _legend(ax, len(angles), columns=4)
    if "absorbed_power" in dataset:
        ax = axes[-1, 0]
        power = dataset["absorbed_power"]
        top = float(np.abs(power.values).max(initial=0.0))
        unit, factor = ("MW", 1e-6) if top > 2e6 else ("kW", 1e-3) if top > 2e3 else ("W", 1.0)
        for n, name in enumerate(dataset["pto"].values[: len(COLORS)]):
            values = factor * power.sel(pto=name).values
            label = f"{name}: mean {values.mean():.3g} {unit}"
            ax.plot(time, values, color=COLORS[n], linewidth=1.2, label=label)
            ax.axhline(values.mean(), color=COLORS[n], linewidth=1.0, linestyle="--")
        heading(ax, "Absorbed power", unit)
        _legend(ax, dataset.sizes["pto"], columns=4)
    axes[-1, 0].set_xlabel("time [s]", fontsize=8.5, color=INK)
    return fig


def plot_rao(rao: xr.Dataset, direction: int = 0) -> Figure:
    """Motions of the bodies and joints per metre of wave amplitude, for one heading.

    Args:
        rao: from `swelltree.rao`.
        direction: number of the heading.
    """
    omega = rao["omega"].values
    motion = np.abs(rao["rao"].isel(wave_direction=direction).values)
    joints = np.abs(rao["coordinate_rao"].isel(wave_direction=direction).values)
    power = rao["absorbed_power"].isel(wave_direction=direction)
    labels = [str(label) for label in rao["coordinate"].values]
    turning = [
        k
        for k in _without_free(labels, rao)
        if labels[k].endswith(("Roll", "Pitch", "Yaw")) and joints[:, k].any()
    ][: len(COLORS)]
    fig, axes = figure(2, 2, 9.6, 5.2)
    names = [str(name) for name in rao["body"].values]
    for ax, dof, unit, factor in (
        (axes[0, 0], "Heave", "m/m", 1.0),
        (axes[0, 1], "Pitch", "deg/m", 180.0 / np.pi),
    ):
        column = [str(d) for d in rao["dof"].values].index(dof)
        for i, name in enumerate(names[: len(COLORS)]):
            y = factor * motion[:, i, column]
            ax.plot(omega, y, color=COLORS[i], linewidth=1.4, label=name)
        heading(ax, dof, unit)
        _legend(ax, min(len(names), len(COLORS)), columns=4)
    for n, k in enumerate(turning):
        y, label = np.degrees(joints[:, k]), labels[k].replace("__", " ")
        axes[1, 0].plot(omega, y, color=COLORS[n], linewidth=1.4, label=label)
    heading(axes[1, 0], "Joint angles", "deg/m")
    if turning:
        _legend(axes[1, 0], len(turning), columns=3)
    for n, name in enumerate(rao["element"].values[: len(COLORS)]):
        y = rao["capture_width"].isel(wave_direction=direction).sel(element=name).values
        axes[1, 1].plot(omega, y, color=COLORS[n], linewidth=1.4, label=str(name))
    heading(axes[1, 1], "Capture width", "m")
    if power.size:
        _legend(axes[1, 1], min(rao.sizes["element"], len(COLORS)), columns=4)
    for ax in axes[1]:
        ax.set_xlabel("wave frequency [rad/s]", fontsize=8.5, color=INK)
    return fig


def to_png(fig: Figure, dpi: int = 130) -> bytes:
    """A figure as the bytes of a PNG file."""
    stream = io.BytesIO()
    fig.savefig(stream, format="png", dpi=dpi)
    return stream.getvalue()
