r"""`optimal_control`: the periodic force of the power take-offs that takes most power.

The force of every driven PTO is a Fourier series. Linear models are condensed to the driven
elements, and the search is one convex quadratic program; other models are solved by sequential
quadratic programming on the periodic equations of motion.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.data import without_table
from swelltree.engine.remembered import Remembered
from swelltree.formulations import Formulation
from swelltree.formulations import formulation as chosen_formulation
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.solvers.fourier import from_complex, to_complex
from swelltree.solvers.programming.sequential import Optimum, minimise
from swelltree.solvers.threads import one_thread
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limits import read_limits, read_losses, why_not, with_own
from swelltree.studies.control.linear import (
    Port,
    body_motion,
    damped,
    linear_response,
    look_in,
    power_bound,
    wave_forces,
    wave_rates,
)
from swelltree.studies.control.machines import freed, off_the_stops, own_limits
from swelltree.studies.control.passive import best_damper
from swelltree.studies.control.ports import Ports, find_ports, with_signals
from swelltree.studies.control.replay import replayed_powers
from swelltree.studies.control.results import control_dataset
from swelltree.studies.control.series import Response
from swelltree.studies.given import study_of_model
from swelltree.studies.linear.linear_or_not import is_affine, is_linear, may_be_linear, what_bends
from swelltree.studies.linear.rao import linear_system
from swelltree.studies.periodic.set_up import harmonics_for, period_of
from swelltree.studies.seas import realised
from swelltree.studies.traced import check_traced
from swelltree.system.errors import SwelltreeError, listed, suggest

METHODS = ("auto", "linear", "nonlinear")
HARMONICS = 15  # of a regular wave, when nothing is said
SHARPER = (0.3, 0.1, 0.03, 0.01, 0.003)  # of the typical power
CURVED = "its equations bend, as where bodies turn"
KNOWN = Remembered()  # what depends on the model alone
HIGHER = 3  # times the highest component of a sea: limits give the force corners


@dataclass(frozen=True)
class Asked:
    """What the user wants."""

    limits: dict[str, Any]
    efficiency: float
    copper: np.ndarray  # (p,)
    tol: float
    max_iterations: int
    points: int | None
    starts: int
    nodes: int | None
    compare: bool


@dataclass(frozen=True)
class ControlSolution:
    """What was found, before it becomes a dataset."""

    response: Response
    optimum: Optimum
    program: ControlProgram
    goal: Goal
    passive: tuple[float, np.ndarray]
    bodies: np.ndarray  # (N + 1, 6N) complex displacements from rest
    search_cpu: float  # s
    notes: tuple[str, ...] = ()


@study_of_model
def optimal_control(
    model: Model,
    sea: Any,
    pto: Any = None,
    *,
    force_max: Any = None,
    stroke_max: Any = None,
    rate_max: Any = None,
    power_min: Any = None,
    efficiency: float = 1.0,
    copper_loss: Any = 0.0,
    harmonics: int | None = None,
    period: float | None = None,
    method: str = "auto",
    formulation: str | Formulation = "path_matrix",
    radiation: str = "data",
    limit_points: int | None = None,
    starts: int = 1,
    nodes: int | None = None,
    compare: bool = True,
    replay: bool = True,
    tol: float = 1e-9,
    max_iterations: int = 100,
    case: Any = 0,
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Periodic PTO forces of greatest mean power in a periodic sea, within limits.

    F = u - c v - k x is the whole force of a PTO, its own spring and damper included; limits and
    power are those of F. The result has `force`, `control` (u), `stroke`, `rate`,
    `absorbed_power`, `electrical_power` over one period, their harmonics, the motion of the
    bodies, the multipliers of the limits, and as attributes the mean powers, the best plain
    damper within the same limits, and the KKT residual. `replayed_power` is the mean power of the
    same force in a run in time. Linear models have a `bound` that no force passes; of others there
    is `linear_bound`, that of the model linearised at rest, which they may pass.

    Args:
        model: from `compile`, with hydro data.
        sea: a sea that repeats: RegularWave, or a spectrum with spacing="equal".
        pto: name or names of the PTOs driven; all plain ones, or all machines where there are no
            others, if not given. The law of a machine gives way to u; spring and stops stay.
        force_max: largest size of F [N, N m]; a number, a pair (low, high), or a dict by PTO.
            Where it is not given, force_limit and power_limit of a machine hold.
        stroke_max: largest stroke from its zero [m, rad], likewise. Where it is not given, the
            stops of a machine are not touched; np.inf lets them be.
        rate_max: largest rate of F [N/s], likewise.
        power_min: least absorbed power at any time [W]; zero: the PTO never motors, but for
            0.05 % of the typical power.
        efficiency: of the machine, P_e = eta P when it generates and P / eta when it motors.
        copper_loss: R of a loss R F^2 [W/N^2]; a number or a dict by PTO.
        harmonics: N of the series; fifteen, or three times the highest component of the sea, if
            not given. Limits give the force corners: more harmonics, more power.
        period: of the motion [s]; that of the sea if not given.
        method: "linear" (about the state of rest), "nonlinear", or "auto", which looks at what the
            model contains.
        formulation: name or object.
        radiation: "data", or "state_space" to compare with runs in time.
        limit_points: hold the limits at so many equidistant times only; everywhere if not given.
        starts: number of starting points of a search that may have several optima.
        nodes: per period, of nonlinear models; as in `steady_state` if not given.
        compare: look for the best damper within the same limits, too.
        replay: run the model in time under the force that was found.
        tol: of the KKT residual, in scaled units.
        max_iterations: of the search.
        case: number or name of the run; a list of them shares one problem.
        provenance: attributes added to the result.
    """
    check_traced("optimal_control", model, sea)
    if method not in METHODS:
        raise SwelltreeError(
            f"method '{method}' is not known.{suggest(method, METHODS)} "
            f"Choose one of {listed(METHODS)}."
        )
    if not 0.0 < efficiency <= 1.0:
        raise SwelltreeError(f"efficiency {efficiency} is not in (0, 1]. Give a share.")
    how = chosen_formulation(formulation)
    ports = find_ports(model, pto)
    still = [Constant(np.zeros(())) for _ in ports.names]
    free = with_signals(freed(model, ports.place), ports, still)
    losses = read_losses(ports, copper_loss)
    given = {
        "force_max": force_max,
        "stroke_max": stroke_max,
        "rate_max": rate_max,
        "power_min": power_min,
    }
    own = own_limits(model, ports.names, ports.place)
    asked = Asked(
        with_own(given, own),
        float(efficiency),
        losses,
        tol,
        max_iterations,
        limit_points,
        starts,
        nodes,
        compare,
    )
    off = off_the_stops(own, read_limits(ports, asked.limits, 1.0), ports.names)
    bends = what_bends(free, off)
    cases = list(case) if isinstance(case, (list, tuple, range)) else [case]
    known = KNOWN.about((free, None if free.hydro is None else free.hydro.table))
    linear = recalled(known, (how, "linear"), lambda: linear_system(free, how))
    results = []
    with one_thread():
        for one in cases:
            waves = realised(model, sea, one)
            length = period_of("optimal_control", waves, period)
            count = harmonics_for("optimal_control", waves, length, harmonics, HARMONICS, HIGHER)
            straight = not bends and recalled(
                known,
                (how, "is linear"),
                lambda waves=waves, length=length, count=count: _looks_linear(
                    free, how, ports, linear, (waves, length, count, nodes, radiation)
                ),
            )
            chosen = ("linear" if straight else "nonlinear") if method == "auto" else method
            port = recalled(
                known,
                (how, ports.names, length, count, radiation),
                lambda length=length, count=count: look_in(
                    free, how, ports, length, count, radiation, linear
                ),
            )
            if chosen == "linear":
                solution, bound = _linear(port, waves, asked)
            else:
                from swelltree.studies.control.nonlinear import nonlinear_control

                solution, bound = nonlinear_control(free, how, port, waves, asked, radiation)
            about = {
                "study": "optimal_control",
                "method": chosen,
                "radiation": radiation,
                "bound" if straight else "linear_bound": bound,
                "clipped": " ".join(str(k) for k in port.clipped),
                "case": str(one),
            }
            found = control_dataset(free.layout, ports, port.omega, solution, about)
            why = bends or ("" if straight else CURVED)
            notes = [*solution.notes, why and f"The model is not linear: {why}."]
            if replay:
                numbers, said = replayed_powers(model, found, waves, length, radiation)
                found.attrs |= numbers
                notes.append(said)
            found.attrs["report"] = " ".join(note for note in notes if note)
            results.append(found.assign_attrs(provenance or {}))
    if not isinstance(case, (list, tuple, range)):
        return results[0]
    return _joined(results, cases)


