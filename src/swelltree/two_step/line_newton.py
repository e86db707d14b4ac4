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

FULL = 15  # evaluations with whole steps: the residual may rise while segments change sides
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
    step: Step, u: Iterate, slack: Slacks | None = None
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

    Later steps that do not lower the residual are halved; tracing sees rows and sweep once.

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
        base, du, t, merit_before, error_before, k = state
        trial = _moved(base, du, t)
        rows, at, error, merit = rows_at(step, trial)
        good = (merit <= merit_before * (1.0 - 1e-3 * t)) | (error <= tolerance)
        good = good | (((t < SHORTEST) | (k < FULL)) & jnp.isfinite(merit))
        wanted = jnp.any(good & ~(error <= tolerance))
        new = jax.lax.cond(wanted, lambda: direction(step, rows, at), lambda: du)
        return (
            _chosen(good, trial, base),
            _chosen(good, new, du),
            jnp.where(good, 1.0, 0.5 * t),
            jnp.where(good, merit, merit_before),
            jnp.where(good, error, error_before),
            k + 1,
        )

    first = (u, none, jnp.ones(lines), big, big, jnp.asarray(0))
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
    r"""The same by Mehrotra's predictor and corrector, from a cold start of the multipliers.

    The affine direction aims at zero products; its success sets the centring
    :math:`\sigma = (\bar\tau_{aff}/\bar\tau)^3`; the corrector adds its second-order term, with the
    same matrix. Products end at tau, where Fischer and Burmeister's rows end.

    Args:
        step: what is given.
        u: guess of the positions.
        tolerance: on scaled residuals [m].
        max_iterations: at most.
    """
    scale = step.frozen.scale
    rs = step.h**2 / scale
    n = step.lines.n
    at_A = (jnp.arange(n + 1) <= step.lines.first[:, None]).astype(float)
    mass = jnp.stack([jnp.sum(at_A * scale, 1), scale[:, -1]], 1)
    carried = jnp.sum(step.points.ends * mass[..., None], (0, 1))
    point_rs = step.h**2 / jnp.maximum(step.points.mass + carried, 1e-12)
    scales = 2.0 * step.h**2 / (scale[:, 1:] + scale[:, :-1]), rs, point_rs
    stiff = ~jnp.isfinite(step.lines.EA) & (step.frozen.active > 0.0)
    rigid = step.frozen.contact.kind == "rigid"
    masks = (
        stiff,
        (step.frozen.contact.touch > 0.0) & rigid,
        (step.contact.touch * step.points.free > 0.0) & rigid,
    )
    count = jnp.maximum(sum(jnp.sum(m) for m in masks), 1)
    multipliers = lambda v: (v.mu, v.nu, v.point_nu)  # noqa: E731
    tau = step.tau

    def lifted(v, floor):
        """Multipliers and slacks of complementary rows at least at the floor."""
        a = [jnp.maximum(s * m, floor) for s, m in zip(scales, multipliers(v), strict=True)]
        return a, [jnp.maximum(g, floor) for g in gaps(step, v)]

    # start: well inside, as far as constraints are broken now
    broken = [jnp.max(jnp.where(m, -g, 0.0)) for m, g in zip(masks, gaps(step, u), strict=True)]
    floor = jnp.maximum(jnp.maximum(jnp.maximum(broken[0], broken[1]), broken[2]), 1e-2)
    a, s = lifted(u, floor)

    def with_multipliers(v, a):
        new = [
            jnp.where(m, x / r, y)
            for m, x, r, y in zip(masks, a, scales, multipliers(v), strict=True)
        ]
        return replace(v, mu=new[0], nu=new[1], point_nu=new[2])

    def product(a, s):
        return sum(jnp.sum(jnp.where(m, x * y, 0.0)) for m, x, y in zip(masks, a, s, strict=True))

    def furthest(values, steps):
        """Largest share of a step that keeps all values positive."""
        share = jnp.asarray(1.0)
        for m, v, d in zip(masks * 2, values, steps, strict=True):
            share = jnp.minimum(share, jnp.min(jnp.where(m & (d < 0.0), -0.995 * v / d, 1.0)))
        return share

    def unfinished(state):
        _, _, _, error, k = state
        return jnp.any(~(error <= tolerance)) & (k < max_iterations)

    def iterate(state):
        v, a, s, _, k = state
        to_tau = [jnp.full_like(x, tau) for x in a]
        slack = Slacks(
            lines=Slack(tension=s[0], bed=s[1], tension_target=to_tau[0], bed_target=to_tau[1]),
            points=s[2],
            points_target=to_tau[2],
        )
        rows, at, error, _ = rows_at(step, v, slack)

        def aimed(targets):
            """Direction with other products than tau."""
            add = [(tau - t) / (x + y) for t, x, y in zip(targets, a, s, strict=True)]
            add = [jnp.where(m, x, 0.0) for m, x in zip(masks, add, strict=True)]
            du = direction(
                step,
                replace(rows, F=rows.F + add[0], bed_F=rows.bed_F + add[1]),
                replace(at, F=at.F + add[2]),
            )
            da = [r * m for r, m in zip(scales, multipliers(du), strict=True)]
            ds = [(t - x * y - y * d) / x for t, x, y, d in zip(targets, a, s, da, strict=True)]
            return du, da, ds

        def both_directions(_):
            _, da, ds = aimed([0.0 * t for t in to_tau])
            share = furthest([*a, *s], [*da, *ds])
            mean = product(a, s) / count
            ahead = product(
                [x + share * d for x, d in zip(a, da, strict=True)],
                [x + share * d for x, d in zip(s, ds, strict=True)],
            )
            sigma = jnp.clip(ahead / count / jnp.maximum(mean, tau), 0.0, 1.0) ** 3
            centre = jnp.maximum(sigma * mean, tau)
            # second-order term, kept within reason far from the path
            second = [jnp.clip(x * y, -mean, mean) for x, y in zip(da, ds, strict=True)]
            aim = [jnp.where(m, centre - x, tau) for m, x in zip(masks, second, strict=True)]
            near = mean <= 2.0 * tau
            aim = [jnp.where(near, tau, x) for x in aim]
            return aimed(aim)

        du, da, ds = jax.lax.cond(
            jnp.any(~(error <= tolerance)),
            both_directions,
            lambda _: (jax.tree.map(jnp.zeros_like, v), [0.0 * x for x in a], [0.0 * x for x in s]),
            None,
        )
        share = furthest([*a, *s], [*da, *ds])
        v = _moved(v, du, share * jnp.ones(v.q.shape[0]))
        a = [x + share * d for x, d in zip(a, da, strict=True)]
        s = [x + share * d for x, d in zip(s, ds, strict=True)]
        return with_multipliers(v, a), a, s, error, k + 1

    big = jnp.full(u.q.shape[0], jnp.inf)
    first = (with_multipliers(u, a), a, s, big, jnp.asarray(0))
    u, _, _, error, k = jax.lax.while_loop(unfinished, iterate, first)
    return u, error, k
