"""The physics doctor: what will go wrong, before it is computed.

`check_physics` looks at a model as an experienced colleague would: does it float, does it stay
upright, is the sea within the data, will it resonate, will it leave the linear range, how long
will it take. `brief_check` is the part that costs milliseconds and precedes every run.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from swelltree.formulations import formulation as chosen_formulation
from swelltree.model.checks.afloat import mass_against_displacement
from swelltree.model.model import Model
from swelltree.studies.doctor.rest import at_rest, inertias
from swelltree.studies.doctor.sea import damping_decayed, expected_motion, resonances, sea_in_band
from swelltree.studies.given import study_of_model
from swelltree.studies.seas import realised
from swelltree.studies.time.simulate import simulate
from swelltree.system.errors import SwelltreeError, SwelltreeWarning
from swelltree.system.findings import Finding, sorted_findings
from swelltree.waves.airy import Components

CUT_OFF = 0.5  # of the largest damping: so much at the end of the data is told before a run
TRIAL = 4  # wave periods of the trial run


@study_of_model
def check_physics(
    model: Model,
    sea: Any = None,
    *,
    duration: float | None = None,
    formulation: str = "path_matrix",
    case: int | str = 0,
    trial: bool = True,
) -> list[Finding]:
    """What a model will do wrong, the most serious first, each with what to do about it.

    Args:
        model: from `compile`.
        sea: the sea it shall meet.
        duration: of the planned run [s], for the estimate of its time.
        formulation: name of the formulation.
        case: number or name of the run.
        trial: run a few periods to measure speed and steps.
    """
    how = chosen_formulation(formulation)
    findings = [*mass_against_displacement(model), *inertias(model), *damping_decayed(model)]
    resting = at_rest(model, how)
    findings += resting
    waves = None if sea is None else realised(model, sea, case)
    lies = not any(finding.code == "no equilibrium" for finding in resting)
    if isinstance(waves, Components) and len(waves.amplitude):
        inside = sea_in_band(model, waves)
        findings += inside
        if lies and model.hydro is not None and model.hydro.table is not None and not inside:
            findings += resonances(model, how, waves)
            findings += expected_motion(model, sea, how, case)
    if trial and lies:
        findings += trial_run(model, sea, duration, formulation, case)
    return sorted_findings(findings)


def brief_check(model: Model) -> list[Finding]:
    """The checks that cost no compilation, before every run."""
    findings = [*mass_against_displacement(model), *damping_decayed(model, CUT_OFF)]
    return sorted_findings([finding for finding in findings if finding.severity != "note"])


def trial_run(
    model: Model, sea: Any, duration: float | None, formulation: str, case: int | str
) -> list[Finding]:
    """Run a little: how long are the steps, how long will the whole take?"""
    waves = None if sea is None else realised(model, sea, case)
    period = 10.0
    if isinstance(waves, Components) and len(waves.amplitude):
        period = float(waves.Tz)
    length = TRIAL * period
    began = time.perf_counter()
    options: dict[str, Any] = {"formulation": formulation, "case": case, "progress": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)  # told already
            simulate(model, sea, duration=length, **options)
            first = time.perf_counter() - began
            began = time.perf_counter()
            run = simulate(model, sea, duration=length, **options)
    except SwelltreeError as error:
        return [Finding("error", "trial run", f"a trial run of {length:.3g} s failed: {error}")]
    warm = time.perf_counter() - began
    if run.attrs["result"] != "success":
        return [Finding("error", "trial run", f"a trial run did not end well: {run.message}")]
    steps = max(int(run.attrs["steps_accepted"]), 1)
    step = length / steps
    planned = length if duration is None else duration
    numbers = {"first_call_s": first, "real_time_factor": length / warm, "mean_step_s": step}
    text = (
        f"the first call takes about {first:.2g} s, a run of {planned:.4g} s then about "
        f"{planned / length * warm:.2g} s ({length / warm:.2g} times real time); steps are about "
        f"{step:.2g} s at rtol = 1e-6."
    )
    findings = [Finding("note", "time", text, numbers)]
    if step < period / 400:
        findings.append(
            Finding(
                "warning",
                "stiff",
                f"steps of {step:.2g} s are needed for waves of {period:.3g} s: something in the "
                "model is much stiffer than the sea. Soften that spring, stop or friction, or use "
                "solver='stiff'.",
                numbers,
            )
        )
    return findings
