r"""Implicit step for stiff problems: the ESDIRK method of order 5(4) of Kvaerno (2004).

A stage solves

.. math:: Y = y_0 + h \sum_{j<i} a_{ij} k_j + h \gamma F(t_i, Y)

by chords: one Jacobian at the start of the step serves all stages. A linear block of the problem
(z' = A z + f) brings its own Jacobian A and is eliminated, so that Newton's matrix is as large as
the rest of the state, and integrals on which nothing depends follow without being solved for.
Derivatives of a run are those of the solved stages, not of the chords.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.integrate.problem import Attempt, Carry, Options, Problem
from swelltree.integrate.runge_kutta.explicit import KVAERNO5
from swelltree.jit import Array, Tree, each, jax, jnp, ravel_pytree
from swelltree.spatial.linear_steps import resolvent_of

GAMMA = 0.26  # the diagonal of the tableau
MOST_CHORDS = 10
STAGE_TOL = 0.01  # of the tolerance: what a stage may be off

Chord = Callable[
    [Array], Array
]  # right-hand side of a linearised stage (n,) -> change of the value


def implicit(
    problem: Problem, args: Tree, options: Options, carry: Carry, h: Array, latest: Array
) -> Attempt:
    """One step of length h that does not see times after `latest`."""
    y0, unravel = ravel_pytree(carry.y)

    def rate(t: Array, y: Tree) -> Tree:
        return ravel_pytree(problem.rate(args, jnp.minimum(t, latest), unravel(y)))[0]

    rate0 = rate(carry.t, y0)
    chord = newton_matrix(problem, args, carry, h, latest)
    A, c = jnp.asarray(KVAERNO5.A), jnp.asarray(KVAERNO5.c)

    def stage(state: Tree, i: Array) -> Tree:
        k, converged = state
        base = y0 + h * (A[i][:, None] * k).sum(0)
        t = carry.t + c[i] * h

        def residual(y: Tree) -> Tree:
            return y - base - h * GAMMA * rate(t, y)

        def solve(function: Callable[[Tree], Tree], y: Tree) -> Tree:
            scale = options.atol + options.rtol * jnp.abs(y0)
            return _by_chords(function, y, chord, scale)

        first = jax.lax.stop_gradient(base + h * GAMMA * k[i - 1])
        y, fine = jax.lax.custom_root(residual, first, solve, _tangents, has_aux=True)
        return (k.at[i].set((y - base) / (h * GAMMA)), converged & (fine > 0.5)), y

    stages = len(KVAERNO5.b)
    k = jnp.zeros((stages, len(y0))).at[0].set(rate0)
    (k, converged), values = jax.lax.scan(stage, (k, jnp.ones((), bool)), np.arange(1, stages))
    error = h * (jnp.asarray(KVAERNO5.error)[:, None] * k).sum(0)
    return Attempt(
        y=unravel(values[-1]),
        error=unravel(error),
        rate_start=unravel(rate0),
        start_known=jnp.ones((), bool),
        rate_end=unravel(k[-1]),
        n_rate=jnp.asarray(stages, jnp.int32),
        converged=converged,
    )


def newton_matrix(problem: Problem, args: Tree, carry: Carry, h: Array, latest: Array) -> Chord:
    """Solve with Newton's matrix of the stages: its linear block and its integrals eliminated.

    Its Jacobian is one linearisation of the right-hand side, followed along every number but the
    integrals by one body in a loop; in native code both are parts of one graph.
    """
    args, y = jax.lax.stop_gradient((args, carry.y))
    flat, unravel = ravel_pytree(y)
    t = jax.lax.stop_gradient(jnp.minimum(carry.t, latest))
    _, tangent = jax.linearize(lambda x: ravel_pytree(problem.rate(args, t, unravel(x)))[0], flat)
    hg = h * GAMMA
    x, z = _parts(problem, args, carry.y)
    resolvent = _same
    if len(z):
        block = problem.block
        assert block is not None
        A = jax.lax.stop_gradient(block.matrix(args))
        resolvent = resolvent_of(A, hg, block.partners(args))

    rest = np.setdiff1d(np.arange(len(flat)), np.concatenate([x, z]))

    def direction(column: Array) -> tuple[Array, Array, Array]:
        """Change of the rate with one component of the value."""
        change = tangent(column)
        return change[x], change[z], change[rest]

    # rows are the directions: first those that are solved for, then those of the block
    m, k = len(x), len(z)
    columns = np.zeros((m + k, len(flat)))
    columns[np.arange(m + k), np.concatenate([x, z])] = 1.0
    to_x, to_z, to_rest = each(direction, columns)
    moved, follows = to_x[:m], jnp.zeros((m, 0))
    if k:
        follows = each(lambda row: resolvent(hg * row), to_z[:m])  # how the block follows
        moved = moved + follows @ to_x[m:]
    factored = jax.scipy.linalg.lu_factor(np.eye(m) - hg * moved.T)

    def solve(right: Array) -> Array:
        change, pushed, alone = jnp.zeros_like(right), right[x], right[z]
        if k:
            alone = resolvent(alone)
            pushed = pushed + hg * (alone @ to_x[m:])
        dx = jax.scipy.linalg.lu_solve(factored, pushed)
        change, rate = change.at[x].set(dx), dx @ to_rest[:m]
        if k:
            dz = alone + dx @ follows
            change, rate = change.at[z].set(dz), rate + dz @ to_rest[m:]
        return change.at[rest].set(right[rest] + hg * rate)

    return solve


def _same(x: Array) -> Array:
    return x


def _parts(problem: Problem, args: Tree, y: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Positions in the flat value of the unknowns of Newton's method and of the linear block."""
    none = jax.tree.map(lambda leaf: np.zeros(np.shape(leaf), bool), y)

    def flat(tree: Tree) -> np.ndarray:
        parts = [np.ravel(leaf) for leaf in jax.tree.leaves(tree)]
        return np.concatenate(parts) if parts else np.zeros(0, bool)

    def marked(weight: Array, part: Tree) -> Tree:
        mask = weight if isinstance(weight, np.ndarray) else weight is not False
        return jax.tree.map(lambda leaf: np.broadcast_to(mask != 0, np.shape(leaf)), part)

    counts = flat(jax.tree.map(marked, problem.weights, y))
    block, in_block = problem.block, np.zeros_like(counts)
    if block is not None and block.matrix(args) is not None:
        in_block = flat(block.put(none, np.ones(np.shape(block.get(y)), bool)))
    return np.flatnonzero(counts & ~in_block), np.flatnonzero(in_block)


