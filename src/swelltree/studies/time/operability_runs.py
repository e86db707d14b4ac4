"""The cases of `operability`: runs of a model in many seas, and numbers of their channels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.model.model import Model
from swelltree.results.statistics import statistic
from swelltree.system.casefile.limits import ChannelLimit
from swelltree.system.describe import Description
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.system.waters.seas import Sea

if TYPE_CHECKING:
    import xarray as xr


class LimitError(SwelltreeError):
    """A limit that no result can be held against: a mistake, not a case that failed."""


def run_in_seas(
    model: Model, cases: list[dict[str, float]], simulate: Mapping[str, Any] | None
) -> Callable[..., xr.Dataset]:
    """Function of the conditions that simulates the model in its sea with these.

    Every sea is made before anything runs, so that an impossible condition is reported at once.

    Args:
        model: from `compile`.
        cases: conditions by name.
        simulate: options of `simulate`.
    """
    from swelltree.studies.time.simulate import simulate as run

    options = dict(simulate or {})
    sea = options.pop("sea", None)
    if not isinstance(sea, Sea) or "duration" not in options:
        raise SwelltreeError(
            "operability: a model is simulated in a sea. Give simulate with sea and duration."
        )
    for where in cases:
        changed(sea, where)
    return lambda **where: run(model, changed(sea, where), **options)


def conditions(campaign: xr.Dataset) -> dict[str, list[float]]:
    """What varies in a campaign, with its values.

    Args:
        campaign: from `open_campaign`.
    """
    if "state" not in campaign or "statistic" not in campaign.dims:
        raise SwelltreeError(
            "operability: this dataset is not a campaign with statistics. Give one from "
            "open_campaign, run with reduce=['statistics']; or a model, or a function."
        )
    return {str(dim): campaign[dim].values.tolist() for dim in campaign["state"].dims}


def case_of(campaign: xr.Dataset, rows: tuple[ChannelLimit, ...]) -> Callable[..., xr.Dataset]:
    """Function of the conditions that gives the statistics of a case of a campaign.

    Args:
        campaign: from `open_campaign`.
        rows: limits, whose channels are read once.
    """
    wanted = {row.channel for row in rows} & {str(name) for name in campaign.data_vars}
    known = campaign.assign({name: campaign[name].load() for name in wanted})

    def one(**where: float) -> xr.Dataset:
        case = known.sel(where)
        state, message = str(case["state"].item()), str(case["message"].item())
        if state != "done":
            why = {"none": "the campaign has no such case.", "missing": "it has not run yet."}
            raise SwelltreeError(message or why.get(state, "it has no result."))
        return case.drop_attrs(deep=False)

    return one


def changed(sea: Sea, where: Mapping[str, float], study: str = "operability") -> Sea:
    """The sea with some of its fields, or of its spectrum's, at other values.

    Args:
        sea: as described.
        where: values by name.
        study: the word in the message.
    """
    spectrum = getattr(sea, "spectrum", None)
    of_sea, below = _fields(sea), _fields(spectrum)
    for name in where:
        if name not in of_sea | below:
            known = sorted(of_sea | below)
            raise SwelltreeError(
                f"{study}: {sea.label} has no '{name}'.{suggest(name, known)} It has "
                f"{listed(known)}."
            )
    inner = {name: value for name, value in where.items() if name in below - of_sea}
    outer = {name: value for name, value in where.items() if name in of_sea}
    if spectrum is not None and inner:
        outer["spectrum"] = spectrum.replace(**inner)
    return sea.replace(**outer)


def _fields(item: Description | None) -> set[str]:
    return set() if item is None else {field.name for field in dataclasses.fields(item)}  # pyright: ignore[reportArgumentType]


def judged(
    result: object, numbers: Mapping[str, float], rows: tuple[ChannelLimit, ...]
) -> dict[str, float]:
    """The number of every limit.

    Args:
        result: of a case.
        numbers: that the user's function made of it.
        rows: the limits.
    """
    values = {row.title: _value(result, numbers, row) for row in rows}
    for name, value in values.items():
        if np.isnan(value):
            raise SwelltreeError(f"'{name}' is not a number. Look at the run and at judge.")
    return values


def _value(result: object, numbers: Mapping[str, float], row: ChannelLimit) -> float:
    if row.channel in numbers:
        return float(numbers[row.channel])
    data = getattr(result, "data_vars", {})
    kept = {"time", "statistic"}  # samples of a run, or what a campaign keeps of them
    channels = [n for n, x in data.items() if kept & set(x.dims) and x.dtype.kind == "f"]
    if row.channel not in channels:
        known = [*numbers, *channels]
        word = "numbers and channels" if channels else "numbers"
        raise LimitError(
            f"operability: limit '{row.channel}' is not among the {word}."
            f"{suggest(row.channel, known)} They are {listed(known)}."
        )
    channel = data[row.channel]
    for name, choice in row.chosen.items():
        known = [str(x) for x in channel[name].values] if name in channel.dims else []
        if choice not in known:
            has = listed(known) if known else f"no {name}"
            raise LimitError(
                f"operability: limit of '{row.channel}': there is no {name} '{choice}'."
                f"{suggest(choice, known)} It has {has}."
            )
        channel = channel.isel({name: known.index(choice)})
    if "dof" in channel.dims:
        raise LimitError(
            f"operability: limit of '{row.channel}': metres and radians have no common limit. "
            f"Choose a dof: {listed([str(x) for x in channel['dof'].values])}."
        )
    values = _statistic(channel, row.statistic).reshape(-1)
    # of what is not chosen the worst counts; a gap is worse than all
    use = row.used(values)
    return float(values[np.where(np.isnan(use), np.inf, use).argmax()])


def _statistic(channel: xr.DataArray, name: str) -> np.ndarray:
    if name == "abs_max":
        return np.asarray(np.maximum(-_statistic(channel, "min"), _statistic(channel, "max")))
    if "statistic" in channel.dims:
        return np.asarray(channel.sel(statistic=name).values)
    return statistic(channel, name)
