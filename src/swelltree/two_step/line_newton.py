"""One step of lines and their points: Newton on Fischer and Burmeister's rows, or interior point.

Both walk the same central path and share rows, sweep and the small dense system of the points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swelltree.model.bed import Contact
from swelltree.model.line_arrays import LineArrays
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.two_step.block_solve import back_substitute, eliminate
from swelltree.two_step.complementarity import Slack
from swelltree.two_step.line_forces import Frozen
from swelltree.two_step.line_points import (
    PointRows,
    Points,
    at_ends,
    balance,
    point_rows,
    solve_points,
)
from swelltree.two_step.line_rows import LineRows, assemble
from swelltree.two_step.mehrotra import Pairs
from swelltree.two_step.mehrotra import interior_point as mehrotra

MEMORY = 6  # the residual may rise while segments change sides, but not above the last few
PATIENCE = 8  # evaluations with Newton's derivative of friction, then as many with the secant
SHORTEST = 0.02  # shorter steps along a Newton direction are taken whatever the residual says


@pytree()
class Iterate:
    """Unknowns of a step.

    Args:
        q: positions of the nodes at t_{n+1}, ends included (line, node, 3) [m].
        mu: multipliers of the segments (line, segment) [N].
        nu: contact forces of the nodes (line, node) [N].
        x: places of the points at t_{n+1} (point, 3) [m].
        point_nu: contact forces of the points (point,) [N].
    """

    q: Array
    mu: Array
    nu: Array
    x: Array
    point_nu: Array


@pytree()
class Step:
    """What a step is given.

    Args:
        lines: all lines.
        points: what they hang on.
        frozen: data of the lines at t_n.
        contact: the bed under the points.
        h: step [s].
        q: positions at t_{n-1} and t_n (2, line, node, 3) [m].
        x: places of the points at t_{n-1} and t_n (2, point, 3) [m].
        start: 1 at the first step from given velocities, 0 otherwise.
        velocity: of the nodes and of the points at the first step.
        beyond: points beyond the ends at t_{n-1} and t_{n+1}, of lines that bend.
        theta: weight of t_{n+1}, 1/2 to 1.
        tau: product on the central path [m^2].
    """

    lines: LineArrays
    points: Points
    frozen: Frozen
    contact: Contact
    h: Any
    q: Array
    x: Array
    start: Any
    velocity: tuple[Array, Array]
    beyond: tuple[Array, Array] | None
    theta: Any
    tau: Any


@pytree()
class Slacks:
    """Variables of the interior point: slack and wanted product of lines and points."""

    lines: Slack
    points: Array
    points_target: Array


def before(step: Step, u: Iterate) -> tuple[Array, Array]:
    """Positions at t_{n-1}; at the start they mirror the iterate about the given velocity."""
    free = step.points.free[:, None]
    mirrored = u.x - 2.0 * step.h * step.velocity[1]
    x = jnp.where((step.start > 0.0) & (free > 0.0), mirrored, step.x[0])
    q = jnp.where(step.start > 0.0, u.q - 2.0 * step.h * step.velocity[0], step.q[0])
    ends = at_ends(step.points, x)
    node = jnp.arange(q.shape[1])
    first = (node <= step.lines.first[:, None])[..., None]
    last = (node == q.shape[1] - 1)[:, None]
    q = jnp.where(first, ends[:, :1], jnp.where(last, ends[:, 1:], q))
    return q, x


def rows_at(
    step: Step, u: Iterate, slack: Slacks | None = None, secant: Any = 0.0
) -> tuple[LineRows, PointRows, Array, Array]:
    """Rows of lines and points, the largest scaled residual and the merit of each line."""
    q_minus, x_minus = before(step, u)
    rows = assemble(
        step.lines,
        step.frozen,
        step.h,
        q_minus,
        step.q[1],
        u.q,
        u.mu,
        u.nu,
        step.tau,
        step.theta,
        step.start,
        step.beyond,
        None if slack is None else slack.lines,
        secant,
    )
    n = step.lines.n
    at_A = (jnp.arange(n + 1) <= step.lines.first[:, None]).astype(float)
    ends = jnp.stack([jnp.sum(at_A[..., None] * rows.R, 1), rows.R[:, -1]], 1)
    scale = step.frozen.scale
    mass = jnp.stack([jnp.sum(at_A * scale, 1), scale[:, -1]], 1)
    carried = jnp.sum(step.points.ends * mass[..., None], (0, 1))
    at = point_rows(
        step.points,
        step.contact,
        step.h,
        (x_minus, step.x[1], u.x),
        u.point_nu,
        carried,
        step.tau,
        step.theta,
        step.start,
        None if slack is None else (slack.points, slack.points_target),
        secant,
    )
    error, merit = rows.error, rows.merit
    if step.points.any_free:  # everything hangs together
        off = balance(step.points, at, ends)
        F = at.F * step.points.free
        largest = jnp.maximum(jnp.max(jnp.abs(off)), jnp.max(jnp.abs(F)))
        error = jnp.maximum(jnp.max(error), largest) + 0.0 * error
        merit = jnp.sum(merit) + jnp.sum(off**2) + jnp.sum(F**2) + 0.0 * merit
    return rows, at, error, merit


def direction(step: Step, rows: LineRows, at: PointRows) -> Iterate:
    """Newton increments of all unknowns."""
    cond = eliminate(rows)
    dx, dnu, d_last = solve_points(step.points, at, cond)
    d_ends = at_ends(step.points, dx)
    if step.lines.bending:
        d_ends = jnp.concatenate([d_ends, jnp.zeros_like(d_ends)], 1)
    dq, dmu, dn = back_substitute(cond, d_ends, d_last)
    return Iterate(q=dq, mu=dmu, nu=dn, x=dx, point_nu=dnu)


def _moved(u: Iterate, du: Iterate, t: Array) -> Iterate:
    """u + t du with one t per line."""
    return Iterate(
        q=u.q + t[:, None, None] * du.q,
        mu=u.mu + t[:, None] * du.mu,
        nu=u.nu + t[:, None] * du.nu,
        x=u.x + t[0] * du.x,
        point_nu=u.point_nu + t[0] * du.point_nu,
    )


def _chosen(which: Array, a: Iterate, b: Iterate) -> Iterate:
    """a where the line is chosen, else b."""
    pick = lambda x, y: jnp.where(which.reshape(-1, *([1] * (x.ndim - 1))), x, y)  # noqa: E731
    return Iterate(
        q=pick(a.q, b.q),
        mu=pick(a.mu, b.mu),
        nu=pick(a.nu, b.nu),
        x=jnp.where(which[0], a.x, b.x),
        point_nu=jnp.where(which[0], a.point_nu, b.point_nu),
    )


def newton(
    step: Step, u: Iterate, tolerance: Any = 1e-9, max_iterations: int = 50
) -> tuple[Iterate, Array, Array]:
    """Solve a step from a guess; the iterate, its error per line [m] and the iterations used.

    A step is halved until the residual is below the largest of the last few (Grippo et al. 1986);
    tracing sees rows and sweep once.

    Args:
        step: what is given.
        u: guess, with held points at their new places.
        tolerance: on scaled residuals [m].
        max_iterations: rows evaluated at most.
    """
    lines = u.q.shape[0]
    none = jax.tree.map(jnp.zeros_like, u)
    big = jnp.full(lines, jnp.inf)

    def unfinished(state):
        _, _, _, _, error, k = state
        return jnp.any(~(error <= tolerance)) & (k < max_iterations)

    def iterate(state):
        base, du, t, recent, error_before, k = state
        trial = _moved(base, du, t)
        # friction that keeps changing its side: take its secant for a while
        secant = jnp.where(k % (2 * PATIENCE) < PATIENCE, 0.0, 1.0)
        rows, at, error, merit = rows_at(step, trial, None, secant)
        good = (merit <= jnp.max(recent, 0) * (1.0 - 1e-3 * t)) | (error <= tolerance)
        good = good | ((t < SHORTEST) & jnp.isfinite(merit))
        later = jnp.concatenate([recent[1:], merit[None]])
        later = jnp.where(k == 0, merit[None], later)
        wanted = jnp.any(good & ~(error <= tolerance))
        new = jax.lax.cond(wanted, lambda: direction(step, rows, at), lambda: du)
        return (
            _chosen(good, trial, base),
            _chosen(good, new, du),
            jnp.where(good, 1.0, 0.5 * t),
            jnp.where(good, later, recent),
            jnp.where(good, error, error_before),
            k + 1,
        )

    first = (u, none, jnp.ones(lines), jnp.full((MEMORY, lines), jnp.inf), big, jnp.asarray(0))
    u, _, _, _, error, k = jax.lax.while_loop(unfinished, iterate, first)
    return u, error, k


def gaps(step: Step, u: Iterate) -> tuple[Array, Array, Array]:
    """Gaps of the segments, the nodes and the points at an iterate [m]."""
    rest = step.frozen.rest[:, 1]
    d = u.q[:, 1:] - u.q[:, :-1]
    contact, under = step.frozen.contact, step.contact
    return (
        (rest**2 - jnp.sum(d**2, -1)) / (2.0 * rest),
        jnp.sum(contact.normal * u.q, -1) - contact.offset,
        jnp.sum(under.normal * u.x, -1) - under.offset,
    )


def interior_point(
    step: Step, u: Iterate, tolerance: Any = 1e-9, max_iterations: int = 60
) -> tuple[Iterate, Array, Array]:
    """The same by the interior point, from a cold start of the multipliers.

    Args:
        step: what is given.
        u: guess of the positions.
        tolerance: on scaled residuals [m].
        max_iterations: at most.
    """
    scale = step.frozen.scale
    n = step.lines.n
    at_A = (jnp.arange(n + 1) <= step.lines.first[:, None]).astype(float)
    mass = jnp.stack([jnp.sum(at_A * scale, 1), scale[:, -1]], 1)
    carried = jnp.sum(step.points.ends * mass[..., None], (0, 1))
    point_rs = step.h**2 / jnp.maximum(step.points.mass + carried, 1e-12)
    rigid = step.frozen.contact.kind == "rigid"
    pairs = Pairs(
        masks=(
            ~jnp.isfinite(step.lines.EA) & (step.frozen.active > 0.0),
            (step.frozen.contact.touch > 0.0) & rigid,
            (step.contact.touch * step.points.free > 0.0) & rigid,
        ),
        scales=(2.0 * step.h**2 / (scale[:, 1:] + scale[:, :-1]), step.h**2 / scale, point_rs),
        gaps=lambda v: gaps(step, v),
        multipliers=lambda v: (v.mu, v.nu, v.point_nu),
        with_multipliers=lambda v, new: replace(v, mu=new[0], nu=new[1], point_nu=new[2]),
    )

    def at(v: Iterate, s: list[Array], wanted: list[Array]) -> tuple[Any, Array]:
        slack = Slacks(
            lines=Slack(tension=s[0], bed=s[1], tension_target=wanted[0], bed_target=wanted[1]),
            points=s[2],
            points_target=wanted[2],
        )
        rows, points, error, _ = rows_at(step, v, slack)
        return (rows, points), error

    def aimed(found: Any, add: list[Array]) -> Iterate:
        rows, points = found
        rows = replace(rows, F=rows.F + add[0], bed_F=rows.bed_F + add[1])
        return direction(step, rows, replace(points, F=points.F + add[2]))

    def moved(v: Iterate, du: Iterate, share: Array) -> Iterate:
        return _moved(v, du, share * jnp.ones(v.q.shape[0]))

    return mehrotra(pairs, at, aimed, moved, u, step.tau, tolerance, max_iterations)
