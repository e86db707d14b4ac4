"""Equilibrium of bodies with dynamic lines, as a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.hydro import without_table
from swelltree.integrate.complementarity.state import form_of
from swelltree.model.model import Model
from swelltree.model.solved import prepared
from swelltree.studies.time.complementarity.start import to_rest
from swelltree.studies.time.imbalance import channels_of, in_words, unbalanced

if TYPE_CHECKING:
    import xarray as xr


def moored_equilibrium(
    model: Model, formulation: str, provenance: NamedValues | None = None
) -> xr.Dataset:
    """Bodies, lines and junctions at rest, and what was out of balance as described."""
    from swelltree.results.dataset import to_dataset

    form = form_of(model, "lagrange" if formulation != "path_matrix" else formulation)
    described, model = model, prepared(without_table(model))
    # lines at rest between the bodies as described: what they then pull with is out of balance
    sample = channels_of(model, form, to_rest(model, form, 1, hold=True).sample)
    rest = to_rest(model, form, 1)
    channels = channels_of(model, form, rest.sample)
    before, names = unbalanced(model, sample)
    attrs = {
        "study": "equilibrium",
        "formulation": "path_matrix" if form.joint_coordinates else "lagrange",
        "iterations": int(rest.steps),
        "largest_motion": float(rest.moved),
        "message": in_words(before, names),
    }
    result = to_dataset(described, np.zeros(1), channels, attrs | (provenance or {})).isel(time=0)
    result["imbalance_before"] = (
        "direction",
        before,
        {"units": "N, N m", "long_name": "generalised force out of balance as described"},
    )
    return result.assign_coords(direction=list(names))
