"""One explicit Runge-Kutta step with the right-hand side traced once.

The stages are a loop over the rows of the tableau. It begins at stage 0 when the rate at the
start is unknown and at stage 1 when it is (from the last stage of the step before, or from a
rejected attempt), so that no evaluation is made twice. In steps that hold samples it goes on to two
stages more, for the value within the step (`extension`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swelltree.integrate.problem import (
    EARLY,
    HALF,
    Attempt,
    Carry,
    Extension,
    LinearBlock,
    Problem,
    cubic,
    inner_rows,
    inner_terms,
)
from swelltree.jit import Array, Tree, jax, jnp
from swelltree.spatial.linear_steps import ExactStages

# The linear part of a problem within the stages of a fixed step, carried on exactly.
#
# Where a problem has none, or a step is not the fixed one (the last before a breakpoint or an
# output time), the stages are those of the tableau.

SAME = 1e-9  # of the fixed step


class NoBlock:
    """No linear part, or adaptive steps."""

    def start(self) -> Tree:
        return ()

    def at(self, i: Array, y: Tree, forcing: Tree) -> Tree:
        return y

    def stored(self, i: Array, forcing: Tree, y: Tree, rate: Tree) -> Tree:
        return forcing


@dataclass(frozen=True)
class ExactBlock(NoBlock):
    """z' = A z + f in the stages of a step."""

    block: LinearBlock
    stages: ExactStages
    carry: Carry
    full: Array  # the step is the fixed one
    count: int  # stages

    def forcing(self, y: Tree, rate: Tree) -> Tree:
        return self.block.get(rate) - self.stages.times(self.stages.A, self.block.get(y))

    def start(self) -> Tree:
        """f at the stages; at the first one if the rate at the start is known."""
        first = self.forcing(self.carry.y, self.carry.rate)
        return jnp.zeros((self.count, *first.shape)).at[0].set(first)

    def at(self, i: Array, y: Tree, forcing: Tree) -> Tree:
        """Stage value with its linear part; the last stage is the end."""
        decay, weights = jnp.asarray(self.stages.decay)[i], jnp.asarray(self.stages.weights)[i]
        times = self.stages.times
        z = times(decay, self.block.get(self.carry.y)) + times(weights, forcing).sum(0)
        return self.block.put(y, jnp.where(self.full, z, self.block.get(y)))

    def stored(self, i: Array, forcing: Tree, y: Tree, rate: Tree) -> Tree:
        """f at the stages after one more."""
        return forcing.at[i].set(self.forcing(y, rate))


def exact_block(problem: Problem, args: Tree, carry: Carry, h: Array, count: int) -> NoBlock:
    """How a step treats the linear part of its problem.

    Args:
        problem: the functions.
        args: their first argument.
        carry: start of the step.
        h: its length [s].
        count: stages of the method.
    """
    stages = None if problem.block is None else problem.block.stages(args)
    if problem.block is None or stages is None or stages.weights.shape[1] != count:
        return NoBlock()
    full = jnp.abs(h - stages.step) < SAME * stages.step
    return ExactBlock(problem.block, stages, carry, full, count)


# --- Coefficients of the Runge-Kutta methods


@dataclass(frozen=True, eq=False)
class Tableau:
    """Butcher tableau of a method.

    Args:
        name: name of the method.
        order: order of the solution.
        A: stage weights below the diagonal, shape (stage, stage).
        b: weights of the new value, shape (stage,).
        c: times of the stages as a fraction of the step, shape (stage,).
        error: weights of the error estimate, or None for a fixed-step method.
        extension: weights of the stages in the extension of order four (`extension`), (stage,);
            None: the cubic of both ends serves.
    """

    name: str
    order: int
    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    extension: np.ndarray | None = None
    error: np.ndarray | None = None

    @property
    def n_stages(self) -> int:
        return len(self.b)

    @property
    def first_same_as_last(self) -> bool:
        """Whether the last stage is the rate at the new value."""
        return bool(np.array_equal(self.A[-1], self.b) and self.c[-1] == 1.0)

    def with_inner_stages(self) -> tuple[np.ndarray, np.ndarray]:
        """A and c with two more stages within the step; unchanged if none are used."""
        if self.extension is None:
            return self.A, self.c
        n = self.n_stages
        A = np.zeros((n + 2, n + 2))
        A[:n, :n] = self.A
        A[n:, :n] = inner_rows(self.b, self.extension)
        return A, np.append(self.c, [EARLY, HALF])


def _tableau(
    name: str,
    order: int,
    rows: list[list[float]],
    b: list[float],
    extension: list[float] | None = None,
    error: list[float] | None = None,
) -> Tableau:
    A = np.zeros((len(b), len(b)))
    for i, row in enumerate(rows):
        A[i + 1, : len(row)] = row
    c = A.sum(axis=1)
    c[np.abs(c - 1.0) < 1e-12] = 1.0
    within = None if extension is None else np.array(extension)
    estimate = None if error is None else np.array(error)
    return Tableau(name, order, A, np.array(b), c, within, estimate)


