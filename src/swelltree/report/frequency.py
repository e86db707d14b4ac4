"""Sea spectrum, responses to regular waves and modes as data of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.jit import Array
from swelltree.report.html import Blocks
from swelltree.results.sea import sea_of

if TYPE_CHECKING:
    import xarray as xr

SEGMENT = 25.0  # energy periods in a segment of Welch's method
MIN_SAMPLES = 64  # samples
MIN_COMPONENTS = 12  # components below which there is no spectrum to speak of


def sea_spectrum(dataset: xr.Dataset) -> NamedValues | None:
    """Spectrum of the components of the run's sea, and that of its elevation as simulated."""
    sea = sea_of(dataset)
    if sea is None or len(sea) < MIN_COMPONENTS:
        return None
    middle, density = binned(np.asarray(sea.omega), 0.5 * np.asarray(sea.amplitude) ** 2)
    rows = [{"label": "components of the sea", "values": _digits(density)}]
    if "elevation" in dataset:
        measured = record_spectrum(
            dataset["time"].values, dataset["elevation"].values, float(sea.ramp)
        )
        if measured is not None:
            smoothed = np.interp(middle, *measured, left=np.nan, right=np.nan)
            rows.append({"label": "sea surface of the run", "values": _digits(smoothed)})
    return {"omega": _digits(middle), "rows": rows}


def binned(omega: np.ndarray, energy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Spectral density from bins with about equal numbers of components."""
    order = np.argsort(omega)
    omega, energy = omega[order], energy[order]
    parts = np.array_split(np.arange(len(omega)), min(48, max(4, len(omega) // 4)))
    middle = 0.5 * (omega[1:] + omega[:-1])
    ends = np.concatenate([[1.5 * omega[0] - 0.5 * omega[1]], middle])
    edges = np.append([ends[part[0]] for part in parts], 1.5 * omega[-1] - 0.5 * omega[-2])
    width = np.maximum(np.diff(edges), 1e-9)
    return 0.5 * (edges[1:] + edges[:-1]), np.array([energy[p].sum() for p in parts]) / width


def record_spectrum(
    time: np.ndarray, values: np.ndarray, start: float = 0.0
) -> tuple[np.ndarray, np.ndarray] | None:
    """Frequency [rad/s] and one-sided spectrum of a record by Welch's method; None if too short.

    Segments last as long as the record's own periods need, however often it is sampled.

    Args:
        time: even sample times [s].
        values: the record.
        start: time from which samples count [s].
    """
    from scipy.signal import welch

    stored = values[time >= start]
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    if len(stored) < MIN_SAMPLES or not np.allclose(np.diff(time), step, rtol=1e-3):
        return None
    length = round(SEGMENT * energy_period(stored, step) / step)
    f, S = welch(
        stored, 1.0 / step, nperseg=min(len(stored), max(length, MIN_SAMPLES)), detrend="linear"
    )
    return 2 * np.pi * f, S / (2 * np.pi)


def energy_period(values: np.ndarray, step: float) -> float:
    """Energy period of a record, m_-1 / m_0 [s]."""
    from scipy.signal import detrend

    energy = np.abs(np.fft.rfft(detrend(values) * np.hanning(len(values)))) ** 2
    f = np.fft.rfftfreq(len(values), step)
    energy, f = energy[2:], f[2:]  # slower than half of the record is trend
    return float((energy / f).sum() / energy.sum()) if energy.sum() > 0 else len(values) * step


def _digits(values: Array) -> list[float | None]:
    return [float(f"{x:.5g}") if np.isfinite(x) else None for x in np.asarray(values, float)]


def rao_data(dataset: xr.Dataset, blocks: Blocks) -> NamedValues:
    """Response amplitudes of a `rao` result."""
    from swelltree.waves.dispersion import dispersion

    motion = dataset["rao"].transpose("omega", "wave_direction", "body", "dof").values
    omega = dataset["omega"].values
    both = np.stack([np.real(motion), np.imag(motion)], axis=-1)
    # the wave that turns bodies most shows most; without rotation the one that lifts them
    turns = np.abs(motion[:, 0, :, 3:]).max(axis=(1, 2))
    size = turns if turns.any() else np.abs(motion[:, 0, :, 2]).max(axis=1)
    depth, g = float(dataset.attrs.get("water_depth", np.inf)), float(dataset.attrs.get("g", 9.81))
    data: NamedValues = {
        "bodies": [str(name) for name in dataset["body"].values],
        "dofs": [str(name) for name in dataset["dof"].values],
        "omega": _digits(omega),
        "wavenumber": [float(f"{k:.8g}") for k in dispersion(omega, depth, g)],
        "headings": [float(x) for x in dataset["wave_direction"].values],
        "motion": blocks.add(both.reshape(len(omega), -1)),
        "peak": int(size[1:-1].argmax() + 1) if len(omega) > 2 else 0,
    }
    if "capture_width" in dataset:
        width = dataset["capture_width"].transpose("wave_direction", "pto", "omega").values
        names = [str(name) for name in dataset["pto"].values]
        data["capture"] = [
            [
                {"label": name, "values": _digits(row)}
                for name, row in zip(names, rows, strict=True)
                if np.abs(row).max(initial=0.0) > 1e-9
            ]
            for rows in width
        ]
    return data


def modes_data(dataset: xr.Dataset, blocks: Blocks) -> NamedValues:
    """Modes of a `modes` result: shapes and periods."""
    shape = np.stack([dataset["shape_real"].values, dataset["shape_imag"].values], axis=-1)
    period, damping = dataset["damped_period"].values, dataset["damping_ratio"].values
    return {
        "bodies": [str(name) for name in dataset["body"].values],
        "shape": blocks.add(shape.reshape(len(shape), -1)),
        "modes": [
            {
                "number": int(dataset["mode"].values[i]),
                "row": i,
                "period": float(f"{period[i]:.5g}") if np.isfinite(period[i]) else None,
                "damping": float(f"{damping[i]:.4g}"),
            }
            for i in range(len(shape))
        ],
    }
