"""Plots in time: any channels, the forces on a body, one channel against another."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.values import NamedValues
from swelltree.report.plots.style import below, color, figure, heading, legend, no_tiny_range, style
from swelltree.results.displacement import motion_name, turning, unwrapped
from swelltree.results.units import prefixed, readable, unit_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

MOST_LINES = 24


def timeseries(data: xr.Dataset | xr.DataArray, *names: str, **selection: object) -> Figure:
    """Channels in time, a panel for each variable and unit.

    Args:
        data: a result, or one of its variables.
        names: variables; all motions if none is named.
        selection: labels to keep, for example body="barge1", dof=["Heave", "Pitch"].
    """
    dataset = _as_dataset(data)
    if not names:
        names = (
            tuple(map(str, dataset.data_vars)) if dataset is not data else (motion_name(dataset),)
        )
    panels: list[tuple[str, str, list[tuple[str, np.ndarray]]]] = []
    for name in names:
        panels += panels_of(dataset, name, selection)
    fig, axes = figure(len(panels), 1, 9.6, 0.5 + 2.1 * len(panels))
    time = dataset["time"].values
    for ax, (title, unit, lines) in zip(axes[:, 0], panels, strict=True):
        for n, (label, values) in enumerate(lines[:MOST_LINES]):
            ax.plot(time, values, style(n), color=color(n), linewidth=1.2, label=label)
        heading(ax, title, unit)
        no_tiny_range(ax)
        if len(lines) > 1:
            legend(ax, min(len(lines), MOST_LINES), columns=5)
    below(axes[-1, 0], "time [s]")
    return fig


def _as_dataset(data: xr.Dataset | xr.DataArray) -> xr.Dataset:
    import xarray as xr

    if isinstance(data, xr.Dataset):
        return data
    return data.to_dataset(name=data.name or "value")


def variable(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """A variable of a result in time, with continuous angles."""
    if name not in dataset.data_vars or "time" not in dataset[name].dims:
        known = [str(n) for n, x in dataset.data_vars.items() if "time" in x.dims]
        raise SwelltreeError(
            f"the result has no variable '{name}' in time."
            + (suggest(name, known) or f" It has {', '.join(known)}.")
        )
    return unwrapped(dataset[name])


def panels_of(
    dataset: xr.Dataset, name: str, selection: NamedValues
) -> list[tuple[str, str, list[tuple[str, np.ndarray]]]]:
    values = variable(dataset, name)
    stored = {dim: _rows(label) for dim, label in selection.items() if dim in values.dims}
    try:
        values = values.sel(stored)
    except KeyError as error:
        raise SwelltreeError(
            f"variable '{name}' has no {error}. Look at result.{name}.coords for its labels."
        ) from None
    dims = [str(dim) for dim in values.dims if dim != "time"]
    array = values.transpose("time", *dims).values
    groups: dict[str, list[tuple[str, np.ndarray]]] = {}
    for index in itertools.product(*(range(n) for n in array.shape[1:])):
        words, turns = [], False
        for dim, i in zip(dims, index, strict=True):
            words.append(str(values[dim].values[i]) if dim in values.coords else str(i))
            full = list(dataset[dim].values) if dim in dataset.coords else []
            place = full.index(values[dim].values[i]) if full else i
            turns = turns or turning(dataset, dim, place)
        unit, factor = readable(unit_of(str(values.attrs.get("units", "")), turns))
        line = factor * array[(slice(None), *index)]
        groups.setdefault(unit, []).append((" ".join(words).replace("__", " "), line))
    title = str(values.attrs.get("long_name", name))
    panels = []
    for unit, lines in groups.items():
        top = max(float(np.nanmax(np.abs(y), initial=0.0)) for _, y in lines)
        better, factor = prefixed(unit, top)
        panels.append((title, better, [(label, factor * y) for label, y in lines]))
    return panels


def _rows(label: object) -> list[object]:
    return list(label) if isinstance(label, list | tuple | np.ndarray) else [label]


def forces(dataset: xr.Dataset, body: str) -> Figure:
    """Forces and moments on a body by cause, world axes at its reference point.

    Args:
        dataset: a result in time.
        body: name of the body.
    """
    names = [str(name) for name in dataset["body"].values]
    if body not in names:
        raise SwelltreeError(f"body '{body}' is not in the result.{suggest(body, names)}")
    causes = [
        str(name)
        for name, values in dataset.data_vars.items()
        if set(values.dims) == {"time", "body", "dof"}
        and str(values.attrs.get("units", "")) == "N, N m"
    ]
    fig, axes = figure(3, 2, 9.6, 6.8)
    time = dataset["time"].values
    rows = {name: dataset[name].sel(body=body).transpose("time", "dof").values for name in causes}
    for k, dof in enumerate(dataset["dof"].values):
        ax = axes[k % 3, k // 3]
        top = max((float(np.nanmax(np.abs(y[:, k]))) for y in rows.values()), default=0.0)
        unit, factor = prefixed("N" if k < 3 else "N m", top)
        for n, (name, y) in enumerate(rows.items()):
            label = "all force elements" if name == "wrench" else name.replace("_", " ")
            if np.abs(y[:, k]).max(initial=0.0) > 1e-9 * max(top, 1e-30):
                ax.plot(time, factor * y[:, k], color=color(n), linewidth=1.1, label=label)
        heading(ax, f"{dof} of {body}", unit)
        no_tiny_range(ax)
        if ax.lines:
            legend(ax, len(ax.lines), columns=2, fontsize=7)
    for ax in axes[-1]:
        below(ax, "time [s]")
    return fig


def _along_heading(dataset: xr.Dataset, body: str) -> xr.DataArray:
    """Velocity of a body in the axes of its displacement."""
    v = dataset["velocity"].sel(body=body)
    if "datum" not in dataset.coords:
        return v
    yaw = float(dataset["datum"].sel(body=body, dof="Yaw"))
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.kron(np.eye(2), [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    v = v.transpose(..., "dof")
    return v.copy(data=v.values @ turn.T)


def phase(dataset: xr.Dataset, coordinate: str) -> Figure:
    """A joint coordinate against its rate, or a motion of a body against its velocity.

    Args:
        dataset: a result in time.
        coordinate: "hinge1__Pitch" of a joint or "barge1__Heave" of a body.
    """
    owner, _, dof = coordinate.rpartition("__")
    joints = [str(name) for name in dataset["coordinate"].values] if "coordinate" in dataset else []
    bodies = [str(name) for name in dataset["body"].values] if "body" in dataset.dims else []
    if coordinate in joints:
        x = unwrapped(dataset["joint_coordinate"]).sel(coordinate=coordinate).values
        v = dataset["joint_rate"].sel(coordinate=coordinate).values
        turns = turning(dataset, "coordinate", joints.index(coordinate))
    elif owner in bodies and dof in [str(name) for name in dataset["dof"].values]:
        x = unwrapped(dataset[motion_name(dataset)]).sel(body=owner, dof=dof).values
        v = _along_heading(dataset, owner).sel(dof=dof).values
        turns = dof in ("Roll", "Pitch", "Yaw")
    else:
        raise SwelltreeError(
            f"'{coordinate}' is not a coordinate of the result."
            + (suggest(coordinate, joints) or " Give joint__Dof or body__Dof, as 'barge1__Heave'.")
        )
    unit, factor = ("deg", 180.0 / np.pi) if turns else ("m", 1.0)
    fig, axes = figure(1, 1, 5.6, 5.0)
    ax = axes[0, 0]
    ax.margins(x=0.05)
    ax.plot(factor * x, factor * v, color=color(0), linewidth=1.0)
    ax.plot(factor * x[-1], factor * v[-1], "o", color=color(3), markersize=5)
    heading(ax, coordinate.replace("__", " "), f"{unit}/s")
    below(ax, f"{coordinate.replace('__', ' ')} [{unit}]")
    return fig
