"""Lines by themselves in time: ends held or moved, points free; a run is one loop in one program.

When Newton fails at a step the interior point tries again, then with theta = 1 (a convex problem
for lines), then in two half steps with theta = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.bed import Bed, contact_under
from swelltree.model.line_arrays import LineArrays
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.system.errors import SwelltreeError
from swelltree.two_step.line_forces import NodeWater, freeze
from swelltree.two_step.line_newton import (
    Iterate,
    Step,
    before,
    direction,
    interior_point,
    newton,
    rows_at,
)
from swelltree.two_step.line_points import Points, at_ends, held_ends
from swelltree.two_step.line_report import LineReport, report


@pytree("tolerance", "max_iterations", "solver", "fallback", "differentiable")
class LineOptions:
    """How steps are solved.

    Args:
        theta: weight of t_{n+1}: 1/2 keeps energy, 1 makes the step convex and damps.
        tau: product of forces and gaps on the central path [m^2].
        tolerance: on scaled residuals [m].
        max_iterations: of Newton.
        solver: "newton" or "interior_point".
        fallback: whether a failed step is tried again by other means.
        differentiable: whether derivatives go through the steps, at one more iteration each.
    """

    theta: Any = 0.5
    tau: Any = 1e-12
    tolerance: float = 1e-9
    max_iterations: int = 40
    solver: str = "newton"
    fallback: bool = True
    differentiable: bool = False


@pytree()
class LineState:
    """Two positions and the last forces; everything a next step needs.

    Args:
        q: positions of the nodes at t_{n-1} and t_n (2, line, node, 3) [m].
        x: places of the points at t_{n-1} and t_n (2, point, 3) [m].
        mu: multipliers of the last step (line, segment) [N].
        nu: contact forces (line, node) [N].
        point_nu: contact forces of the points (point,) [N].
    """

    q: Array
    x: Array
    mu: Array
    nu: Array
    point_nu: Array


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


def solve_step(step: Step, guess: Iterate, options: LineOptions) -> tuple[Iterate, Array, Array]:
    """Solve one step, with the fallbacks asked for.

    Args:
        step: what is given.
        guess: first iterate, with held points at their new places.
        options: how.
    """
    stopped_step, stopped = jax.lax.stop_gradient((step, guess))
    tolerance, limit = options.tolerance, options.max_iterations
    if options.solver == "interior_point":
        u, error, k = interior_point(stopped_step, stopped, tolerance, limit)
    else:
        u, error, k = newton(stopped_step, stopped, tolerance, limit)
    if options.fallback:
        failed = jnp.any(~(error <= tolerance))
        u, error, k = jax.lax.cond(
            failed,
            lambda: _try_again(stopped_step, stopped, options, k),
            lambda: (u, error, k),
        )
    if options.differentiable:
        u = _with_derivatives(step, guess, u)
    return u, error, k


def _try_again(
    step: Step, guess: Iterate, options: LineOptions, used: Array
) -> tuple[Iterate, Array, Array]:
    """Interior point with the step's theta, with theta = 1, and in two half steps."""
    tolerance = options.tolerance
    half_x = 0.5 * (step.x[1] + guess.x)
    free = step.points.free[:, None]
    ends = lambda u, x: _with_ends(step, u, jnp.where(free > 0.0, u.x, x))  # noqa: E731

    def unfinished(state):
        k, _, error, _, _ = state
        # the first half step is never the end
        return (jnp.any(~(error <= tolerance)) & (k < 4)) | (k == 3)

    def attempt(state):
        k, u, error, total, middle = state
        halves = k >= 2
        second = k == 3
        h = jnp.where(halves, 0.5 * step.h, step.h)
        mean = lambda pair: jnp.stack([0.5 * (pair[0] + pair[1]), pair[1]])  # noqa: E731
        q = jnp.where(halves, mean(step.q), step.q)
        x = jnp.where(halves, mean(step.x), step.x)
        q = jnp.where(second, jnp.stack([step.q[1], middle.q]), q)
        x = jnp.where(second, jnp.stack([step.x[1], middle.x]), x)
        now = replace(
            step,
            h=h,
            q=q,
            x=x,
            theta=jnp.where(k == 0, step.theta, 1.0),
            start=jnp.where(second, 0.0, step.start),
        )
        first_half = ends(replace(guess, q=0.5 * (step.q[1] + guess.q)), half_x)
        begin = jax.tree.map(
            lambda a, b, c: jnp.where(second, b, jnp.where(halves, c, a)),
            guess,
            ends(middle, guess.x),
            first_half,
        )
        begin = replace(begin, mu=0.0 * begin.mu, nu=0.0 * begin.nu)
        u, error, more = interior_point(now, begin, tolerance)
        return k + 1, u, error, total + more, jax.tree.map(lambda a: a, u)

    big = jnp.full(guess.q.shape[0], jnp.inf)
    start = (jnp.asarray(0), guess, big, used, guess)
    _, u, error, total, _ = jax.lax.while_loop(unfinished, attempt, start)
    return u, error, total


