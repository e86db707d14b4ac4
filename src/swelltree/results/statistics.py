r"""Statistics of the channels of a run.

With :math:`\sigma` the standard deviation and N the number of upward crossings of the mean, the
most probable largest amplitude of a narrow-banded Gaussian channel is (Longuet-Higgins 1952)

.. math:: \sigma \sqrt{2 \ln N}

It is a number to compare with, not a fit: a channel that is far from Gaussian has other extremes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("mean", "std", "significant", "min", "max", "crossings", "mpm")
ABOUT = {
    "mean": "mean",
    "std": "standard deviation",
    "significant": "significant amplitude, 2 std",
    "min": "least",
    "max": "greatest",
    "crossings": "upward crossings of the mean",
    "mpm": "most probable maximum of a Gaussian channel (Rayleigh), mean + std sqrt(2 ln N)",
}


def statistics(dataset: Any, start: float | None = None) -> Any:
    """Statistics of every channel in time, with `statistic` instead of the dimension `time`.

    Args:
        dataset: a result in time, or one of its variables.
        start: time from which samples count [s]; the ramp of the sea is left out by default.
    """
    import xarray as xr

    first = settled(dataset) if start is None else start
    some = dataset.sel(time=slice(first, None))
    names = {"statistic": list(NAMES)}

    def of(values: Any) -> Any:
        found = xr.apply_ufunc(
            of_samples, values, input_core_dims=[["time"]], output_core_dims=[["statistic"]]
        )
        return found.assign_coords(names).assign_attrs(values.attrs)

    if isinstance(some, xr.DataArray):
        return of(some)
    kept = {
        name: of(values)
        for name, values in some.data_vars.items()
        if "time" in values.dims and values.dtype.kind == "f"
    }
    return xr.Dataset(kept, attrs={"statistics_from": float(first)})


def of_samples(values: np.ndarray) -> np.ndarray:
    """Statistics (..., 7) of samples (..., time), in the order of `NAMES`; gaps do not count."""
    gaps = np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        count = np.maximum((~gaps).sum(-1), 1)
        mean = np.where(gaps, 0.0, values).sum(-1) / count
        away = np.where(gaps, 0.0, values - mean[..., None])
        std = np.sqrt((away**2).sum(-1) / count)
        least = np.where(gaps, np.inf, values).min(-1, initial=np.inf)
        greatest = np.where(gaps, -np.inf, values).max(-1, initial=-np.inf)
        crossings = ((away[..., :-1] < 0) & (away[..., 1:] >= 0)).sum(-1)
        mpm = mean + std * np.sqrt(2.0 * np.log(np.maximum(crossings, 1)))
    none = gaps.all(-1)
    rows = [mean, std, 2.0 * std, least, greatest, crossings, mpm]
    return np.stack([np.where(none, np.nan, row) for row in rows], axis=-1)


def settled(dataset: Any) -> float:
    """End of the ramp of the sea [s], or the first sample where that leaves too little."""
    import json

    time = dataset["time"].values
    text = dataset.attrs.get("wave_components", "")
    ramp = float(json.loads(text)["ramp"]) if text else 0.0
    return ramp if time[0] < ramp < 0.8 * time[-1] else float(time[0])
