"""The sea of a run, kept in its result: every plane wave, as JSON in an attribute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.system.waters import seas
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.spectra import total_energy
from swelltree.waves.stream_function import StreamWave, bound_components

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.waves.sea import AnySea, RealisedSea

ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")
UNITS = "amplitude m, omega rad/s, wavenumber 1/m, beta rad (towards), phase rad at the origin"


def sea_text(waves: RealisedSea) -> str:
    """The plane waves of a realised sea; empty for a field on a grid, which has none.

    A steep wave is given by the harmonics of its surface.
    """
    if isinstance(waves, StreamWave):
        waves = bound_components(waves)
    if not isinstance(waves, Components):
        return ""
    rows = {name: _digits(getattr(waves, name)) for name in ROWS}
    text = {"units": UNITS, "ramp": float(waves.ramp), **rows}
    return json.dumps(text, separators=(",", ":"))


def sea_quantities(sea: AnySea, waves: RealisedSea) -> dict[str, str]:
    """A sea in its own quantities, for people.

    Args:
        sea: as described, or already realised.
        waves: realised.
    """
    match sea:
        case seas.StreamFunctionWave():
            assert not isinstance(waves, GridWaves)
            period = 2 * np.pi / float(waves.omega)
            return {"wave height": f"{sea.height:.3g} m", "wave period": f"{period:.3g} s"}
        case seas.FocusedWave():
            Hs = 4.0 * float(np.sqrt(total_energy(sea.spectrum)))
            crest = f"{sea.amplitude:.3g} m"
            return {"crest at the focus": crest, "significant height of its sea": f"{Hs:.3g} m"}
        case seas.GriddedSea():
            return {"sea": "field on a grid"}
    if not isinstance(waves, Components) or not np.any(waves.amplitude):
        return {}
    if len(waves) == 1:
        height, period = 2 * float(waves.amplitude[0]), 2 * np.pi / float(waves.omega[0])
        return {"wave height": f"{height:.3g} m", "wave period": f"{period:.3g} s"}
    Hs, Tz = f"{float(waves.Hs):.3g} m", f"{float(waves.Tz):.3g} s"
    return {"significant height": Hs, "mean period Tz": Tz}


def sea_words(dataset: xr.Dataset) -> dict[str, str]:
    """The quantities of the sea that a result keeps."""
    return json.loads(dataset.attrs.get("sea_quantities", "") or "{}")


def _digits(values: Array) -> list[float]:
    # nine digits place a crest within a millimetre after hours
    return [float(f"{x:.9g}") for x in np.asarray(values, float)]


def sea_of(dataset: xr.Dataset) -> Components | None:
    """The plane waves kept in a result, or None."""
    text = dataset.attrs.get("wave_components", "")
    if not text:
        return None
    rows = json.loads(text)
    return Components(*(np.array(rows[name]) for name in ROWS), ramp=float(rows["ramp"]))
