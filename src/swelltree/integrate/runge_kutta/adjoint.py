r"""Steps of an explicit method recorded, and followed backwards: the discrete adjoint of a run.

With the stages :math:`Y_i = y_n + h \sum_j a_{ij} k_j,\; k_i = f(t_i, Y_i, \theta)` and the end
:math:`y_{n+1} = S(y_n + h \sum_i b_i k_i)`, S the return to the constraints, the adjoint of the end
gives that of the start (Hager 2000, eqs. 21-23; the lengths of the steps are constants)

.. math::
    \bar e &= S'^\top \lambda_{n+1}, \qquad
    \bar k_i = h \Big( b_i \bar e + \sum_{j > i} a_{ji} \bar Y_j \Big), \qquad
    \bar Y_i = f_y(t_i, Y_i)^\top \bar k_i \\
    \lambda_n &= \bar e + \sum_i \bar Y_i, \qquad
    \bar\theta \mathrel{+}= \sum_i f_\theta(t_i, Y_i)^\top \bar k_i

The rates of the stages are kept with every step, so that none is evaluated again. A linear part of
the problem that fixed steps carry on exactly (`exact_block`) is followed by its own stages. What
samples within a step depend on enters as the adjoint of the terms of its continuous extension.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swelltree.integrate.problem import Carry, Code, Options, Problem, cubic, inner_terms
from swelltree.integrate.runge_kutta.attempt import Attempts
from swelltree.integrate.runge_kutta.explicit import SAME, TABLEAUS, Tableau
from swelltree.jit import Array, Tree, jax, jnp, ravel_pytree
from swelltree.spatial.linear_steps import ExactStages

TERMS = 6  # of the continuous extension


class Steps(NamedTuple):
    """Attempted steps along the first axis; values as vectors of n numbers."""

    t: Array  # (k,) at the start [s]
    h: Array  # (k,) length [s]
    t_end: Array  # (k,) at the end [s]
    latest: Array  # (k,) time up to which rates are asked for [s]
    accepted: Array  # (k,) bool
    sampled: Array  # (k,) bool: does it hold samples within?
    y: Array  # (k, n) at the start
    end: Array  # (k, n) before the return to the constraints
    stages: Array  # (k, stages, n) rates, those within the step last


class Sources(NamedTuple):
    """Derivatives of an objective by the steps, apart from the start."""

    end: Array  # (k, n) in the value at the end of each step
    within: Array  # (k, 6, n) in the terms of its continuous extension; (k, 0, n): no samples there


def record(
    problem: Problem,
    args: Tree,
    options: Options,
    carry: Carry,
    times: Array,
    method: str,
    free: bool,
    count: int,
) -> tuple[Carry, Steps]:
    """At most so many attempts at steps of a run, until the last of some samples is reached.

    The attempts are those of `smooth.integrate`.

    Args:
        problem: the functions.
        args: their first argument.
        options: tolerances and steps.
        carry: where to begin.
        times: of samples [s].
        method: of `explicit.TABLEAUS`.
        free: steps pass over samples.
        count: attempts.
    """
    attempt = Attempts(problem, method, args, options, False, free)
    tableau = TABLEAUS[method]
    n = len(ravel_pytree(carry.y)[0])
    n_all = len(tableau.with_inner_stages()[1]) if free else tableau.n_stages
    zero, no, none = jnp.zeros(()), jnp.zeros((), bool), jnp.zeros(n)
    stages = jnp.zeros((n_all, n))
    blank = Steps(zero, zero, zero, zero, no, no, none, none, stages)

    def further(state: tuple[Carry, Array]) -> tuple[Carry, Steps]:
        carry, k = state
        after, plan, tried = attempt.with_stages(carry, times[k])
        rows = [x.reshape(n_all, -1) for x in jax.tree.leaves(tried.stages)]
        step = Steps(
            carry.t,
            plan.h,
            plan.t_new,
            plan.latest,
            after.n_accepted > carry.n_accepted,
            jnp.zeros((), bool) if plan.sampled is None else plan.sampled,
            ravel_pytree(carry.y)[0],
            ravel_pytree(tried.y)[0],
            jnp.concatenate(rows, axis=1),
        )
        return after, step

    def one(state: tuple[Carry, Array], _: None) -> tuple[tuple[Carry, Array], Steps]:
        carry, k = state

        def reached(k: Array) -> Array:
            return (k < len(times)) & (times[jnp.minimum(k, len(times) - 1)] <= carry.t)

        k = jax.lax.while_loop(reached, lambda k: k + 1, k)
        go = (k < len(times)) & (carry.code == Code.SUCCESS)
        k = jnp.minimum(k, len(times) - 1)
        after, step = jax.lax.cond(go, further, lambda state: (state[0], blank), (carry, k))
        return (after, k), step

    carry = jax.tree.map(jnp.asarray, carry)
    begin = carry, jnp.zeros((), jnp.int32)
    (carry, _), steps = jax.lax.scan(one, begin, None, length=count)
    return carry, steps


def values_within(tableau: Tableau, steps: Steps, which: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Values at times within some steps by their continuous extension, (samples, n), in numpy.

    Args:
        tableau: of the method.
        steps: recorded.
        which: step of each sample.
        t: its time [s].
    """
    h = steps.h[which]
    x = ((t - steps.t[which]) / h)[:, None]
    terms = _terms(tableau, steps.y[which].T, steps.end[which].T, _moved(steps.stages[which]), h)
    parts = [weight * term.T for weight, term in zip(_weights(x), terms, strict=True)]
    return np.sum(parts, axis=0)