def _with_ends(step: Step, u: Iterate, x: Array) -> Iterate:
    """The iterate with its points, and the line ends on them, at x."""
    ends = at_ends(step.points, x)
    n = u.q.shape[1]
    node = jnp.arange(n)
    first = (node <= step.lines.first[:, None])[..., None]
    last = (node == n - 1)[:, None]
    q = jnp.where(first, ends[:, :1], jnp.where(last, ends[:, 1:], u.q))
    return replace(u, q=q, x=x)


def _with_derivatives(step: Step, guess: Iterate, u: Iterate) -> Iterate:
    """The solution as a differentiable function of what is given.

    One more Newton step from the solution, held fixed, with the Jacobian held fixed: its value is
    the solution, its derivative that of the implicit function.
    """
    # what is prescribed passes its derivative on
    u = _with_ends(step, u, u.x + (1.0 - step.points.free)[:, None] * (guess.x - u.x))
    rows, at, _, _ = rows_at(step, u)
    held_rows, held_at = jax.lax.stop_gradient((rows, at))
    rows = replace(held_rows, R=rows.R, F=rows.F, bed_F=rows.bed_F)
    at = replace(held_at, R=at.R, F=at.F)
    du = direction(step, rows, at)
    return jax.tree.map(jnp.add, u, du)


