"""The sea of a study: realised in the model's water, and shown beside its result."""

from __future__ import annotations

import json
import textwrap

import numpy as np
import xarray as xr

from swelltree.model.model import Model
from swelltree.results.dataset import Labelled
from swelltree.results.sea import sea_quantities, sea_text
from swelltree.system.errors import SwelltreeError
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea, RealisedSea, elevation_record, realise


def realised(model: Model, sea: AnySea, case: int | str) -> RealisedSea:
    """A described sea in the model's water."""
    return sea if isinstance(sea, RealisedSea) else realise(sea, model.water, case)


def linear_waves(study: str, model: Model, sea: AnySea, case: int | str) -> Components:
    """Components of a sea, for a study that adds up linear waves."""
    waves = realised(model, sea, case)
    if not isinstance(waves, Components):
        raise SwelltreeError(
            f"{study} works on linear waves, and this sea is not linear. Use RegularWave(...)."
        )
    return waves


def with_elevation(result: xr.Dataset, sea: AnySea, waves: RealisedSea) -> xr.Dataset:
    """The result with the free surface at the origin."""
    shown = result.assign(elevation_variable(waves, np.asarray(result.time)))
    return with_sea_told(shown, sea, waves)


def elevation_variable(waves: RealisedSea, times: np.ndarray) -> dict[str, Labelled]:
    """The free surface at the origin, as a variable of a result.

    Args:
        waves: the sea.
        times: samples [s].
    """
    about = {"units": "m", "long_name": "free surface at the origin", "frame": "world"}
    return {"elevation": (("time",), elevation_record(waves, times), about)}


def with_sea_told(result: xr.Dataset, sea: AnySea, waves: RealisedSea) -> xr.Dataset:
    """The same result, whose attributes tell the sea."""
    # a measured record would fill the attributes with its samples
    text = textwrap.shorten(repr(sea), 500, placeholder=" ...")
    words = json.dumps(sea_quantities(sea, waves))
    result.attrs |= {"sea": text, "wave_components": sea_text(waves), "sea_quantities": words}
    # on the axis, so that every variable taken out of the result knows its ramp
    result["time"].attrs["ramp"] = float(waves.ramp)
    return result
