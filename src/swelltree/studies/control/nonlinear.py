"""Optimal control of nonlinear models: the motion is eliminated by Newton, its derivatives exact.

For every trial force the periodic motion is found; the quadratic programs see cost and limits as
functions of the force alone, with the exact Hessian of the Lagrangian by adjoints.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.integrate.fourier import basis, to_complex
from swelltree.integrate.programming import minimise
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.studies.control.actuators import best_damper, no_damper, with_damping, with_tips
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limits import read_limits
from swelltree.studies.control.linear import (
    Port,
    linear_response,
    power_bound,
    wave_forces,
    wave_rates,
)
from swelltree.studies.control.nodes import DrivenNodes, Solved
from swelltree.studies.control.search import (
    FAR,
    ControlSolution,
    SearchRequest,
    best_of_starts,
    check_found,
    scales,
    spread_scale,
)
from swelltree.studies.control.series import Response
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
