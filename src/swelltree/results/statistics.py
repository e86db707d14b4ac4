r"""Statistics of the channels of a run.

With :math:`\sigma` the standard deviation and N the number of upward crossings of the mean, the
most probable largest amplitude of a narrow-banded Gaussian channel is (Longuet-Higgins 1952)

.. math:: \sigma \sqrt{2 \ln N}

It is a number to compare with, not a fit: a channel that is far from Gaussian has other extremes.
Powers are products of force and velocity, with a long tail on one side: they have no such number
(`swelltree.most_probable_maximum` fits one to their peaks).

Means are over time, not over samples. Everything is taken over one window, from the end of the
sea's ramp to the end of the run; the time axis of a result keeps the ramp, so that each of its
variables knows it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, listed, warn_user
from swelltree.jit import Array
from swelltree.results.displacement import unwrapped

if TYPE_CHECKING:
    import xarray as xr

    Sampled = TypeVar("Sampled", xr.Dataset, xr.DataArray)

NAMES = ("mean", "std", "significant", "min", "max", "crossings", "mpm")
ABOUT = {
    "mean": "mean",
    "std": "standard deviation",
    "significant": "significant amplitude, 2 std",
    "min": "minimum",
    "max": "maximum",
    "crossings": "upward crossings of the mean",
    "mpm": "most probable maximum of a Gaussian channel (Rayleigh), mean + std sqrt(2 ln N); "
    "not of powers",
}


NO_MPM = "not given: power is not Gaussian; fit the peaks with most_probable_maximum"


def is_power(units: object) -> bool:
    """Whether a channel is a power, whose maximum is not that of a Gaussian process."""
    return str(units) in ("W", "W/m^2")


def without_mpm(values: xr.DataArray) -> xr.DataArray:
    """Statistics of a power without most probable maximum, with the reason in the attributes."""
    if not is_power(values.attrs.get("units")):
        return values
    return values.where(values["statistic"] != "mpm").assign_attrs(values.attrs, mpm=NO_MPM)


def ended_early(dataset: xr.Dataset | xr.DataArray) -> str:
    """Reason for an early end of a run; empty if complete."""
    return str(dataset["time"].attrs.get("ended", ""))


def statistics(dataset: Sampled, start: float | None = None) -> Sampled:
    """Statistics of every channel in time, with `statistic` instead of the dimension `time`.

    Angles are unwrapped: a body that keeps turning has a growing yaw. The attribute
    `statistics_from` is the start of the window. For a run that diverged or stopped early a warning
    is given, and the attribute `ended` states it. Samples that are not finite are skipped, with a
    warning.

    Args:
        dataset: a result in time, or one of its variables.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    import xarray as xr

    if "time" not in dataset.dims:
        raise SwelltreeError("statistics: there is no dimension 'time'. Give a result in time.")
    first = settled(dataset) if start is None else float(start)
    stored = dataset.coords["time"].values >= first
    if not stored.any():
        last = float(dataset.coords["time"].values[-1])
        raise SwelltreeError(
            f"statistics: start {first:g} s lies after the last sample, {last:g} s. Give less."
        )
    ended = ended_early(dataset)
    early = {"ended": ended} if ended else {}
    if ended:
        warn_user(f"statistics: the run did not reach its end; only its samples are used: {ended}")
    weights = time_weights(dataset.coords["time"].values[stored], period_of(dataset))
    gaps: dict[str, int] = {}

    def of(values: xr.DataArray) -> xr.DataArray:
        missing = values.isel(time=stored).isnull().sum("time").values
        gaps[str(values.name or "the channel")] = int(missing[missing < stored.sum()].sum())
        result = xr.apply_ufunc(
            of_samples,
            unwrapped(values).isel(time=stored),
            weights,
            input_core_dims=[["time"], ["time"]],
            output_core_dims=[["statistic"]],
        )
        about = values.attrs | {"statistics_from": first} | early
        return without_mpm(result.assign_coords(statistic=list(NAMES)).assign_attrs(about))

    if isinstance(dataset, xr.DataArray):
        found = of(dataset)
        warn_gaps({} if ended else gaps)
        return found
    result = {
        name: of(values)
        for name, values in dataset.data_vars.items()
        if "time" in values.dims and values.dtype.kind == "f"
    }
    warn_gaps({} if ended else gaps)
    return xr.Dataset(result, attrs={"statistics_from": first} | early)


