"""What a design is held against: tensions, hook loads, offsets and accelerations of a run.

Mean, standard deviation and maximum over the window of all statistics, and the most probable
maximum in three hours by a Weibull distribution through the crests (`extremes.weibull_tail`). A run
with fewer than 20 crests, or without an irregular sea, has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.results.displacement import motion_name
from swelltree.results.extremes import HOURS_3, crests, weibull_tail
from swelltree.results.sea import sea_of
from swelltree.results.statistics import of_samples, period_of, settled, time_weights

if TYPE_CHECKING:
    import xarray as xr

MIN_CRESTS = 20  # min number of crests for an extreme value
EVEN = 1e-3  # of their size: crests that differ by less are those of a regular motion
MPM = (
    "MPM: most probable maximum in 3 h, by a Weibull distribution through the crests (at least 20) "
    "of a run in an irregular sea. Offsets are from the first sample."
)
THOUSANDS = (("MN", 1e6), ("kN", 1e3))
HEADS = ("mean", "std", "max", "MPM 3 h")


@dataclass(frozen=True)
class DesignTable:
    """Rows of one kind.

    Args:
        title: of the table.
        item: what a row is of.
        unit: of all numbers.
        rows: name, mean, standard deviation, maximum, most probable maximum or NaN.
    """

    title: str
    item: str
    unit: str
    rows: list[tuple[str, float, float, float, float]]


def design_tables(dataset: xr.Dataset) -> list[DesignTable]:
    """All tables that apply to a run."""
    if "time" not in dataset.dims:
        return []
    irregular = _irregular(dataset)
    tables = []
    for title, item, unit, channels in _kinds(dataset):
        rows = [(name, *_numbers(dataset, x, irregular)) for name, x in channels]
        rows = [row for row in rows if np.isfinite(row[1]) and (row[2] > 0.0 or row[3] != 0.0)]
        if rows:
            tables.append(_scaled(DesignTable(title, item, unit, rows)))
    return tables


def _scaled(built: DesignTable) -> DesignTable:
    """Forces in kN, if they are large enough."""
    largest = max(row[3] for row in built.rows)
    fitting = [pair for pair in THOUSANDS if built.unit == "N" and largest >= 2.0 * pair[1]]
    if not fitting:
        return built
    unit, size = fitting[0]
    rows = [
        (name, mean / size, std / size, top / size, mpm / size)
        for name, mean, std, top, mpm in built.rows
    ]
    return replace(built, unit=unit, rows=rows)


Kind = tuple[str, str, str, Iterator[tuple[str, np.ndarray]]]


def _kinds(dataset: xr.Dataset) -> Iterator[Kind]:
    yield "tension of lines", "line", "N", _tensions(dataset)
    yield "hook load", "winch", "N", _hook_loads(dataset)
    yield "horizontal offset", "body", "m", _offsets(dataset)
    yield "acceleration of points", "point", "m/s^2", _accelerations(dataset)


def _tensions(dataset: xr.Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """At both ends of every line [N]."""
    if "line" not in dataset.dims or "fairlead_tension" not in dataset:
        return
    for line in dataset["line"].values:
        for name, end in (("fairlead_tension", "fairlead"), ("anchor_tension", "anchor")):
            yield f"{line}, {end}", _series(dataset, name, line=line)


def _hook_loads(dataset: xr.Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """At the other end of the line of every winch [N]."""
    if "winch_line" not in dataset.coords:
        return
    known = set(dataset["line"].values) if "line" in dataset.coords else set()
    rows = (dataset[name].values for name in ("winch", "winch_line", "winch_end"))
    for winch, line, end in zip(*rows, strict=True):
        name = "anchor_tension" if end == "B" else "fairlead_tension"
        if line in known and name in dataset:
            yield str(winch), _series(dataset, name, line=line)


def _offsets(dataset: xr.Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """How far reference points are from the datum of displacements [m]."""
    name = motion_name(dataset)
    if name not in dataset:
        return
    for body in dataset["body"].values:
        x, y = (_series(dataset, name, body=body, dof=dof) for dof in ("Surge", "Sway"))
        if name == "position":
            x, y = x - x[0], y - y[0]
        offset = np.hypot(x, y)
        if offset.max(initial=0.0) > 1e-6:
            yield str(body), offset


def _accelerations(dataset: xr.Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """Horizontal and upward, by their size [m/s^2]."""
    if "point_acceleration" not in dataset:
        return
    for point in dataset["point"].values:
        x, y, z = (
            _series(dataset, "point_acceleration", point=point, axis=axis)
            for axis in ("x", "y", "z")
        )
        yield f"{point}, horizontal", np.hypot(x, y)
        yield f"{point}, vertical", np.abs(z)


def _series(dataset: xr.Dataset, name: str, **where: object) -> np.ndarray:
    return np.asarray(dataset[name].sel(where).values, float)


def _irregular(dataset: xr.Dataset) -> bool:
    """Whether the sea is irregular, so that maxima are random."""
    sea = sea_of(dataset)
    return sea is not None and int(np.count_nonzero(sea.amplitude)) > 1


def _numbers(
    dataset: xr.Dataset, values: np.ndarray, irregular: bool
) -> tuple[float, float, float, float]:
    time = dataset["time"].values
    stored = time >= settled(dataset)
    time, values = time[stored], values[stored]
    mean, std, _, _, greatest, _, _ = of_samples(values, time_weights(time, period_of(dataset)))
    largest = expected(values, float(time[-1] - time[0])) if irregular else np.nan
    return float(mean), float(std), float(greatest), largest


def expected(values: np.ndarray, duration: float) -> float:
    """Most probable largest value in three hours; NaN where a run is too short, or has gaps.

    Args:
        values: samples in time.
        duration: of the samples [s].
    """
    peaks = crests(values) if np.isfinite(values).all() else values[:0]
    if len(peaks) < MIN_CRESTS or duration <= 0.0:
        return np.nan
    if np.ptp(peaks) <= EVEN * np.abs(peaks).max():
        return float(peaks.max())
    return weibull_tail(peaks, duration, HOURS_3)
