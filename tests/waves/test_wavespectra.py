"""Met-ocean directions and densities are converted at the border."""

import math

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.waves.wavespectra import direction_of, heading_of


def dataset(direction: float, Hs: float = 2.0) -> xr.Dataset:
    """A narrow sea that comes from a direction, clockwise from North."""
    freq = np.linspace(0.04, 0.4, 60)
    dirs = np.arange(0.0, 360.0, 5.0)
    S = np.exp(-0.5 * ((freq - 0.1) / 0.02) ** 2)
    D = np.cos(np.deg2rad(dirs - direction) / 2) ** 60
    efth = np.outer(S, D)
    efth *= Hs**2 / 16 / (np.trapezoid(efth, freq, axis=0).sum() * 5.0)
    return xr.Dataset({"efth": (("freq", "dir"), efth)}, coords={"freq": freq, "dir": dirs})


def test_headings_by_the_compass():
    # from the North, x to the East: towards the South, that is -y
    assert heading_of(0.0) == pytest.approx(math.radians(270))
    assert heading_of(270.0) == pytest.approx(0.0)  # from the West: towards +x
    assert heading_of(180.0) == pytest.approx(math.radians(90))
    assert heading_of(0.0, x_axis_deg=0.0) == pytest.approx(math.radians(180))
    angles = np.linspace(0, 359, 73)
    assert direction_of(heading_of(angles, 37.0), 37.0) == pytest.approx(angles)


@pytest.mark.parametrize("direction", [0.0, 225.0, 300.0])
def test_sea_keeps_its_height_and_travels_away_from_where_it_comes(direction):
    sea = sw.from_wavespectra(dataset(direction), components=800)
    waves = sw.components(sea, sw.Water())
    assert waves.Hs == pytest.approx(2.0, rel=1e-6)
    flux = (waves.amplitude**2 * np.exp(1j * waves.beta)).sum()
    assert np.angle(flux / np.exp(1j * heading_of(direction))) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("x_axis_deg", [90.0, 0.0, 123.0])
def test_dataset_round_trips(x_axis_deg):
    data = dataset(225.0)
    sea = sw.from_wavespectra(data, x_axis_deg)
    again = sw.to_wavespectra(sea, x_axis_deg=x_axis_deg)
    assert again.efth.sel(dir=data.dir, method="nearest").values == pytest.approx(
        data.efth.values, rel=1e-6, abs=1e-9
    )
    shuffled = data.isel(freq=slice(None, None, -1)).expand_dims(time=1)
    assert sw.from_wavespectra(shuffled, x_axis_deg) == sea


@pytest.mark.parametrize("spreading", [None, sw.Cos2s(15)])
def test_described_sea_becomes_a_dataset_of_its_height_and_direction(spreading):
    sea = sw.IrregularSea(sw.Jonswap(3.0, 9.0), beta=math.radians(60), spreading=spreading)
    data = sw.to_wavespectra(sea, freq=np.linspace(0.03, 1.5, 3000))
    m0 = np.trapezoid(data.efth.sum("dir") * 10.0, data.freq)
    assert 4 * math.sqrt(m0) == pytest.approx(3.0, rel=2e-3)
    towards = data.efth.sum("freq")
    assert float(towards.dir[int(np.argmax(towards.values))]) == pytest.approx(210.0)
    assert data.efth.attrs["units"] == "m2 s deg-1"
    both = sw.to_wavespectra(sw.SeaOf([sea, sea]), freq=data.freq)
    assert both.efth.values == pytest.approx(2 * data.efth.values)


def test_spectrum_without_directions_is_long_crested():
    data = dataset(0.0)
    one = (data.efth.sum("dir") * 5.0).to_dataset(name="efth")
    sea = sw.from_wavespectra(one, beta=0.4)
    assert isinstance(sea.spectrum, sw.SpectrumTable)
    waves = sw.components(sea, sw.Water())
    assert waves.Hs == pytest.approx(2.0, rel=1e-6)
    assert waves.beta == pytest.approx(0.4)


def test_bad_datasets_are_refused():
    data = dataset(0.0)
    many = xr.concat([data, data], dim="time")
    with pytest.raises(sw.SwelltreeError, match="Select one time and one site"):
        sw.from_wavespectra(many)
    with pytest.raises(sw.SwelltreeError, match="values that are not numbers"):
        sw.from_wavespectra(data.where(data.freq > 0.1))
    with pytest.raises(sw.SwelltreeError, match="wave 'regular' has no spectrum"):
        sw.to_wavespectra(sw.RegularWave(1.0, 1.0))