def _by_chords(function: Callable[..., Tree], y: Tree, chord: Chord, scale: Array) -> Tree:
    """Root of a stage by chord iteration: its value, and one if converged, else zero."""

    def size(change: Array) -> Tree:
        return jnp.sqrt(jnp.mean((change / scale) ** 2))

    def body(state: Tree) -> Tree:
        y, before, _, i = state
        change = chord(-function(y))
        now = size(change)
        contraction = now / jnp.maximum(before, 1e-300)
        ahead = jnp.where(i == 0, 1.0, contraction / jnp.maximum(1.0 - contraction, 1e-3))
        done = (jnp.maximum(ahead, 1e-3) * now < STAGE_TOL) & (contraction < 1.0)
        return y + change, now, done, i + 1

    def unfinished(state: Tree) -> Tree:
        _, now, done, i = state
        return ~done & (i < MOST_CHORDS) & jnp.isfinite(now) | (i == 0)

    begin = (y, jnp.asarray(1e300), jnp.zeros((), bool), jnp.zeros((), jnp.int32))
    y, _, done, _ = jax.lax.while_loop(unfinished, body, begin)
    return y, done.astype(float)


def _tangents(linear: Callable[..., Tree], right: Array) -> Tree:
    """Solve with the exact Jacobian of a stage, for derivatives."""
    return jnp.linalg.solve(jax.jacfwd(linear)(jnp.zeros_like(right)), right)
