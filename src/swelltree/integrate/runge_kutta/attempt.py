"""One attempt at a step: its length, its stages, whether it stands, and what comes next.

It is written once and used by every method and by both loops of `smooth.integrate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from swelltree.integrate.problem import Attempt, Carry, Options, Problem
from swelltree.integrate.runge_kutta import control, events
from swelltree.integrate.runge_kutta.explicit import TABLEAUS, explicit, in_parts
from swelltree.integrate.runge_kutta.stiff import implicit
from swelltree.integrate.solution import Code
from swelltree.jit import Array, Tree, jax, jnp


def stop(x: Tree) -> Tree:
    """A value without derivatives (`stop_gradient`)."""
    return jax.lax.stop_gradient(x)


def choose(flag: Array, new: Tree, old: Tree) -> Tree:
    """`new` where the flag is set, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


class Planned(NamedTuple):
    """A planned step."""

    h: Array  # s
    t_new: Array  # s, at its end
    planned: Array  # s, as long as it was to be before it was made to land
    nearest: Array  # s, to the next output
    starting: Array  # the length of the first step is not known yet
    cornered: Array  # it ends at a breakpoint
    latest: Array  # s, before which its stages stay
    sampled: Array | None  # an output lies within it; None: never
    before: Array | None  # values of the events at its start, or None


class Checked(NamedTuple):
    """A tried step and whether it is accepted so far."""

    finite: Array
    error: Array
    accepted: Array
    overstepped: Array  # an event lies within it
    hit: Array | None  # which, or None
    excess: Array  # values of the events at its end, or None


class Ended(NamedTuple):
    """Phase after a step, projected on its constraints and after its events."""

    y: Tree
    finite: Array
    accepted: Array
    switched: Array
    crossing: Array
    excess: Array | None
    n_events: Array
    keeps_rate: bool


