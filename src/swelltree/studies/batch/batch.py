"""`simulate_batch`: many cases of one model at once, reduced where they arise.

The fixed step of a batch, from an error estimate.

Runs of a few cases with a step and with half of it differ by 15/16 of the error of the longer one,
where the method is of fourth order. The largest difference of any chosen channel, of its standard
deviation, is the error; steps are halved until it is as small as asked. The two-step scheme is of
second order, and the stiffest waves of lines and contacts hide it: there one trial gives the error,
and the step follows from it. The error of float32 is found likewise: a few cases are run
with those of eight bytes, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.describe.options import BatchOptions, check_positive, with_options
from swelltree.describe.values import NamedValues
from swelltree.forces.between_bodies import BodyContacts, too_long_step
from swelltree.jit import Tree, UnsupportedOperationError, gpu, leaves_of, trim_cache
from swelltree.model.model import Model
from swelltree.model.solved import fixed_step
from swelltree.results.cases.reductions import (
    ENDINGS,
    MOST_PEAKS,
    check_reductions,
    dataset_of_cases,
    reduced,
)
from swelltree.results.displacement import turning_entries
from swelltree.results.fatigue import EXPONENTS, equivalent_of_damage
from swelltree.results.statistics import (
    of_summaries,
    settled_time,
    time_weights,
    warn_gaps,
    without_mpm,
)
from swelltree.studies.batch.cases import (
    BatchCase,
    batch_cases,
    check_expected_seas,
    ramp_of_case,
    with_findings,
)
from swelltree.studies.batch.complementarity.starts import shared_step
from swelltree.studies.batch.engine import Engine, Outcome, Parallel, Plan, Summary
from swelltree.studies.batch.engines import Lanes, chosen_engine
from swelltree.studies.batch.runge_kutta import RungeKutta
from swelltree.studies.batch.sequential import OneByOne
from swelltree.studies.batch.summaries import BUDGET, Requested
from swelltree.studies.options import check_times, realised, study_of_model
from swelltree.studies.time.task import TWO_STEP, chosen_solver, output_times, required_step

if TYPE_CHECKING:
    import xarray as xr


TURNED = 1.0  # rad from sample to sample: attitudes that change more are followed by their samples
FILLING = 512  # cases from which a GPU is faster than some cores
ROOM = {"cpu": 1.5e9, "gpu": 2e10, "jax": 1.5e9}  # bytes of one batch
SAMPLES_HERE = 2e9  # bytes of samples that are brought here at a time
SUMMED = {"statistics", "peaks", "fatigue"}  # reductions that are found where samples arise
USUAL = (
    "position",
    "displacement",
    "absorbed_power",
    "delivered_power",
    "pto_stroke",
    "pto_force",
    "line_tension",
)


class BatchPlan(NamedTuple):
    """How a batch is run, and how that was chosen."""

    plan: Plan
    engine: Engine
    ramp: float  # longest of the seas [s]
    attrs: NamedValues


@study_of_model
@with_options(BatchOptions)
def simulate_batch(
    model: Model,
    seas: Sea | Iterable[object] | None = None,
    parameters: Mapping[str, Sequence[Tree]] | None = None,
    **options: Unpack[BatchOptions],
) -> xr.Dataset:
    """Simulate many cases of a model in parallel and store the requested results of each.

    Steps are fixed: rk4, or the two-step scheme of dynamic lines and contacts. The results of a
    case do not depend on the other cases and equal those of a single run with the same steps. A
    case that fails has NaN values, and its error in `message`.

    Args:
        model: from `compile`.
        seas: one for each case, or one for all.
        parameters: for each name or path, as `Model.with_values` takes them, a value per case.
    """
    requested: NamedValues = {**options}
    rows = batch_cases(seas, parameters, requested.pop("case"))
    for name in parameters or ():
        model.value(name)  # a name that no case can have is a mistake of the call
    names = check_reductions(requested.pop("reduce"), "simulate_batch")
    planned = plan_batch(model, rows, requested)
    import xarray as xr

    parts = [
        reduced_block(planned, rows[first : first + planned.plan.lanes], names)
        for first in range(0, len(rows), planned.plan.lanes)
    ]
    result = xr.concat(parts, "case", data_vars="minimal", combine_attrs="drop_conflicts")
    result = result.assign_coords(case=np.arange(len(rows)))
    _report_failures(result)
    return with_findings(model, result.assign_attrs(planned.attrs))


def plan_batch(
    model: Model, cases: Sequence[BatchCase], options: NamedValues, count: int | None = None
) -> BatchPlan:
    """Output times, channels, engine and step of all batches of some cases.

    Args:
        model: from `compile`.
        cases: of which the first gives the output step, and up to `lanes` are tried for the step.
        options: those of `BatchOptions` that plan a batch.
        count: of cases in all, where these are only some of them.
    """
    step, device, tolerance = options["step"], options["device"], options["tolerance"]
    check_positive(BatchOptions, {"step": step})
    trim_cache()
    count = len(cases) if count is None else count
    requested = _one_of("device", device, ("cpu", "gpu", "auto", "jax"))
    if requested == "auto":
        device = "cpu" if count < FILLING or isinstance(gpu(), str) else "gpu"
    solver, how = chosen_solver(model, None, options["formulation"])
    solver = solver if solver in TWO_STEP else "rk4"
    first = cases[0]
    waves = None if first.sea is None else realised(model, first.sea, first.case)
    times = output_times(model, waves, options, required_step(model))
    check_times(first.sea, waves, 0.0, float(times[-1]))
    for sea in {id(case.sea): case.sea for case in cases}.values():
        check_times(sea, None, 0.0, float(times[-1]))
    longest = float(np.diff(times).max())
    # convolutions and solved flows have steps of their own
    ours = solver == "rk4" and required_step(model) is None and fixed_step(model) is None
    plan = Plan(
        model=model,
        times=times,
        step=longest if step is None and ours else step,
        channels=(),
        formulation=how,
        solver=solver,
        start=options["start"],
        duration=float(times[-1]),
        device=device,
        short=_one_of("precision", options["precision"], ("float64", "float32")) == "float32",
    )
    if plan.short and requested != "gpu":
        raise SwelltreeError("precision 'float32' is for device='gpu'. Give it too, or leave both.")
    if solver in TWO_STEP and step is None:
        plan = replace(plan, step=shared_step(plan, cases))
    engine, plan, why = chosen_engine(
        plan, first, lambda plan, engine: _channels(plan, engine, options["channels"])
    )
    if (device == "gpu" and not engine.is_gpu) or engine.one_at_a_time:
        plan = replace(plan, device="cpu", short=False)
    plan = replace(plan, lanes=_lanes(plan, engine, count, options["lanes"]))
    attrs: NamedValues = {"study": "simulate_batch", "engine": why, "solver": solver}
    attrs["device"] = plan.device
    attrs |= {"formulation": how.name, "duration": float(times[-1]), "output_step": longest}
    if engine.one_at_a_time or (requested == "gpu" and not engine.is_gpu):
        warn_user(f"engine of the batch: {why}")
    if step is None and ours:
        found = chosen_step(engine, plan, list(cases), tolerance)
        plan = replace(plan, step=found.step)
        attrs["step_error"] = found.error
    elif step is None and solver in TWO_STEP and plan.step is not None:
        found = estimated_step(engine, plan, list(cases), tolerance)
        plan = replace(plan, step=found.step)
        attrs["step_error"] = found.error
    if plan.short:
        error = precision_error(engine, Parallel(RungeKutta(), Lanes()), plan, list(cases))
        attrs |= {"precision": "float32", "precision_error": error}
    attrs["lanes"] = plan.lanes
    if plan.step is not None:
        attrs["step"] = float(plan.step)
        if not engine.one_at_a_time:  # single runs warn themselves
            _warn_long_steps(model, cases, plan.step)
    return BatchPlan(plan, engine, max(ramp_of_case(case) for case in cases), attrs)


def _warn_long_steps(model: Model, cases: Sequence[BatchCase], step: float) -> None:
    """Warn once of a step that is too long for the friction of a case."""
    if model.effect(BodyContacts) is None:
        return
    numbers = (".friction", ".slip_speed")
    rows = [[x for x in case.values if x[0].endswith(numbers)] for case in cases]
    for row in {str(row): dict(row) for row in rows}.values():
        try:
            text = too_long_step(model.with_values(row), step)
        except SwelltreeError:  # the case itself says what is wrong with its numbers
            continue
        if text:
            warn_user(text)
            return


def reduced_block(
    planned: BatchPlan, cases: list[BatchCase], names: Sequence[str], first: int = 0
) -> xr.Dataset:
    """Reduced results of some cases, at most as many as there are lanes.

    Args:
        planned: how they are run.
        cases: to run.
        names: of reductions.
        first: lane of the first case.
    """
    try:
        return _by_engine(planned, cases, names, first)
    except UnsupportedOperationError as error:  # the engine was chosen by the first of all cases
        warn_user(
            f"{len(cases)} cases cannot be run as the first ones are, by {planned.engine.name} "
            f"({error}); they are run sequentially"
        )
        return _by_engine(planned._replace(engine=OneByOne()), cases, names, first)


def _by_engine(
    planned: BatchPlan, cases: list[BatchCase], names: Sequence[str], first: int
) -> xr.Dataset:
    plan = planned.plan
    if not planned.engine.one_at_a_time:  # single runs warn themselves
        check_expected_seas(plan.model, cases)
    requested = _requested(planned, names)
    summary = None if requested is None else planned.engine.summaries(plan, cases, requested)
    if summary is not None:
        return _summed_up(planned, cases, summary, names, first)
    import xarray as xr

    # samples of so many cases are here at a time
    fitting = int(max(1, SAMPLES_HERE / (8.0 * _numbers(plan, planned.engine))))
    parts = [
        _labelled(planned, planned.engine.run(plan, cases[k : k + fitting], first + k), names)
        for k in range(0, len(cases), fitting)
    ]
    if len(parts) == 1:
        return parts[0]
    return xr.concat(parts, "case", data_vars="minimal", combine_attrs="drop_conflicts")


def _numbers(plan: Plan, engine: Engine) -> int:
    shapes = engine.shapes(plan).values()
    return len(plan.times) * (len(BUDGET) + sum(int(np.prod(shape)) for shape in shapes))


def _requested(planned: BatchPlan, names: Sequence[str]) -> Requested | None:
    """What is found where the samples arise; None if samples themselves are asked for."""
    if not set(names) <= SUMMED:
        return None
    times = planned.plan.times
    stored = times >= settled_time(times, planned.ramp)
    shares = np.zeros(len(times))
    weights = time_weights(times[stored])
    shares[stored] = weights / weights.sum()
    return Requested(
        shares,
        MOST_PEAKS if "peaks" in names else 0,
        tuple(int(m) for m in EXPONENTS) if "fatigue" in names else (),
    )


def _summed_up(
    planned: BatchPlan, cases: list[BatchCase], summary: Summary, names: Sequence[str], first: int
) -> xr.Dataset:
    """Labelled summaries of cases whose samples were never here."""
    plan = planned.plan
    blank = Outcome(_blank(plan, planned.engine, 0.0), "")
    form = _labelled(planned, [blank], names)
    result = form.isel(case=np.zeros(len(cases), int)).assign(
        message=("case", summary.messages, form["message"].attrs)
    )

    def put(name: str, values: np.ndarray) -> None:
        result[name] = (form[name].dims, values, form[name].attrs)

    times = plan.times[plan.times >= settled_time(plan.times, planned.ramp)]
    for name, stored in summary.values.items():
        if stored.peaks is not None:
            put(name + ENDINGS["peaks"], stored.peaks[..., 0, :])
            put(name + ENDINGS["troughs"], stored.peaks[..., 1, :])
        if stored.damage is not None:
            length = float(times[-1] - times[0])
            put(name + ENDINGS["fatigue"], equivalent_of_damage(stored.damage, EXPONENTS, length))
    if "statistics" in names:
        _put_statistics(planned, cases, summary, form, result, first)
    alone = [k for k, one in summary.again.items() if one.channels is not None]
    if alone:
        some = _labelled(planned, [summary.again[k] for k in alone], names)
        for name in set(some.data_vars) - {"message"}:
            result[name].values[alone] = some[name].values
    return result


def _put_statistics(
    planned: BatchPlan,
    cases: list[BatchCase],
    summary: Summary,
    form: xr.Dataset,
    result: xr.Dataset,
    first: int,
) -> None:
    """Statistics of all cases; of those whose attitudes turn fast by their samples."""
    plan = planned.plan
    fast, gaps = np.zeros(len(cases), bool), dict[str, int]()
    counted = int((plan.times >= settled_time(plan.times, planned.ramp)).sum())
    for name, stored in summary.values.items():
        *five, change, missing = np.moveaxis(stored.statistics, -1, 0)
        gaps[name] = int(missing[missing < counted].sum())
        result[name] = (form[name].dims, of_summaries(*five), form[name].attrs)
        result[name] = without_mpm(result[name])
        turns = np.broadcast_to(turning_entries(form[name].isel(case=0, statistic=0)), change.shape)
        fast |= (turns & (change > TURNED)).reshape(len(cases), -1).any(1)
    warn_gaps(gaps)
    again = np.flatnonzero(fast)
    if again.size:  # which of several names of an attitude is meant shows in the samples
        outcomes = planned.engine.run(plan, [cases[k] for k in again], first)
        some = _labelled(planned, outcomes, ("statistics",))
        for name in plan.channels:
            result[name].values[again] = some[name].values


def blank_block(planned: BatchPlan, names: Sequence[str]) -> xr.Dataset:
    """The reduced result of a case without numbers: names, shapes and labels."""
    blank = Outcome(_blank(planned.plan, planned.engine), "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing
        return _labelled(planned, [blank], names).drop_vars("message")


def _labelled(planned: BatchPlan, outcomes: list[Outcome], names: Sequence[str]) -> xr.Dataset:
    plan = planned.plan
    there = [x.channels for x in outcomes if x.channels is not None]
    blank = there[0] if there else _blank(plan, planned.engine)
    stacked = {
        name: np.stack(
            [
                np.full_like(blank[name], np.nan) if x.channels is None else x.channels[name]
                for x in outcomes
            ]
        )
        for name in plan.channels
    }
    complete = dataset_of_cases(plan.model, plan.times, stacked, planned.ramp)
    messages = np.array([outcome.message for outcome in outcomes], dtype=object)
    about = {"long_name": "why there is no result; empty where there is one"}
    return reduced(complete, names).assign(message=("case", messages, about))


def _channels(plan: Plan, engine: Engine, names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of channels, each known; the usual ones of this model where none are given."""
    if isinstance(names, str):
        raise SwelltreeError(f"channels '{names}' is one name. Give a list: ['{names}'].")
    known = engine.shapes(plan)
    if not names:
        return tuple(name for name in USUAL if name in known and np.prod(known[name]) > 0)
    for name in names:
        if name not in known:
            raise SwelltreeError(
                f"channels: runs of this model have no channel '{name}'.{suggest(name, known)} "
                f"They have {listed(sorted(known))}."
            )
    return tuple(dict.fromkeys(names))


