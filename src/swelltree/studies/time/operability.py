r"""`operability`: the same operation in many conditions, judged by limits.

A case that gives no result - it could not be set up, its run ended early, a number is missing - is
neither operable nor inoperable: its state is "failed", its message is kept and reported, and the
others go on.

`linear_and_nonlinear`: what the linearised system would do, beside the motion itself.

The linear answer is the sum of the responses to every component of the sea,

.. math:: x(t) = x_0 + r(t) \sum_c \mathrm{Re}\left[ X(\omega_c, \beta_c)\, a_c\,
                 e^{-i\omega_c t + i\varphi_c} \right]

with X of `rao` and x_0 the equilibrium (MBS4WEC, figures 4 and 6). It is the steady answer:
the comparison begins when the ramp is over and its transient has died out.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from swelltree.describe.casefile.studies import ChannelLimit, as_limits
from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.describe.options import ComparedOptions, with_options
from swelltree.describe.spec import Description
from swelltree.describe.values import NamedValues
from swelltree.model.model import Model, Pose
from swelltree.multibody.kinematics import displacement
from swelltree.results.dataset import provenance
from swelltree.results.statistics import statistic
from swelltree.studies.linear.frequency_modes import HEADING
from swelltree.studies.linear.rao import rao
from swelltree.studies.options import linear_waves, study_of_model
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.studies.time.simulate import simulate
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr


class LimitError(SwelltreeError):
    """A limit that cannot be applied: an input error, not a failed case."""


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
    requested = {row.channel for row in rows} & {str(name) for name in campaign.data_vars}
    known = campaign.assign({name: campaign[name].load() for name in requested})

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
    stored = {"time", "statistic"}  # samples of a run, or what a campaign keeps of them
    channels = [n for n, x in data.items() if stored & set(x.dims) and x.dtype.kind == "f"]
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


UNITS = {"Hs": "m", "Tp": "s", "Tz": "s", "beta": "rad", "speed": "m/s"}


R = TypeVar("R")


def operability(
    run: Callable[..., object] | Model | xr.Dataset,
    over: Mapping[str, Sequence[float]] | None = None,
    judge: Callable[[Any], Mapping[str, float]] | None = None,
    limits: Mapping[str, object] | Sequence[object] = (),
    simulate: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Run an operation over a grid of conditions and compare the results with limits.

    Args:
        run: function of the conditions by name, such as `lambda Hs, Tp: simulate(...)`; or a
            compiled model, which is simulated with the conditions in its sea; or a campaign from
            `open_campaign` or `Campaign.run`, whose statistics are judged.
        over: values of each condition, such as {"Hs": [1, 2, 3], "Tp": [6, 8, 10]}; a campaign has
            its own.
        judge: function of what `run` returns: numbers by name.
        limits: for some of these numbers the largest that is allowed, or (lowest, largest); or a
            list of `ChannelLimit` or their tables, such as {"channel": "position", "body":
            "barge", "dof": "Roll", "statistic": "abs_max", "limit": 0.05}, for channels of runs.
        simulate: options of `simulate` for a model; its `sea` takes the conditions.

    Returns a dataset with the conditions as dimensions: every number; `state`, one of "operable",
    "inoperable" and "failed" (no result to judge; the reasons are in the attribute `failures`);
    `utilisation`, the largest part of a limit that is used, one and less being operable;
    `governing`, whose limit that is; and `operable`, whether the state is that.
    """
    import xarray as xr

    campaign = run if isinstance(run, xr.Dataset) else None
    if campaign is not None:
        if over is not None:
            raise SwelltreeError(
                "operability: a campaign has its own conditions. Leave over, or choose of the "
                "campaign with .sel()."
            )
        over = conditions(campaign)
    if not over or any(len(values) == 0 for values in over.values()):
        raise SwelltreeError("operability: there are no conditions. Give values of each, e.g. Hs.")
    rows = as_limits(limits)
    names, grid = tuple(over), [list(values) for values in over.values()]
    shape = tuple(len(values) for values in grid)
    places = list(itertools.product(*(range(n) for n in shape)))
    cases = [
        {name: grid[k][i] for k, (name, i) in enumerate(zip(names, place, strict=True))}
        for place in places
    ]
    if isinstance(run, Model):
        about, one = provenance(run), run_in_seas(run, cases, simulate)
    else:
        about = {} if campaign is None else dict(campaign.attrs)
        one: Callable[..., object] = run if campaign is None else case_of(campaign, rows)  # type: ignore[assignment]
        if simulate is not None:
            raise SwelltreeError(
                "operability: simulate belongs to a compiled model. Give it inside of run."
            )
    by_limit: dict[str, np.ndarray] = {}
    use = np.full((len(rows), *shape), np.nan)
    failures = []
    for place, where in zip(places, cases, strict=True):
        try:
            result = succeeded(one(**where))
            judged_values = dict(judge(result)) if judge is not None else {}
            numbers = judged_values | judged(result, judged_values, rows)
        except SwelltreeError as error:
            if isinstance(error, LimitError):
                raise
            condition = ", ".join(f"{name} = {value:g}" for name, value in where.items())
            failures.append(f"{condition}: {error}")
            continue
        for name, value in numbers.items():
            by_limit.setdefault(name, np.full(shape, np.nan))[place] = value
        for k, row in enumerate(rows):
            use[(k, *place)] = row.used(float(numbers[row.title]))
    table = _table(rows, names, grid, by_limit, use, failures)
    return table.assign_attrs(about | table.attrs)