def run_lines(
    lines: LineArrays,
    positions: Callable[[Array], Array],
    h: float,
    steps: int,
    q: Any,
    *,
    points: Points | None = None,
    bed: Bed | None = None,
    water: Callable[[Array, Array], NodeWater] | None = None,
    velocity: Any = None,
    point_velocity: Any = None,
    beyond: Callable[[Array], Array] | None = None,
    gravity: Any = 9.81,
    rho: Any = 1025.0,
    options: LineOptions | None = None,
    state: LineState | None = None,
    t0: Any = 0.0,
) -> LineRun:
    """Step lines whose ends are held, moved or free; jit and differentiate it as you like.

    Args:
        lines: all lines.
        positions: of the points as a function of time (point, 3); free points begin there. Without
            `points` the points are the line ends in order, A and B of each line.
        h: step [s].
        steps: their number.
        q: positions of the nodes at the start (line, node, 3) [m].
        points: what the lines hang on; every end a held point of its own if not given.
        bed: the seabed.
        water: velocity, acceleration and wetness at time t and nodes q; still water all around if
            not given.
        velocity: of the nodes at the start (line, node, 3) [m/s], 0 if not given.
        point_velocity: of the points at the start (point, 3) [m/s].
        beyond: points one metre beyond the ends as a function of time (line, 2, 3), of lines with
            clamped ends.
        gravity: [m/s^2].
        rho: density of the water [kg/m^3].
        options: how steps are solved.
        state: to go on from, instead of q and the velocities.
        t0: time at the start [s].
    """
    points = held_ends(lines.n_lines) if points is None else points
    options = LineOptions() if options is None else options
    q = jnp.asarray(q, float)
    v = jnp.zeros_like(q) if velocity is None else jnp.asarray(velocity)
    x = positions(jnp.asarray(t0))
    xv = jnp.zeros_like(x) if point_velocity is None else jnp.asarray(point_velocity)
    new = state is None
    if state is None:
        nl, n = lines.rest_length.shape
        mu = jnp.zeros((nl, n)) + 1.0
        state = LineState(
            q=jnp.stack([q - h * v, q]),
            x=jnp.stack([positions(jnp.asarray(t0 - h)), x]),
            mu=mu,
            nu=jnp.zeros((nl, n + 1)),
            point_nu=jnp.zeros(x.shape[0]),
        )

    def one(state: LineState, k: Array):
        t = t0 + h * k
        start = jnp.where(new & (k == 0), 1.0, 0.0)
        step, guess = _prepare(
            lines, points, bed, water, positions, beyond, gravity, rho, options, state, t, h
        )
        step = replace(step, start=start, velocity=(v, xv))
        u, error, used = solve_step(step, guess, options)
        q_minus, _ = before(step, u)
        told = report(
            lines,
            step.frozen,
            h,
            q_minus,
            step.q[1],
            u.q,
            u.mu,
            u.nu,
            None if beyond is None else (beyond(t), beyond(t + h)),
            options.theta,
        )
        after = LineState(
            q=jnp.stack([step.q[1], u.q]),
            x=jnp.stack([step.x[1], u.x]),
            mu=u.mu,
            nu=u.nu,
            point_nu=u.point_nu,
        )
        return after, (t, step.q[1], step.x[1], told, error, used)

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


def _prepare(
    lines: LineArrays,
    points: Points,
    bed: Bed | None,
    water: Any,
    positions: Any,
    beyond: Any,
    gravity: Any,
    rho: Any,
    options: LineOptions,
    state: LineState,
    t: Array,
    h: Any,
) -> tuple[Step, Iterate]:
    """Data of the step from t, and its first guess."""
    q, x = state.q[1], state.x[1]
    if water is None:
        zero = jnp.zeros_like(q)
        at = NodeWater(velocity=zero, acceleration=zero, wet=1.0 + zero[..., 0])
    else:
        at = water(t, q)
    step = Step(
        lines=lines,
        points=points,
        frozen=freeze(lines, bed, q, at, gravity, rho),
        contact=contact_under(bed, x, points.area, points.free * (points.area > 0.0)),
        h=h,
        q=state.q,
        x=state.x,
        start=0.0,
        velocity=(0.0 * q, 0.0 * x),
        beyond=None if beyond is None else (beyond(t - h), beyond(t + h)),
        theta=options.theta,
        tau=options.tau,
    )
    given = positions(t + h)
    ahead = 2.0 * x - state.x[0]
    target = jnp.where(points.free[:, None] > 0.0, ahead, given)
    guess = Iterate(
        q=2.0 * q - state.q[0], mu=state.mu, nu=state.nu, x=target, point_nu=state.point_nu
    )
    return step, _with_ends(step, guess, target)