def warn_gaps(gaps: dict[str, int]) -> None:
    """Warn of channels with numbers and gaps.

    Args:
        gaps: by channel: samples that are not numbers, of entries that have numbers too.
    """
    some = [name for name, count in gaps.items() if count]
    if some:
        warn_user(
            f"{sum(gaps.values())} samples of {listed(some)} are not numbers and are left out of "
            "statistics; peaks and fatigue of such records are not computed."
        )


def statistic(values: xr.DataArray, name: str) -> np.ndarray:
    """One statistic of a variable over the statistics window."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        return statistics(values).sel(statistic=name).values


def of_samples(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Statistics (..., 7) of samples (..., time), in the order of `NAMES`; gaps do not count.

    Args:
        values: samples.
        weights: (time,) of the samples, from `time_weights`.
    """
    # sums run along memory, so that they do not depend on what else is summed beside them
    values = np.ascontiguousarray(values)
    gaps = np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(gaps, 0.0, weights)
        shares = shares / shares.sum(-1, keepdims=True)
        mean = (shares * np.where(gaps, 0.0, values)).sum(-1)
        away = np.where(gaps, 0.0, values - mean[..., None])
        std = np.sqrt((shares * away**2).sum(-1))
        least = np.where(gaps, np.inf, values).min(-1, initial=np.inf)
        greatest = np.where(gaps, -np.inf, values).max(-1, initial=-np.inf)
        crossings = _upward(away, gaps)
    none = gaps.all(-1)
    rows = [mean, std, least, greatest, crossings]
    return of_summaries(*(np.where(none, np.nan, row) for row in rows))


def of_summaries(
    mean: np.ndarray,
    std: np.ndarray,
    least: np.ndarray,
    greatest: np.ndarray,
    crossings: np.ndarray,
) -> np.ndarray:
    """Statistics (..., 7) in the order of `NAMES` from five sample sums."""
    mpm = mean + std * np.sqrt(2.0 * np.log(np.maximum(crossings, 1)))
    return np.stack([mean, std, 2.0 * std, least, greatest, crossings, mpm], axis=-1)


def _upward(away: np.ndarray, gaps: np.ndarray) -> Array:
    """Zero upcrossings; in a gap the channel keeps its last value."""
    number = np.where(gaps, 0, np.arange(away.shape[-1]))
    before = np.maximum.accumulate(number, axis=-1)
    # a gap at the beginning has nothing before it: it is above
    below = np.take_along_axis(np.where(gaps, 0.0, away) < 0, before, axis=-1)
    return (below[..., :-1] & ~below[..., 1:]).sum(-1)


def time_weights(time: np.ndarray, period: float | None = None) -> np.ndarray:
    """Weight of each sample in a mean over time: half the way to its neighbours [s].

    Args:
        time: rising sample times [s].
        period: after which the samples begin again [s], if they do.
    """
    if period is not None:
        around = np.concatenate([[time[-1] - period], time, [time[0] + period]])
        return 0.5 * (around[2:] - around[:-2])
    if len(time) < 2:
        return np.ones(len(time))
    step = np.diff(time)
    return 0.5 * (np.append(step, 0.0) + np.concatenate([[0.0], step]))


def period_of(dataset: xr.Dataset | xr.DataArray) -> float | None:
    """Period of a periodic result [s]; None for a run."""
    period = dataset["time"].attrs.get("period")
    return None if period is None else float(period)


def ramp_of(dataset: xr.Dataset | xr.DataArray) -> float:
    """Ramp of the sea of a result [s]."""
    return float(dataset["time"].attrs.get("ramp", 0.0))


def settled(dataset: xr.Dataset | xr.DataArray) -> float:
    """Time from which statistics count [s]: the end of the ramp, or the start if none is left."""
    return settled_time(dataset.coords["time"].values, ramp_of(dataset))


def settled_time(time: np.ndarray, ramp: float) -> float:
    """Start of the statistics window for given samples and ramp [s]."""
    return ramp if (time > ramp).any() and ramp > time[0] else float(time[0])


def window_text(dataset: xr.Dataset) -> str:
    """Description of the statistics window."""
    first, time = settled(dataset), dataset.coords["time"].values
    if period_of(dataset) is not None:
        return "over one period"
    return f"from {first:g} s to {time[-1]:g} s" + (", after the ramp" if first > time[0] else "")