def _table(
    rows: tuple[ChannelLimit, ...],
    names: tuple[str, ...],
    grid: list[list[float]],
    result: dict[str, np.ndarray],
    use: np.ndarray,
    failures: list[str],
) -> xr.Dataset:
    """Verdicts as a dataset; cases without one are reported."""
    import xarray as xr

    limits = {row.title: row.limit for row in rows}
    failed = np.isnan(use).any(axis=0)
    worst = np.where(failed, np.nan, use.max(axis=0))
    governing = np.where(failed, "", np.array(list(limits), dtype=object)[use.argmax(axis=0)])
    state = np.where(failed, "failed", np.where(worst <= 1.0, "operable", "inoperable"))
    message = f"all {failed.size} cases have a result."
    if failures:
        message = (
            f"{len(failures)} of {failed.size} cases have no result and are neither operable nor "
            f"inoperable. The first is {failures[0]}"
        )
        warn_user(f"operability: {message}")
    data: NamedValues = {
        name: (names, values, {} if name not in limits else {"limit": limits[name]})
        for name, values in result.items()
    }
    data["utilisation"] = (names, worst, {"long_name": "largest part of a limit", "units": "1"})
    data["governing"] = (names, governing, {"long_name": "number with that limit"})
    data["state"] = (names, state.astype(object), {"long_name": "operable, inoperable or failed"})
    data["operable"] = (names, state == "operable", {"long_name": "within all limits"})
    coords = {
        name: (name, np.asarray(values, float), {"units": UNITS[name]} if name in UNITS else {})
        for name, values in zip(names, grid, strict=True)
    }
    attrs = {
        "study": "operability",
        "result": "cases_failed" if failures else "success",
        "message": message,
        "limits": "; ".join(row.sentence for row in rows),
        "failures": "; ".join(failures),
    }
    return xr.Dataset(data, coords, attrs)


def succeeded(result: R) -> R:
    """The result of a run that ended well; Ctrl-C ends the whole study.

    Args:
        result: of a study, or anything else, which is taken as it is.
    """
    attrs = getattr(result, "attrs", {})
    ended = str(attrs.get("result", "success"))
    if ended == "stopped_by_user":
        raise KeyboardInterrupt
    if ended != "success":
        raise SwelltreeError(f"{ended}: {attrs.get('message', 'the run did not finish.')}")
    return result


