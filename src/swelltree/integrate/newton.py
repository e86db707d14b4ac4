"""Damped Newton iteration with least-norm steps, line search and continuation.

The loop runs on the host around one program that gives residual and Jacobian together. Singular
Jacobians (a body free to drift in equilibrium) are met by the smallest step that solves the linear
equations best. `attach_gradient` makes the solution differentiable afterwards; `newton_traced` does
all in one graph, for use under `jit` and `vmap`.

Four Newton iterations stay apart. The closure of loops (`compiler.assembly`) is NumPy, so that a
model compiles before JAX is imported. Catenaries (`mooring.catenary`) are many small convex
problems at once, within every evaluation of the forces. Periodic solutions share `continuation`,
but measure a step by the error of the motion and solve large problems by Krylov steps. Implicit
time steps keep their matrix from step to step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from swelltree.integrate.problem import Code, describe
from swelltree.jit import Array, Points, Tree, jax, jnp

Residual = Callable[[Tree, Float[Array, " n"]], Float[Array, " m"]]

RANK_TOLERANCE = 1e-12  # singular values below this fraction of the largest count as zero
# of the largest: directions with a smaller stiffness are left out of steps that would be too long
WEAK = (1e-2, 1e-4, 1e-6)
WELL = 0.25  # of the sum of squares: what is left after a step without weak directions
SHORTEST = 2.0**-12  # min fraction of a step that the line search tries
SMALLEST_CONTINUATION = 5e-5  # min step along the path


@dataclass(frozen=True)
class NewtonResult:
    """Where the iteration ended.

    Args:
        x: solution, or the best point found.
        code: how it ended.
        message: the same in words.
        residual: residual at x, as returned by the function (not scaled).
        history: largest scaled residual at every accepted point.
        fraction: part of the continuation path reached; 1 is all of it.
    """

    x: np.ndarray
    code: Code
    message: str
    residual: np.ndarray
    history: tuple[float, ...]
    fraction: float
    neutral: tuple[str, ...] = ()  # what the residual does not depend on, where that was looked for


@functools.lru_cache(maxsize=64)
def program_of(residual: Residual) -> Points:
    """The residual as a program."""
    return Points(residual)


def residual_and_jacobian(residual: Residual) -> Callable[[Tree, Tree], tuple[Tree, Tree]]:
    """Program ``(args, x) -> (r, dr/dx)``."""
    return program_of(residual).jacobians


def _largest(x: np.ndarray) -> float:
    return float(np.max(np.abs(x), initial=0.0)) if np.all(np.isfinite(x)) else np.inf


def _iterate(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    x: np.ndarray,
    tol: float,
    max_iterations: int,
    max_step: float,
    history: list[float],
) -> tuple[np.ndarray, Code]:
    """Newton with backtracking from one starting point; residuals come scaled."""
    r, jacobian = evaluate(x)
    history.append(_largest(r))
    for _ in range(max_iterations):
        if not np.isfinite(history[-1]) or not np.all(np.isfinite(jacobian)):
            return x, Code.NOT_FINITE
        if history[-1] <= tol:
            return x, Code.SUCCESS
        # the smallest step among those that solve J dx = -r best
        step = np.linalg.lstsq(jacobian, -r, rcond=RANK_TOLERANCE)[0]
        size, tried = float(r @ r), []
        if _largest(step) > max_step:
            # out of balance, what nothing holds has a small stiffness of either sign: the step runs
            # far along it and finds nothing there
            tried = [(s, 1.0, WELL) for s in _stiff_steps(jacobian, r, max_step)]
            step = step * max_step / _largest(step)
        # backtrack until the sum of squares falls
        fractions = 2.0 ** -np.arange(1.0 - np.log2(SHORTEST))
        tried += [(step, fraction, 1.0 - 1e-4 * fraction) for fraction in fractions]
        for step, fraction, left in tried:
            x_new = x + fraction * step
            r_new, jacobian_new = evaluate(x_new)
            if np.all(np.isfinite(r_new)) and r_new @ r_new <= left * size:
                break
        else:
            return x, Code.NO_PROGRESS
        x, r, jacobian = x_new, r_new, jacobian_new
        history.append(_largest(r))
    return x, Code.SUCCESS if history[-1] <= tol else Code.TOO_MANY_STEPS


def continuation(
    attempt: Callable[[float, float, np.ndarray], np.ndarray | None],
    x: np.ndarray,
    step: float,
    smallest: float,
    largest: float = 1.0,
) -> tuple[np.ndarray, float]:
    """The last solution on the way from 0 to 1, and how far it is.

    Args:
        attempt: ``attempt(goal, reached, x)``: the solution at a fraction from that before, None
            where there is none.
        x: solution at 0.
        step: first one; steps double after success and halve after failure.
        smallest: step that is tried.
        largest: step that is tried.
    """
    reached = 0.0
    while reached < 1.0 and step >= smallest:
        goal = min(1.0, reached + step)
        found = attempt(goal, reached, x)
        if found is None:
            step *= 0.5
        else:
            x, reached, step = found, goal, min(2.0 * step, largest)
    return x, reached


def _stiff_steps(jacobian: np.ndarray, r: np.ndarray, max_step: float) -> Iterator[np.ndarray]:
    """Steps without the directions of small stiffness, if these are short enough."""
    U, size, Vt = np.linalg.svd(jacobian, full_matrices=False)
    for weak in WEAK:
        kept = int((size > weak * size.max(initial=0.0)).sum())
        step = -Vt[:kept].T @ ((U[:, :kept].T @ r) / size[:kept])
        if _largest(step) <= max_step:
            yield step


def newton(
    residual: Residual,
    args: Tree,
    x0: Array,
    *,
    tol: float = 1e-10,
    scale: Array = 1.0,
    max_iterations: int = 50,
    max_step: float = np.inf,
    path: Callable[[float], Tree] | None = None,
) -> NewtonResult:
    """Solve ``residual(args, x) = 0``.

    Args:
        residual: pure function, traceable by JAX.
        args: its first argument, any tree.
        x0: first guess, shape (n,).
        tol: largest scaled residual allowed.
        scale: typical size of each residual; the residual is divided by it.
        max_iterations: most iterations for each point of the path.
        max_step: largest change of any unknown in one iteration.
        path: continuation, ``path(fraction) -> args`` from an easy problem at 0 to the wanted
            one at 1. The whole way is tried at once first and halved when it fails.
    """
    both = residual_and_jacobian(residual)
    scale = np.asarray(scale, float)
    history: list[float] = []

    def solve(fraction: float, x: np.ndarray) -> tuple[np.ndarray, Code]:
        here = args if path is None or fraction == 1.0 else path(fraction)

        def evaluate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            r, J = (np.asarray(value) for value in both(here, x))
            rows = np.broadcast_to(scale, r.shape)
            return r / rows, J / rows[:, None]

        return _iterate(evaluate, x, tol, max_iterations, max_step, history)

    def attempt(goal: float, _: float, x: np.ndarray) -> np.ndarray | None:
        nonlocal code
        x_new, code = solve(goal, x)
        return x_new if code is Code.SUCCESS else None

    x, reached = np.asarray(x0, float), 0.0
    x_new, code = solve(1.0, x)
    if path is None or code is Code.SUCCESS:
        x, reached = x_new, 1.0
    else:
        x, code = solve(0.0, x)
        if code is Code.SUCCESS:
            x, reached = continuation(attempt, x, 0.5, SMALLEST_CONTINUATION)
    r = np.asarray(both(args, x)[0])
    message = describe(code, what="Newton iteration")
    return NewtonResult(x, code, message, r, tuple(history), reached)


def attach_gradient(residual: Residual, args: Tree, x_star: Array) -> Float[Array, " n"]:
    r"""The solution x*, with its exact first derivative with respect to args.

    One more Newton step from x* taken as a constant,

    .. math:: x = x^* - J^{+} r(\mathrm{args}, x^*),

    where the Jacobian J is a constant too: its value is x* and its derivative is that of the
    implicit function theorem, :math:`-J^{+} \partial r/\partial \mathrm{args}`, in forward and
    reverse mode (least-norm where J is singular).

    Args:
        residual: the function that x_star makes zero.
        args: its first argument, which carries the derivatives.
        x_star: solution, for example from `newton`.
    """
    fixed_args, fixed = jax.lax.stop_gradient((args, jnp.asarray(x_star, float)))
    J = jax.jacfwd(residual, argnums=1)(fixed_args, fixed)
    inverse = jax.lax.stop_gradient(jnp.linalg.pinv(J, rtol=RANK_TOLERANCE))
    return fixed - inverse @ residual(args, fixed)


def newton_traced(
    residual: Residual,
    args: Tree,
    x0: Array,
    *,
    tol: float = 1e-10,
    scale: Array = 1.0,
    max_iterations: int = 100,
    max_step: float = np.inf,
) -> tuple[Float[Array, " n"], Tree]:
    """Solution and code of ``residual(args, x) = 0`` as one traced loop, differentiable in args.

    The same damped iteration as `newton` without continuation; every pass of the loop is one
    evaluation, which either is accepted and gives a new direction or halves the step.

    Args:
        residual: pure function.
        args: its first argument, any tree.
        x0: first guess.
        tol: largest scaled residual allowed.
        scale: typical size of each residual.
        max_iterations: most evaluations.
        max_step: largest change of any unknown in one iteration.
    """
    fixed_args, x0 = jax.lax.stop_gradient((args, jnp.asarray(x0, float)))

    def scaled(x: Array) -> Tree:
        return residual(fixed_args, x) / scale

    def body(state: Tree) -> Tree:
        x, step, fraction, size, _, count = state
        trial = x + fraction * step
        r, push = jax.linearize(scaled, trial)
        J = jax.vmap(push, out_axes=1)(jnp.eye(x.size))
        size_new = jnp.sum(r * r)
        better = jnp.isfinite(size_new) & (size_new <= (1.0 - 1e-4 * fraction) * size)
        better = better | ((count == 0) & jnp.isfinite(size_new))
        safe = jnp.where(jnp.isfinite(J), J, 0.0), jnp.where(jnp.isfinite(r), r, 0.0)
        direction = -jnp.linalg.pinv(safe[0], rtol=RANK_TOLERANCE) @ safe[1]
        direction *= jnp.minimum(1.0, max_step / jnp.maximum(jnp.max(jnp.abs(direction)), 1e-300))
        fraction = jnp.where(better, 1.0, 0.5 * fraction)
        code = jnp.where(fraction < SHORTEST, Code.NO_PROGRESS, Code.TOO_MANY_STEPS)
        code = jnp.where((count == 0) & ~better, Code.NOT_FINITE, code)
        code = jnp.where(better & (jnp.max(jnp.abs(r)) <= tol), Code.SUCCESS, code)
        return (
            jnp.where(better, trial, x),
            jnp.where(better, direction, step),
            fraction,
            jnp.where(better, size_new, size),
            code.astype(jnp.int32),
            count + 1,
        )

    def go_on(state: Tree) -> Tree:
        return (state[4] == Code.TOO_MANY_STEPS) & (state[5] < max_iterations)

    start = (
        x0,
        jnp.zeros_like(x0),
        jnp.ones(()),
        jnp.full((), jnp.inf),
        jnp.asarray(Code.TOO_MANY_STEPS, jnp.int32),
        jnp.zeros((), jnp.int32),
    )
    x, _, _, _, code, _ = jax.lax.stop_gradient(jax.lax.while_loop(go_on, body, start))
    return attach_gradient(residual, args, x), code
