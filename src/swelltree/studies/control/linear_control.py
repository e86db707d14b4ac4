"""Optimal control of linear models: one convex quadratic program of the driven elements."""

from __future__ import annotations

import time

import numpy as np

from swelltree.solvers.fourier import to_complex
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limits import read_limits
from swelltree.studies.control.linear import (
    Port,
    body_motion,
    damped,
    linear_response,
    power_bound,
    wave_forces,
    wave_rates,
)
from swelltree.studies.control.passive import best_damper, no_damper
from swelltree.studies.control.search import (
    Asked,
    ControlSolution,
    best_of_starts,
    check_found,
    scales,
    series_of,
    spread_scale,
)
from swelltree.studies.control.series import Response
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.waves.sea import RealisedSea


def linear_control(
    linear: LinearModel, port: Port, waves: RealisedSea | None, asked: Asked
) -> tuple[ControlSolution, float]:
    """The best force on the linear model, and the power that no force passes."""
    begin = time.process_time()
    excitation = wave_forces(linear, port, waves)
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
    best = no_damper(len(port.ports))
    if asked.compare:
        best = best_damper(passive, goal, port.omega, bare[lead])
    response = optimum.point.response  # pyright: ignore[reportAttributeAccessIssue]
    F = to_complex(response.force)
    bodies = body_motion(port, excitation, F[1:])
    bodies = np.concatenate([np.zeros_like(bodies[:1]), bodies])
    return ControlSolution(response, optimum, program, goal, best, bodies, spent), power_bound(
        port, alone
    )
