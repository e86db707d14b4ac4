"""Lines by themselves in time: ends held or moved, points free; a run is one loop in one program.

When a step fails it is tried again with theta = 1 (a convex problem for lines), then in two half
steps with theta = 1. `march_lines` puts the interior point before these, compiled only when needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.system.errors import SwelltreeError
from swelltree.two_step.bed import Bed, contact_under
from swelltree.two_step.line_arrays import LineArrays, with_rest_length
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
    tau: Any = 1e-16
    tolerance: float = 1e-9
    max_iterations: int = 40
    solver: str = "newton"
    fallback: bool = False
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


def solve_step(step: Step, guess: Iterate, options: LineOptions) -> tuple[Iterate, Array, Array]:
    """Solve one step, with the fallbacks asked for; iterate, error per line [m], iterations.

    Args:
        step: what is given.
        guess: first iterate, with held points at their new places.
        options: how.
    """
    given = jax.lax.stop_gradient((step, guess))
    if options.fallback:
        u, error, k = _attempts(*given, options)
    else:
        u, error, k = _solve(*given, options)
    if options.differentiable:
        u = _with_derivatives(step, guess, u)
    return u, error, k


def _solve(step: Step, guess: Iterate, options: LineOptions) -> tuple[Iterate, Array, Array]:
    """One attempt by the solver that is asked for."""
    solve = interior_point if options.solver == "interior_point" else newton
    return solve(step, guess, options.tolerance, options.max_iterations)


def _attempts(step: Step, guess: Iterate, options: LineOptions) -> tuple[Iterate, Array, Array]:
    """The step as it is, then with theta = 1, then in two half steps with theta = 1."""
    free = step.points.free[:, None] > 0.0
    middle_x = 0.5 * (step.x[1] + guess.x)
    halfway = replace(guess, q=0.5 * (step.q[1] + guess.q), x=middle_x)
    mean = lambda pair: jnp.stack([0.5 * (pair[0] + pair[1]), pair[1]])  # noqa: E731

    def unfinished(state):
        k, _, error, _ = state
        # the first half step is never the end, the second always is
        return (k == 0) | (k == 3) | (jnp.any(~(error <= options.tolerance)) & (k < 3))

    def attempt(state):
        k, u, _, used = state
        halves, second = k >= 2, k == 3
        one_of = lambda whole, half, last: jnp.where(  # noqa: E731
            second, last, jnp.where(halves, half, whole)
        )
        now = replace(
            step,
            h=jnp.where(halves, 0.5 * step.h, step.h),
            q=one_of(step.q, mean(step.q), jnp.stack([step.q[1], u.q])),
            x=one_of(step.x, mean(step.x), jnp.stack([step.x[1], u.x])),
            theta=jnp.where(k == 0, step.theta, 1.0),
            start=jnp.where(second, 0.0, step.start),
        )
        onward = replace(u, q=2.0 * u.q - step.q[1], x=2.0 * u.x - step.x[1])
        onward = _with_ends(step, onward, jnp.where(free, onward.x, guess.x))
        begin = jax.tree.map(one_of, guess, halfway, onward)
        # forces of a failed attempt are no guide
        keep = jnp.where(k == 0, 1.0, 0.0)
        begin = replace(
            begin,
            mu=keep * begin.mu,
            nu=keep * begin.nu,
            point_nu=keep * begin.point_nu,
        )
        u, error, more = _solve(now, begin, options)
        return k + 1, u, error, used + more

    big = jnp.full(guess.q.shape[0], jnp.inf)
    first = (jnp.asarray(0), guess, big, jnp.asarray(0))
    _, u, error, used = jax.lax.while_loop(unfinished, attempt, first)
    return u, error, used


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
        water: velocity, acceleration and wetness at time t and nodes q; still water all around if
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
        now, step, guess = _prepare(
            lines, setting, state, h, positions, water, beyond, rest_length, options
        )
        u, error, used = solve_step(step, guess, options)
        q_minus, _ = before(step, u)
        far = None if beyond is None else (beyond(t), beyond(t + h))
        told = report(now, step.frozen, h, q_minus, step.q[1], u.q, u.mu, u.nu, far, options.theta)
        return _after(state, u, t + h), (t, step.q[1], step.x[1], told, error, used)

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


def _after(state: LineState, u: Iterate, t: Any) -> LineState:
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


def _prepare(
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
    if water is None:
        zero = jnp.zeros_like(q)
        at = NodeWater(velocity=zero, acceleration=zero, wet=1.0 + zero[..., 0])
    else:
        at = water(t, q)
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
    guess = Iterate(q=ahead, mu=state.mu, nu=state.nu, x=target, point_nu=state.point_nu)
    return lines, step, _with_ends(step, guess, target)


def settle(
    lines: LineArrays,
    state: LineState,
    setting: LineSetting | None = None,
    *,
    water: Callable[[Array, Array], NodeWater] | None = None,
    beyond: Any = None,
    h: Any = 3.0,
    steps: int = 60,
    options: LineOptions | None = None,
) -> tuple[LineState, Array, Array]:
    """Rest of lines whose ends are held or free: steps that forget all velocity, theta = 1.

    Every step minimises the energy plus |q - q_n|_M^2 / (2 h^2), a convex problem, so it converges
    from any start. Returns the state at rest, how far the last step still moved [m] and the
    largest scaled residual [m].

    Args:
        lines: all lines.
        state: positions to begin with, from `start_lines`.
        setting: points, seabed, gravity and water, as in `run_lines`.
        water: as in `run_lines`.
        beyond: points one metre beyond clamped ends (line, 2, 3).
        h: step [s]: the larger, the fewer are needed.
        steps: their number.
        options: how steps are solved.
    """
    setting = LineSetting(held_ends(lines.n_lines)) if setting is None else setting
    options = LineOptions(tolerance=1e-8) if options is None else options
    options = replace(options, theta=1.0)
    state = replace(jax.tree.map(jnp.asarray, state), start=jnp.asarray(0.0))
    held = state.x[1]
    far = None if beyond is None else lambda t: jnp.asarray(beyond)

    def one(state: LineState, _: Array):
        state = replace(
            state,
            q=jnp.stack([state.q[1], state.q[1]]),
            x=jnp.stack([state.x[1], state.x[1]]),
        )
        _, step, guess = _prepare(
            lines, setting, state, h, lambda t: held, water, far, None, options
        )
        u, error, _ = solve_step(step, guess, options)
        return _after(state, u, state.t), (jnp.max(jnp.abs(u.q - guess.q)), jnp.max(error))

    state, (moved, error) = jax.lax.scan(one, state, jnp.arange(steps))
    at_rest = replace(
        state,
        start=jnp.asarray(1.0),
        velocity=jnp.zeros_like(state.velocity),
        point_velocity=jnp.zeros_like(state.point_velocity),
    )
    return at_rest, moved[-1], error[-1]


def march_lines(
    lines: LineArrays,
    positions: Callable[[Array], Array],
    h: float,
    steps: int,
    state: LineState,
    setting: LineSetting | None = None,
    *,
    names: tuple[str, ...] | None = None,
    options: LineOptions | None = None,
    **more: Any,
) -> LineRun:
    """`run_lines` from the host: failed steps are mended, hopeless ones end with a sentence.

    Order: Newton; interior point; theta = 1; two half steps with theta = 1.

    Args:
        lines: all lines.
        positions: of the held points.
        h: step [s].
        steps: their number.
        state: at the start.
        setting: points, seabed, gravity and water.
        names: of the lines, for messages.
        options: how steps are solved.
        **more: `water`, `beyond` and `rest_length` as in `run_lines`.
    """
    options = LineOptions() if options is None else options
    names = tuple(f"line {k + 1}" for k in range(lines.n_lines)) if names is None else names

    def program(count: int, how: LineOptions):
        return jax.jit(
            lambda s: run_lines(lines, positions, h, count, s, setting, options=how, **more)
        )

    quick = program(steps, replace(options, fallback=False))
    mend: list[Any] = []
    parts: list[Any] = []
    done = 0
    while done < steps:
        run = quick(state)
        good = np.all(np.asarray(run.error) <= options.tolerance, axis=1)[: steps - done]
        count = len(good) if good.all() else int(np.argmin(good))
        parts.append(jax.tree.map(lambda a: np.asarray(a)[:count], _history(run)))  # noqa: B023
        done += count
        state = run.state if count == steps else _state_at(run, state, count, h)
        if done == steps:
            break
        # the failed step by other means
        if not mend:
            mend = [
                program(1, replace(options, solver=solver, fallback=fallback))
                for solver, fallback in (("interior_point", False), ("newton", True))
            ]
        for other in mend:
            run = other(state)
            if np.all(np.asarray(run.error) <= options.tolerance):
                break
        else:
            told = over_stretched(lines, np.asarray(run.state.q)[1], names)
            line = int(np.argmax(~(np.asarray(run.error)[0] <= options.tolerance)))
            raise SwelltreeError(
                told
                or f"line '{names[line]}': the step at t = {float(state.t):.4g} s does not "
                "converge. Take a smaller step."
            )
        parts.append(jax.tree.map(np.asarray, _history(run)))
        done += 1
        state = run.state
    whole = jax.tree.map(lambda *a: np.concatenate(a), *parts)
    return LineRun(*whole, state=state)


def _history(run: LineRun) -> tuple[Any, ...]:
    """What a run has one of per step."""
    return run.time, run.position, run.points, run.report, run.error, run.iterations


def _state_at(run: LineRun, start: LineState, k: int, h: float) -> LineState:
    """The state before step k of a run."""
    if k == 0:
        return start
    last = lambda a: np.asarray(a)[k]  # noqa: E731
    q, x = np.asarray(run.position), np.asarray(run.points)
    state = jax.tree.map(np.asarray, run.state)
    return replace(
        state,
        q=np.stack([q[k - 1], q[k]]),
        x=np.stack([x[k - 1], x[k]]),
        mu=np.ones_like(state.mu),
        nu=np.zeros_like(state.nu),
        point_nu=np.zeros_like(state.point_nu),
        t=last(run.time),
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