def recalled(known: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """What was made before under this key, or made now."""
    if key not in known:
        known[key] = make()
    return known[key]


def _looks_linear(
    model: Model, how: Formulation, ports: Ports, linear: dict[str, Any], period: Any
) -> bool:
    """Is the model linear? Asked of the equations that the nonlinear search would need."""
    if not may_be_linear(_still(model), how):
        return False
    if not model.has_unknowns and period[2] >= 1:
        from swelltree.studies.control.nodes import driven_node
        from swelltree.studies.periodic.nodes import scalars_of
        from swelltree.studies.periodic.set_up import set_up

        own = set_up(model, how, *period)
        size = 3 * linear["state"].s.shape[0] + len(ports)
        some = np.asarray(own.basis.time)[:3]
        scalars = scalars_of(driven_node, how, ports.place).at(own.bare(), some, size)
        if scalars is not None:
            return is_affine(scalars)
    return is_linear(_still(model), how, linear["state"])


def _still(model: Model) -> Model:
    """The model without memory, waves and data."""
    if model.hydro is None:
        return model
    return without_table(model.with_effect(replace(model.hydro, memory=None, waves=None)))


def scales(port: Port, waves_alone: np.ndarray, limits: dict[str, Any]) -> tuple[Any, float]:
    """Typical force of every element and typical power."""
    size = np.abs(
        np.linalg.inv(port.mobility + 1e-12 * np.abs(port.mobility).max() * np.eye(len(port.ports)))
    )
    moving = np.abs(waves_alone)
    rate = np.sqrt(0.5 * (moving**2).sum(axis=0))
    lead = int((moving**2).sum(axis=1).argmax())
    force = np.maximum(size[lead].sum(axis=1) * np.sqrt(0.5 * (moving**2).sum()), 1e-12)
    given = limits.get("force_max")
    for i, name in enumerate(port.ports.names):
        own = given.get(name) if isinstance(given, dict) else given
        if own is not None:
            force[i] = min(force[i], float(np.abs(own).max()))
    power = float((force * rate).sum())
    return force, power if power > 0.0 else 1.0


def _linear(port: Port, waves: Any, asked: Asked) -> tuple[ControlSolution, float]:
    begin = time.process_time()
    excitation = wave_forces(port, waves)
    alone = wave_rates(port, excitation)
    force_scale, power_scale = scales(port, alone, asked.limits)
    limits = read_limits(port.ports, asked.limits, power_scale)
    goal = Goal(asked.efficiency, asked.copper, limits)
    respond, size = linear_response(port, alone)
    convex = asked.efficiency == 1.0 and not goal.limits_power
    program = ControlProgram(
        respond,
        goal,
        port.omega,
        port.harmonics,
        spread_scale(port, force_scale),
        power_scale,
        convex=convex,
        points=asked.points,
    )
    optimum = best_of_starts(program, np.zeros(size), asked)
    spent = time.process_time() - begin
    check_found(program, port, optimum, asked)

    def passive(c: np.ndarray) -> Response:
        return series_of(port, *damped(port, alone, c))

    bare = np.abs(1.0 / np.maximum(np.abs(np.einsum("kii->ki", port.mobility)), 1e-300))
    lead = int((np.abs(alone) ** 2).sum(axis=1).argmax())
    best = (np.nan, np.full(len(port.ports), np.nan))
    if asked.compare:
        best = best_damper(passive, goal, port.omega, bare[lead])
    response = optimum.point.response  # pyright: ignore[reportAttributeAccessIssue]
    F = to_complex(response.force)
    bodies = body_motion(port, excitation, F[1:])
    bodies = np.concatenate([np.zeros_like(bodies[:1]), bodies])
    return ControlSolution(response, optimum, program, goal, best, bodies, spent), power_bound(
        port, alone
    )


def spread_scale(port: Port, force_scale: np.ndarray) -> np.ndarray:
    """Scale of every unknown, element by element."""
    c = 2 * port.harmonics + 1
    return np.concatenate(
        [np.full(c - (not held), s) for s, held in zip(force_scale, port.mean, strict=True)]
    )


def best_of_starts(
    program: ControlProgram, z: np.ndarray, asked: Asked, multiplier: np.ndarray | None = None
) -> Optimum:
    """The best optimum of several starts; the first from z, the others scattered around it."""
    if program.goal.efficiency < 1.0 or program.goal.limits_power:
        # the change from generating to motoring is sharpened in steps
        rounded, give = program.rounded, program.give
        for width in SHARPER:
            program.loosen(max(width, rounded), max(width, give))
            z = minimise(program, z, tol=1e-4, max_iterations=20).z
            multiplier = None
        program.loosen(rounded, give)
    found = minimise(
        program, z, tol=asked.tol, max_iterations=asked.max_iterations, multiplier=multiplier
    )
    if program.convex:
        return found
    rng = np.random.default_rng(11)
    for _ in range(asked.starts - 1):
        try:
            other = minimise(
                program,
                z + 0.3 * rng.standard_normal(len(z)) / np.sqrt(len(z)),
                tol=asked.tol,
                max_iterations=asked.max_iterations,
            )
        except AssertionError:
            continue
        better = other.point.cost < found.point.cost or not found.converged
        if other.converged and other.feasible and better:
            found = other
    return found


def check_found(
    program: ControlProgram, port: Port, optimum: Optimum, asked: Asked, stops: bool = False
) -> None:
    """Refuse what is not an optimum, with a sentence."""
    if optimum.converged and optimum.feasible:
        return
    if not optimum.feasible:
        held = np.diag(port.mean.astype(float)) - port.ports.stiffness[:, None] * port.compliance
        static = (port.rest_stroke, port.compliance, port.rest_force, held)
        raise SwelltreeError(why_not(program, port.ports, optimum.point, static))
    if len(optimum.history) >= asked.max_iterations:
        advice = f"Raise max_iterations above {asked.max_iterations}"
    elif stops:
        advice = "Give a stroke_max inside the end stops, more nodes, or softer stops"
    else:
        advice = "Nothing near gets better: give starts=4, fewer harmonics, or more nodes"
    raise SwelltreeError(
        f"optimal_control: the search stopped with a KKT residual of {optimum.kkt:.2g} after "
        f"{len(optimum.history)} steps. {advice}."
    )


def series_of(port: Port, x: np.ndarray, v: np.ndarray, F: np.ndarray) -> Response:
    """Series of complex harmonics about the state of rest."""
    none = np.zeros((0, 0, 0))
    mean = np.zeros((1, len(port.ports)))
    parts = [
        from_complex(np.concatenate([start[None] + 0j, y]))
        for start, y in ((port.rest_stroke, x), (mean[0], v), (port.rest_force, F))
    ]
    return Response(parts[0], parts[1], parts[2], none, none, none)


def _joined(results: list[Any], cases: list[Any]) -> Any:
    """Several realisations as one dataset, their numbers as variables."""
    import xarray as xr

    numbers = ("mean_power", "electrical_power", "passive_power", "kkt_residual")
    more = ("bound", "linear_bound", "replayed_power")
    numbers = (*numbers, *(name for name in more if name in results[0].attrs))
    parts = []
    for result in results:
        own = result.drop_dims("active")
        attrs = {f"{name}_of_case": ((), float(result.attrs[name])) for name in numbers}
        parts.append(own.assign(attrs))
    return xr.concat(parts, dim="case", combine_attrs="drop_conflicts").assign_coords(
        case=[str(c) for c in cases]
    )