@dataclass(frozen=True)
class Attempts:
    """Attempts at steps of one problem by one method.

    Args:
        problem: the functions.
        method: of `smooth.METHODS`.
        args: first argument of the functions.
        options: tolerances and steps.
        bounded: a fixed number of rounds, for reverse derivatives.
        free: steps pass over output times up to `Options.free_until`.
    """

    problem: Problem
    method: str
    args: Tree
    options: Options
    bounded: bool
    free: bool = False

    @property
    def adaptive(self) -> bool:
        """Whether the error controls the step."""
        return self.method != "rk4"

    def __call__(self, carry: Carry, target: Array) -> Carry:
        """Attempt a step towards `target`: the carry after it, accepted or not."""
        return self.with_stages(carry, target)[0]

    def with_stages(self, carry: Carry, target: Array) -> tuple[Carry, Planned, Attempt]:
        """Attempt a step and return its intermediate results, for the adjoint."""
        plan = self._planned(carry, target)
        plan, tried = self._tried(carry, plan)
        checked = self._checked(carry, plan, tried)
        ended = self._ended(carry, plan, tried, checked)
        accepted = ended.accepted
        if ended.keeps_rate:
            rate = choose(accepted, tried.rate_end, tried.rate_start)
            rate_known = accepted & ~ended.switched & ~plan.cornered
            rate_known = rate_known | (~accepted & tried.start_known)
        else:
            rate, rate_known = tried.rate_start, tried.start_known & ~accepted
        rejected = ~accepted & ~plan.starting & ~checked.overstepped
        step, too_small = self._next(carry, plan, checked, ended, rejected)
        t = jnp.where(accepted, plan.t_new, carry.t)
        code = self._code(carry, plan, ended, t, too_small)
        error = jnp.maximum(checked.error, control.FIRST_ERROR)
        after = Carry(
            t=t,
            y=ended.y,
            step=step,
            crossing=ended.crossing,
            excess=ended.excess,
            n_events=ended.n_events,
            error=jnp.where(accepted, error, carry.error),
            after_rejection=rejected,
            rate=rate,
            rate_known=rate_known,
            n_accepted=carry.n_accepted + accepted,
            n_rejected=carry.n_rejected + rejected,
            n_outputs=carry.n_outputs,
            n_rate=carry.n_rate + tried.n_rate,
            code=code,
            t_fail=jnp.where((code != 0) & (carry.code == 0), t, carry.t_fail),
            # outputs up to now have been taken: that of the step before is not needed any more
            extension=tried.extension if self.free else carry.extension,
            sampled=carry.sampled,
        )
        return after, plan, tried

    def _planned(self, carry: Carry, target: Array) -> Planned:
        """Step length: as planned, adjusted to the target or a breakpoint."""
        options = self.options
        output, nearest = target, target - carry.t
        if self.free:
            target = jnp.maximum(target, options.free_until)
        starting = (carry.step == 0.0) if self.adaptive else jnp.zeros((), bool)
        corner = jnp.min(jnp.where(options.corners > carry.t, options.corners, jnp.inf))
        if self.problem.due is not None:
            corner = jnp.minimum(corner, stop(self.problem.due(self.args, carry.t, carry.y)))
        cornered = corner <= target
        target = jnp.minimum(corner, target)
        remaining = target - carry.t
        requested, stretch = options.step, control.ROUNDING
        if self.adaptive:
            requested, stretch = carry.step, control.STRETCH
        planned = jnp.minimum(requested, options.max_step)
        longest = jnp.where(starting, remaining, requested * stretch)
        longest = jnp.minimum(longest, options.max_step * control.ROUNDING)
        usual = jnp.where(starting, longest, requested) if self.adaptive or self.free else None
        h, lands = control.landing_step(remaining, longest, usual)
        before = None
        if self.problem.event is not None:
            before = stop(self.problem.event(self.args, carry.t, carry.y))
            short = events.next_try(carry.t, before, carry.crossing, carry.excess)
            lands = lands & (h <= short)
            h = jnp.where(starting, h, jnp.minimum(h, short))
        h = stop(h)
        t_new = jnp.where(lands, target, carry.t + h)
        # a jump at a breakpoint belongs to the step after it
        cornered = cornered & lands
        latest = jnp.where(cornered, jnp.nextafter(stop(target), -jnp.inf), jnp.inf)
        sampled = (output < t_new) if self.free else None
        return Planned(h, t_new, planned, nearest, starting, cornered, latest, sampled, before)

    def _tried(self, carry: Carry, plan: Planned) -> tuple[Planned, Tree]:
        """Evaluate the stages."""
        problem, args, options = self.problem, self.args, self.options
        if self.method == "stiff":
            tried = implicit(problem, args, options, carry, plan.h, plan.latest)
            return plan._replace(starting=jnp.zeros((), bool)), tried
        tableau = TABLEAUS[self.method]
        if problem.in_step is not None and not self.adaptive:
            steps = (carry, plan.h, plan.latest, options.parts)
            return plan, in_parts(tableau, problem, args, *steps, self.bounded)
        steps = (carry, plan.h, plan.latest, plan.starting, self.bounded, plan.sampled)
        return plan, explicit(tableau, problem, args, *steps)

    def _checked(self, carry: Carry, plan: Planned, tried: Tree) -> Checked:
        """Error test; before the first step, size of the rate."""
        problem, options = self.problem, self.options
        finite = control.all_finite(tried.y) & tried.converged
        error = jnp.zeros(())
        if self.adaptive:
            measured = choose(plan.starting, tried.rate_start, tried.error)
            tolerances = (problem.weights, options.rtol, options.atol)
            error = stop(control.error_norm(measured, carry.y, tried.y, *tolerances))
            finite = finite & jnp.isfinite(error)
        accepted = finite & (error <= 1.0) & ~plan.starting
        if problem.event is None:
            return Checked(finite, error, accepted, jnp.zeros((), bool), None, None)
        # an event within the step? then a shorter one, until the event is at its end
        excess = stop(problem.event(self.args, plan.t_new, tried.y))
        hit = events.falls(plan.before, excess)
        inside = (hit & (excess < 0.0)).any()  # a value of zero: the event is at the end
        overstepped = accepted & inside & (plan.h > events.width(carry.t))
        return Checked(finite, error, accepted & ~overstepped, overstepped, hit, excess)

    def _ended(self, carry: Carry, plan: Planned, tried: Tree, checked: Checked) -> Ended:
        """Project onto the constraints and apply events."""
        problem, args, t_new = self.problem, self.args, plan.t_new
        finite, accepted, hit = checked.finite, checked.accepted, checked.hit
        y = choose(accepted, tried.y, carry.y)
        keeps_rate = tried.rate_end is not None
        if problem.settle is not None:
            settled = problem.settle(args, jnp.where(accepted, t_new, carry.t), y)
            has_equilibrium_states = control.all_finite(settled)
            finite = finite & (has_equilibrium_states | ~accepted)
            accepted = accepted & has_equilibrium_states
            y = choose(accepted, settled, carry.y)
            keeps_rate = keeps_rate and not problem.settle_changes_rate
            if hit is not None:
                assert problem.event is not None
                assert plan.before is not None
                # within rounding of an event this may take the state to its other side
                hit = hit | events.falls(plan.before, stop(problem.event(args, t_new, y)))
        crossing, n_events, switched = carry.crossing, carry.n_events, jnp.zeros((), bool)
        excess = carry.excess
        if hit is not None:
            assert problem.switch is not None
            switched, switch = accepted & hit.any(), problem.switch
            y = jax.lax.cond(switched, lambda y: switch(args, t_new, y, hit), lambda y: y, y)
            passed = switched | (accepted & (t_new >= crossing))
            crossing = jnp.where(passed, jnp.inf, crossing)
            crossing = jnp.where(checked.overstepped, t_new, crossing)
            excess = jnp.where(checked.overstepped, checked.excess, carry.excess)
            n_events = n_events + switched
        return Ended(y, finite, accepted, switched, crossing, excess, n_events, keeps_rate)

    def _next(
        self, carry: Carry, plan: Planned, checked: Checked, ended: Ended, rejected: Array
    ) -> tuple[Array, Array]:
        """Length of the next step, and whether it is too small."""
        if not self.adaptive:
            return carry.step, rejected
        options = self.options
        order = 5 if self.method == "stiff" else TABLEAUS[self.method].order
        memory = (carry.error, carry.after_rejection)
        outcome = (ended.finite, ended.accepted, order, self.method == "stiff")
        step = control.next_step(plan.h, plan.planned, checked.error, *memory, *outcome)
        step = jnp.where(checked.overstepped, carry.step, step)
        guess = jnp.minimum(control.first_step(checked.error, options.rtol), plan.nearest)
        step = stop(jnp.where(plan.starting, guess, step))
        smallest = jnp.maximum(options.min_step, 16 * jnp.finfo(float).eps * jnp.abs(carry.t))
        return step, rejected & (step < smallest)

    def _code(self, carry: Carry, plan: Planned, ended: Ended, t: Array, too_small: Array) -> Array:
        """Result code of the attempt."""
        why = jnp.where(ended.finite, Code.STEP_TOO_SMALL, Code.NOT_FINITE)
        code = jnp.where(too_small | (plan.starting & ~ended.finite), why, carry.code)
        if self.problem.limit is not None:
            outside = jnp.any(jnp.asarray(self.problem.limit(self.args, t, ended.y)))
            code = jnp.where(ended.accepted & outside, Code.DIVERGED, code)
        return code.astype(jnp.int32)
