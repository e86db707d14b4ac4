"""Time stepping of smooth problems with output exactly at the user's times.

A problem is pure functions of ``args`` (the model), ``t`` and ``y``, where ``y`` is any tree
of float64 arrays. One attempt at a step (`attempt`) serves every method and both loops: an
open-ended one (fast, forward derivatives) and a bounded one (forward and reverse derivatives).

`fixed_steps` steps many cases in parallel, as `integrate` with method "rk4". Time, lengths of steps
and stages are the same in all cases, so that loops never part; a case that has failed is held where
it was. With `integrate` instead, batches took 1.2 (RM3) to 2.8 times (three barges) the CPU time.
Problems with events have no common times and take `integrate`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.integrate.problem import (
    Carry,
    Code,
    Extremes,
    LinearBlock,
    Options,
    Problem,
    as_channels,
    known_now,
    start,
    with_step,
)
from swelltree.integrate.runge_kutta import control
from swelltree.integrate.runge_kutta.attempt import Attempts, choose
from swelltree.integrate.runge_kutta.explicit import RK4, SAME, TABLEAUS
from swelltree.jit import MAX_EXPRESSIONS, Array, Program, Tree, jax, jnp
from swelltree.spatial.linear_steps import ExactStages, Ports
from swelltree.spatial.rotations import apply

__all__ = ["METHODS", "Carry", "Options", "Problem", "compiled", "integrate", "start", "value_at"]


class Reaching(NamedTuple):
    """On the way to an output.

    Args:
        carry: of the stepper.
        between: what is known of channels since the output before; None where none are kept.
        looked_at: time of the last look at them [s], or None.
    """

    carry: Carry
    between: Extremes | None
    looked_at: Tree


METHODS = ("tsit5", "dopri5", "rk4", "stiff")
# expressions of the implicit method that LLVM compiles: for these XLA takes three times as long
IMPLICIT = 300_000


def integrate(
    problem: Problem,
    args: Tree,
    carry: Carry,
    times: Array,
    options: Options = Options(),  # noqa: B008 - immutable
    *,
    method: str = "tsit5",
    observe: Callable[[Tree, Tree, Tree], Tree] | None = None,
    stored: Callable[[Tree, Tree, Tree], dict[str, Tree]] | None = None,
    differentiable: bool = False,
    max_steps_per_output: int = 64,
    free: bool = False,
) -> tuple[Carry, Tree]:
    """Step through the output times and return the carry and one output per time.

    From the time of a failure on, outputs are NaN and the carry keeps the last good state.

    Args:
        problem: the functions.
        args: their first argument (the model), any tree.
        carry: from `start`, or from an earlier call.
        times: output times, not decreasing and not before ``carry.t`` [s].
        options: tolerances and steps.
        method: "tsit5", "dopri5", "rk4" (fixed step) or "stiff".
        observe: ``observe(args, t, y)`` gives the output at a time; None gives y.
        stored: ``stored(args, t, y)`` gives channels whose max, min and mean since the last output
            are wanted; outputs are then pairs of the output and these.
        differentiable: use a bounded loop, for forward and reverse derivatives. The steps
            themselves are held constant in the derivative.
        max_steps_per_output: most attempts between outputs when differentiable (the cost of
            a reverse derivative grows with it).
        free: steps of explicit methods pass over output times, up to `Options.free_until`; what
            lies within a step is taken from the continuous extension of the method. Else a step
            lands on every output time.
    """
    if method not in METHODS:
        raise SwelltreeError(
            f"solver: there is no method '{method}'.{suggest(method, METHODS)} "
            f"Choose one of {listed(METHODS)}."
        )
    options = Options(*(jnp.asarray(number) for number in options))
    free = free and method in TABLEAUS and problem.in_step is None
    attempt = Attempts(problem, method, args, options, differentiable, free)

    def unfinished(carry: Carry, target: Array) -> Tree:
        return (carry.t < target) & (carry.code == Code.SUCCESS)

    def value(carry: Carry, t: Array) -> Tree:
        return value_at(problem, args, carry, t) if free else carry.y

    def further(state: Reaching, target: Array) -> Reaching:
        carry, between, looked_at = state
        if stored is None or between is None:
            return Reaching(attempt(carry, target), None, None)
        if free:  # the last step may have gone beyond the output before
            waits = carry.t > looked_at
            carry = jax.lax.cond(waits, lambda: carry, lambda: attempt(carry, target))
        else:
            carry = attempt(carry, target)
        # the next moment at which channels are looked at: the end of a step, or an output within
        t = jnp.minimum(carry.t, target)
        longer = with_step(between, stored(args, t, value(carry, t)), t - looked_at)
        return Reaching(carry, choose(t > looked_at, longer, between), jnp.maximum(t, looked_at))

    def under_way(state: Reaching, target: Array) -> Tree:
        if state.looked_at is None:
            return unfinished(state.carry, target)
        return (state.looked_at < target) & (state.carry.code == Code.SUCCESS)

    def reaching_from(carry: Carry) -> Reaching:
        if stored is None:
            return Reaching(carry, None, None)
        t = carry.sampled
        return Reaching(carry, known_now(stored(args, t, value(carry, t))), t)

    def reach(carry: Carry, target: Array) -> Reaching:
        if differentiable:

            def maybe(state: Tree, _: None) -> tuple[Tree, None]:
                go = under_way(state, target)
                return jax.lax.cond(go, lambda s: further(s, target), lambda s: s, state), None

            return jax.lax.scan(maybe, reaching_from(carry), None, length=max_steps_per_output)[0]

        def go(state: Tree) -> Tree:
            return under_way(state[0], target) & (state[1] < options.max_steps)

        def body(state: Tree) -> Tree:
            return further(state[0], target), state[1] + 1

        begin = reaching_from(carry), jnp.zeros((), jnp.int32)
        return jax.lax.while_loop(go, body, begin)[0]

    def output(carry: Carry, target: Array) -> tuple[Carry, Tree]:
        carry, between, _ = reach(carry, target)
        late = unfinished(carry, target)
        carry = carry._replace(
            code=jnp.where(late, Code.TOO_MANY_STEPS, carry.code).astype(jnp.int32),
            t_fail=jnp.where(late, carry.t, carry.t_fail),
        )
        carry = carry._replace(sampled=target)
        y = value(carry, target)
        sample = y if observe is None else observe(args, target, y)
        if between is not None:
            sample = sample, as_channels(between)
        fine = carry.code == Code.SUCCESS
        carry = carry._replace(n_outputs=carry.n_outputs + fine)
        return carry, jax.tree.map(lambda x: jnp.where(fine, x, jnp.nan), sample)

    if differentiable:
        output = jax.checkpoint(output, prevent_cse=False)
    carry = jax.tree.map(jnp.asarray, carry)
    return jax.lax.scan(output, carry, jnp.asarray(times, float))


def value_at(problem: Problem, args: Tree, carry: Carry, t: Array) -> Tree:
    """Value at a time of the last step, projected on its constraints."""

    def within() -> Tree:
        y = carry.extension.at(t)
        return y if problem.settle is None else problem.settle(args, t, y)

    return jax.lax.cond(t < carry.t, within, lambda: carry.y)


@functools.lru_cache(maxsize=64)
def compiled(
    problem: Problem,
    method: str = "tsit5",
    observe: Callable[[Tree, Tree, Tree], Tree] | None = None,
    stored: Callable[[Tree, Tree, Tree], dict[str, Tree]] | None = None,
    free: bool = False,
    shaped: bool = True,
) -> Program:
    """``advance(args, options, carry, times) -> (carry, outputs)``, compiled once.

    It runs as native code where all can be flattened, else by XLA.

    Args:
        problem: the functions.
        method: as of `integrate`.
        observe: as of `integrate`.
        stored: as of `integrate`.
        free: as of `integrate`.
        shaped: False where numbers of the model change on the way (`Program`).
    """
    how = {"method": method, "observe": observe, "stored": stored, "free": free}

    def advance(args: Tree, options: Options, carry: Carry, times: Array) -> tuple[Carry, Tree]:
        return integrate(problem, args, carry, times, options, **how)

    most = MAX_EXPRESSIONS if method in TABLEAUS else IMPLICIT
    return Program(advance, shaped=shaped, most=most)


NEXT = (0.5, 0.5, 1.0, 0.0)  # weight of the rate of a stage in the value of the next
AHEAD = (1, 1, 2, 2)  # which of the three known parts of w the next stage sees
TIMES = (1.0, 1.0, 2.0, 0.0)  # what it sees of u, in parts of `StagePorts.near`
STAGE_WEIGHTS = (0, 1, 1, 2)  # the second and third stage count alike at the end


def rk4_step(problem: Problem, args: Tree, y0: Tree, t: Array, h: Array, latest: Array) -> Tree:
    """The value after a step of classical RK4.

    Args:
        problem: the functions.
        args: their first argument.
        y0: value at the beginning.
        t: time of it [s].
        h: length of the step [s].
        latest: time up to which rates are asked for [s].
    """
    block = problem.block
    stages = None if block is None else block.stages(args)
    ports = None if block is None else block.ports(args)
    if block is None or stages is None or ports is None:
        return _by_tableau(problem, args, y0, t, h, latest)
    # the last step before a breakpoint or an output time may be shorter
    return jax.lax.cond(
        jnp.abs(h - stages.step) >= SAME * stages.step,
        lambda: _by_tableau(problem, args, y0, t, h, latest),
        lambda: _outside_block(problem, block, stages, ports, y0, t, h, latest),
    )


def _by_tableau(problem: Problem, args: Tree, y0: Tree, t: Array, h: Array, latest: Array) -> Tree:
    """A whole RK4 step by its stages."""
    c, b, a = (jnp.asarray(x) for x in (RK4.c, RK4.b, NEXT))

    def stage(i: Array, state: Tree) -> Tree:
        y, total = state
        rate = problem.rate(args, jnp.minimum(t + c[i] * h, latest), y)
        following = jax.tree.map(lambda start, k: start + h * a[i] * k, y0, rate)
        return following, jax.tree.map(lambda s, k: s + h * b[i] * k, total, rate)

    return jax.lax.fori_loop(0, 4, stage, (y0, y0))[1]


def _outside_block(
    problem: Problem,
    block: LinearBlock,
    stages: ExactStages,
    ports: Ports,
    y0: Tree,
    t: Array,
    h: Array,
    latest: Array,
) -> Tree:
    r"""The linear part exactly, beside the stages of all else.

    The formulas of Cox and Matthews (2002), eqs. 26-29, multiplied by C:

    .. math:: w_2 = C e^{hA/2} z_0 + H u_1, \quad w_3 = C e^{hA/2} z_0 + H u_2, \quad
              w_4 = C e^{hA} z_0 + H' u_1 + 2 H u_3
    """
    c, b, a, times = (jnp.asarray(x) for x in (RK4.c, RK4.b, NEXT, TIMES))
    ahead, identical = jnp.asarray(AHEAD), jnp.asarray(STAGE_WEIGHTS)
    z0, none, m = block.get(y0), jnp.zeros(0), len(ports.stages.active)
    # w at the three times of the stages, as far as it follows from the start
    w = apply(ports.stages.outputs, z0).reshape(3, m)
    rest = block.put(y0, none)

    def stage(i: Array, state: Tree) -> Tree:
        y, total, u = state
        rate = problem.rate(ports.args, jnp.minimum(t + c[i] * h, latest), y)
        now, rate = block.get(rate), block.put(rate, none)
        following = jax.tree.map(lambda start, k: start + h * a[i] * k, rest, rate)
        total = jax.tree.map(lambda s, k: s + h * b[i] * k, total, rate)
        first = jax.lax.cond(
            i == 2, lambda: apply(ports.stages.far, u[0]), lambda: jnp.zeros_like(now)
        )
        memory = w[ahead[i]] + times[i] * apply(ports.stages.near, now) + first
        return block.put(following, memory), total, u.at[identical[i]].add(now)

    start = block.put(y0, w[0]), rest, jnp.zeros_like(w)
    _, total, u = jax.lax.fori_loop(0, 4, stage, start)
    decayed = stages.times(jnp.asarray(stages.decay)[4], z0)
    return block.put(total, decayed + apply(ports.stages.end, u.reshape(-1)))


class Side(NamedTuple):
    """What a case among others remembers.

    Args:
        y: value, any tree of floats.
        code: `solution.Code`.
        t_fail: time of failure [s], NaN while all is well.
    """

    y: Tree
    code: Array
    t_fail: Array


def begin(y: Tree) -> Side:
    carry = start(0.0, y)
    return Side(carry.y, carry.code, carry.t_fail)


def fixed_steps(
    problem: Problem,
    args: Tree,
    options: Options,
    side: Side,
    times: Array,
    observe: Callable[[Tree, Tree, Tree], Tree],
) -> tuple[Side, Tree]:
    """Step from the first of the times to each of the others: the state, and an output for each.

    Args:
        problem: the functions; it has neither events nor `in_step`.
        args: their first argument (the model), any tree.
        options: steps.
        side: state at the first time.
        times: increasing [s]; all cases have the same.
        observe: ``observe(args, t, y)`` gives the output at a time.
    """
    assert problem.event is None
    assert problem.in_step is None

    def step(clock: Array, side: Side, target: Array) -> tuple[Tree, Side]:
        corner = jnp.min(jnp.where(options.corners > clock, options.corners, jnp.inf))
        end = jnp.minimum(corner, target)
        longest = jnp.minimum(options.step, options.max_step) * control.ROUNDING
        h, lands = control.landing_step(end - clock, longest)
        # a jump at a breakpoint belongs to the step after it
        cornered = (corner <= target) & lands
        latest = jnp.where(cornered, jnp.nextafter(end, -jnp.inf), jnp.inf)
        after = jnp.where(lands, end, clock + h)
        return after, _stepped(problem, args, side, clock, h, after, latest)

    def to(state: tuple[Tree, Side], target: Array) -> tuple[Tree, Tree]:
        clock, side = jax.lax.while_loop(
            lambda now: now[0] < target, lambda now: step(*now, target), state
        )
        return (clock, side), observe(args, target, side.y)

    times = jnp.asarray(times, float)
    (_, side), outputs = jax.lax.scan(to, (times[0], side), times[1:])
    return side, outputs


def _stepped(
    problem: Problem, args: Tree, side: Side, t: Array, h: Array, after: Array, latest: Array
) -> Side:
    """A case after one step, unless it failed before or in it."""
    y = rk4_step(problem, args, side.y, t, h, latest)
    fine = control.all_finite(y)
    if problem.settle is not None:
        y = problem.settle(args, after, y)
        fine = fine & control.all_finite(y)
    running = side.code == Code.SUCCESS
    stored = running & fine
    y = jax.tree.map(lambda new, old: jnp.where(stored, new, old), y, side.y)
    code = jnp.where(running & ~fine, Code.NOT_FINITE, side.code)
    if problem.limit is not None:
        outside = stored & jnp.any(jnp.asarray(problem.limit(args, after, y)))
        code = jnp.where(outside, Code.DIVERGED, code)
    code = code.astype(jnp.int32)
    when = jnp.where(stored, after, t)
    failed = running & (code != Code.SUCCESS)
    return Side(y, code, jnp.where(failed, when, side.t_fail))
