"""Newton's method on all unknowns of a step at once, started where the last step points."""

from __future__ import annotations

from dataclasses import replace

from swelltree.integrate.complementarity.equations import first_guess
from swelltree.integrate.complementarity.instant import Step
from swelltree.integrate.complementarity.state import Trend
from swelltree.integrate.complementarity.step_rows import (
    Unknowns,
    changed,
    direction,
    ends_after,
    line_rows,
    with_ends,
)
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.model.model import Model
from swelltree.model.solved import solved_terms

ROUNDING = 1e-12  # m: a residual of this order that falls no more is rounding; with h^2 in s^2
PATIENCE = 8  # evaluations with Newton's derivative of bending, then as many with the secant
MAX_FRICTION_EVALUATIONS, LEAVE = (
    12,
    1e3,
)  # evaluations with friction as it is, and how much the residual may rise
SMOOTHED, LESS = 0.01, 0.1  # m/s: velocity that smooths friction after these, and its factors
ROUGH = 1e3  # rounding of a force that holds what sticks, over that of a residual
NEAR = 1e-6  # m: residual at which friction is smoothed less
MEMORY = 6  # residuals that count for the next step's leave
SHORTEST = 0.02  # shorter steps along a Newton direction are taken whatever the residual says
TINY = 1e-300  # m
CORRECTION = 1e-9  # m, rad: of bodies, after which powers are as good as their forces
KINKED = 1e3  # 1/m: rate of Newton's method on complementarity, at best
QUADRATIC = 1e-5  # m: below this residual Newton's method is trusted to predict itself


@pytree()
class Iterate:
    """Where Newton's method is."""

    at: Unknowns
    change: Unknowns  # from there
    share: Array  # of it that is tried
    trial: Unknowns  # where it leads: the next to be evaluated, at the end the solution
    recent: Array  # (MEMORY,) sums of squares of the last residuals
    error: Array  # largest residual
    body_error: Array  # of bodies
    line_error: Array  # of lines
    count: Array
    done: Array
    power: Array
    slow: Array  # velocity that smooths the friction of contacts [m/s], 0 where it is as it is


def search(step: Step) -> Iterate:
    """Newton's method from where the last step points."""

    form, setup = step.form, step.setup
    first = first_iterate(step)
    rough = first.at.rub is not None or first.at.contact_rub is not None

    def body(it: Iterate) -> Iterate:
        trial = it.trial
        rows, exact = None, it.count % (2 * PATIENCE) < PATIENCE
        if step.now.frozen is not None:
            # bending that leads astray: leave out what is negative for a while
            secant = jnp.where(exact, 0.0, 1.0)
            rows = line_rows(step, trial, secant=secant)
        result = direction(step, trial, rows=rows, slow=it.slow)
        error, merit = jnp.maximum(result.error, result.line_error), result.merit
        # near the solution the next residual follows from the last two: that of lines, whose
        # derivatives are exact, falls with the square, that of bodies in the same ratio again;
        # powers are those before the last correction, which must be small on bodies
        ratio = falls(result.line_error, it.line_error)
        correction = jnp.abs(result.change.x[: step.size.bodies]).max(initial=0.0)
        square = exact & (correction < CORRECTION)
        of_lines = result.line_error * ratio * jnp.where(square, ratio, 1.0)
        if step.now.frozen is not None and step.lines.nodes.inextensible:
            # a segment that changes sides has no second derivative
            of_lines = jnp.maximum(of_lines, KINKED * result.line_error**2)
        of_bodies = result.error * falls(result.error, it.body_error)
        expected = jnp.maximum(of_lines, of_bodies)
        sure = (error < QUADRATIC) & (expected < form.tolerance) & (it.count > 0)
        # rounding ends what Newton's method can do
        rounding = ROUNDING * (1.0 + setup.h**2)
        little = largest(step, result.change) < form.tolerance
        if rough or step.size.sticks:
            # the last correction may take a force beyond its limit: that is looked at
            smoothed = it.slow > 0.0
            sure, little = sure & smoothed, little & (smoothed | (error < ROUGH * rounding))
        ends = (error < rounding) | little
        stalled = ends & (error > 0.3 * it.error) & (it.count > 1)
        # friction that is smoothed by no more than the tolerance of a step is friction as it is
        done = ((error < form.tolerance) | sure | stalled) & (it.slow * setup.h <= form.tolerance)
        # the residual may rise while lines change sides, but not above the last few
        leave = 1.0 - 1e-3 * it.share
        if rough or step.size.sticks:
            # what sticks and what slides is found by whole steps
            leave = jnp.where(
                (it.slow == 0.0) & (it.count <= MAX_FRICTION_EVALUATIONS), LEAVE, leave
            )
        good = (merit <= it.recent.max() * leave) | done
        good = good | ((it.share < SHORTEST) & jnp.isfinite(merit))
        pick = lambda a, b: jax.tree.map(lambda x, y: jnp.where(good, x, y), a, b)  # noqa: E731
        later = jnp.where(it.count == 0, merit, jnp.append(it.recent[1:], merit))
        recent = jnp.where(good, later, it.recent)
        at, change = pick(trial, it.at), pick(result.change, it.change)
        slow = it.slow
        if trial.contact_rub is not None:
            slow = smoothing(it, good & (error < NEAR))
            # residuals of another law do not count
            recent = jnp.where(slow == it.slow, recent, jnp.inf)
        share = jnp.where(good, 1.0, 0.5 * it.share)
        return Iterate(
            at=at,
            change=change,
            share=share,
            trial=changed(step, at, jax.tree.map(lambda x: share * x, change)),
            recent=recent,
            error=jnp.where(good, error, it.error),
            body_error=jnp.where(good, result.error, it.body_error),
            line_error=jnp.where(good, result.line_error, it.line_error),
            count=it.count + 1,
            done=done,
            power=result.power,
            slow=slow,
        )

    def unfinished(it: Iterate) -> Array:
        return ~it.done & (it.count < most)

    most = form.max_iterations * (1 if first.at.contact_rub is None else 2)
    it = jax.lax.while_loop(unfinished, body, first)
    # the last correction costs nothing more
    return replace(it, at=it.trial)


