"""Model checks: what will go wrong, before it is computed.

`check_physics` looks at a model as an experienced colleague would: does it float, does it stay
upright, is the sea within the data, will it resonate, will it leave the linear range, how long
will it take. `brief` has the part that costs milliseconds and precedes every run.
"""

from __future__ import annotations

from swelltree.describe.errors import Finding, sorted_findings
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.model.capabilities import HasUnknowns, having
from swelltree.model.checks.afloat import mass_against_displacement
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.checks.equilibrium import at_rest, inertias
from swelltree.studies.checks.sea import (
    damping_decayed,
    expected_motion,
    mesh_of_the_tank,
    resonances,
    sea_in_band,
)
from swelltree.studies.checks.trial import TrialOnLines, trial_run
from swelltree.studies.options import study_of_model
from swelltree.studies.seas import realised
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea


@study_of_model
def check_physics(
    model: Model,
    sea: AnySea | None = None,
    *,
    duration: float | None = None,
    formulation: str | None = None,
    case: int | str = 0,
    trial: bool = True,
) -> list[Finding]:
    """What a model will do wrong, the most serious first, each with what to do about it.

    Args:
        model: from `compile`.
        sea: the sea it shall meet.
        duration: of the planned run [s], for the estimate of its time.
        formulation: name of the formulation, that of `simulate` if not given.
        case: number or name of the run.
        trial: run a few periods to measure speed and steps.
    """
    how = chosen_formulation(formulation or "path_matrix")
    findings = [*mass_against_displacement(model), *inertias(model), *damping_decayed(model)]
    on_lines = TrialOnLines(model, sea, formulation, case) if having(model, HasUnknowns) else None
    resting = at_rest(model, how, on_lines)
    findings += resting
    waves = None if sea is None else realised(model, sea, case)
    if waves is not None:
        findings += mesh_of_the_tank(model, waves)
    lies = not any(finding.code == "no equilibrium" for finding in resting)
    if sea is not None and isinstance(waves, Components) and len(waves.amplitude):
        inside = sea_in_band(model, waves)
        findings += inside
        if lies and hydro_table(model) is not None and not inside:
            findings += resonances(model, how, waves)
            findings += expected_motion(model, sea, how, case)
    if trial and lies and on_lines is not None:
        findings += on_lines.run(duration)
    elif trial and lies:
        findings += trial_run(model, sea, duration, formulation, case)
    return sorted_findings(findings)
