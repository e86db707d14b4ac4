"""Time stepping of smooth problems with output exactly at the user's times.

A problem is pure functions of ``args`` (the model), ``t`` and ``y``, where ``y`` is any tree
of float64 arrays. One attempt at a step is written once and used by every method and by both
loops: an open-ended one (fast, forward derivatives) and a bounded one (forward and reverse
derivatives).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from swelltree.engine.backend import jax, jnp
from swelltree.engine.extremes import Extremes, as_channels, known_now, with_step
from swelltree.engine.machine.program import Program
from swelltree.solvers.problem import Carry, Options, Problem, start
from swelltree.solvers.solution import Code
from swelltree.solvers.stepping import control, events
from swelltree.solvers.stepping.explicit import explicit, in_parts
from swelltree.solvers.stepping.stiff import implicit
from swelltree.solvers.stepping.tableaus import TABLEAUS
from swelltree.system.errors import SwelltreeError, listed, suggest

__all__ = ["METHODS", "Carry", "Options", "Problem", "compiled", "integrate", "start"]

METHODS = ("tsit5", "dopri5", "rk4", "stiff")


def choose(flag: Any, new: Any, old: Any) -> Any:
    """`new` where the flag is set, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _attempt(
    problem: Problem,
    method: str,
    args: Any,
    options: Options,
    bounded: bool,
    carry: Carry,
    target: Any,
) -> Carry:
    """One attempt at a step towards `target`: the carry after it, accepted or not."""
    adaptive = method != "rk4"
    order = 5 if method == "stiff" else TABLEAUS[method].order
    stop = jax.lax.stop_gradient

    # length of the step: as planned, stretched or divided to land on the target or a corner
    starting = (carry.step == 0.0) if adaptive else jnp.zeros((), bool)
    corner = jnp.min(jnp.where(options.corners > carry.t, options.corners, jnp.inf))
    cornered = corner <= target
    target = jnp.minimum(corner, target)
    remaining = target - carry.t
    asked, stretch = (carry.step, control.STRETCH) if adaptive else (options.step, control.ROUNDING)
    planned = jnp.minimum(asked, options.max_step)
    longest = jnp.where(starting, remaining, asked * stretch)
    longest = jnp.minimum(longest, options.max_step * control.ROUNDING)
    h, lands = control.landing_step(remaining, longest)
    before = None
    if problem.event is not None:
        before = stop(problem.event(args, carry.t, carry.y))
        short = events.next_try(carry.t, before, carry.crossing, carry.beyond)
        lands = lands & (h <= short)
        h = jnp.where(starting, h, jnp.minimum(h, short))
    h = stop(h)
    t_new = jnp.where(lands, target, carry.t + h)
    # a jump at a corner belongs to the step after it
    cornered = cornered & lands
    latest = jnp.where(cornered, jnp.nextafter(stop(target), -jnp.inf), jnp.inf)

    # the stages
    if method == "stiff":
        tried = implicit(problem, args, options, carry, h, latest)
        starting = jnp.zeros((), bool)
    elif problem.in_step is not None and not adaptive:
        steps = (carry, h, latest, options.parts)
        tried = in_parts(TABLEAUS[method], problem, args, *steps, bounded)
    else:
        tried = explicit(TABLEAUS[method], problem, args, carry, h, latest, starting, bounded)

    # is it good enough? before the first step: how large is the rate?
    finite = control.all_finite(tried.y) & tried.converged
    error = jnp.zeros(())
    if adaptive:
        measured = choose(starting, tried.rate_start, tried.error)
        tolerances = (problem.weights, options.rtol, options.atol)
        error = stop(control.error_norm(measured, carry.y, tried.y, *tolerances))
        finite = finite & jnp.isfinite(error)
    accepted = finite & (error <= 1.0) & ~starting

    # an event within the step? then a shorter one, until the event is at its end
    overstepped = jnp.zeros((), bool)
    hit = beyond = None
    if before is not None:
        beyond = stop(problem.event(args, t_new, tried.y))  # type: ignore[misc]
        hit = events.falls(before, beyond)
        overstepped = accepted & hit.any() & (h > events.width(carry.t))
        accepted = accepted & ~overstepped

    # back onto the constraints
    y = choose(accepted, tried.y, carry.y)
    keeps_rate = tried.rate_end is not None
    if problem.settle is not None:
        settled = problem.settle(args, jnp.where(accepted, t_new, carry.t), y)
        settles = control.all_finite(settled)
        finite = finite & (settles | ~accepted)
        accepted = accepted & settles
        y = choose(accepted, settled, carry.y)
        keeps_rate = keeps_rate and not problem.settle_changes_rate
    crossing, n_events, switched = carry.crossing, carry.n_events, jnp.zeros((), bool)
    if hit is not None:
        assert problem.switch is not None
        switched = accepted & hit.any()
        y = choose(switched, problem.switch(args, t_new, y, hit), y)
        passed = switched | (accepted & (t_new >= crossing))
        crossing = jnp.where(overstepped, t_new, jnp.where(passed, jnp.inf, crossing))
        beyond = jnp.where(overstepped, beyond, carry.beyond)  # type: ignore[arg-type]
        n_events = n_events + switched
    if keeps_rate:
        rate = choose(accepted, tried.rate_end, tried.rate_start)
        rate_known = (accepted & ~switched & ~cornered) | (~accepted & tried.start_known)
    else:
        rate, rate_known = tried.rate_start, tried.start_known & ~accepted

    # the next step
    rejected = ~accepted & ~starting & ~overstepped
    step = carry.step
    if adaptive:
        memory = (carry.error, carry.after_rejection)
        outcome = (finite, accepted, order, method == "stiff")
        step = control.next_step(h, planned, error, *memory, *outcome)
        step = jnp.where(overstepped, carry.step, step)
        guess = jnp.minimum(control.first_step(error, options.rtol), remaining)
        step = stop(jnp.where(starting, guess, step))
        smallest = jnp.maximum(options.min_step, 16 * jnp.finfo(float).eps * jnp.abs(carry.t))
        too_small = rejected & (step < smallest)
    else:
        too_small = rejected

    # how it stands
    t = jnp.where(accepted, t_new, carry.t)
    why = jnp.where(finite, Code.STEP_TOO_SMALL, Code.NOT_FINITE)
    code = jnp.where(too_small | (starting & ~finite), why, carry.code)
    if problem.limit is not None:
        outside = accepted & jnp.any(jnp.asarray(problem.limit(args, t, y)))
        code = jnp.where(outside, Code.DIVERGED, code)
    code = code.astype(jnp.int32)
    return Carry(
        t=t,
        y=y,
        step=step,
        crossing=crossing,
        beyond=carry.beyond if beyond is None else beyond,
        n_events=n_events,
        error=jnp.where(accepted, jnp.maximum(error, control.FIRST_ERROR), carry.error),
        after_rejection=rejected,
        rate=rate,
        rate_known=rate_known,
        n_accepted=carry.n_accepted + accepted,
        n_rejected=carry.n_rejected + rejected,
        n_outputs=carry.n_outputs,
        n_rate=carry.n_rate + tried.n_rate,
        code=code,
        t_fail=jnp.where((code != 0) & (carry.code == 0), t, carry.t_fail),
    )


