r"""Power of a device in sea states, and its energy in a year, in the words of IEC TS 62600-100.

The capture width (capture length in the first edition) is the mean power over that of a metre of
wave crest, :math:`L = P / J`. With the occurrence f of the states the mean annual energy production
is

.. math:: \mathrm{MAEP} = T \sum_i f_i\, P_i = T \sum_i f_i\, L_i J_i, \qquad T = 8766\ \mathrm{h}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, warn_user

if TYPE_CHECKING:
    import xarray as xr

HOURS = 8766.0  # of a mean year
DELIVERED, ABSORBED = "delivered_power", "absorbed_power"
STATES = ("Hs", "Tp", "beta")  # dimensions of sea states
MISSED = 1e-3  # fraction of time without a result that is not reported


def power_matrix(campaign: xr.Dataset, power: str | None = None) -> xr.Dataset:
    """Mean power in each sea state, its spread over seeds, and the capture width.

    Args:
        campaign: from `open_campaign`, with statistics of the power.
        power: the channel; of several power take-offs the sum counts. What PTOs deliver, electrical
            where they have a generator, if not given: losses, friction and end stops are part of
            the absorbed power only.

    Returns a dataset over the dimensions of the campaign less the seed: `power`, the same of both
    channels that the campaign has (`absorbed_power`, `delivered_power`), `power_std` and
    `power_error` (of the mean, over several seeds), `power_of_seed`, `capture_width`, `seeds`
    (that have a result), and `Hm0`, `Te`, `J`, `occurrence` of the states where they are known.
    """
    import xarray as xr

    if power is None:
        power = power_channel(campaign)
        if power == ABSORBED:
            warn_user(
                "power_matrix: the campaign has no delivered_power, so the absorbed power is "
                "used, including losses, friction and end stops. Run it with the channel "
                "'delivered_power'."
            )
    if not _has(campaign, power):
        raise SwelltreeError(
            f"power_matrix: there are no statistics of '{power}'. Run the campaign with "
            f"reduce=['statistics'] and the channel '{power}'."
        )
    mean = _means(campaign, power)
    over = [dim for dim in ("seed",) if dim in mean.dims]
    units = {"units": "W"}
    matrix = xr.Dataset(
        {
            "power": mean.mean(over).assign_attrs(units | {"long_name": _words(power)}),
            "seeds": mean.notnull().sum(over).assign_attrs({"long_name": "runs with a result"}),
        }
    )
    if over and mean.sizes["seed"] > 1:
        of_seed = {"long_name": "mean power of each seed"}
        matrix["power_of_seed"] = mean.assign_attrs(units | of_seed)
        spread = mean.std(over, ddof=1)
        about = {"long_name": "standard deviation of the mean power over seeds"}
        matrix["power_std"] = spread.assign_attrs(units | about)
        error = spread / np.sqrt(matrix["seeds"])
        matrix["power_error"] = error.assign_attrs(
            units | {"long_name": "standard error of the mean power"}
        )
    for name in (ABSORBED, DELIVERED):
        if _has(campaign, name):
            about = units | {"long_name": _words(name)}
            matrix[name] = _means(campaign, name).mean(over).assign_attrs(about)
    for name in ("Hm0", "Te", "J", "occurrence"):
        if name in campaign:
            matrix[name] = _of_states(campaign[name])
    if "J" in matrix:
        length = matrix["power"] / matrix["J"]
        matrix["capture_width"] = length.assign_attrs({"units": "m", "long_name": "capture width"})
    about = {key: campaign.attrs[key] for key in ("campaign", "system") if key in campaign.attrs}
    return matrix.assign_attrs(about | {"study": "power_matrix", "channel": power})


def power_channel(campaign: xr.Dataset) -> str:
    """Channel for energy: delivered power if the campaign has it."""
    has_absorbed_alone = _has(campaign, ABSORBED) and not _has(campaign, DELIVERED)
    return ABSORBED if has_absorbed_alone else DELIVERED


def _has(campaign: xr.Dataset, name: str) -> bool:
    return name in campaign and "statistic" in campaign[name].dims


def _means(campaign: xr.Dataset, name: str) -> xr.DataArray:
    """Mean power of each case, of all power take-offs together [W]."""
    channel = campaign[name].sel(statistic="mean", drop=True)
    ptos = [dim for dim in channel.dims if dim in ("pto",)]
    return channel.sum(ptos, skipna=False).compute()


def _words(name: str) -> str:
    known = {ABSORBED: "mean absorbed power", DELIVERED: "mean delivered power"}
    return known.get(name, "mean power")


def _of_states(values: xr.DataArray) -> xr.DataArray:
    """A quantity of the sea states along the dimensions it depends on."""
    about = values.attrs
    for dim in [str(dim) for dim in values.dims if dim not in STATES]:
        spread = float((values.max(dim) - values.min(dim)).max())
        if not spread > 1e-12 * float(abs(values).max()):
            values = values.mean(dim)
    return values.assign_attrs(about)


def annual_energy(
    matrix: xr.Dataset, occurrence: xr.DataArray | None = None, availability: float = 1.0
) -> xr.Dataset:
    """Mean annual energy production from a power matrix and the occurrence of its states.

    Args:
        matrix: from `power_matrix`, or the campaign itself.
        occurrence: of the states, an array labelled like the matrix, in any unit: all of it
            together is the year; that of the campaign's scatter diagram if not given.
        availability: fraction of time in which the device works.

    Energy is that of the channel of the matrix, what the PTOs deliver if no other was asked for.

    Returns a dataset: `MAEP` [Wh], its standard error `MAEP_error` over the seeds, the energy
    absorbed beside it (`absorbed_energy` [Wh]), `mean_power` [W], `energy` of each state [Wh],
    `capture_width` over the year [m], and `covered`, the fraction of time whose states have a
    result.
    """
    import xarray as xr

    if "power" not in matrix:
        matrix = power_matrix(matrix)
    often = matrix.get("occurrence") if occurrence is None else occurrence
    if often is None:
        raise SwelltreeError(
            "annual_energy: there is no occurrence of the sea states. Give one, or vary a "
            "ScatterDiagram."
        )
    if not 0.0 < availability <= 1.0:
        raise SwelltreeError(
            f"annual_energy: availability {availability} is not between 0 and 1. Give e.g. 0.95."
        )
    power = matrix["power"]
    _check_occurrence(often, power)
    states = [dim for dim in often.dims if dim in power.dims]
    part = (often / often.sum(states)).fillna(0.0)
    hours = HOURS * availability
    energy = (hours * part * power).assign_attrs(units="Wh", long_name="energy of a year")
    total = energy.sum(states)
    covered = part.where(power.notnull()).sum(states)
    # where no state at all has a result there is no energy to report
    total = total.where(covered > 0.0)
    _warn_of_gaps(covered)
    result = {
        "MAEP": total.assign_attrs(units="Wh", long_name="mean annual energy production"),
        "mean_power": (total / HOURS).assign_attrs(units="W", long_name="mean power of a year"),
        "energy": energy,
        "covered": covered.assign_attrs(
            units="1", long_name="fraction of time whose states have a result"
        ),
    }
    if ABSORBED in matrix and matrix.attrs.get("channel") != ABSORBED:
        full = (hours * part * matrix[ABSORBED]).sum(states)
        result["absorbed_energy"] = full.assign_attrs(
            units="Wh", long_name="energy absorbed in a year, losses included"
        )
    if "power_of_seed" in matrix:
        # a seed draws the same phases in every state: its whole year is one sample
        years = (hours * part * matrix["power_of_seed"].fillna(power)).sum(states)
        error = years.std("seed", ddof=1) / np.sqrt(years.sizes["seed"])
        result["MAEP_error"] = error.assign_attrs(
            units="Wh", long_name="standard error over the seeds"
        )
    if "J" in matrix:
        flux = (part * matrix["J"]).where(power.notnull()).sum(states)
        result["capture_width"] = (total / hours / flux).assign_attrs(
            units="m", long_name="capture width over the year"
        )
    return xr.Dataset(result, attrs=matrix.attrs | {"study": "annual_energy", "hours": HOURS})


def _warn_of_gaps(covered: xr.DataArray) -> None:
    """Warn of designs without results in some states, with the fraction of time."""
    short = covered < 1.0 - MISSED
    count = int(short.sum())
    if not count:
        return
    worst = covered.isel(covered.argmin(...)) if covered.ndim else covered
    lost = f"states of {1.0 - float(worst):.1%} of the time have no result"
    where = ", ".join(f"{dim} = {worst[dim].values}" for dim in covered.dims)
    if where:
        lost = f"{count} of {covered.size} designs lack results; at {where} {lost}"
    count_as = "it has no energy" if float(worst) == 0.0 else "they count as no energy"
    warn_user(f"annual_energy: {lost} and {count_as}. Run them, or examine `covered`.")


def _check_occurrence(often: object, power: xr.DataArray) -> None:
    """Validate the occurrence of the states of a matrix."""
    import xarray as xr

    known = [str(dim) for dim in power.dims]
    states = [dim for dim in known if dim in STATES]
    requested = states or known
    if not isinstance(often, xr.DataArray):
        raise SwelltreeError(
            "annual_energy: occurrence is not labelled. Give an xarray.DataArray over "
            f"{listed(requested)}."
        )
    specified = [str(dim) for dim in often.dims]
    if (known and not specified) or not set(states) <= set(specified) <= set(known):
        raise SwelltreeError(
            f"annual_energy: occurrence is over {listed(specified) or 'nothing'}. Give it over "
            f"{listed(requested)}, the states of the power."
        )
    for dim in specified:
        if dim not in often.coords and often.sizes[dim] != power.sizes[dim]:
            raise SwelltreeError(
                f"annual_energy: occurrence has {often.sizes[dim]} {dim} without values, the power "
                f"{power.sizes[dim]}. Give as many, or the coordinate '{dim}'."
            )
    if float(often.min()) < 0.0 or not float(often.sum()) > 0.0:
        raise SwelltreeError(
            "annual_energy: occurrence must not be negative, and not zero everywhere. Give hours, "
            "counts or fractions."
        )
