"""Newton's method for periodic motions.

Small systems are solved with their whole Jacobian. Large ones are first multiplied by the inverse
of the linear impedance, harmonic by harmonic, and each step is then found by GMRES. In both the
size of a Newton step is the estimate of the error of the motion (metres, radians).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swelltree.formulations import Formulation
from swelltree.solvers.solution import Code
from swelltree.spatial.engine import jax, jnp
from swelltree.spatial.products import compact
from swelltree.studies.periodic_problem import Period, node, preconditioned, residual, scaled, sizes

DENSE = 400  # unknowns up to which the whole Jacobian is formed
SHORTEST = 2.0**-7  # least part of a Newton step
SMALLEST = 1e-3  # least step of the continuation in wave height
LINEAR = 1e-4  # relative accuracy of GMRES; Newton makes up for it
SOFT = 1e-9  # of the largest singular value: nothing holds this direction
QUICK = {"xla_backend_optimization_level": "0"}  # compile quickly what runs once


@dataclass(frozen=True)
class Found:
    """How Newton ended."""

    Y: np.ndarray
    code: Code
    history: tuple[float, ...]  # largest estimated error of the motion, per iteration
    fraction: float  # part of the wave height reached
    period: Period  # with the directions that are pinned


@functools.lru_cache(maxsize=32)
def _dense(how: Formulation) -> Any:
    """Compiled (period, Y) -> residual and its whole Jacobian."""

    def both(period: Period, Y: Any) -> Any:
        with compact():
            r, push = jax.linearize(functools.partial(residual, how, period), Y)
        columns = jax.vmap(lambda e: push(e.reshape(Y.shape)).reshape(-1))(jnp.eye(Y.size))
        return r.reshape(-1), columns.T

    return jax.jit(both)


@functools.lru_cache(maxsize=32)
def _krylov(how: Formulation) -> Any:
    """Compiled (period, Y, d) -> preconditioned residual and its derivative along d."""

    def error(period: Period, Y: Any) -> Any:
        return preconditioned(period, residual(how, period, Y))

    def along(period: Period, Y: Any, d: Any) -> Any:
        with compact():
            return jax.jvp(functools.partial(error, period), (Y,), (d,))

    return jax.jit(along)


@functools.lru_cache(maxsize=32)
def _linearised(how: Formulation) -> Any:
    """Derivatives of the residual at rest: to y, its rate and second rate; and P."""

    def linear(period: Period) -> Any:
        u = sum(sizes(how, period))
        zero, t = jnp.zeros(u), jnp.zeros(())

        def r(y: Any, y_rate: Any, y_second: Any) -> Any:
            with compact():
                out, _, P = node(how, period, t, y, y_rate, y_second)
            return out, P

        return jax.jacfwd(r, argnums=(0, 1, 2), has_aux=True)(zero, zero, zero)

    return jax.jit(linear, compiler_options=QUICK)


def pins(R0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions that nothing holds in the mean, and the equations that are then missing."""
    # rows and columns scaled, so that metres, radians and newtons compare
    row = np.abs(R0).max(axis=1)
    row = np.where(row > 0, row, 1.0)
    column = np.abs(R0 / row[:, None]).max(axis=0)
    column = np.where(column > 0, column, 1.0)
    U, size, Vt = np.linalg.svd(R0 / row[:, None] / column)
    soft = size < SOFT * size.max()
    directions, equations = Vt[soft] / column, U.T[soft] / row
    return (
        directions / np.linalg.norm(directions, axis=1, keepdims=True),
        equations / np.linalg.norm(equations, axis=1, keepdims=True),
    )


def with_pins(Z: np.ndarray, directions: np.ndarray, equations: np.ndarray) -> np.ndarray:
    """The mean equations with pins in place of those that cannot be balanced."""
    for direction, equation in zip(directions, equations, strict=True):
        Z = Z - np.outer(equation, equation @ Z) + np.outer(equation, direction)
    return Z


