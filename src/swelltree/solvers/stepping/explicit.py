"""One explicit Runge-Kutta step with the right-hand side traced once.

The stages are a loop over the rows of the tableau. It begins at stage 0 when the rate at the
start is unknown and at stage 1 when it is (from the last stage of the step before, or from a
rejected attempt), so that no evaluation is made twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import Attempt, Carry, Problem
from swelltree.solvers.stepping.exact_block import exact_block
from swelltree.solvers.stepping.extension import Extension, quartic
from swelltree.solvers.stepping.tableaus import Tableau


def _stage_loop(
    bounded: bool, n: int, first: Array, last: Array, body: Callable[..., Tree], init: Tree
) -> Tree:
    """Run body(i, state) for first <= i < last, with i in 0..n-1."""
    if not bounded:
        return jax.lax.fori_loop(first, last, body, init)

    def step(state: Tree, i: Array) -> Tree:
        wanted = (i >= first) & (i < last)
        return jax.lax.cond(wanted, lambda s: body(i, s), lambda s: s, state), None

    return jax.lax.scan(step, init, jnp.arange(n, dtype=jnp.int32))[0]


def explicit(
    tableau: Tableau,
    problem: Problem,
    args: Tree,
    carry: Carry,
    h: Array,
    latest: Array,
    starting: Array,
    bounded: bool,
) -> Attempt:
    """Explicit Runge-Kutta step up to the time `latest`; when `starting` only the first rate."""
    A, c = jnp.asarray(tableau.A), jnp.asarray(tableau.c)
    n = tableau.n_stages

    def combine(weights: Array, y: Tree, k: Tree) -> Tree:
        # written without a dot, so that the loop can become one kernel
        column = weights.reshape((-1,) + (1,) * y.ndim)
        return y + h * jnp.sum(column * k, axis=0)

    block = exact_block(problem, args, carry, h, n)

    def stage(i: Array, state: Tree) -> Tree:
        k, forcing, _ = state
        y = block.at(i, jax.tree.map(functools.partial(combine, A[i]), carry.y, k), forcing)
        rate = problem.rate(args, jnp.minimum(carry.t + c[i] * h, latest), y)
        k = jax.tree.map(lambda ks, new: ks.at[i].set(new), k, rate)
        return k, block.kept(i, forcing, y, rate), y

    k = jax.tree.map(lambda x: jnp.zeros((n, *x.shape)).at[0].set(x), carry.rate)
    first = jnp.where(carry.rate_known, 1, 0).astype(jnp.int32)
    last = jnp.where(starting, 1, n).astype(jnp.int32)
    k, forcing, y = _stage_loop(bounded, n, first, last, stage, (k, block.start(), carry.y))
    fsal = tableau.first_same_as_last
    if not fsal:
        y = jax.tree.map(functools.partial(combine, jnp.asarray(tableau.b)), carry.y, k)
        y = block.at(n, y, forcing)
    error = None
    if tableau.error is not None:
        weights = jnp.asarray(tableau.error)
        zero = jax.tree.map(jnp.zeros_like, carry.y)
        error = jax.tree.map(functools.partial(combine, weights), zero, k)
    return Attempt(
        y=y,
        error=error,
        rate_start=jax.tree.map(lambda x: x[0], k),
        start_known=jnp.ones((), bool),
        rate_end=jax.tree.map(lambda x: x[-1], k) if fsal else None,
        n_rate=last - first,
        converged=jnp.ones((), bool),
        extension=within_step(tableau, carry, h, y, k),
    )


def within_step(tableau: Tableau, carry: Carry, h: Array, y: Tree, k: Tree) -> Extension:
    """The value within a step from the carry to a value, with the rates of its stages."""
    weights = tableau.extension

    def terms(y0: Tree, y1: Tree, k: Tree) -> Tree:
        more = h * jnp.sum(weights.reshape((-1,) + (1,) * y0.ndim) * k, axis=0)
        return quartic(y0, y1, k[0], k[-1], more, h)

    return Extension(carry.t, h, jax.tree.map(terms, carry.y, y, k))


def in_parts(
    tableau: Tableau,
    problem: Problem,
    args: Tree,
    carry: Carry,
    h: Array,
    latest: Array,
    parts: Array,
    bounded: bool,
) -> Attempt:
    """A fixed step whose stages get what holds for it, in equal parts; others as `explicit`.

    Args:
        parts: number of parts.
    """
    assert problem.in_step is not None
    args = problem.in_step(args, carry.t, carry.y, h)
    never = jnp.zeros((), bool)

    def whole(now: Carry, length: Array) -> Attempt:
        return explicit(tableau, problem, args, now, length, latest, never, bounded)

    if bounded:  # derivatives know one part only
        return whole(carry, h)

    def one(i: Array, y: Tree) -> Tree:
        return whole(carry._replace(t=carry.t + i * h / parts, y=y, rate_known=never), h / parts).y

    y = jax.lax.fori_loop(0, parts, one, carry.y)
    n_rate = (tableau.n_stages * parts).astype(jnp.int32)
    return Attempt(y, None, carry.rate, never, None, n_rate, jnp.ones((), bool))
