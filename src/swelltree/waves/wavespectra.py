"""Exchange with wavespectra datasets: efth(freq, dir), "coming from, clockwise from North".

Only the form of the dataset is used; the package wavespectra itself is not needed. This is the one
place where met-ocean directions are turned into headings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.describe.environment import seas
from swelltree.describe.environment.spectra import DirectionalTable, SpectrumTable
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed
from swelltree.jit import Array, Numbers
from swelltree.waves import spectra
from swelltree.waves.dispersion import AnyWater

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.environment.seas import IrregularSea, SeaOf

EAST = 90.0  # by default x points East, so y points North
PER_HZ_DEGREE = 2 * np.pi * np.pi / 180  # S(omega, beta) [m^2 s/rad^2] -> efth [m^2/Hz/degree]


def heading_of(direction: Array, x_axis_deg: float = EAST) -> Array:
    r"""Heading of a met-ocean direction, within one turn [rad].

    .. math:: \beta = \alpha_x - (\theta + 180°)

    Args:
        direction: theta, where the wave comes from, clockwise from North [degrees].
        x_axis_deg: compass direction alpha_x of the +x axis [degrees].
    """
    return np.deg2rad((x_axis_deg - (np.asarray(direction, float) + 180.0)) % 360.0)


def direction_of(beta: Array, x_axis_deg: float = EAST) -> Array:
    """Direction from which a wave comes, clockwise from North, 0 to 360 [degrees]."""
    return (x_axis_deg - np.rad2deg(np.asarray(beta, float)) - 180.0) % 360.0


def from_wavespectra(
    data: xr.Dataset, x_axis_deg: float = EAST, **options: Any
) -> seas.IrregularSea:
    """The sea of a wavespectra dataset.

    Args:
        data: dataset or array `efth` with `freq` [Hz] and, unless the sea is to be long-crested,
            `dir` [degrees, coming from, clockwise from North]; values in m^2/Hz/degree, or
            m^2/Hz without `dir`. Select one time and one site first.
        x_axis_deg: compass direction of the +x axis [degrees]; East by default.
        options: other fields of IrregularSea: seed, components, ramp ...
    """
    efth = data["efth"] if hasattr(data, "data_vars") else data
    efth = efth.squeeze()
    if "freq" not in efth.dims or set(efth.dims) - {"freq", "dir"}:
        raise SwelltreeError(
            f"wavespectra data have the dimensions {listed(map(str, efth.dims))}; one spectrum "
            "has 'freq' and 'dir'. Select one time and one site, e.g. data.isel(time=0)."
        )
    efth = efth.sortby("freq")
    omega = 2 * np.pi * np.asarray(efth["freq"], float)
    values = np.asarray(efth.transpose("freq", ...), float)
    if np.isnan(values).any():
        raise SwelltreeError(
            f"wavespectra data have {int(np.isnan(values).sum())} values that are not numbers. "
            "Fill or drop them."
        )
    if "dir" not in efth.dims:
        return seas.IrregularSea(
            SpectrumTable(tuple(omega), tuple(values / (2 * np.pi))), **options
        )
    direction = np.asarray(efth["dir"], float) % 360.0
    # a heading that comes again after a turn is left out
    direction, first = np.unique(direction, return_index=True)
    beta = heading_of(direction, x_axis_deg)
    order = np.argsort(beta)
    table = DirectionalTable(
        omega=tuple(omega),
        beta=tuple(beta[order]),
        density=values[:, first][:, order] / PER_HZ_DEGREE,
    )
    return seas.IrregularSea(table, **options)


def to_wavespectra(
    sea: IrregularSea | SeaOf,
    freq: Numbers | xr.DataArray | None = None,
    dir: Numbers | xr.DataArray | None = None,
    water: AnyWater | None = None,
    x_axis_deg: float = EAST,
) -> xr.Dataset:
    """A sea as a wavespectra dataset.

    A long-crested train stands in the one direction of the grid that is nearest to it.

    Args:
        sea: IrregularSea(...), or SeaOf(...) of such.
        freq: frequencies [Hz]; by default those of a table, else 64 over the band.
        dir: directions, evenly spaced over the circle [degrees]; by default those of a
            table, else every 10.
        water: for g in a fully developed sea.
        x_axis_deg: compass direction of the +x axis [degrees]; East by default.

    Returns:
        xarray.Dataset with efth(freq, dir) [m^2/Hz/degree].
    """
    import xarray as xr

    trains: list[IrregularSea] = []
    for train in sea.trains if isinstance(sea, seas.SeaOf) else (sea,):
        if not isinstance(train, seas.IrregularSea):
            raise SwelltreeError(
                f"{getattr(train, 'label', repr(train))} has no spectrum. "
                "Only IrregularSea(...) and SeaOf(...) of such become wavespectra data."
            )
        trains.append(train)
    g = (water or Water()).g
    table = trains[0].spectrum if isinstance(trains[0].spectrum, DirectionalTable) else None
    if freq is None:
        ends = [spectra.cumulative(train.spectrum, g) for train in trains]
        low = min(np.interp(1e-4 * e[-1], e, w) for w, e in ends)
        high = max(np.interp((1 - 1e-3) * e[-1], e, w) for w, e in ends)
        omega = np.geomspace(low, high, 64) if table is None else np.array(table.omega)
        freq = omega / (2 * np.pi)
    if dir is None:
        turned = None if table is None else np.add(table.beta, trains[0].beta)
        dir = np.arange(0.0, 360.0, 10.0) if turned is None else direction_of(turned, x_axis_deg)
    freq, direction = np.asarray(freq, float), np.sort(np.asarray(dir, float))
    efth = sum(_efth(train, 2 * np.pi * freq, direction, g, x_axis_deg) for train in trains)
    data = xr.Dataset({"efth": (("freq", "dir"), efth)}, coords={"freq": freq, "dir": direction})
    data["efth"].attrs = {
        "standard_name": "sea_surface_wave_directional_variance_spectral_density",
        "units": "m2 s deg-1",
    }
    data["freq"].attrs = {"standard_name": "sea_surface_wave_frequency", "units": "Hz"}
    data["dir"].attrs = {
        "standard_name": "sea_surface_wave_from_direction",
        "units": "degree",
        "x_axis_deg": x_axis_deg,
    }
    return data


def _efth(
    sea: IrregularSea, omega: Array, direction: Array, g: float, x_axis_deg: float
) -> np.ndarray:
    """Density of one train on the grid [m^2/Hz/degree]."""
    relative = heading_of(direction, x_axis_deg) - sea.beta
    if isinstance(sea.spectrum, DirectionalTable):
        return PER_HZ_DEGREE * _table_density(sea.spectrum, omega, relative)
    S = spectra.density(sea.spectrum, omega, g)
    if sea.spreading is not None:
        return PER_HZ_DEGREE * np.outer(S, spectra.spreading_density(sea.spreading, relative))
    near = np.abs(np.angle(np.exp(1j * relative)))
    width = np.deg2rad(spectra_width(direction))
    return PER_HZ_DEGREE * np.outer(S, near == near.min()) / width / (near == near.min()).sum()


def spectra_width(direction: np.ndarray) -> np.ndarray:
    """Width of each direction of a grid [degrees]."""
    return np.rad2deg(spectra.heading_widths(np.deg2rad(direction)))


def _table_density(table: DirectionalTable, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Values of a directional table, linear between its points and around the circle."""
    headings, rows = np.asarray(table.beta), np.asarray(table.density)
    if spectra.is_circle(headings):
        headings = np.concatenate([headings[-1:] - 2 * np.pi, headings, headings[:1] + 2 * np.pi])
        rows = np.hstack([rows[:, -1:], rows, rows[:, :1]])
    turned = headings[0] + (beta - headings[0]) % (2 * np.pi)
    # rounding may put the first heading a whole turn ahead
    turned = np.where(turned - headings[0] > 2 * np.pi - 1e-9, headings[0], turned)
    by_heading = np.array([np.interp(turned, headings, row, left=0.0, right=0.0) for row in rows])
    return np.array(
        [np.interp(omega, table.omega, column, left=0.0, right=0.0) for column in by_heading.T]
    ).T
