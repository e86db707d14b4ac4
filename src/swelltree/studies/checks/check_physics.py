"""Model checks: what will go wrong, before it is computed.

`check_physics` looks at a model as an experienced colleague would: does it float, does it stay
upright, is the sea within the data, will it resonate, will it leave the linear range, how long
will it take. `brief` has the part that costs milliseconds and precedes every run.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.describe.errors import Finding, SwelltreeError, sorted_findings
from swelltree.hydro.linear.build import moving_dofs
from swelltree.hydro.linear.hydro import hydro_table, linear_hydro
from swelltree.model.capabilities import HasUnknowns, all_winches, having
from swelltree.model.checks import mass_against_displacement
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.formulations.equations import start_phase
from swelltree.multibody.kinematics import Pose
from swelltree.multibody.layout import DOFS
from swelltree.spatial.rotations import rotation_vector
from swelltree.studies.checks.sea import (
    damping_decayed,
    expected_motion,
    mesh_of_the_tank,
    sea_in_band,
    wet_rows,
)
from swelltree.studies.checks.trial import TrialOnLines, trial_run
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.options import realised, study_of_model
from swelltree.studies.statics.equilibrium import find_rest
from swelltree.studies.statics.relax import placed
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea

SHIFTED = 0.01  # of the hull's reach, or metres where it is not known
TILTED = np.radians(0.5)
# radius of gyration over the edge of the displaced cube: 0.41 of a cube, 0.39 of a sphere, 1.8 of a
# spar; an inertia a thousand times off is beyond either limit
SMALLEST = 0.1
MAX_DRIFT = 6.0
SOFT = 1e-9  # of the largest stiffness: no stiffness at all


def inertias(model: Model) -> Iterator[Finding]:
    """Findings on moments of inertia that no mass distribution has."""
    moves = moving_dofs(model)
    wet = wet_rows(model)
    for i, name in enumerate(model.layout.bodies):
        moments = np.linalg.eigvalsh(np.asarray(model.bodies.inertia)[i])
        mass = float(np.asarray(model.bodies.mass)[i])
        turns = moves[6 * i + 3 : 6 * i + 6].any()
        if moments[2] > (1.0 + 1e-6) * (moments[0] + moments[1]):
            yield Finding(
                "warning",
                "inertia",
                f"body '{name}': the largest moment of inertia {moments[2]:.4g} exceeds the sum "
                f"of the others {moments[0] + moments[1]:.4g}, which no body has. "
                "Check the order Ixx, Iyy, Izz and the units (kg m^2).",
            )
        if mass > 0.0 and turns and wet[i]:
            size = float(np.cbrt(mass / model.rho))
            gyration = float(np.sqrt(max(moments[2], 0.0) / mass))
            if not SMALLEST * size < gyration < MAX_DRIFT * size:
                word = "tiny" if gyration <= SMALLEST * size else "huge"
                yield Finding(
                    "warning",
                    "inertia",
                    f"body '{name}': its radius of gyration is {gyration:.2g} m, {word} for a "
                    f"body that displaces a cube of {size:.3g} m. Check the unit of the inertia "
                    "(kg m^2).",
                    {"gyration": gyration, "size": size},
                )


def at_rest(model: Model, how: Formulation, on_lines: TrialOnLines | None) -> list[Finding]:
    """The equilibrium of the system and whether it is stable.

    Args:
        model: compiled.
        how: the formulation.
        on_lines: of a system with dynamic lines or contacts, which settle by their own steps.
    """
    try:
        if on_lines is not None:
            return [*_moved(model, _described(model, how), on_lines.rest())]
        rest, _, _, _ = find_rest(model, how)
    except SwelltreeError as error:
        text = f"{error} A run from here will not settle."
        return [Finding("error", "no equilibrium", text)]
    after = placed(how)(model, rest)[0]
    moved = [*_moved(model, _described(model, how), after)]
    if all_winches(model):
        return moved
    if coupled_effect(model) is not None:
        return moved  # no linear model, whose stability could be looked at
    return [*moved, *_stability(linear_model(model, how, "infinite", start=rest))]


def _described(model: Model, how: Formulation) -> Pose:
    """Where the bodies are described: where the data hold, else where they start.

    A run may start elsewhere on purpose, as a decay does.
    """
    hydro = linear_hydro(model)
    if hydro is not None:
        return hydro.mean
    return placed(how)(model, start_phase(model, how).state)[0]


def _moved(model: Model, before: Pose, after: Pose) -> Iterator[Finding]:
    """Finding on the distance between equilibrium and described pose, of bodies in the data."""
    rise = np.asarray(after.p) - np.asarray(before.p)
    back = np.swapaxes(np.asarray(before.R), 1, 2)
    turn = np.asarray(rotation_vector(np.asarray(after.R) @ back))
    wet = wet_rows(model)
    for i, name in enumerate(model.layout.bodies):
        if wet.any() and not wet[i]:
            continue
        reach = 1.0
        hydro = linear_hydro(model)
        if hydro is not None:
            known = np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)[i]
            reach = float(known) if np.isfinite(known) else 1.0
        tilt = float(np.abs(turn[i, :2]).max())
        if abs(rise[i, 2]) > SHIFTED * reach or tilt > TILTED:
            yield Finding(
                "warning",
                "rest",
                f"body '{name}' comes to rest {abs(rise[i, 2]):.3g} m "
                f"{'higher' if rise[i, 2] > 0 else 'lower'} and tilted by {np.degrees(tilt):.2g} "
                "degrees from where it is described, and linear data hold where it is described. "
                "Describe it at equilibrium, or correct mass and centre of mass.",
                {"rise": float(rise[i, 2]), "tilt": tilt},
            )


def _stability(linear: LinearModel) -> Iterator[Finding]:
    """Findings on unstable directions."""
    from scipy.linalg import eigh

    model, to_bodies = linear.at.model, linear.to_displacements
    K = 0.5 * (linear.stiffness + linear.stiffness.T)
    if not K.size:
        return
    # compare stiffness with inertia, so that metres and radians do not mix
    values, shapes = eigh(K, linear.total_mass)
    largest = max(float(np.abs(values).max()), 1e-300)
    unrestrained = []
    for value, shape in zip(values, shapes.T, strict=True):
        # which body and DOF take most of the elastic energy, or else move most
        share = np.abs(to_bodies) @ np.abs(shape * (K @ shape))
        moved = np.abs(to_bodies @ shape)
        where = _place(model, share if abs(value) > SOFT * largest else moved)
        if value < -1e-7 * largest:
            yield Finding(
                "error",
                "unstable",
                f"the equilibrium is unstable in {where}: it will capsize or diverge, doubling "
                f"about every {np.log(2) / np.sqrt(-value):.2g} s. {_cure(where)}",
                {"growth": float(np.sqrt(-value))},
            )
        elif abs(value) <= max(SOFT * largest, 1e-12):
            unrestrained.append(where)
    if unrestrained:
        yield Finding(
            "note",
            "free",
            f"nothing holds {', '.join(dict.fromkeys(unrestrained))}: it will drift. Add a mooring "
            "where that matters.",
        )


def _cure(where: str) -> str:
    """Advice for an unstable direction."""
    if where.endswith("Yaw"):
        return "Data in fixed axes do not turn with the body: use compile(..., frame='yaw')."
    return "Lower the centre of mass, widen the waterplane, or hold it."


def _place(model: Model, share: np.ndarray) -> str:
    """Body and DOF with the largest fraction (6N,)."""
    k = int(share.argmax())
    return f"{model.layout.bodies[k // 6]} {DOFS[k % 6]}"


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
    """Likely problems of a model and its sea, the most serious first, each with a remedy.

    Args:
        model: from `compile`.
        sea: the sea of the planned run.
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
            findings += expected_motion(model, sea, how, case)
    if trial and lies and on_lines is not None:
        findings += on_lines.run(duration)
    elif trial and lies:
        findings += trial_run(model, sea, duration, formulation, case)
    return sorted_findings(findings)
