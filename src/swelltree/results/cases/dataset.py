"""Channels of many cases as one labelled dataset, cases first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.model.model import Model
from swelltree.results.angles import following
from swelltree.results.dataset import coordinates, given_coordinates
from swelltree.results.labels import LABELS, Label, attributes
from swelltree.results.own_labels import own_labels
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr


def dataset_of_cases(
    model: Model, times: np.ndarray, channels: dict[str, np.ndarray], ramp: float = 0.0
) -> xr.Dataset:
    """Channels (case, time, ...) under the names of results, with their labels.

    Args:
        model: that was run.
        times: of the samples [s].
        channels: finished, by name.
        ramp: of the seas [s].
    """
    import xarray as xr

    labels: dict[str, Label] = {
        label.name: label for label in (LABELS | own_labels(model, channels)).values()
    }
    variables = {}
    for name, values in channels.items():
        label = labels[name]
        if name == "joint_coordinate":
            known = given_coordinates(model)
            values = np.stack([following(model.layout, one, known) for one in values])
        variables[name] = (("case", "time", *label.dims), values, attributes(label))
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    about: NamedValues = {"units": "s", "long_name": "time", "ramp": float(ramp)}
    along = {name: entry for name, entry in coordinates(model).items() if set(entry[0]) <= used}
    return xr.Dataset(variables, {"time": ("time", np.asarray(times, float), about), **along})
