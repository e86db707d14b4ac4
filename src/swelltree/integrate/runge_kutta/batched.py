"""Fixed steps of many cases in parallel: the same times for all, and a flag for those that failed.

The steps are those of `smooth.integrate` with method "rk4". Time, lengths of steps and stages are
the same in all cases, so that loops never part; a case that has failed is held where it was.
Problems with events have no common times and take `integrate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swelltree.integrate.problem import Code, LinearBlock, Options, Problem, start
from swelltree.integrate.runge_kutta import control
from swelltree.integrate.runge_kutta.explicit import RK4, SAME
from swelltree.jit import Array, Tree, jax, jnp
from swelltree.spatial.linear_steps import ExactStages, Ports
from swelltree.spatial.rotations import apply

# --- One step of RK4 that keeps two arrays instead of the rates of all stages

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