def settle(
    lines: LineArrays,
    places: Any,
    q: Any,
    *,
    points: Points | None = None,
    bed: Bed | None = None,
    water: Callable[[Array, Array], NodeWater] | None = None,
    beyond: Any = None,
    gravity: Any = 9.81,
    rho: Any = 1025.0,
    h: Any = 3.0,
    steps: int = 60,
    options: LineOptions | None = None,
) -> tuple[LineState, Array]:
    """Rest of lines whose ends are held or free: steps that forget all velocity, theta = 1.

    Every step minimises the energy plus |q - q_n|_M^2 / (2 h^2), a convex problem, so it converges
    from any start. Returns the state at rest and how far the last step still moved [m].

    Args:
        lines: all lines.
        places: of the points (point, 3) [m].
        q: positions of the nodes to begin with (line, node, 3) [m].
        points: what the lines hang on.
        bed: the seabed.
        water: as in `run_lines`, at t = 0.
        beyond: points one metre beyond clamped ends (line, 2, 3).
        gravity: [m/s^2].
        rho: density of the water [kg/m^3].
        h: step [s]: the larger, the fewer are needed.
        steps: their number.
        options: how steps are solved.
    """
    points = held_ends(lines.n_lines) if points is None else points
    options = LineOptions(tolerance=1e-8) if options is None else options
    options = replace(options, theta=1.0)
    places, q = jnp.asarray(places), jnp.asarray(q)
    nl, n = lines.rest_length.shape
    state = LineState(
        q=jnp.stack([q, q]),
        x=jnp.stack([places, places]),
        mu=jnp.zeros((nl, n)) + 1.0,
        nu=jnp.zeros((nl, n + 1)),
        point_nu=jnp.zeros(places.shape[0]),
    )
    far = None if beyond is None else lambda t: jnp.asarray(beyond)

    def one(state: LineState, _: Array):
        step, guess = _prepare(
            lines,
            points,
            bed,
            water,
            lambda t: places,
            far,
            gravity,
            rho,
            options,
            state,
            jnp.asarray(0.0),
            h,
        )
        u, error, _ = solve_step(step, guess, options)
        moved = jnp.where(
            jnp.all(error <= options.tolerance), jnp.max(jnp.abs(u.q - guess.q)), jnp.inf
        )
        after = LineState(
            q=jnp.stack([u.q, u.q]),
            x=jnp.stack([u.x, u.x]),
            mu=u.mu,
            nu=u.nu,
            point_nu=u.point_nu,
        )
        return after, moved

    state, moved = jax.lax.scan(one, state, jnp.arange(steps))
    return state, moved[-1]


def check_run(run: LineRun, lines: LineArrays, names: tuple[str, ...], tolerance: float) -> None:
    """Raise a sentence when a step of a run has failed.

    Args:
        run: the run, with numbers.
        lines: all lines.
        names: of the lines.
        tolerance: on scaled residuals [m].
    """
    error = np.asarray(run.error)
    bad = ~(error <= tolerance)
    if not bad.any():
        return
    k = int(np.argmax(bad.any(axis=1)))
    line = int(np.argmax(bad[k]))
    raise SwelltreeError(
        f"{over_stretched(lines, np.asarray(run.position)[min(k + 1, len(error) - 1)], names)}"
        or f"line '{names[line]}': the step at t = {float(run.time[k]):.4g} s did not converge. "
        "Take a smaller step."
    )


def over_stretched(lines: LineArrays, q: Any, names: tuple[str, ...]) -> str:
    """The sentence about the inextensible line pulled furthest beyond its length, or nothing.

    Args:
        lines: all lines.
        q: positions of their nodes, of which the ends count (line, node, 3).
        names: of the lines.
    """
    q = np.asarray(q)
    span = np.linalg.norm(q[:, -1] - q[:, 0], axis=-1)
    active = np.arange(lines.n) >= np.asarray(lines.first)[:, None]
    length = np.sum(np.where(active, np.asarray(lines.rest_length), 0.0), -1)
    stiff = np.all(~np.isfinite(np.asarray(lines.EA)) | ~active, axis=-1)
    beyond = np.where(stiff, span - length, -np.inf)
    k = int(np.argmax(beyond))
    if not beyond[k] > 0.0:
        return ""
    return (
        f"line '{names[k]}' is pulled {beyond[k]:.2g} m beyond its length {length[k]:.4g} m and "
        "cannot stretch: give EA or lengthen it."
    )
