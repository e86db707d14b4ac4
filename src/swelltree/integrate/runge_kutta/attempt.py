r"""One attempt at a step: its length, its stages, whether it stands, and what comes next.

It is written once and used by every method and by both loops of `smooth.integrate`.

Implicit step for stiff problems: the ESDIRK method of order 5(4) of Kvaerno (2004).

A stage solves

.. math:: Y = y_0 + h \sum_{j<i} a_{ij} k_j + h \gamma F(t_i, Y)

by chords: one Jacobian at the start of the step serves all stages. A linear block of the problem
(z' = A z + f) brings its own Jacobian A and is eliminated, so that Newton's matrix is as large as
the rest of the state, and integrals on which nothing depends follow without being solved for.
Derivatives of a run are those of the solved stages, not of the chords.

Events: moments at which the equations change, found in time and not stepped over.

An event is a value g(t, y) that falls through zero: it was positive at the start of a step and
is not at its end. Such a step is not taken. The time is enclosed between a point before the
event and one behind it, by the secant rule with doubled steps from the nearer end (so that both
ends close in), until the enclosure is shorter than `TOLERANCE`; then the step is taken and
`Problem.switch` changes y. Equations are smooth within every step that is taken.

A value that is not positive is asleep: it must first rise above zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swelltree.integrate.problem import Attempt, Carry, Code, Options, Problem
from swelltree.integrate.runge_kutta import control
from swelltree.integrate.runge_kutta.explicit import KVAERNO5, TABLEAUS, explicit, in_parts
from swelltree.jit import Array, Tree, each, jax, jnp, ravel_pytree
from swelltree.spatial.linear_steps import resolvent_of


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
            short = next_try(carry.t, before, carry.crossing, carry.excess)
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
        hit = falls(plan.before, excess)
        inside = (hit & (excess < 0.0)).any()  # a value of zero: the event is at the end
        overstepped = accepted & inside & (plan.h > width(carry.t))
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
                hit = hit | falls(plan.before, stop(problem.event(args, t_new, y)))
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


TOLERANCE = 1e-10  # s, relative above one second


def falls(before: Array, after: Array) -> Array:
    """Which values fall through zero, (k,)."""
    return (before > 0.0) & (after <= 0.0)


def width(t: Array) -> Array:
    """Time tolerance of event location [s]."""
    return TOLERANCE * jnp.maximum(1.0, jnp.abs(t))


def next_try(t: Array, before: Array, crossing: Array, excess: Array) -> Array:
    """Step to try next towards a known crossing; infinite where none is known [s].

    Args:
        t: now [s].
        before: values now (k,).
        crossing: a time behind the event, infinite if none is known [s].
        excess: values there (k,).
    """
    known = jnp.isfinite(crossing)
    gap = jnp.where(known, crossing - t, 1.0)
    falling = falls(before, excess)
    part = before / jnp.where(falling, before - excess, 1.0)
    part = jnp.min(jnp.where(falling, part, 1.0), initial=1.0)
    part = jnp.where(part < 0.5, jnp.minimum(2.0 * part, 0.5), jnp.maximum(2.0 * part - 1.0, 0.5))
    least = 0.4 * width(t)
    step = jnp.where(gap <= width(t), gap, jnp.clip(part * gap, least, gap - least))
    return jnp.where(known, step, jnp.inf)