@study_of_model
@with_options(ComparedOptions)
def linear_and_nonlinear(
    model: Model, sea: AnySea, **options: Unpack[ComparedOptions]
) -> xr.Dataset:
    """The motion in a sea, and what the linearised system would do.

    Returns a dataset with `nonlinear` and `linear` (time, body, dof), the displacements of the
    reference points from the equilibrium, in the axes of each body's heading there; the same of
    the joints as `joint_nonlinear` and `joint_linear` (time, coordinate); and, over the times after
    `settled`, `difference` (body, dof) and `joint_difference`, the largest distance between the
    two, with the `amplitude` and `joint_amplitude` of the linear answer (half its range) to compare
    with.

    Args:
        model: compiled with hydro data.
        sea: a described sea.
    """
    run_options: NamedValues = {**options}
    settled, radiation = run_options.pop("settled"), run_options.pop("radiation")
    duration, case = run_options["duration"], run_options["case"]
    formulation = run_options["formulation"] = run_options["formulation"] or "path_matrix"
    import xarray as xr

    start = 2.0 * duration / 3.0 if settled is None else settled
    waves = linear_waves("linear_and_nonlinear", model, sea, case)
    ramp = float(waves.ramp)
    if not ramp <= start < duration:
        raise SwelltreeError(
            f"settled {start:g} s must lie between the end of the ramp, {ramp:g} s, and the "
            f"duration, {duration:g} s."
        )
    run = simulate(model, sea, **run_options)
    succeeded(run)
    rest = equilibrium(model, formulation=formulation)
    time = run["time"].values
    omega, beta = np.asarray(waves.omega), np.asarray(waves.beta)
    amplitude = np.asarray(waves.complex_amplitude)
    grown = np.where(time < ramp, 0.5 * (1.0 - np.cos(np.pi * time / max(ramp, 1e-30))), 1.0)
    bodies = np.zeros(run["position"].shape)
    joints = np.zeros(run["joint_coordinate"].shape)
    # one call per heading: `rao` answers for every pair of frequency and heading
    for heading in np.unique(beta):
        mine = beta == heading
        transfer = rao(
            model,
            omega=omega[mine],
            wave_direction=heading,
            formulation=formulation,
            radiation=radiation,
        )
        turning = grown[:, None] * np.exp(-1j * np.outer(time, omega[mine])) * amplitude[mine]
        bodies += np.real(np.einsum("tc,cbd->tbd", turning, transfer["rao"].values[:, 0]))
        joints += np.real(turning @ transfer["coordinate_rao"].values[:, 0])
    both = (("time", "body", "dof"), ("time", "coordinate"))
    still = Pose(rest["position"].values[:, :3], rest["rotation"].values)
    moved = displacement(still, run["position"].values[..., :3], run["rotation"].values)
    turned = run["joint_coordinate"].values - rest["joint_coordinate"].values
    later = time >= start
    data = {
        "nonlinear": (both[0], moved, {"units": "m, rad", "frame": HEADING}),
        "linear": (both[0], bodies, {"units": "m, rad", "frame": HEADING}),
        "joint_nonlinear": (both[1], turned, {"units": "m, rad"}),
        "joint_linear": (both[1], joints, {"units": "m, rad"}),
    }
    for prefix, dims, real, guess in (
        ("", ("body", "dof"), moved, bodies),
        ("joint_", ("coordinate",), turned, joints),
    ):
        away = np.abs(real - guess)[later].max(axis=0)
        size = 0.5 * np.ptp(guess[later], axis=0)
        data[f"{prefix}difference"] = (dims, away, {"units": "m, rad"})
        data[f"{prefix}amplitude"] = (dims, size, {"units": "m, rad"})
    coords = {name: run[name] for name in ("time", "body", "dof", "coordinate", "coordinate_turns")}
    data["elevation"] = run["elevation"]
    attrs = {"study": "linear_and_nonlinear", "settled": start, "sea": repr(sea)}
    return xr.Dataset(data, coords, run.attrs | attrs)