def _moved(stages: np.ndarray) -> np.ndarray:
    return np.moveaxis(stages, 0, -1)  # (stages, n, samples)


def _weights(x: Array) -> list[Array]:
    """Weights of a continuous extension at a fraction x of the step."""
    bend = x * (1.0 - x)
    inner = bend * bend
    return [1.0 + 0.0 * x, x, bend, x * bend, inner, inner * (x - 0.5)]


def sources_within(which: np.ndarray, x: np.ndarray, slopes: np.ndarray, count: int) -> np.ndarray:
    """Derivatives in the terms of steps from those in values within them, (count, 6, n).

    Args:
        which: step of each sample.
        x: its part of the step.
        slopes: derivatives in the values, (samples, n).
        count: steps.
    """
    result = np.zeros((count, TERMS, slopes.shape[1]))
    if len(which):
        # samples of a step follow one another
        steps, first = np.unique(which, return_index=True)
        parts = np.stack([weight * slopes for weight in _weights(x[:, None])], axis=1)
        result[steps] = np.add.reduceat(parts, first, axis=0)
    return result


def _terms(tableau: Tableau, y0: Array, y1: Array, k: Array, h: Array) -> list[Array]:
    n = tableau.n_stages
    known = cubic(y0, y1, k[0], k[n - 1], h)
    if len(k) > n:
        return [*known, *inner_terms(known, h * k[n], h * k[n + 1])]
    return [*known, 0.0 * y0, 0.0 * y0]


def follow_back(
    problem: Problem,
    varied: Callable[[Tree, Array], Tree],
    args: Tree,
    method: str,
    like: Tree,
    theta: Array,
    steps: Steps,
    sources: Sources,
    lam: Array,
    slope: Array,
) -> tuple[Array, Array]:
    """Derivatives of an objective at the start of recorded steps, from those at their end.

    Args:
        problem: the functions.
        varied: ``varied(args, theta)`` gives args with other numbers.
        args: first argument of the functions.
        method: of `explicit.TABLEAUS`.
        like: a value of the problem.
        theta: numbers of args.
        steps: recorded.
        sources: what the objective depends on in these steps.
        lam: derivatives in the value at their end (n,).
        slope: those in theta, of all that comes later.
    """
    unravel = ravel_pytree(like)[1]

    def one(state: tuple[Array, Array], row: tuple[Steps, Sources]) -> tuple[Tree, None]:
        def back(state: tuple[Array, Array]) -> tuple[Array, Array]:
            return _step_back(problem, varied, args, method, unravel, theta, *row, *state)

        return jax.lax.cond(row[0].accepted, back, lambda state: state, state), None

    (lam, slope), _ = jax.lax.scan(one, (lam, slope), (steps, sources), reverse=True)
    return lam, slope


