"""One explicit Runge-Kutta step with the right-hand side traced once.

The stages are a loop over the rows of the tableau. It begins at stage 0 when the rate at the
start is unknown and at stage 1 when it is (from the last stage of the step before, or from a
rejected attempt), so that no evaluation is made twice. In steps that hold samples it goes on to two
stages more, for the value within the step (`extension`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import Attempt, Carry, Problem
from swelltree.solvers.stepping.exact_block import exact_block
from swelltree.solvers.stepping.extension import Extension, cubic, inner_terms
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
    sampled: Array | None = None,
) -> Attempt:
    """Explicit Runge-Kutta step up to the time `latest`; when `starting` only the first rate.

    Args:
        sampled: does the step hold samples? None: no step does.
    """
    n = tableau.n_stages
    rows, times = (tableau.A, tableau.c) if sampled is None else tableau.with_inner_stages()
    A, c, n_all = jnp.asarray(rows), jnp.asarray(times), len(times)

    def combine(weights: Array, y: Tree, k: Tree) -> Tree:
        # written without a dot, so that the loop can become one kernel
        column = weights.reshape((-1,) + (1,) * y.ndim)
        return y + h * jnp.sum(column * k, axis=0)

    block = exact_block(problem, args, carry, h, n)

    def stage(i: Array, state: Tree) -> Tree:
        k, forcing = state
        y = block.at(i, jax.tree.map(functools.partial(combine, A[i]), carry.y, k), forcing)
        rate = problem.rate(args, jnp.minimum(carry.t + c[i] * h, latest), y)
        k = jax.tree.map(lambda ks, new: ks.at[i].set(new), k, rate)
        return k, block.kept(i, forcing, y, rate)

    k = jax.tree.map(lambda x: jnp.zeros((n_all, *x.shape)).at[0].set(x), carry.rate)
    first = jnp.where(carry.rate_known, 1, 0).astype(jnp.int32)
    last = n if sampled is None else jnp.where(sampled, n_all, n)
    last = jnp.where(starting, 1, last).astype(jnp.int32)
    k, forcing = _stage_loop(bounded, n_all, first, last, stage, (k, block.start()))
    k, inner = jax.tree.map(lambda x: x[:n], k), jax.tree.map(lambda x: x[n:], k)
    fsal = tableau.first_same_as_last
    weights = jnp.where(starting, 0.0, jnp.asarray(tableau.b))
    y = jax.tree.map(functools.partial(combine, weights), carry.y, k)
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
        extension=None if sampled is None else within_step(carry, h, y, k, inner),
    )


def within_step(carry: Carry, h: Array, y: Tree, k: Tree, inner: Tree) -> Extension:
    """The value within a step from the carry to a value.

    Args:
        carry: at its start.
        h: its length [s].
        y: value at its end.
        k: rates of its stages.
        inner: rates at two points within it, or none.
    """

    def terms(y0: Array, y1: Array, k: Array, inner: Array) -> Array:
        known = cubic(y0, y1, k[0], k[-1], h)
        more = inner_terms(known, h * inner[0], h * inner[1]) if len(inner) else [0.0 * y0] * 2
        return jnp.stack([*known, *more])

    return Extension(carry.t, h, jax.tree.map(terms, carry.y, y, k, inner))


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