RK4 = _tableau(
    "rk4",
    4,
    [[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]],
    [1 / 6, 1 / 3, 1 / 3, 1 / 6],
)

_DOPRI5_B = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
DOPRI5 = _tableau(
    "dopri5",
    5,
    [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        _DOPRI5_B,
    ],
    [*_DOPRI5_B, 0.0],
    # Hairer, Norsett and Wanner (1993), section II.6: d_1 to d_7 of the code DOPRI5
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ],
    [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
)

_TSIT5_B = [
    0.09646076681806523,
    0.01,
    0.4798896504144996,
    1.379008574103742,
    -3.290069515436081,
    2.324710524099774,
]
TSIT5 = _tableau(
    "tsit5",
    5,
    [
        [0.161],
        [-0.008480655492356989, 0.335480655492357],
        [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
        [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
        [
            5.86145544294642,
            -12.92096931784711,
            8.159367898576159,
            -0.071584973281401,
            -0.028269050394068383,
        ],
        _TSIT5_B,
    ],
    [*_TSIT5_B, 0.0],
    # Tsitouras (2011), section 5: coefficients of the fourth power in the interpolant
    [
        -1.0530884977290216,
        0.1017,
        2.490627285651252793,
        -16.54810288924490272,
        47.37952196281928122,
        -34.87065786149660974,
        2.5,
    ],
    # fifth minus fourth order
    [
        0.00178001105222577714,
        0.0008164344596567469,
        -0.007880878010261995,
        0.1447110071732629,
        -0.5823571654525552,
        0.45808210592918697,
        -1 / 66,
    ],
)

TABLEAUS = {tableau.name: tableau for tableau in (TSIT5, DOPRI5, RK4)}

# the diagonal, 0.26 in every stage but the first, stands in `stiff`; the last two stages are the
# values of order 4 and 5
_KVAERNO5_ROWS = [
    [0.26],
    [0.13, 0.84033320996790809],
    [0.22371961478320505, 0.47675532319799699, -0.06470895363112615],
    [0.16648564323248321, 0.10450018841591720, 0.03631482272098715, -0.13090704451073998],
    [0.13855640231268224, 0.0, -0.04245337201752043, 0.02446657898003141, 0.61943039072480676],
    [
        0.13659751177640291,
        0.0,
        -0.05496908796538376,
        -0.04118626728321046,
        0.62993304899016403,
        0.06962479448202728,
    ],
]
_LAST, _BEFORE = np.array([*_KVAERNO5_ROWS[5], 0.26]), np.array([*_KVAERNO5_ROWS[4], 0.26, 0.0])
KVAERNO5 = Tableau(
    "stiff",
    5,
    np.array([[0.0] * 7, *([*row, *[0.0] * (7 - len(row))] for row in _KVAERNO5_ROWS)]),
    _LAST,
    np.array([0.0, *(sum(row) + 0.26 for row in _KVAERNO5_ROWS)]),
    error=_LAST - _BEFORE,
)


def _stage_loop(
    bounded: bool, n: int, first: Array, last: Array, body: Callable[..., Tree], init: Tree
) -> Tree:
    """Run body(i, state) for first <= i < last, with i in 0..n-1."""
    if not bounded:
        return jax.lax.fori_loop(first, last, body, init)

    def step(state: Tree, i: Array) -> Tree:
        requested = (i >= first) & (i < last)
        return jax.lax.cond(requested, lambda s: body(i, s), lambda s: s, state), None

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
        return k, block.stored(i, forcing, y, rate)

    k = jax.tree.map(lambda x: jnp.zeros((n_all, *x.shape)).at[0].set(x), carry.rate)
    first = jnp.where(carry.rate_known, 1, 0).astype(jnp.int32)
    last = n if sampled is None else jnp.where(sampled, n_all, n)
    last = jnp.where(starting, 1, last).astype(jnp.int32)
    k, forcing = _stage_loop(bounded, n_all, first, last, stage, (k, block.start()))
    stages = k
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
        stages=stages,
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

    def full(now: Carry, length: Array) -> Attempt:
        return explicit(tableau, problem, args, now, length, latest, never, bounded)

    if bounded:  # derivatives know one part only
        return full(carry, h)

    def one(i: Array, y: Tree) -> Tree:
        return full(carry._replace(t=carry.t + i * h / parts, y=y, rate_known=never), h / parts).y

    y = jax.lax.fori_loop(0, parts, one, carry.y)
    n_rate = (tableau.n_stages * parts).astype(jnp.int32)
    return Attempt(y, None, carry.rate, never, None, n_rate, jnp.ones((), bool))
