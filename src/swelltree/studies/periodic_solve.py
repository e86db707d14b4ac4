"""Newton's method for periodic motions.

Every residual is first multiplied by the inverse of the linear impedance, which turns it into an
estimate of the error of the motion (metres, radians, newtons of the multipliers). Small systems
are solved with their whole Jacobian, large ones by GMRES on the preconditioned equations.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.formulations import Formulation
from swelltree.solvers.solution import Code
from swelltree.spatial.engine import jax, jnp
from swelltree.studies.periodic_problem import Period, preconditioned, residual, scaled

DENSE = 400  # unknowns up to which the whole Jacobian is formed
SHORTEST = 2.0**-7  # least part of a Newton step
SMALLEST = 1e-3  # least step of the continuation in wave height
LINEAR = 1e-12  # relative accuracy of GMRES


@dataclass(frozen=True)
class Found:
    """How Newton ended."""

    Y: np.ndarray
    code: Code
    history: tuple[float, ...]  # largest estimated error of the motion, per iteration
    fraction: float  # part of the wave height reached


@functools.lru_cache(maxsize=32)
def _step(how: Formulation, dense: bool) -> Any:
    """Compiled Newton step: (period, Y) -> preconditioned residual, step."""

    def error(period: Period, Y: Any) -> Any:
        return preconditioned(period, residual(how, period, Y))

    def step(period: Period, Y: Any) -> Any:
        r, push = jax.linearize(functools.partial(error, period), Y)
        if dense:
            J = jax.vmap(lambda e: push(e.reshape(Y.shape)).reshape(-1))(jnp.eye(Y.size)).T
            return r, -jnp.linalg.solve(J, r.reshape(-1)).reshape(Y.shape)
        change, _ = jax.scipy.sparse.linalg.gmres(
            push, -r, tol=LINEAR, restart=40, maxiter=10, solve_method="incremental"
        )
        return r, change

    return jax.jit(step), jax.jit(error)


def newton(
    how: Formulation, period: Period, Y: np.ndarray, tol: float, max_iterations: int
) -> Found:
    """Newton with a line search; continuation in wave height when that fails."""
    found = _newton(how, period, Y, tol, max_iterations)
    if found.code is Code.SUCCESS:
        return found
    # from still water upwards, in steps that shrink on failure
    reached, step, best = 0.0, 0.25, np.zeros_like(Y)
    history = list(found.history)
    while reached < 1.0 and step >= SMALLEST:
        next_part = min(1.0, reached + step)
        guess = best if reached == 0.0 else best * next_part / reached
        found = _newton(how, scaled(period, next_part), guess, tol, max_iterations)
        history += found.history
        if found.code is Code.SUCCESS:
            reached, best = next_part, found.Y
            step = min(2.0 * step, 0.5)
        else:
            step = 0.5 * step
    code = Code.SUCCESS if reached == 1.0 else Code.NO_PROGRESS
    return Found(best, code, tuple(history), reached)


def _newton(
    how: Formulation, period: Period, Y: np.ndarray, tol: float, max_iterations: int
) -> Found:
    step, error = _step(how, Y.size <= DENSE)
    history: list[float] = []
    for _ in range(max_iterations):
        r, change = (np.asarray(x) for x in step(period, Y))
        size = float(np.abs(r).max())
        history.append(size)
        if not np.isfinite(size) or not np.isfinite(change).all():
            return Found(Y, Code.NOT_FINITE, tuple(history), 0.0)
        scale = tol * max(1.0, float(np.abs(Y).max()))
        if size <= scale:
            return Found(Y, Code.SUCCESS, tuple(history), 1.0)
        part = 1.0
        while part >= SHORTEST:
            tried = Y + part * change
            now = float(np.abs(np.asarray(error(period, tried))).max())
            if np.isfinite(now) and now < (1.0 - 1e-4 * part) * size:
                break
            part *= 0.5
        else:
            # at the limit of rounding nothing gets better
            code = Code.SUCCESS if size <= 1e3 * scale else Code.NO_PROGRESS
            return Found(Y, code, tuple(history), float(code is Code.SUCCESS))
        Y = Y + part * change
    return Found(Y, Code.TOO_MANY_STEPS, tuple(history), 0.0)
