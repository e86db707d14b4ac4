"""Lines by themselves in time: ends held or moved, points free; a run is one loop in one program.

`line_march` runs it from the host and mends failed steps; `line_rest` finds the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.bed import Bed, contact_under
from swelltree.model.line_arrays import LineArrays, with_rest_length
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.two_step.line_attempts import LineOptions, solve_step, with_ends
from swelltree.two_step.line_forces import NodeWater, freeze, still_water
from swelltree.two_step.line_newton import Iterate, Step, before
from swelltree.two_step.line_points import Points, held_ends
from swelltree.two_step.line_report import LineReport, report
from swelltree.two_step.stretch import static_multipliers


@pytree()
class LineState:
    """Two positions and the last forces; everything a next step needs.

    Args:
        q: positions of the nodes at t_{n-1} and t_n (2, line, node, 3) [m].
        x: places of the points at t_{n-1} and t_n (2, point, 3) [m].
        mu: multipliers of the last step (line, segment) [N].
        nu: contact forces (line, node) [N].
        point_nu: contact forces of the points (point,) [N].
        start: 1 where the next step starts from the velocities, 0 where it goes on.
        velocity: of the nodes (line, node, 3) [m/s], for a start.
        point_velocity: of the points (point, 3) [m/s], for a start.
        t: time of t_n [s].
    """

    q: Array
    x: Array
    mu: Array
    nu: Array
    point_nu: Array
    start: Array
    velocity: Array
    point_velocity: Array
    t: Array


def start_lines(
    q: Any, x: Any = None, velocity: Any = 0.0, point_velocity: Any = 0.0, t: float = 0.0
) -> LineState:
    """State at the start of a run; plain numpy.

    Args:
        q: positions of the nodes (line, node, 3) [m].
        x: places of the points (point, 3) [m]; the line ends in order if not given.
        velocity: of the nodes (line, node, 3) [m/s].
        point_velocity: of the points (point, 3) [m/s].
        t: time [s].
    """
    q = np.asarray(q, float)
    x = q[:, [0, -1]].reshape(-1, 3) if x is None else np.asarray(x, float)
    nl, nodes = q.shape[:2]
    return LineState(
        q=np.stack([q, q]),
        x=np.stack([x, x]),
        mu=np.ones((nl, nodes - 1)),
        nu=np.zeros((nl, nodes)),
        point_nu=np.zeros(x.shape[0]),
        start=np.asarray(1.0),
        velocity=np.broadcast_to(np.asarray(velocity, float), q.shape).copy(),
        point_velocity=np.broadcast_to(np.asarray(point_velocity, float), x.shape).copy(),
        t=np.asarray(float(t)),
    )


@pytree()
class LineRun:
    """History of a run; row k belongs to t_k, the last solved step gives row k = steps - 1.

    Args:
        time: (time,) [s].
        position: of the nodes at t_k (time, line, node, 3) [m].
        points: places of the points at t_k (time, point, 3) [m].
        report: tensions, flags, energies, residuals (time, ...).
        error: scaled residual of the step (time, line) [m].
        iterations: Newton's, in all attempts (time,).
        state: after the last step.
    """

    time: Array
    position: Array
    points: Array
    report: LineReport
    error: Array
    iterations: Array
    state: LineState


@pytree()
class LineSetting:
    """What surrounds lines by themselves.

    Args:
        points: what they hang on.
        bed: the seabed, or None.
        gravity: [m/s^2].
        rho: density of the water [kg/m^3].
    """

    points: Points
    bed: Bed | None = None
    gravity: Any = 9.81
    rho: Any = 1025.0


def run_lines(
    lines: LineArrays,
    positions: Callable[[Array], Array],
    h: Any,
    steps: int,
    state: LineState,
    setting: LineSetting | None = None,
    *,
    water: Callable[[Array, Array], NodeWater] | None = None,
    beyond: Callable[[Array], Array] | None = None,
    rest_length: Callable[[Array], Array] | None = None,
    options: LineOptions | None = None,
) -> LineRun:
    """Step lines whose ends are held, moved or free; jit and differentiate it as you like.

    Args:
        lines: all lines.
        positions: of the held points as a function of time (point, 3); rows of free points are not
            looked at.
        h: step [s].
        steps: their number.
        state: from `start_lines`, `settle` or an earlier run.
        setting: points, seabed, gravity and water; without it every line end is a held point of
            its own, in still water without a bed.
        water: velocity, acceleration and wetness at time t and nodes q; still water up to z = 0 if
            not given.
        beyond: points one metre beyond the ends as a function of time (line, 2, 3), of lines with
            clamped ends.
        rest_length: of the segments as a function of time (line, segment), of lines on a winch.
        options: how steps are solved.
    """
    setting = LineSetting(held_ends(lines.n_lines)) if setting is None else setting
    options = LineOptions() if options is None else options
    state = jax.tree.map(jnp.asarray, state)

    def one(state: LineState, _: Array):
        t = state.t
        now, step, guess = prepare(
            lines, setting, state, h, positions, water, beyond, rest_length, options
        )
        u, error, used = solve_step(step, guess, options)
        q_minus, _ = before(step, u)
        far = None if beyond is None else (beyond(t - h), beyond(t), beyond(t + h))
        told = report(now, step.frozen, h, q_minus, step.q[1], u.q, u.mu, u.nu, far, options.theta)
        return one_on(state, u, t + h), (t, step.q[1], step.x[1], told, error, used)

    state, (time, position, places, told, error, used) = jax.lax.scan(one, state, jnp.arange(steps))
    return LineRun(
        time=time,
        position=position,
        points=places,
        report=told,
        error=error,
        iterations=used,
        state=state,
    )


def one_on(state: LineState, u: Iterate, t: Any) -> LineState:
    """The state one step on."""
    return replace(
        state,
        q=jnp.stack([state.q[1], u.q]),
        x=jnp.stack([state.x[1], u.x]),
        mu=u.mu,
        nu=u.nu,
        point_nu=u.point_nu,
        start=jnp.zeros_like(state.start),
        t=t,
    )


def prepare(
    lines: LineArrays,
    setting: LineSetting,
    state: LineState,
    h: Any,
    positions: Any,
    water: Any,
    beyond: Any,
    rest_length: Any,
    options: LineOptions,
) -> tuple[LineArrays, Step, Iterate]:
    """The lines at t, the data of the step from t, and its first guess."""
    q, x, t, points = state.q[1], state.x[1], state.t, setting.points
    rest = None
    if rest_length is not None:
        lines = with_rest_length(lines, rest_length(t))
        rest = jnp.stack([rest_length(t - h), rest_length(t + h)], 1)
    at = still_water(q) if water is None else water(t, q)
    # held points were and will be where they are told to be
    free = points.free[:, None] > 0.0
    given = positions(t + h)
    x_minus = jnp.where(free, state.x[0], positions(t - h))
    step = Step(
        lines=lines,
        points=points,
        frozen=freeze(lines, setting.bed, q, at, setting.gravity, setting.rho, rest),
        contact=contact_under(setting.bed, x, points.area, points.free * (points.area > 0.0)),
        h=h,
        q=state.q,
        x=jnp.stack([x_minus, x]),
        start=state.start,
        velocity=(state.velocity, state.point_velocity),
        beyond=None if beyond is None else (beyond(t - h), beyond(t + h)),
        theta=options.theta,
        tau=options.tau,
    )
    ahead = q + jnp.where(state.start > 0.0, h * state.velocity, q - state.q[0])
    target = x + jnp.where(state.start > 0.0, h * state.point_velocity, x - x_minus)
    target = jnp.where(free, target, given)
    mu = jnp.where(state.start > 0.0, jnp.maximum(state.mu, static_multipliers(lines, q)), state.mu)
    guess = Iterate(q=ahead, mu=mu, nu=state.nu, x=target, point_nu=state.point_nu)
    return lines, step, with_ends(step, guess, target)
