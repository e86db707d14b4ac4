r"""The fixed step of a batch, from an error estimate.

Runs of a few cases with a step and with half of it differ by 15/16 of the error of the longer one,
where the method is of fourth order. The largest difference of any chosen channel, of its standard
deviation, is the error; steps are halved until it is as small as asked. The two-step scheme is of
second order, and the stiffest waves of lines and contacts hide it: there one trial gives the error,
and the step follows from it. The error of float32 is found likewise: a few cases are run
with those of eight bytes, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.studies.batch.cases import BatchCase, ramp_of_case
from swelltree.studies.batch.engine import Engine
from swelltree.studies.batch.plan import Outcome, Plan

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
