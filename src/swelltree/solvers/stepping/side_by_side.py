"""Fixed steps of many cases in parallel: the same times for all, and a flag for those that failed.

The steps are those of `smooth.integrate` with method "rk4". Time, lengths of steps and stages are
the same in all cases, so that loops never part; a case that has failed is held where it was.
Problems with events have no common times and take `integrate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import Options, Problem, start
from swelltree.solvers.solution import Code
from swelltree.solvers.stepping import control
from swelltree.solvers.stepping.few_arrays import rk4_step


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
    """A case before its first step."""
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
    """A case after one step, if it has not failed before or in it."""
    y = rk4_step(problem, args, side.y, t, h, latest)
    fine = control.all_finite(y)
    if problem.settle is not None:
        y = problem.settle(args, after, y)
        fine = fine & control.all_finite(y)
    running = side.code == Code.SUCCESS
    kept = running & fine
    y = jax.tree.map(lambda new, old: jnp.where(kept, new, old), y, side.y)
    code = jnp.where(running & ~fine, Code.NOT_FINITE, side.code)
    if problem.limit is not None:
        outside = kept & jnp.any(jnp.asarray(problem.limit(args, after, y)))
        code = jnp.where(outside, Code.DIVERGED, code)
    code = code.astype(jnp.int32)
    when = jnp.where(kept, after, t)
    failed = running & (code != Code.SUCCESS)
    return Side(y, code, jnp.where(failed, when, side.t_fail))
