"""What is kept of a run in time where it arises, so that thousands of cases fit into memory.

A reduction takes the channels of some cases, (case, time, ...), and gives variables without the
dimension time, or with a shorter one. `REDUCTIONS` has them by name:

- "statistics": mean, standard deviation, extremes and crossings of every channel;
- "peaks": the largest crests above the mean between its upward crossings, and the deepest troughs;
- "fatigue": the damage-equivalent range of every channel (`swelltree.results.fatigue`);
- "series": the channels themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.values import NamedValues
from swelltree.model.channels import CHANNELS, attributes, own_channels
from swelltree.model.effect import Channel
from swelltree.model.model import Model
from swelltree.results.dataset import coordinates_along, specified_coordinates
from swelltree.results.displacement import following
from swelltree.results.fatigue import EXPONENTS, damage_equivalent
from swelltree.results.statistics import settled, statistics

if TYPE_CHECKING:
    import xarray as xr

MOST_PEAKS = 20  # of a case that are kept
ENDINGS = {"peaks": "_peaks", "troughs": "_troughs", "fatigue": "_del", "series": "_series"}


def _statistics(dataset: xr.Dataset) -> xr.Dataset:
    return statistics(dataset)


def _peaks(dataset: xr.Dataset) -> xr.Dataset:
    """Largest crests, descending, and deepest troughs, ascending; padded with gaps."""
    import xarray as xr

    from swelltree.results.extremes import largest_peaks

    stored = dataset.isel(time=dataset["time"].values >= settled(dataset))
    result = {}
    for name, values in stored.data_vars.items():
        for key, sign in (("peaks", 1.0), ("troughs", -1.0)):
            reduced = xr.apply_ufunc(
                lambda x, sign=sign: sign * largest_peaks(sign * x, MOST_PEAKS),
                values,
                input_core_dims=[["time"]],
                output_core_dims=[["rank"]],
            )
            words = "largest crests, falling" if key == "peaks" else "deepest troughs, rising"
            about = {**values.attrs, "long_name": f"{words}: {values.attrs.get('long_name', name)}"}
            result[f"{name}{ENDINGS[key]}"] = reduced.assign_attrs(about)
    return xr.Dataset(result, {"rank": ("rank", np.arange(1, MOST_PEAKS + 1))})


def _fatigue(dataset: xr.Dataset) -> xr.Dataset:
    """Damage-equivalent ranges at one cycle per second, for several exponents."""
    import xarray as xr

    stored = dataset.isel(time=dataset["time"].values >= settled(dataset))
    time = stored["time"].values
    length = float(time[-1] - time[0])
    result = {}
    for name, values in stored.data_vars.items():
        reduced = xr.apply_ufunc(
            lambda x: damage_equivalent(x, EXPONENTS, length),
            values,
            input_core_dims=[["time"]],
            output_core_dims=[["exponent"]],
        )
        words = f"damage-equivalent range at 1 Hz: {values.attrs.get('long_name', name)}"
        about = values.attrs | {"long_name": words}
        result[f"{name}{ENDINGS['fatigue']}"] = reduced.assign_attrs(about)
    return xr.Dataset(result, {"exponent": ("exponent", np.array(EXPONENTS))})


def _series(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.rename({name: f"{name}{ENDINGS['series']}" for name in dataset.data_vars})


REDUCTIONS: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "statistics": _statistics,
    "peaks": _peaks,
    "fatigue": _fatigue,
    "series": _series,
}


def check_reductions(names: Sequence[str], study: str) -> tuple[str, ...]:
    """Names of reductions, each known and given once.

    Args:
        names: asked for.
        study: the word in the message.
    """
    if isinstance(names, str) or len(set(names)) != len(list(names)) or not list(names):
        raise SwelltreeError(
            f"{study}: reduce {names!r} is not a list of different names. Give some of "
            f"{listed(REDUCTIONS)}."
        )
    for name in names:
        if name not in REDUCTIONS:
            raise SwelltreeError(
                f"{study}: there is no reduction '{name}'.{suggest(name, REDUCTIONS)} Choose of "
                f"{listed(REDUCTIONS)}."
            )
    return tuple(names)


def reduced(dataset: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """All that is kept of the channels of some cases.

    Args:
        dataset: (case, time, ...).
        names: of reductions.
    """
    import xarray as xr

    result = xr.Dataset()
    for name in names:
        part: xr.Dataset = REDUCTIONS[name](dataset)
        result = result.merge(part, compat="override").assign_attrs(result.attrs | part.attrs)
    return result


# --- Channels of many cases as one labelled dataset, cases first


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

    labels: dict[str, Channel] = {
        label.name: label for label in (CHANNELS | own_channels(model, channels)).values()
    }
    variables = {}
    for name, values in channels.items():
        label = labels[name]
        if name == "joint_coordinate":
            known = specified_coordinates(model)
            values = np.stack([following(model.layout, one, known) for one in values])
        variables[name] = (("case", "time", *label.dims), values, attributes(label))
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    about: NamedValues = {"units": "s", "long_name": "time", "ramp": float(ramp)}
    along = coordinates_along(model, used)
    return xr.Dataset(variables, {"time": ("time", np.asarray(times, float), about), **along})
