"""Newton's method on all unknowns of a step at once, started where the last step points."""

from __future__ import annotations

from dataclasses import replace

from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jax, jnp
from swelltree.model.model import Model
from swelltree.model.total import solved_terms
from swelltree.two_step.equations import first_guess
from swelltree.two_step.instant import Step
from swelltree.two_step.step_rows import (
    Unknowns,
    changed,
    direction,
    ends_after,
    line_rows,
    with_ends,
)

ROUNDING = 1e-12  # m: a residual of this order that falls no more is rounding; with h^2 in s^2
PATIENCE = 8  # evaluations with Newton's derivative of bending, then as many with the secant
WHOLE, LEAVE = 16, 1e3  # first evaluations with friction, and how much the residual may rise
MEMORY = 6  # residuals that count for the next step's leave
SHORTEST = 0.02  # shorter steps along a Newton direction are taken whatever the residual says
QUADRATIC = 1e-5  # m: below this residual Newton's method is trusted to predict itself


@pytree()
class Iterate:
    """Where Newton's method is."""

    at: Unknowns
    change: Unknowns  # from there
    share: Array  # of it that is tried
    trial: Unknowns  # where it leads: the next to be evaluated, at the end the solution
    recent: Array  # (MEMORY,) sums of squares of the last residuals
    error: Array
    count: Array
    done: Array
    power: Array


def search(step: Step) -> Iterate:
    """Newton's method from where the last step points."""

    form, setup = step.form, step.setup

    def body(it: Iterate) -> Iterate:
        trial = it.trial
        rows = None
        if step.now.frozen is not None:
            # bending that leads astray: leave out what is negative for a while
            secant = jnp.where(it.count % (2 * PATIENCE) < PATIENCE, 0.0, 1.0)
            rows = line_rows(step, trial, secant=secant)
        smooth = jnp.where(it.count >= WHOLE, 1.0, 0.0)
        result = direction(step, trial, rows=rows, smooth=smooth)
        error, merit = result.error, result.merit
        # near the solution the next residual follows from the last two
        expected = error * jnp.minimum(error / it.error, 1.0)
        sure = (error < QUADRATIC) & (expected < form.tolerance) & (it.count > 0)
        # rounding ends what Newton's method can do
        rounding = ROUNDING * (1.0 + setup.h**2)
        ends = (error < rounding) | (largest(step, result.change) < form.tolerance)
        stalled = ends & (error > 0.3 * it.error) & (it.count > 1)
        done = (error < form.tolerance) | sure | stalled
        # the residual may rise while lines change sides, but not above the last few
        leave = 1.0 - 1e-3 * it.share
        if trial.rub is not None or trial.contact_rub is not None or step.size.sticks:
            # what sticks and what slides is found by whole steps
            leave = jnp.where(it.count <= WHOLE, LEAVE, leave)
        good = (merit <= it.recent.max() * leave) | done
        good = good | ((it.share < SHORTEST) & jnp.isfinite(merit))
        pick = lambda a, b: jax.tree.map(lambda x, y: jnp.where(good, x, y), a, b)  # noqa: E731
        later = jnp.where(it.count == 0, merit, jnp.append(it.recent[1:], merit))
        at, change = pick(trial, it.at), pick(result.change, it.change)
        share = jnp.where(good, 1.0, 0.5 * it.share)
        return Iterate(
            at=at,
            change=change,
            share=share,
            trial=changed(step, at, jax.tree.map(lambda x: share * x, change)),
            recent=jnp.where(good, later, it.recent),
            error=jnp.where(good, error, it.error),
            count=it.count + 1,
            done=done,
            power=result.power,
        )

    def unfinished(it: Iterate) -> Array:
        return ~it.done & (it.count < form.max_iterations)

    it = jax.lax.while_loop(unfinished, body, first_iterate(step))
    # the last correction costs nothing more
    return replace(it, at=it.trial)


def largest(step: Step, change: Unknowns) -> Array:
    """Largest motion that a change asks for [m, rad]."""
    most = jnp.abs(change.x[: step.size.balances]).max(initial=0.0)
    return most if change.q is None else jnp.maximum(most, jnp.abs(change.q).max())


def first_iterate(step: Step) -> Iterate:
    """The last half step goes on, multipliers stay."""
    state = step.state
    x = first_guess(step)
    at = Unknowns(x, None, None, None, None, state.contact_rub)
    if step.now.frozen is not None:
        lines = state.lines
        ends, arrays = ends_after(step, x), step.model.dynamic_lines.nodes
        q = with_ends(arrays, 2.0 * lines.q - lines.q_last, ends)
        at = Unknowns(x, q, lines.mu, lines.nu, lines.rub, state.contact_rub)
    terms = jnp.zeros_like(state.work[: state.work.shape[0] - other_terms(step.model)])
    return Iterate(
        at=at,
        change=jax.tree.map(jnp.zeros_like, at),
        share=jnp.array(1.0),
        trial=at,
        recent=jnp.full(MEMORY, jnp.inf),
        error=jnp.array(jnp.inf),
        count=jnp.array(0),
        done=jnp.array(False),
        power=terms,
    )


def other_terms(model: Model) -> int:
    """Terms of the energy budget that belong to lines, the seabed and prescribed motions."""
    return len(solved_terms(model)) + len(model.layout.drives)