def _step_back(
    problem: Problem,
    varied: Callable[[Tree, Array], Tree],
    args: Tree,
    method: str,
    unravel: Callable[[Array], Tree],
    theta: Array,
    step: Steps,
    source: Sources,
    lam: Array,
    slope: Array,
) -> tuple[Array, Array]:
    """Adjoint of one step."""
    tableau, h = TABLEAUS[method], step.h
    n = tableau.n_stages
    n_all = step.stages.shape[0]
    A, c = tableau.with_inner_stages() if n_all > n else (tableau.A, tableau.c)
    A, c, b = jnp.asarray(A), jnp.asarray(c), jnp.asarray(np.pad(tableau.b, (0, n_all - n)))
    block = _Exact.of(problem, varied(args, theta), h, n, unravel, step.y.shape[0])

    lam = lam + source.end
    if problem.settle is not None:
        settle, t = problem.settle, step.t_end

        def settled(end: Array, theta: Array) -> Array:
            return ravel_pytree(settle(varied(args, theta), t, unravel(end)))[0]

        lam, more = jax.vjp(settled, step.end, theta)[1](lam)
        slope = slope + more

    # of the start, the end and the rates, by what samples within the step depend on
    k_bar, start = jnp.zeros((n_all, step.y.shape[0])), jnp.zeros_like(step.y)
    if source.within.shape[0]:

        def terms(y0: Array, y1: Array, k: Array) -> Array:
            return jnp.stack(_terms(tableau, y0, y1, k, h))

        pull = jax.vjp(terms, step.y, step.end, step.stages)[1]

        def within() -> tuple[Array, Array, Array]:
            return pull(source.within)

        start, end, k_bar = jax.lax.cond(
            step.sampled, within, lambda: (start, jnp.zeros_like(start), k_bar)
        )
        lam = lam + end

    forcing = block.forcing(step.y, step.stages, A)
    end, start, f_bar = block.pulled_end(lam, start, len(tableau.b), forcing)
    by_stage = A.T  # of each stage, its weights in the values of those behind it

    def stage(j: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        start, y_bar, f_bar, slope = state
        i = last - 1 - j
        y = block.value(A[i], i, step.y, step.stages, forcing)
        t = jnp.minimum(step.t + c[i] * h, step.latest)

        def rate(y: Array, theta: Array) -> Array:
            return ravel_pytree(problem.rate(varied(args, theta), t, unravel(y)))[0]

        k_i = k_bar[i] + h * (b[i] * end + (by_stage[i][:, None] * y_bar).sum(0))
        k_i, more = block.pulled_forcing(i, k_i, f_bar)
        of_value, by_theta = jax.vjp(rate, y, theta)[1](k_i)
        of_value, start, f_bar = block.pulled_value(i, of_value + more, start, f_bar)
        return start, y_bar.at[i].set(of_value), f_bar, slope + by_theta

    last = jnp.where(step.sampled, n_all, n) if n_all > n else n
    state = (start, jnp.zeros_like(step.stages), f_bar, slope)
    start, y_bar, _, slope = jax.lax.fori_loop(0, last, stage, state)
    return start + end + y_bar.sum(0), slope


class _Plain:
    """Stages of a step by the tableau alone, and their adjoints."""

    def __init__(self, h: Array) -> None:
        self.h = h

    def forcing(self, y: Array, k: Array, A: Array) -> Array:
        """Forcing of the linear part at the stages."""
        return jnp.zeros((k.shape[0], 0))

    def value(self, a: Array, i: Array, y: Array, k: Array, forcing: Array) -> Array:
        return y + self.h * (a[:, None] * k).sum(0)

    def pulled_end(
        self, end: Array, start: Array, count: int, forcing: Array
    ) -> tuple[Array, Array, Array]:
        """Adjoints passed on by the end, of the start, and of the forcing."""
        return end, start, jnp.zeros_like(forcing)

    def pulled_forcing(self, i: Array, k: Array, f_bar: Array) -> tuple[Array, Array]:
        """Adjoints of rate and value of a stage from its forcing."""
        return k, jnp.zeros_like(k)

    def pulled_value(
        self, i: Array, value: Array, start: Array, f_bar: Array
    ) -> tuple[Array, Array, Array]:
        """Adjoints of the start and of the forcing from those of a stage value."""
        return value, start, f_bar


class _Exact(_Plain):
    """Steps with a linear part z' = A z + f that is integrated exactly."""

    def __init__(self, h: Array, stages: ExactStages, z: np.ndarray, n: int) -> None:
        super().__init__(h)
        self.stages, self.z, self.n = stages, z, n
        full = jnp.abs(h - stages.step) < SAME * stages.step
        self.full = full
        mask = np.zeros(n, bool)
        mask[z] = True
        self.plain = jnp.where(full, jnp.asarray(~mask, float), 1.0)

    @staticmethod
    def of(
        problem: Problem, args: Tree, h: Array, count: int, unravel: Callable[[Array], Tree], n: int
    ) -> _Plain:
        """Linear part of a problem at a fixed step; see `exact_block`."""
        block = problem.block
        stages = None if block is None else block.stages(args)
        if block is None or stages is None or stages.weights.shape[1] != count:
            return _Plain(h)
        like = jax.tree.map(lambda x: np.zeros(np.shape(x)), unravel(np.zeros(n)))
        marked = block.put(like, np.ones(np.shape(block.get(like))))
        rows = [np.ravel(np.asarray(x)) for x in jax.tree.leaves(marked)]
        return _Exact(h, stages, np.flatnonzero(np.concatenate(rows)), n)

    def _linear(self, i: Array, z: Array, forcing: Array) -> Array:
        """Linear part at a stage; the last stage is the end."""
        decay, weights = jnp.asarray(self.stages.decay)[i], jnp.asarray(self.stages.weights)[i]
        return self.stages.times(decay, z) + self.stages.times(weights, forcing).sum(0)

    def _own(self, x: Array) -> Array:
        return jnp.where(self.full, x[self.z], 0.0)

    def forcing(self, y: Array, k: Array, A: Array) -> Array:
        def one(i: Array, forcing: Array) -> Array:
            z = self.value(A[i], i, y, k, forcing)[self.z]
            return forcing.at[i].set(k[i][self.z] - self.stages.times(self.stages.A, z))

        return jax.lax.fori_loop(0, k.shape[0], one, jnp.zeros((k.shape[0], len(self.z))))

    def value(self, a: Array, i: Array, y: Array, k: Array, forcing: Array) -> Array:
        value = super().value(a, i, y, k, forcing)
        z = jnp.where(self.full, self._linear(i, y[self.z], forcing), value[self.z])
        return value.at[self.z].set(z)

    def pulled_end(
        self, end: Array, start: Array, count: int, forcing: Array
    ) -> tuple[Array, Array, Array]:
        return self._pulled(count, end, start, jnp.zeros_like(forcing))

    def pulled_forcing(self, i: Array, k: Array, f_bar: Array) -> tuple[Array, Array]:
        f = f_bar[i]
        A = self.stages.A
        back = jax.vjp(lambda z: self.stages.times(A, z), jnp.zeros_like(f))[1](f)[0]
        return k.at[self.z].add(f), jnp.zeros_like(k).at[self.z].set(-back)

    def pulled_value(
        self, i: Array, value: Array, start: Array, f_bar: Array
    ) -> tuple[Array, Array, Array]:
        return self._pulled(i, value, start, f_bar)

    def _pulled(
        self, i: Array, value: Array, start: Array, f_bar: Array
    ) -> tuple[Array, Array, Array]:
        pull = jax.vjp(lambda z, f: self._linear(i, z, f), start[self.z], f_bar)[1]
        z, f = pull(self._own(value))
        return self.plain * value, start.at[self.z].add(z), f_bar + f
