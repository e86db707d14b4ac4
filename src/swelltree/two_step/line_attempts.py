"""How a step is solved: the solver, what is tried when it fails, and derivatives through it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.two_step.line_newton import (
    Iterate,
    Step,
    direction,
    interior_point,
    newton,
    rows_at,
)
from swelltree.two_step.line_points import at_ends


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
    max_iterations: int = 50
    solver: str = "newton"
    fallback: bool = False
    differentiable: bool = False


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
        onward = with_ends(step, onward, jnp.where(free, onward.x, guess.x))
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


def with_ends(step: Step, u: Iterate, x: Array) -> Iterate:
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
    u = with_ends(step, u, u.x + (1.0 - step.points.free)[:, None] * (guess.x - u.x))
    rows, at, _, _ = rows_at(step, u)
    held_rows, held_at = jax.lax.stop_gradient((rows, at))
    rows = replace(held_rows, R=rows.R, F=rows.F, bed_F=rows.bed_F)
    at = replace(held_at, R=at.R, F=at.F)
    du = direction(step, rows, at)
    return jax.tree.map(jnp.add, u, du)