def integrate(
    problem: Problem,
    args: Any,
    carry: Carry,
    times: Any,
    options: Options = Options(),  # noqa: B008 - immutable
    *,
    method: str = "tsit5",
    observe: Callable[[Any, Any, Any], Any] | None = None,
    kept: Callable[[Any, Any, Any], dict[str, Any]] | None = None,
    differentiable: bool = False,
    max_steps_per_output: int = 64,
) -> tuple[Carry, Any]:
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
        kept: ``kept(args, t, y)`` gives channels whose largest, smallest and mean values since the
            output before are wanted; outputs are then pairs of the output and these.
        differentiable: use a bounded loop, for forward and reverse derivatives. The steps
            themselves are held constant in the derivative.
        max_steps_per_output: most attempts between outputs when differentiable (the cost of
            a reverse derivative grows with it).
    """
    if method not in METHODS:
        raise SwelltreeError(
            f"solver: there is no method '{method}'.{suggest(method, METHODS)} "
            f"Choose one of {listed(METHODS)}."
        )
    options = Options(*(jnp.asarray(number) for number in options))
    attempt = functools.partial(_attempt, problem, method, args, options, differentiable)

    def unfinished(carry: Carry, target: Any) -> Any:
        return (carry.t < target) & (carry.code == Code.SUCCESS)

    def values_now(carry: Carry) -> Extremes | None:
        return None if kept is None else known_now(kept(args, carry.t, carry.y))

    def further(state: tuple[Carry, Extremes | None], target: Any) -> Any:
        carry, between = state
        after = attempt(carry, target)
        if kept is None or between is None:
            return after, between
        longer = with_step(between, kept(args, after.t, after.y), after.t - carry.t)
        return after, choose(after.t > carry.t, longer, between)

    def reach(carry: Carry, target: Any) -> tuple[Carry, Extremes | None]:
        if differentiable:

            def maybe(state: Any, _: Any) -> tuple[Any, None]:
                go = unfinished(state[0], target)
                return jax.lax.cond(go, lambda s: further(s, target), lambda s: s, state), None

            return jax.lax.scan(
                maybe, (carry, values_now(carry)), None, length=max_steps_per_output
            )[0]

        def go(state: Any) -> Any:
            return unfinished(state[0], target) & (state[2] < options.max_steps)

        def body(state: Any) -> Any:
            return *further(state[:2], target), state[2] + 1

        begin = carry, values_now(carry), jnp.zeros((), jnp.int32)
        return jax.lax.while_loop(go, body, begin)[:2]

    def output(carry: Carry, target: Any) -> tuple[Carry, Any]:
        carry, between = reach(carry, target)
        late = unfinished(carry, target)
        carry = carry._replace(
            code=jnp.where(late, Code.TOO_MANY_STEPS, carry.code).astype(jnp.int32),
            t_fail=jnp.where(late, carry.t, carry.t_fail),
        )
        sample = carry.y if observe is None else observe(args, target, carry.y)
        if between is not None:
            sample = sample, as_channels(between)
        fine = carry.code == Code.SUCCESS
        carry = carry._replace(n_outputs=carry.n_outputs + fine)
        return carry, jax.tree.map(lambda x: jnp.where(fine, x, jnp.nan), sample)

    if differentiable:
        output = jax.checkpoint(output, prevent_cse=False)
    carry = jax.tree.map(jnp.asarray, carry)
    return jax.lax.scan(output, carry, jnp.asarray(times, float))


@functools.lru_cache(maxsize=64)
def compiled(
    problem: Problem,
    method: str = "tsit5",
    observe: Callable[[Any, Any, Any], Any] | None = None,
    kept: Callable[[Any, Any, Any], dict[str, Any]] | None = None,
) -> Program:
    """``advance(args, options, carry, times) -> (carry, outputs)``, compiled once.

    Explicit methods run as machine code of their own where all can be flattened, else by XLA.
    """
    how = {"method": method, "observe": observe, "kept": kept}

    def advance(args: Any, options: Options, carry: Carry, times: Any) -> tuple[Carry, Any]:
        return integrate(problem, args, carry, times, options, **how)

    return Program(advance, refused="the implicit solver" if method == "stiff" else "")
