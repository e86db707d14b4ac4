"""Optimal control of nonlinear models: the motion is eliminated by Newton, its derivatives exact.

For every trial force the periodic motion is found; the quadratic programs see cost and limits as
functions of the force alone, with the exact Hessian of the Lagrangian by adjoints.

What the searches for optimal forces on linear and nonlinear models share.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.integrate.fourier import basis, from_complex, to_complex
from swelltree.integrate.programming import Optimum, minimise
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.studies.control.actuators import (
    Passive,
    best_damper,
    no_damper,
    with_damping,
    with_tips,
)
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limited import AtRest, Response
from swelltree.studies.control.limits import read_limits, why_not
from swelltree.studies.control.linear import (
    Port,
    linear_response,
    power_bound,
    wave_forces,
    wave_rates,
)
from swelltree.studies.control.nodes import DrivenNodes, Solved
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.periodic.problem import Period, PeriodRequest, check_periodic, set_up
from swelltree.studies.periodic.solve import all_pins, at_rest
from swelltree.waves.airy import Components

TIPS = (0.5, 0.2, 0.08, 0.03)  # soft tips of end stops, of their distance, one after another
TRIAL_DAMPINGS = np.logspace(-1.5, 1.5, 13)  # dampers tried first, of the size of the impedance


class Reduced:
    """Maps unknowns to series of the driven elements, starting from the last motion."""

    def __init__(self, nodes: DrivenNodes) -> None:
        self.nodes = nodes
        self.last: np.ndarray = np.zeros((nodes.c, nodes.u))
        self.near: tuple[np.ndarray, Solved, np.ndarray] | None = None  # z, motion, its change

    def motion(self, a: np.ndarray) -> Solved | None:
        """Periodic motion under u at the nodes."""
        solved = self.nodes.solve(a, self.last)
        if solved is None and np.any(self.last):
            solved = self.nodes.solve(a, np.zeros_like(self.last))
        if solved is not None:
            self.last = solved.Y
        return solved

    def motion_of(self, z: np.ndarray) -> Solved | None:
        """Periodic motion for given unknowns, predicted from the last one."""
        a = self.nodes.series(z)
        if self.near is not None:
            before, motion, S = self.near
            if np.array_equal(before, z):
                return motion
            solved = self.nodes.solve(a, motion.Y + S @ (z - before), motion.factor)
            if solved is not None:
                self.last = solved.Y
                return solved
        return self.motion(a)

    def series(self, solved: Solved) -> Response:
        ports, out = self.nodes.ports, self.nodes.project(solved)
        x, v = solved.values[3] - ports.zero, solved.values[4]
        F = solved.a - ports.damping * v - ports.stiffness * x
        none = np.zeros((0, 0, 0))
        return Response(out @ x, out @ v, out @ F, none, none, none)

    def __call__(self, z: np.ndarray) -> Response | None:
        nodes, ports = self.nodes, self.nodes.ports
        solved = self.motion_of(z)
        if solved is None:
            return None
        S = nodes.sensitivity(solved)
        self.near = (z, solved, S)
        plain = self.series(solved)
        d_x = nodes.series_change(solved, S, 3)
        d_v = nodes.series_change(solved, S, 4)
        d_F = nodes.own_series
        if len(d_F) != len(d_x):
            d_F = np.tensordot(nodes.wide.project @ nodes.B[0], d_F, 1)
        if ports.damping.any() or ports.stiffness.any():
            d_F = d_F - ports.damping[:, None] * d_v - ports.stiffness[:, None] * d_x

        def curvature(w_x: np.ndarray, w_v: np.ndarray, w_F: np.ndarray) -> np.ndarray:
            back = nodes.project(solved).T
            of_x = back @ (w_x - ports.stiffness * w_F)
            of_v = back @ (w_v - ports.damping * w_F)
            return nodes.curvature(solved, S, of_x, of_v)

        return replace(plain, d_stroke=d_x, d_rate=d_v, d_force=d_F, curvature=curvature)


def nonlinear_control(
    model: Model,
    how: Formulation,
    port: Port,
    linear: LinearModel,
    requested: PeriodRequest,
    asked: SearchRequest,
) -> tuple[ControlSolution, float]:
    """Optimal force on a nonlinear model, and the bound of the linear one."""
    check_periodic(model, requested.harmonics, requested.nodes, requested.radiation)
    waves = requested.waves
    period = _pinned(how, set_up(model, how, requested))
    ports = port.ports
    # soft tips first, then thinner ones: the force of a hard stop has no slope at contact
    softened = [with_tips(period.model, share) for share in TIPS]
    periods = [replace(period, model=m) for m in softened if m is not None] or [period]
    stops = softened[0] is not None
    reduced = Reduced(DrivenNodes(how, periods[0], ports, port.mean))
    alone = np.zeros((port.harmonics, len(ports)), dtype=complex)
    table = hydro_table(model)
    if isinstance(waves, Components) and table is not None:
        alone = wave_rates(port, wave_forces(linear, port, waves))
    force_scale, power_scale = scales(port, alone, asked.limits)
    limits = read_limits(ports, asked.limits, power_scale)
    goal = Goal(asked.efficiency, asked.copper, limits)
    program = ControlProgram(
        reduced,
        goal,
        port.omega,
        port.harmonics,
        spread_scale(port, force_scale),
        power_scale,
        convex=False,
        points=asked.points,
    )
    reduced.nodes.prepare()
    begin = time.process_time()
    z, multiplier = _start(port, alone, goal, program, asked)
    if program.at(z) is None:
        z = np.zeros_like(z)
        if program.at(z) is None:
            raise SwelltreeError(
                "optimal_control: no periodic motion was found without control. Look at "
                "steady_state of this model first."
            )
    if not goal.limits:
        program.farthest = FAR * max(1.0, float(np.abs(z).max()))
    optimum = best_of_starts(program, z, asked, multiplier)
    for harder in periods[1:]:
        before, reduced = reduced.last, Reduced(DrivenNodes(how, harder, ports, port.mean))
        reduced.last = before
        program.exchange(reduced)
        if program.at(optimum.z) is None:
            break
        optimum = best_of_starts(program, optimum.z, asked, optimum.multiplier)
    spent = time.process_time() - begin
    check_found(program, port, optimum, asked, stops=stops)
    response = optimum.point.response  # pyright: ignore[reportAttributeAccessIssue]
    # the motion of the optimum once more: a rejected step may have come after it
    final = reduced.motion_of(program.force_scale * optimum.z)
    assert final is not None
    bodies = _bodies(port, reduced, final)
    passive = no_damper(len(ports))
    if asked.compare:
        passive = _passive(reduced, goal, port, alone)
    notes = [reduced.nodes.slower()]
    if stops:
        notes.append(
            f"End stops are smoothed over {100 * TIPS[-1]:g} % of their distance in the search."
        )
    solution = ControlSolution(
        response, optimum, program, goal, passive, bodies, spent, tuple(notes)
    )
    return solution, power_bound(port, alone) if np.any(alone) else np.nan


def _pinned(how: Formulation, period: Period) -> Period:
    """Problem with pins in directions without mean stiffness."""
    jacobians, _ = at_rest(how, period)
    directions, equations = all_pins(how, period, jacobians[:, : len(jacobians)])
    return replace(period, pinned=directions, unbalanced=equations)


def _start(
    port: Port, alone: np.ndarray, goal: Goal, program: ControlProgram, asked: SearchRequest
) -> tuple[np.ndarray, np.ndarray | None]:
    """Optimum of the linearised system with the same limits, as scaled u, and multipliers."""
    respond, size = linear_response(port, alone)
    limits = tuple(limit for limit in goal.limits if not limit.quantity.is_product)
    quadratic = ControlProgram(
        respond,
        Goal(1.0, goal.copper, limits),
        port.omega,
        port.harmonics,
        program.force_scale,
        program.power_scale,
        convex=True,
        points=asked.points,
    )
    optimum = minimise(quadratic, np.zeros(size))
    if not (optimum.feasible and np.any(alone)):
        return np.zeros(size), None
    if not goal.limits_power:
        program.adopt(quadratic)
    r = optimum.point.response  # pyright: ignore[reportAttributeAccessIssue]
    u = r.force + port.ports.damping * r.rate + port.ports.stiffness * r.stroke
    keep = np.ones((len(port.ports), len(u)), bool)
    keep[:, 0] = port.mean
    return u.T[keep] / program.force_scale, optimum.multiplier


def _bodies(port: Port, reduced: Reduced, solved: Solved) -> np.ndarray:
    """Displacements of all bodies from rest by harmonic, (N + 1, 6N) complex; heading axes."""
    nodes = reduced.nodes
    v = solved.values[1]
    n = (nodes.c - 1) // 2
    rate = to_complex(np.asarray(basis(2 * np.pi / nodes.omega, n, nodes.count).project) @ v)
    w = nodes.omega * np.arange(1, n + 1)[:, None]
    mean = np.real(
        np.asarray(nodes.period.basis.project)[:1] @ (solved.values[2] @ solved.Y[0, : nodes.n])
    )
    moved = np.concatenate([mean + 0j, rate[1:] / (-1j * w)])
    return columns_in_axes(port.heading, moved.T).T


def _passive(reduced: Reduced, goal: Goal, port: Port, alone: np.ndarray) -> Tree:
    """Best dampers within the limits, on the nonlinear model."""
    nodes = reduced.nodes
    model = nodes.period.model
    zero = np.zeros((nodes.count, nodes.p))

    def respond(c: np.ndarray) -> Response | None:
        damped = with_damping(model, nodes.ports.place, c)
        driven = DrivenNodes(
            nodes.how,
            replace(nodes.period, model=damped),
            replace(nodes.ports, damping=c),
            port.mean,
        )
        trial = Reduced(driven)
        trial.last = start[0]
        solved = trial.motion(zero)
        if solved is None:
            return None
        start[0] = solved.Y
        return trial.series(solved)

    start = [np.zeros((nodes.c, nodes.u))]
    bare = np.abs(1.0 / np.maximum(np.abs(np.einsum("kii->ki", port.mobility)), 1e-300))
    lead = int((np.abs(alone) ** 2).sum(axis=1).argmax())
    return best_damper(respond, goal, port.omega, bare[lead], TRIAL_DAMPINGS)


FAR = 100.0  # of the typical force: a search without limits that goes farther has no optimum
SHARPER = (0.3, 0.1, 0.03, 0.01, 0.003)  # of the typical power


@dataclass(frozen=True)
class SearchRequest:
    """Options of a search."""

    limits: NamedValues
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
    """Result of a search before labelling."""

    response: Response
    optimum: Optimum
    program: ControlProgram
    goal: Goal
    passive: Passive
    bodies: np.ndarray  # (N + 1, 6N) complex displacements from rest, heading axes
    search_cpu: float  # s
    notes: tuple[str, ...] = ()


def scales(port: Port, waves_alone: np.ndarray, limits: NamedValues) -> tuple[Tree, float]:
    """Typical force of every element and typical power."""
    size = np.abs(
        np.linalg.inv(port.mobility + 1e-12 * np.abs(port.mobility).max() * np.eye(len(port.ports)))
    )
    moving = np.abs(waves_alone)
    rate = np.sqrt(0.5 * (moving**2).sum(axis=0))
    lead = int((moving**2).sum(axis=1).argmax())
    force = np.maximum(size[lead].sum(axis=1) * np.sqrt(0.5 * (moving**2).sum()), 1e-12)
    specified = limits.get("force_max")
    for i, name in enumerate(port.ports.names):
        limit = specified.get(name) if isinstance(specified, dict) else specified
        if limit is not None:
            force[i] = min(force[i], float(np.abs(limit).max()))
    power = float((force * rate).sum())
    return force, power if power > 0.0 else 1.0


def spread_scale(port: Port, force_scale: np.ndarray) -> np.ndarray:
    """Scale of every unknown, element by element."""
    c = 2 * port.harmonics + 1
    return np.concatenate(
        [np.full(c - (not has_mean), s) for s, has_mean in zip(force_scale, port.mean, strict=True)]
    )


def best_of_starts(
    program: ControlProgram,
    z: np.ndarray,
    requested: SearchRequest,
    multiplier: np.ndarray | None = None,
) -> Optimum:
    """Best optimum of several starts; the first from z, the others scattered around it."""
    if program.goal.efficiency < 1.0 or program.goal.limits_power:
        # the change from generating to motoring is sharpened in steps
        rounded, give = program.rounded, program.give
        for width in SHARPER:
            program.loosen(max(width, rounded), max(width, give))
            z = minimise(program, z, tol=1e-4, max_iterations=20).z
            multiplier = None
        program.loosen(rounded, give)
    best = minimise(
        program,
        z,
        tol=requested.tol,
        max_iterations=requested.max_iterations,
        multiplier=multiplier,
    )
    if program.convex:
        return best
    rng = np.random.default_rng(11)
    for _ in range(requested.starts - 1):
        try:
            other = minimise(
                program,
                z + 0.3 * rng.standard_normal(len(z)) / np.sqrt(len(z)),
                tol=requested.tol,
                max_iterations=requested.max_iterations,
            )
        except AssertionError:
            continue
        better = other.point.cost < best.point.cost or not best.converged
        if other.converged and other.feasible and better:
            best = other
    return best


def check_found(
    program: ControlProgram,
    port: Port,
    optimum: Optimum,
    requested: SearchRequest,
    stops: bool = False,
) -> None:
    """Reject solutions that are not optima."""
    if optimum.converged and optimum.feasible:
        return
    if not optimum.feasible:
        force_rows = (
            np.diag(port.mean.astype(float)) - port.ports.stiffness[:, None] * port.compliance
        )
        rest = AtRest(port.rest_stroke, port.compliance, port.rest_force, force_rows)
        raise SwelltreeError(why_not(program, port.ports, optimum.point, rest))
    force = float(np.abs(program.force_scale * optimum.z).max())
    if program.is_lost(optimum.z):
        raise SwelltreeError(
            f"optimal_control: after {len(optimum.history)} steps the search takes ever more power "
            f"by ever larger forces, {force:.2g} N or N m by now, more than {FAR:g} times those of "
            "the linear model. Limit force_max, stroke_max or velocity_max."
        )
    if len(optimum.history) >= requested.max_iterations:
        advice = f"Raise max_iterations above {requested.max_iterations}"
    elif stops:
        advice = "Give a stroke_max inside the end stops, more nodes, or softer stops"
    elif not program.requested:
        advice = (
            f"Nothing limits the forces, which have grown to {force:.2g} N or N m: "
            "limit force_max, stroke_max or velocity_max"
        )
    else:
        advice = "Nothing near gets better: give starts=4, fewer harmonics, or more nodes"
    raise SwelltreeError(
        f"optimal_control: the search stopped with a KKT residual of {optimum.kkt:.2g} after "
        f"{len(optimum.history)} steps. {advice}."
    )


def series_of(port: Port, x: np.ndarray, v: np.ndarray, F: np.ndarray) -> Response:
    """Series of complex harmonics about the equilibrium."""
    none = np.zeros((0, 0, 0))
    mean = np.zeros((1, len(port.ports)))
    parts = [
        from_complex(np.concatenate([start[None] + 0j, y]))
        for start, y in ((port.rest_stroke, x), (mean[0], v), (port.rest_force, F))
    ]
    return Response(parts[0], parts[1], parts[2], none, none, none)
