"""Time stepping of smooth problems with output exactly at the user's times.

A problem is pure functions of ``args`` (the model), ``t`` and ``y``, where ``y`` is any tree
of float64 arrays. One attempt at a step (`attempt`) serves every method and both loops: an
open-ended one (fast, forward derivatives) and a bounded one (forward and reverse derivatives).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.integrate.extremes import (
    Extremes,
    as_channels,
    known_now,
    with_step,
)
from swelltree.integrate.problem import Carry, Options, Problem, start
from swelltree.integrate.runge_kutta.attempt import Attempts, choose
from swelltree.integrate.runge_kutta.explicit import TABLEAUS
from swelltree.integrate.solution import Code
from swelltree.jit import MAX_EXPRESSIONS, Array, Program, Tree, jax, jnp

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
