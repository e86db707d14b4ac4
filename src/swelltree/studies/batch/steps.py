r"""The fixed step of a batch, from an error estimate.

Runs of a few cases with a step and with half of it differ by 15/16 of the error of the longer one,
where the method is of fourth order. The largest difference of any chosen channel, of its standard
deviation, is the error; steps are halved until it is as small as asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.studies.batch.cases import BatchCase, ramp_of_case
from swelltree.studies.batch.engine import Engine, Plan
from swelltree.system.errors import SwelltreeError

TRIED = 120.0  # s after the ramp
TRIED_CASES = 32  # at most
MOST_HALVINGS = 8
RICHARDSON = 16.0 / 15.0


class ChosenStep(NamedTuple):
    """A step and its error.

    Args:
        step: [s].
        error: largest, of the standard deviation of a channel.
    """

    step: float
    error: float


def chosen_step(engine: Engine, plan: Plan, cases: list[BatchCase], tolerance: float) -> ChosenStep:
    """The longest step that is accurate enough for some cases.

    Args:
        engine: that runs the batch.
        plan: with the longest step to try.
        cases: to try; those that do not run do not count.
        tolerance: largest error, of the standard deviation of a channel.
    """
    if not 0 < tolerance < 1:
        raise SwelltreeError(
            f"tolerance {tolerance} of the step is not between 0 and 1. Give e.g. 1e-3."
        )
    assert plan.step is not None
    cases, step = cases[: min(plan.lanes, TRIED_CASES)], plan.step
    until = max(ramp_of_case(case) for case in cases) + TRIED
    plan = replace(plan, times=plan.times[plan.times <= max(until, plan.times[1])])
    coarse = engine.run(plan, cases)
    error = np.inf
    for _ in range(MOST_HALVINGS):
        half = replace(plan, step=0.5 * step)
        fine = engine.run(half, cases)
        told = [_apart(a.channels, b.channels) for a, b in zip(coarse, fine, strict=True)]
        known = [x for x in told if x is not None]
        if not known and all(one.message for one in fine):
            raise SwelltreeError(
                f"none of the {len(cases)} cases tried for the step can be run. The first says: "
                f"{fine[0].message}"
            )
        error = max(known, default=np.inf)
        if error <= tolerance:
            return ChosenStep(step, error)
        step, coarse = 0.5 * step, fine
    raise SwelltreeError(
        f"steps of {step:g} s still have an error of {error:.2g}, more than the {tolerance:g} "
        "asked for. Give a step, or a larger tolerance."
    )


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
    return RICHARDSON * worst
