"""Plots in time: any channels, the forces on a body, one channel against another.

One look for all plots, and how they are kept.
"""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.values import NamedValues
from swelltree.report.scene import COLORS
from swelltree.results.displacement import motion_name, turning, unwrapped
from swelltree.results.units import prefixed, readable, unit_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend


INK = "#22303c"
SOFT = "#5b6b79"
FORMATS = ("png", "svg", "pdf")


class Picture(Figure):
    """A figure that notebooks show without a plotting backend."""

    def _repr_png_(self) -> bytes:
        return to_png(self)


def figure(
    rows: int, columns: int = 1, width: float = 9.6, height: float = 4.0, **more: object
) -> tuple[Figure, np.ndarray]:
    """A figure with styled axes, (rows, columns) of them."""
    fig = Picture(figsize=(width, height), layout="constrained", facecolor="white")
    options: NamedValues = {"sharex": True} | more
    axes = fig.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color("#9aa7b2")
        ax.tick_params(colors=SOFT, labelsize=8)
        ax.grid(True, color="#e6ebef", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.margins(x=0)
    return fig, axes


def color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def style(number: int) -> str:
    """Line style: solid, then dashed, then dotted after all colours are used."""
    return ("-", "--", ":")[min(number // len(COLORS), 2)]


def heading(ax: Axes, text: str, unit: str) -> None:
    """Title of a panel with its unit, without math formatting."""
    text = short(text, 90)
    ax.set_title(text, loc="left", fontsize=9.5, color=INK, fontweight="bold", parse_math=False)
    ax.set_title(unit, loc="right", fontsize=8, color=SOFT)


def below(ax: Axes, text: str) -> None:
    """Label of the horizontal axis."""
    ax.set_xlabel(text, fontsize=8.5, color=INK)


def no_tiny_range(ax: Axes) -> None:
    """Enlarge ranges that contain rounding errors only."""
    low, high = ax.get_ylim()
    if high - low < 1e-6:
        ax.set_ylim(-1.0, 1.0)


def legend(ax: Axes, entries: int, columns: int, fontsize: float = 8) -> None:
    """Legend above the panel."""
    rows = -(-entries // columns)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + (0.02 + 0.11 * rows) * (high - low))
    built = ax.legend(
        fontsize=fontsize, frameon=False, ncols=columns, loc="upper left", borderaxespad=0.2
    )
    plain(built)


def plain(built: Legend) -> None:
    """Disable math formatting of legend labels."""
    for text in built.get_texts():
        text.set_parse_math(False)
        text.set_text(short(text.get_text()))


def short(text: str, most: int = 32) -> str:
    """A name cut to a maximum length."""
    return text if len(text) <= most else text[: most - 1] + "…"


def to_png(fig: Figure, dpi: int = 130) -> bytes:
    """A figure as the bytes of a PNG file.

    Args:
        fig: from one of the plots.
        dpi: points per inch.
    """
    return _bytes(fig, "png", dpi)


def _bytes(fig: Figure, kind: str, dpi: int) -> bytes:
    stream = io.BytesIO()
    fig.savefig(stream, format=kind, dpi=dpi)
    return stream.getvalue()


def write_figure(fig: Figure, path: str | Path, dpi: int = 130) -> Path:
    """Keep a figure as a file, whole or not at all.

    Args:
        fig: from one of the plots.
        path: ending in .png, .svg or .pdf.
        dpi: points per inch of a PNG.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise SwelltreeError(
            f"figure '{path}': a plot is kept as .png, .svg or .pdf. Choose one of these endings."
        )
    return write_atomic(path, _bytes(fig, kind, dpi))


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
