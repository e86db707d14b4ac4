"""Plots over frequency: spectra, response amplitudes, hydrodynamic data and their fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.results.statistics import settled
from swelltree.system.errors import SwelltreeError, suggest
from swelltree.views.frequency import LEAST, record_spectrum, sea_spectrum
from swelltree.views.plot.overview import without_free
from swelltree.views.plot.style import below, color, figure, heading, legend, style
from swelltree.views.plot.time import panels_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

MOST_LINES = 12
FREQUENCY = "frequency [rad/s]"


def spectrum(dataset: xr.Dataset, name: str = "elevation", **selection: Any) -> Figure:
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
                    f"a spectrum needs at least {LEAST} even samples after the ramp. Simulate "
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
    """Motions of the bodies and joints per metre of wave amplitude, for one heading.

    Args:
        dataset: from `swelltree.rao`.
        direction: number of the heading.
    """
    omega = dataset["omega"].values
    motion = np.abs(dataset["rao"].isel(wave_direction=direction).values)
    joints = np.abs(dataset["coordinate_rao"].isel(wave_direction=direction).values)
    labels = [str(label) for label in dataset["coordinate"].values]
    angles = [
        k
        for k in without_free(labels)
        if labels[k].endswith(("Roll", "Pitch", "Yaw")) and joints[:, k].any()
    ][:MOST_LINES]
    fig, axes = figure(2, 2, 9.6, 5.2)
    names = [str(name) for name in dataset["body"].values]
    for ax, dof, unit, factor in (
        (axes[0, 0], "Heave", "m/m", 1.0),
        (axes[0, 1], "Pitch", "deg/m", 180.0 / np.pi),
    ):
        column = [str(d) for d in dataset["dof"].values].index(dof)
        for i, name in enumerate(names[:MOST_LINES]):
            y = factor * motion[:, i, column]
            ax.plot(omega, y, style(i), color=color(i), linewidth=1.4, label=name)
        heading(ax, dof, unit)
        legend(ax, min(len(names), MOST_LINES), columns=4)
    for n, k in enumerate(angles):
        y, label = np.degrees(joints[:, k]), labels[k].replace("__", " ")
        axes[1, 0].plot(omega, y, style(n), color=color(n), linewidth=1.4, label=label)
    heading(axes[1, 0], "Joint angles", "deg/m")
    if angles:
        legend(axes[1, 0], len(angles), columns=3)
    elements = dataset["element"].values[:MOST_LINES]
    for n, name in enumerate(elements):
        y = dataset["capture_width"].isel(wave_direction=direction).sel(element=name).values
        axes[1, 1].plot(omega, y, style(n), color=color(n), linewidth=1.4, label=str(name))
    heading(axes[1, 1], "Capture width", "m")
    if len(elements):
        legend(axes[1, 1], len(elements), columns=4)
    for ax in axes[1]:
        below(ax, f"wave {FREQUENCY}")
    return fig


def hydro(data: xr.Dataset, dof: str | None = None, with_dof: str = "", fit: Any = True) -> Figure:
    """Added mass, damping and memory of one freedom: data, kernel K(t), and the fit to them.

    Args:
        data: from `read_hydro` or `run_bem`.
        dof: "body__Heave"; the first body's heave if not given.
        with_dof: the freedom that moves, if it is another one.
        fit: True, False, or options of the radiation fit.
    """
    from swelltree.hydro.dataset import finite_rows, infinite_added_mass
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
    model = None
    if fit:
        options = fit if isinstance(fit, dict) else {}
        model = fit_radiation(omega, A, B, infinite_added_mass(data), **options)
    fig, axes = figure(3, 1, 8.6, 7.2, sharex=False)
    fine = np.linspace(max(omega[0], 1e-3), omega[-1], 400)
    panels = ((A, "Added mass A", "kg, kg m²"), (B, "Radiation damping B", "N s/m, N m s"))
    for n, (values, title, unit) in enumerate(panels):
        ax = axes[n, 0]
        ax.plot(omega, values[:, i, j], "o", color=color(0), markersize=3.2, label="data")
        if model is not None:
            y = model.added_mass(fine) if n == 0 else model.radiation_damping(fine)
            label = f"fit, {model.order} states, error {100 * model.error:.2g} %"
            ax.plot(fine, y[:, i, j], color=color(1), linewidth=1.5, label=label)
        heading(ax, f"{title}: {chosen.replace('__', ' ')}", unit)
        legend(ax, 2, columns=3)
        below(ax, FREQUENCY)
    ax = axes[2, 0]
    ax.plot(kernel.time, kernel.values[:, i, j], color=color(0), linewidth=1.5, label="data")
    if model is not None:
        y = model.kernel(kernel.time)[:, i, j]
        ax.plot(kernel.time, y, "--", color=color(1), linewidth=1.5, label="fit")
    heading(ax, "Memory K(t)", "N/m, N m")
    legend(ax, 2, columns=3)
    below(ax, "time since the motion [s]")
    return fig
