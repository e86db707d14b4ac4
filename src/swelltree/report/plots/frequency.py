"""Plots over frequency: spectra, response amplitudes, hydrodynamic data and their fit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.values import DOFS, NamedValues
from swelltree.hydro.data.relations import RESIDUAL
from swelltree.model.model import Model
from swelltree.report.frequency import MIN_SAMPLES, record_spectrum, sea_spectrum
from swelltree.report.plots.overview import without_free
from swelltree.report.plots.time import INK, below, color, figure, heading, legend, panels_of, style
from swelltree.results.statistics import settled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 12
FREQUENCY = "frequency [rad/s]"
TURNS = ("Roll", "Pitch", "Yaw")
LABELS = {
    "haskind_residual": "excitation (Haskind)",
    "far_field_residual": "damping (far field)",
}
STILL = 1e-4  # m/m, deg/m, m: less is rounding of the data


def spectrum(dataset: xr.Dataset, name: str = "elevation", **selection: object) -> Figure:
    """Spectrum of channels of a run by Welch's method, and of the components of its sea.

    Args:
        dataset: a result in time.
        name: a variable; the free surface if not given.
        selection: labels to keep, for example body="barge1", dof="Heave".
    """
    start = settled(dataset)
    panels = panels_of(dataset, name, selection)
    fig, axes = figure(len(panels), 1, 8.0, 0.6 + 3.2 * len(panels))
    for ax, (title, unit, lines) in zip(axes[:, 0], panels, strict=True):
        far = 0.0
        for n, (label, values) in enumerate(lines[:MOST_LINES]):
            density = record_spectrum(dataset["time"].values, values, start)
            if density is None:
                raise SwelltreeError(
                    f"a spectrum needs {MIN_SAMPLES} or more even samples after the ramp. Simulate "
                    "longer or with a smaller output_step."
                )
            omega, S = density
            ax.plot(omega, S, style(n), color=color(n), linewidth=1.4, label=label or name)
            high = omega[np.searchsorted(np.cumsum(S), 0.999 * S.sum()).clip(max=len(omega) - 1)]
            far = max(far, 1.3 * float(high))
        sea = sea_spectrum(dataset) if name == "elevation" else None
        if sea is not None:
            y, label = np.array(sea["rows"][0]["values"], float), "components of the sea"
            ax.plot(sea["omega"], y, "--", color=color(1), linewidth=1.4, label=label)
            far = max(far, float(sea["omega"][-1]))
        ax.set_xlim(0.0, far)
        heading(ax, title, f"{unit}² s/rad" if unit else "s/rad")
        legend(ax, len(ax.lines), columns=4)
    below(axes[-1, 0], FREQUENCY)
    return fig


def rao(dataset: xr.Dataset, direction: int = 0) -> Figure:
    """Motions of bodies and joints per metre of wave amplitude that are there, for one heading.

    Args:
        dataset: from `swelltree.rao`.
        direction: number of the heading.
    """
    omega = dataset["omega"].values
    panels = _rao_panels(dataset.isel(wave_direction=direction))
    if not panels:
        raise SwelltreeError("rao: nothing moves in these waves. Look at the data or the heading.")
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    fig, axes = figure(rows, columns, 4.8 * columns, 0.4 + 2.5 * rows)
    for ax, (title, unit, lines) in zip(axes.flat, panels, strict=False):
        for n, (label, values) in enumerate(lines[:MOST_LINES]):
            ax.plot(omega, values, style(n), color=color(n), linewidth=1.4, label=label)
        heading(ax, title, unit)
        legend(ax, min(len(lines), MOST_LINES), columns=4)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for ax in axes.flat[max(len(panels) - columns, 0) : len(panels)]:
        ax.tick_params(labelbottom=True)
        below(ax, f"wave {FREQUENCY}")
    return fig


Panel = tuple[str, str, list[tuple[str, np.ndarray]]]


def _rao_panels(dataset: xr.Dataset) -> list[Panel]:
    """Nonzero responses of bodies, joints and capture widths: title, unit, curves."""
    motion = np.abs(dataset["rao"].transpose("omega", "body", "dof").values)
    bodies = [str(name) for name in dataset["body"].values]
    panels: list[Panel] = []
    for k, dof in enumerate(dataset["dof"].values):
        unit, factor = ("m/m", 1.0) if k < 3 else ("deg/m", 180.0 / np.pi)
        curves = _moving((name, factor * motion[:, i, k]) for i, name in enumerate(bodies))
        panels.append((str(dof), unit, curves))
    joints = np.abs(dataset["coordinate_rao"].transpose("omega", "coordinate").values)
    labels = [str(label) for label in dataset["coordinate"].values]
    for title, unit, factor, turns in (
        ("Joint strokes", "m/m", 1.0, False),
        ("Joint angles", "deg/m", 180.0 / np.pi, True),
    ):
        mine = [k for k in without_free(labels) if labels[k].endswith(TURNS) == turns]
        curves = _moving((labels[k].replace("__", " "), factor * joints[:, k]) for k in mine)
        panels.append((title, unit, curves))
    width = dataset["capture_width"].transpose("omega", "pto").values
    names = [str(name) for name in dataset["pto"].values]
    panels.append(("Capture width", "m", _moving(zip(names, width.T, strict=True))))
    return [panel for panel in panels if panel[2]]


def _moving(curves: Iterable[tuple[str, np.ndarray]]) -> list[tuple[str, np.ndarray]]:
    return [(label, y) for label, y in curves if np.nanmax(np.abs(y), initial=0.0) > STILL]


def hydro(
    data: xr.Dataset,
    dof: str | None = None,
    with_dof: str = "",
    fit: bool | NamedValues | Model = True,
) -> Figure:
    """Added mass, damping and memory of one DOF: data, kernel K(t), and the fit to them.

    Data of `run_bem` also show their residuals.

    Args:
        data: from `read_hydro` or `run_bem`.
        dof: "body__Heave"; the first body's heave if not given.
        with_dof: the DOF that moves, if it is another one.
        fit: True, False, options of the radiation fit, or a compiled model: the fit it uses.
    """
    from swelltree.hydro.data.dataset import finite_rows, infinite_added_mass
    from swelltree.hydro.radiation.fit import fit_radiation
    from swelltree.hydro.radiation.memory import radiation_kernel

    labels = [str(label) for label in data["influenced_dof"].values]
    heaves = [label for label in labels if label.endswith("Heave")]
    chosen = dof or (heaves or labels)[0]
    for label in (chosen, with_dof or chosen):
        if label not in labels:
            raise SwelltreeError(f"the data have no '{label}'.{suggest(label, labels)}")
    i, j = labels.index(chosen), labels.index(with_dof or chosen)
    rows = finite_rows(data)
    omega = rows["omega"].values
    order = ("omega", "influenced_dof", "radiating_dof")
    A, B = (rows[name].transpose(*order).values for name in ("added_mass", "radiation_damping"))
    kernel = radiation_kernel(omega, B)
    curves = None
    fine = np.linspace(max(omega[0], 1e-3), omega[-1], 400)
    if isinstance(fit, Model):
        curves = _fit_of_model(fit, chosen, with_dof or chosen, fine, kernel.time)
    elif fit:
        options = fit if isinstance(fit, dict) else {}
        found = fit_radiation(omega, A, B, infinite_added_mass(data), **options)
        label = f"fit, {found.order} states, error {100 * found.error:.2g} %"
        values = (found.added_mass(fine), found.radiation_damping(fine), found.kernel(kernel.time))
        curves = label, tuple(y[:, i, j] for y in values)
    shown = [name for name in LABELS if name in rows]
    count = 4 if shown else 3
    fig, axes = figure(count, 1, 8.6, 2.4 * count, sharex=False)
    panels = ((A, "Added mass A", "kg, kg m²"), (B, "Radiation damping B", "N s/m, N m s"))
    for n, (values, title, unit) in enumerate(panels):
        ax = axes[n, 0]
        ax.plot(omega, values[:, i, j], "o", color=color(0), markersize=3.2, label="data")
        if curves is not None:
            ax.plot(fine, curves[1][n], color=color(1), linewidth=1.5, label=curves[0])
        heading(ax, f"{title}: {chosen.replace('__', ' ')}", unit)
        legend(ax, 2, columns=3)
        below(ax, FREQUENCY)
    ax = axes[2, 0]
    ax.plot(kernel.time, kernel.values[:, i, j], color=color(0), linewidth=1.5, label="data")
    if curves is not None:
        ax.plot(kernel.time, curves[1][2], "--", color=color(1), linewidth=1.5, label="fit")
    heading(ax, "Memory K(t)", "N/m, N m")
    legend(ax, 2, columns=3)
    below(ax, "time since the motion [s]")
    if shown:
        _residuals(axes[3, 0], rows, chosen, shown)
    return fig


def _fit_of_model(
    model: Model, dof: str, moving: str, omega: np.ndarray, time: np.ndarray
) -> tuple[str, tuple[np.ndarray, ...]]:
    """Label, added mass, damping and kernel of the radiation memory of a model."""
    from scipy.linalg import expm

    from swelltree.hydro.linear.radiation import fitted_memory

    memory = fitted_memory(model)
    if memory is None:
        raise SwelltreeError(
            "plot.hydro: the model has no fitted radiation. Compile with radiation='state_space'."
        )
    places = []
    for label in (dof, moving):
        body, _, name = label.partition("__")
        if body not in model.layout.bodies:
            raise SwelltreeError(f"plot.hydro: the model has no body '{body}'. Give its own data.")
        places.append(6 * model.layout.bodies.index(body) + DOFS.index(name))
    i, j = places
    transfer = np.asarray(memory.transfer(omega))[:, i, j]
    state, step = np.asarray(memory.B)[:, j], expm(np.asarray(memory.A) * (time[1] - time[0]))
    kernel = np.zeros(time.size)
    for k in range(time.size):
        kernel[k] = np.asarray(memory.C)[i] @ state
        state = step @ state
    added = float(np.asarray(model.added_mass)[i, j]) + np.imag(transfer) / omega
    return f"fit of the model, {memory.order} states", (added, np.real(transfer), kernel)


def _residuals(ax: Axes, rows: xr.Dataset, dof: str, names: list[str]) -> None:
    """Residuals of the data of one DOF by frequency."""
    for n, name in enumerate(names):
        values = 100.0 * rows[name].sel(influenced_dof=dof).values
        ax.plot(rows["omega"], values, style(n), color=color(n), marker="o", markersize=3.2)
        ax.lines[-1].set_label(LABELS[name])
    ax.axhline(100.0 * RESIDUAL, color="0.5", linewidth=0.9, linestyle=":")
    ax.set_ylim(bottom=0.0)
    heading(ax, f"Residuals: {dof.replace('__', ' ')}", "%")
    legend(ax, len(names), columns=1)
    below(ax, FREQUENCY)


# --- A matrix of numbers over two dimensions, such as power over sea states, as a figure

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
SCALED = ("W", "Wh", "W/m", "N", "N m")
MOST_TEXTS = 400  # cells that still have room for their number


def matrix(values: xr.DataArray, title: str = "") -> Figure:
    """Cells of two dimensions with their numbers; the darker the larger, gaps stay white.

    Args:
        values: over two dimensions; of more, choose with `.sel`.
        title: heading; the long name of the values if not given.
    """
    if values.ndim != 2:
        raise SwelltreeError(
            f"plot.matrix: the values have {values.ndim} dimensions. Choose two with .sel(...)."
        )
    rows, columns = (str(name) for name in values.dims)
    x = np.asarray(values.values, float)
    unit, factor = _scaled(str(values.attrs.get("units", "")), x)
    x = x * factor
    height, width = x.shape
    fig, axes = figure(1, 1, max(4.6, 1.6 + 0.62 * width), max(2.4, 1.2 + 0.42 * height))
    ax = axes[0, 0]
    ax.grid(False)
    top = np.nanmax(x, initial=0.0) or 1.0
    low = min(np.nanmin(x, initial=0.0), 0.0)
    ax.imshow(x, origin="lower", aspect="auto", cmap="YlGnBu", vmin=low, vmax=top * 1.15)
    if x.size <= MOST_TEXTS:
        for (i, j), value in np.ndenumerate(x):
            if np.isfinite(value):
                ink = "white" if value - low > 0.62 * (top - low) else INK
                ax.text(j, i, _short(value, top), ha="center", va="center", fontsize=7.5, color=ink)
    ax.set_xticks(range(width), [f"{v:g}" for v in values[columns].values])
    ax.set_yticks(range(height), [f"{v:g}" for v in values[rows].values])
    below(ax, _axis(values, columns))
    ax.set_ylabel(_axis(values, rows), fontsize=8.5, color=INK)
    text = title or str(values.attrs.get("long_name", values.name or ""))
    heading(ax, "\n".join(textwrap.wrap(text, int(9.5 * fig.get_figwidth()) - 8)), unit)
    return fig


def _scaled(unit: str, x: np.ndarray) -> tuple[str, float]:
    top = float(np.nanmax(np.abs(x), initial=0.0))
    if unit in SCALED:
        for size, prefix in PREFIXES:
            if top >= size:
                return prefix + unit, 1.0 / size
    return unit, 1.0


def _short(value: float, top: float) -> str:
    if top >= 100.0:
        return f"{value:.0f}"
    return f"{value:.1f}" if top >= 10.0 else f"{value:.2f}"


def _axis(values: xr.DataArray, name: str) -> str:
    unit = values[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name