def with_impedance(how: Formulation, period: Period) -> Period:
    """The period with the inverse of its linear impedance, and its pins."""
    slopes, P = _linearised(how)(period)
    R0, R1, R2 = (np.asarray(x) for x in slopes)
    P, n, u = np.asarray(P), period.rest.s.shape[0], len(R0)
    directions, equations = pins(R0)
    N, omega = period.basis.harmonics, float(period.basis.omega)
    inverse = np.zeros((N + 1, u, u), dtype=complex)
    for k in range(N + 1):
        s = 1j * k * omega
        Z = R0 + s * R1 + s * s * R2
        Z[:n, :n] += s * (P.T @ period.memory[k] @ P)
        inverse[k] = np.linalg.inv(with_pins(Z, directions, equations) if k == 0 else Z)
    return replace(period, inverse=inverse, pinned=directions, unbalanced=equations)


# (Y) -> estimated error, Newton step, and a measure of another residual by the same Jacobian
Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


def _dense_evaluate(how: Formulation, period: Period, u: int) -> Evaluate:
    def evaluate(Y: np.ndarray) -> tuple[float, np.ndarray]:
        r, J = (np.asarray(x) for x in _dense(how)(period, Y))
        if not (np.isfinite(r).all() and np.isfinite(J).all()):
            return np.inf, np.zeros_like(Y)
        scale = np.abs(J).max(axis=1)
        change = -np.linalg.solve(J / scale[:, None], r / scale).reshape(Y.shape)
        return float(np.abs(change[:, :u]).max()), change

    return evaluate


def _krylov_evaluate(how: Formulation, period: Period, u: int) -> Evaluate:
    from scipy.sparse.linalg import LinearOperator, gmres

    device = jax.device_put(period)  # once, not at every product

    def evaluate(Y: np.ndarray) -> tuple[float, np.ndarray]:
        def push(d: np.ndarray) -> np.ndarray:
            return np.array(_krylov(how)(device, Y, d.reshape(Y.shape))[1]).reshape(-1)

        r = np.asarray(_krylov(how)(device, Y, np.zeros_like(Y))[0])
        size = float(np.abs(r[:, :u]).max())
        if not np.isfinite(r).all():
            return np.inf, r
        if size < 1e-14:
            return size, np.zeros_like(Y)
        # columns in units of the preconditioned residual, so one scale serves all
        product = LinearOperator((Y.size, Y.size), matvec=push, dtype=float)  # type: ignore[call-arg]
        change, _ = gmres(product, -r.reshape(-1), rtol=LINEAR, restart=60, maxiter=5)
        return size, change.reshape(Y.shape)

    return evaluate


def newton(
    how: Formulation, period: Period, Y: np.ndarray, tol: float, max_iterations: int
) -> Found:
    """Newton with a line search; continuation in wave height when that fails."""
    if Y.size > DENSE:
        period = with_impedance(how, period)
    else:
        # the mean block of the Jacobian at the start tells what nothing holds
        _, J = _dense(how)(scaled(period, 0.0), np.zeros_like(Y))
        u = Y.shape[1]
        directions, equations = pins(np.asarray(J)[:u, :u])
        period = replace(period, pinned=directions, unbalanced=equations)
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
    return Found(best, code, tuple(history), reached, period)


def _newton(
    how: Formulation, period: Period, Y: np.ndarray, tol: float, max_iterations: int
) -> Found:
    kind = _krylov_evaluate if Y.size > DENSE else _dense_evaluate
    evaluate = kind(how, period, period.rest.s.shape[0])
    size, change = evaluate(Y)
    history = [size]
    for _ in range(max_iterations):
        if not np.isfinite(size):
            return Found(Y, Code.NOT_FINITE, tuple(history), 0.0, period)
        scale = tol * max(1.0, float(np.abs(Y).max()))
        if size <= scale:
            return Found(Y + change, Code.SUCCESS, tuple(history), 1.0, period)
        part = 1.0
        while part >= SHORTEST:
            now, next_change = evaluate(Y + part * change)
            if now < (1.0 - 1e-4 * part) * size:
                break
            part *= 0.5
        else:
            # at the limit of rounding nothing gets better
            code = Code.SUCCESS if size <= 1e3 * scale else Code.NO_PROGRESS
            return Found(Y, code, tuple(history), float(code is Code.SUCCESS), period)
        Y, size, change = Y + part * change, now, next_change
        history.append(size)
    return Found(Y, Code.TOO_MANY_STEPS, tuple(history), 0.0, period)
