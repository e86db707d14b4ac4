"""Statistics of channels."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.results.statistics import NAMES, of_samples


def test_statistics_of_a_sine_are_known():
    t = np.linspace(0.0, 100.0, 100_001)
    found = dict(zip(NAMES, of_samples(3.0 + 2.0 * np.sin(2 * np.pi * t)), strict=True))
    assert found["mean"] == pytest.approx(3.0, abs=1e-3)
    assert found["std"] == pytest.approx(np.sqrt(2.0), rel=1e-4)
    assert found["significant"] == pytest.approx(2.0 * np.sqrt(2.0), rel=1e-4)
    assert (found["min"], found["max"]) == pytest.approx((1.0, 5.0), abs=1e-6)
    assert abs(found["crossings"] - 100) <= 1
    assert found["mpm"] == pytest.approx(3.0 + np.sqrt(2.0) * np.sqrt(2 * np.log(100)), rel=1e-2)


def test_the_most_probable_maximum_of_a_gaussian_sea_is_that_of_its_record():
    """The mean of the largest of many records lies a little above the most probable one."""
    rng = np.random.default_rng(5)
    omega = np.linspace(0.9, 1.1, 60)
    t = np.arange(0.0, 1200.0, 0.25)
    a = rng.rayleigh(size=(40, 60))
    phase = rng.uniform(0, 2 * np.pi, (40, 60))
    records = np.einsum("rk,rkt->rt", a, np.cos(omega[:, None] * t - phase[..., None]))
    found = of_samples(records)
    ratio = found[:, 4] / found[:, 6]
    assert 0.9 < ratio.mean() < 1.15


def test_the_ramp_of_the_sea_does_not_count_and_gaps_neither():
    t = np.arange(0.0, 100.0, 0.1)
    values = np.where(t < 20.0, 1000.0, np.sin(t))
    values[500] = np.nan
    data = xr.Dataset({"x": ("time", values, {"units": "m"})}, {"time": t})
    data.attrs["wave_components"] = '{"ramp": 20.0}'
    found = sw.statistics(data)
    assert float(found["x"].sel(statistic="max")) < 1.01
    assert found["x"].attrs["units"] == "m"
    assert found.attrs["statistics_from"] == 20.0
    whole = sw.statistics(data, start=0.0)
    assert float(whole["x"].sel(statistic="max")) == 1000.0
    assert list(sw.statistics(data["x"], start=20.0)["statistic"].values) == list(NAMES)