def _one_of(what: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise SwelltreeError(f"{what} '{word}' is not known. Give {listed(known)}.")
    return word


def _lanes(plan: Plan, engine: Engine, count: int, lanes: int | None) -> int:
    """Number of cases in parallel, as many as fit."""
    if lanes is not None:
        if lanes < 1:
            raise SwelltreeError(f"lanes {lanes} is not a number of cases. Give one or more.")
        return int(lanes)
    numbers = sum(int(np.prod(shape)) for shape in engine.shapes(plan).values())
    bodies = plan.model.layout.n_bodies
    # samples, their copy on the way out and the energy budget
    per_case = len(plan.times) * (2 * numbers + 20 * bodies + 30)
    per_case += sum(np.size(leaf) for leaf in leaves_of(plan.model))
    # samples of a GPU come here only where more than statistics is asked for
    fitting = engine.fitting(plan, per_case, ROOM[plan.device])
    return max(1, min(engine.most, fitting, count))


def _blank(plan: Plan, engine: Engine, value: float = np.nan) -> dict[str, np.ndarray]:
    """Gaps, or one number, in the shape of a result."""
    shapes = engine.shapes(plan)
    return {name: np.full((len(plan.times), *shape), value) for name, shape in shapes.items()}


def _report_failures(result: xr.Dataset) -> None:
    messages = [(k, str(m)) for k, m in enumerate(result["message"].values) if m]
    if messages:
        k, text = messages[0]
        warn_user(
            f"{len(messages)} of {result.sizes['case']} cases have no result. The first, case {k}, "
            f"says: {text}"
        )


TRIED = 120.0  # s after the ramp
TRIED_CASES = 32  # at most
MOST_HALVINGS = 8
RICHARDSON = 16.0 / 15.0
RICHARDSON_2 = 4.0 / 3.0  # of the two-step scheme
TRIED_LINES = 8  # cases with dynamic lines at most
TRIED_SHORT = 32  # cases in float32 at most
SHORTEST = 1.0 / 8.0  # of the steps of single runs


class ChosenStep(NamedTuple):
    """A step and its error.

    Args:
        step: [s].
        error: largest, of the standard deviation of a channel.
    """

    step: float
    error: float


def chosen_step(engine: Engine, plan: Plan, cases: list[BatchCase], tolerance: float) -> ChosenStep:
    """The longest step up to that of the plan that is accurate enough for the cases that run."""
    _check(tolerance)
    assert plan.step is not None
    cases, step = cases[: min(plan.lanes, TRIED_CASES)], plan.step
    plan = _tried(plan, cases)
    coarse = engine.run(plan, cases)
    error = np.inf
    for _ in range(MOST_HALVINGS):
        half = replace(plan, step=0.5 * step)
        fine = engine.run(half, cases)
        error = RICHARDSON * _largest(coarse, fine)
        if error <= tolerance:
            return ChosenStep(step, error)
        step, coarse = 0.5 * step, fine
    raise SwelltreeError(
        f"steps of {step:g} s still have an error of {error:.2g}, more than the {tolerance:g} "
        "asked for. Give a step, or a larger tolerance."
    )


def estimated_step(
    engine: Engine, plan: Plan, cases: list[BatchCase], tolerance: float
) -> ChosenStep:
    """A step of the two-step scheme, from the error of that of the plan."""
    _check(tolerance)
    assert plan.step is not None
    cases, step = cases[: min(plan.lanes, TRIED_LINES)], plan.step
    plan = _tried(plan, cases)
    coarse, fine = engine.run(plan, cases), engine.run(replace(plan, step=0.5 * step), cases)
    error = RICHARDSON_2 * _largest(coarse, fine)
    part = 1.0
    while error * part**2 > tolerance and part > SHORTEST:
        part *= 0.5
    found = ChosenStep(step * part, error * part**2)
    if found.error > tolerance:
        warn_user(
            f"steps of {found.step:.3g} s have an estimated error of {found.error:.2g} of the "
            f"standard deviation of a channel, more than the tolerance {tolerance:g}. Give a step."
        )
    return found


def precision_error(engine: Engine, exact: Engine, plan: Plan, cases: list[BatchCase]) -> float:
    """Max difference due to float32, relative to the standard deviation of a channel.

    Infinite where a case runs only without them, not a number where no case that is tried runs.

    Args:
        engine: that runs the batch.
        exact: one that runs the same steps in float64.
        plan: with its step.
        cases: to try.
    """
    cases = cases[: min(plan.lanes, TRIED_SHORT)]
    plan = _tried(plan, cases)
    found = engine.run(plan, cases), exact.run(replace(plan, device="cpu", short=False), cases)
    reported = [_apart(a.channels, b.channels) for a, b in zip(*found, strict=True)]
    return max((x for x in reported if x is not None), default=np.nan)


def _check(tolerance: float) -> None:
    if not 0 < tolerance < 1:
        raise SwelltreeError(
            f"tolerance {tolerance} of the step is not between 0 and 1. Give e.g. 1e-3."
        )


def _tried(plan: Plan, cases: list[BatchCase]) -> Plan:
    until = max(ramp_of_case(case) for case in cases) + TRIED
    return replace(plan, times=plan.times[plan.times <= max(until, plan.times[1])])


def _largest(coarse: list[Outcome], fine: list[Outcome]) -> float:
    """Largest difference of any case; those that do not run do not count."""
    reported = [_apart(a.channels, b.channels) for a, b in zip(coarse, fine, strict=True)]
    known = [x for x in reported if x is not None]
    if not known and all(one.message for one in fine):
        raise SwelltreeError(
            f"none of the {len(fine)} cases tried for the step can be run. The first says: "
            f"{fine[0].message}"
        )
    return max(known, default=np.inf)


def _apart(
    coarse: dict[str, np.ndarray] | None, fine: dict[str, np.ndarray] | None
) -> float | None:
    """Largest difference of a channel, of its standard deviation; None without a run."""
    if fine is None:
        return None
    if coarse is None:
        return np.inf
    worst = 0.0
    for name, x in fine.items():
        # one size for the entries of a channel: what hardly moves counts little
        size = x.std(axis=0).max(initial=0.0)
        if size > 0:
            worst = max(worst, float(np.abs(x - coarse[name]).max()) / float(size))
    return worst