def falls(error: Array, last: Array) -> Array:
    """Ratio of a residual to the last, at most one."""
    return jnp.minimum(error / jnp.maximum(last, TINY), 1.0)


def smoothing(it: Iterate, near: Array) -> Array:
    """Velocity that smooths friction in the next evaluation [m/s].

    Where it is not found soon what sticks, as in landings on several points, it is found with a law
    that is smoothed less and less.

    Args:
        it: the last iterate.
        near: is its solution near?
    """
    first = (it.slow == 0.0) & (it.count + 1 >= MAX_FRICTION_EVALUATIONS)
    return jnp.where(first, SMOOTHED, jnp.where(near, LESS, 1.0) * it.slow)


def largest(step: Step, change: Unknowns) -> Array:
    """Maximum motion that a change implies [m, rad]."""
    most = jnp.abs(change.x[: step.size.balances]).max(initial=0.0)
    return most if change.q is None else jnp.maximum(most, jnp.abs(change.q).max())


def first_iterate(step: Step) -> Iterate:
    """The last half step goes on, multipliers stay, with what that missed in the last step."""
    state, trend = step.state, step.state.trend
    x = first_guess(step) + trend.x
    at = Unknowns(x, None, None, None, None, state.contact_rub)
    if step.now.frozen is not None:
        lines = state.lines
        ends, arrays = ends_after(step, x), step.lines.nodes
        q = with_ends(arrays, 2.0 * lines.q - lines.q_last + trend.q, ends)
        mu, nu = lines.mu + trend.mu, lines.nu + trend.nu
        at = Unknowns(x, q, mu, nu, lines.rub, state.contact_rub)
    terms = jnp.zeros_like(state.work[: state.work.shape[0] - other_terms(step.model)])
    return Iterate(
        at=at,
        change=jax.tree.map(jnp.zeros_like, at),
        share=jnp.array(1.0),
        trial=at,
        recent=jnp.full(MEMORY, jnp.inf),
        error=jnp.array(jnp.inf),
        body_error=jnp.array(jnp.inf),
        line_error=jnp.array(jnp.inf),
        count=jnp.array(0),
        done=jnp.array(False),
        power=terms,
        slow=jnp.array(0.0),
    )


def next_trend(step: Step, at: Unknowns) -> Trend:
    """What the linear guess of this step missed; nothing where motions jump or time stands still.

    After the impact of an inextensible line or of a body on the ground, and where something sticks,
    what the last guess missed says nothing about the next.
    """
    state, size, lines = step.state, step.size, step.state.lines
    if at.q is None or step.lines.nodes.inextensible or size.contacts or size.ties or size.sticks:
        return state.trend
    moves = jnp.where(step.setup.ahead > 0.0, 1.0, 0.0)
    trend = Trend(
        x=at.x - first_guess(step),
        q=at.q - (2.0 * lines.q - lines.q_last),
        mu=at.mu - lines.mu,
        nu=at.nu - lines.nu,
    )
    return jax.tree.map(lambda x: jax.lax.stop_gradient(moves * x), trend)


def other_terms(model: Model) -> int:
    """Energy terms of lines, the seabed and prescribed motions."""
    return len(solved_terms(model)) + len(model.layout.drives)
