r"""One step of the two-step scheme: Newton's method on all unknowns at once.

Unknown are the next poses (or tree coordinates), junctions, multipliers of joints and contact
forces; nodes and tensions of lines are eliminated line by line. Forces of the model are taken at
the positions now and the mean velocity, which holds the unknown; their derivative by velocity is
kept from the start of the run, the rest of the Jacobian is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.inner import Inner
from swelltree.model.kinematics import Pose, dof_coordinates
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.spatial.linalg import solve_dominant
from swelltree.spatial.products import SMALL_PRODUCT, is_compact, product
from swelltree.spatial.vectors import matmul, matvec
from swelltree.two_step.attached import directions, end_positions
from swelltree.two_step.block_solve import Condensed, back_substitute, eliminate
from swelltree.two_step.complementarity import Slack
from swelltree.two_step.equations import (
    Trial,
    contact_forces,
    equations,
    first_guess,
    moved,
)
from swelltree.two_step.immersed import immersed_power
from swelltree.two_step.instant import Instant, element_rates, forces_at, instant, mean_memory
from swelltree.two_step.line_report import LineReport, report
from swelltree.two_step.line_rows import LineRows, assemble
from swelltree.two_step.mehrotra import Pairs, interior_point
from swelltree.two_step.poses import before, half_velocity, three_poses
from swelltree.two_step.walk import Form, LineWalk, Setup, Sizes, Walk

POLISHING = 2  # Newton steps that carry derivatives
INSIDE = 1e-8  # m, tolerance of the interior point before the last correction
ROUNDING = 1e-12  # m: a residual of this order that falls no more is rounding; with h^2 in s^2
PATIENCE = 8  # evaluations with Newton's derivative of friction, then as many with the secant
MEMORY = 6  # residuals that count for the next step's leave
SHORTEST = 0.02  # shorter steps along a Newton direction are taken whatever the residual says
QUADRATIC = 1e-5  # m: below this residual Newton's method is trusted to predict itself


@pytree()
class Sample:
    """What is known of an instant once the step that leaves it is solved."""

    t: Array
    pose: Pose
    v: Array  # (N, 6) mean velocity
    v_dot: Array  # (N, 6)
    angles: Array
    inner: Inner
    lam: Array
    contact: Array  # (k,) normal forces of the seabed
    contact_force: Array  # (k, 3) friction included
    tie: Array  # (tie, 3) forces of ties on the ends of lines
    work: Array
    lines: Any  # LineSample, or None
    iterations: Array
    error: Array  # largest residual before the last correction [m, rad]
    solved: Array  # whether Newton's method converged


@pytree()
class LineSample:
    """Lines at an instant."""

    q: Array  # (line, node, 3)
    v: Array  # (line, node, 3)
    nu: Array  # (line, node) N, force of the bed
    report: LineReport  # tensions and flags now, energies half a step later
    end_force: Array  # (line, point, 3) N, of the line on what it hangs on
    y: Array  # (junction, 3)
    impulse: Array  # (line, segment) N s, of the tension over `span`
    span: Array  # s, this step and those since the last sample


@pytree()
class Unknowns:
    """All that a step solves for."""

    x: Array  # of bodies, junctions, joints, contacts
    q: Any  # (line, node, 3) next positions, or None
    mu: Any
    nu: Any


@pytree()
class Iterate:
    """Where Newton's method is."""

    at: Unknowns
    change: Unknowns  # the next one
    share: Array  # of it that is tried
    recent: Array  # (MEMORY,) sums of squares of the last residuals
    error: Array
    count: Array
    done: Array
    power: Array
    end_force: Any  # (line, point, 3) predicted after the change


@pytree()
class Direction:
    """One evaluation of Newton's method."""

    change: Unknowns
    error: Array  # largest residual before it [m, rad]
    merit: Array  # sum of squares
    power: Array
    end_force: Any  # (line, point, 3) after it, or None


def advance(model: Model, form: Form, setup: Setup, walk: Walk) -> tuple[Walk, Sample]:
    """One step."""
    now = instant(model, setup, walk)
    if not form.differentiable:
        way = search_inside if form.interior_point and now.frozen is not None else search
        return _finished(model, form, setup, walk, now, way(model, form, setup, walk, now))
    # the solution is found without derivatives; more Newton steps with the Jacobian held fixed
    # leave its value and give it the derivatives of the implicit function
    still = jax.lax.stop_gradient((model, setup, walk, now))
    found = jax.lax.stop_gradient(search(still[0], form, *still[1:]))
    at, power, end_force = found.at, found.power, found.end_force
    for _ in range(POLISHING):
        last = newton(model, form, setup, walk, now, at, held=True)
        at = changed(model, form, setup, walk, at, last.change)
        power, end_force = last.power, last.end_force
    it = replace(found, at=at, power=power, end_force=end_force)
    return _finished(model, form, setup, walk, now, it)


def evaluate(
    model: Model,
    form: Form,
    setup: Setup,
    walk: Walk,
    now: Instant,
    at: Unknowns,
    held: bool = False,
    rows: LineRows | None = None,
) -> tuple[Array, Array, Array, Condensed | None]:
    """Scaled residual and Jacobian, powers, and lines reduced to their ends.

    Args:
        held: leave the Jacobian out of derivatives.
        rows: of the lines, where they are known.
    """
    size, N = Sizes.of(model, form), walk.v_minus.shape[0]
    p, g, _ = moved(model, form, walk, at.x[: size.bodies])
    v = 0.5 * (walk.v_minus + half_velocity(walk.pose.p, p, g, setup.h))
    loads = forces_at(model, setup, walk, now, v)
    cond = None
    if now.frozen is not None:
        if rows is None:
            rows = line_rows(model, form, setup, walk, now, at)
        if held:
            rows = replace(jax.lax.stop_gradient(rows), R=rows.R, F=rows.F, bed_F=rows.bed_F)
        cond = eliminate(rows)
    rigid = stays_open(model)
    force = None
    if cond is not None:
        force = (cond.balance if rigid else cond.end_force_residual).reshape(-1, 3)

    def f(x: Array) -> tuple[tuple[Array, Array], Trial]:
        return equations(model, form, setup, walk, now, x, loads.wrench, force)

    (J, moves), trial = jax.jacfwd(f, has_aux=True)(at.x)
    # mean velocity is half of a displacement over h, for Gibbs vectors the whole
    per_step = jnp.tile(jnp.repeat(jnp.array([0.5, 1.0]), 3), N) / setup.h
    into = along = jnp.zeros((0, 0, 0))
    K = setup.damping * per_step
    K = jnp.pad(K, ((0, size.junctions), (0, size.junctions)))
    if cond is not None:
        count = size.junctions // 3
        into, along = directions(model.lines, trial.three, walk.pose, trial.g, count)
        k = 3 * model.lines.n_points
        into, along = (x.reshape(-1, k, x.shape[-1]) for x in (into, along))
        K = K + triple(into, cond.matrix if rigid else cond.S, along)

    def projected(x: Array) -> Array:
        """Rows of bodies in the directions that are free."""
        if not form.joint_coordinates:
            return x
        return jnp.concatenate([trial.P.T @ x[: 6 * N], x[6 * N :]])

    rest = J.shape[0] - size.balances
    J = J + jnp.pad(projected(product(K, moves)), ((0, rest), (0, 0)))
    J = J * setup.scale[:, None] * setup.columns
    value = trial.value * setup.scale
    if rigid and cond is not None:
        # the last multiplier of each line stays among the unknowns
        pull = projected(jnp.einsum("lip,li->pl", into, cond.column))
        pull = jnp.pad(pull, ((0, J.shape[0] - size.balances), (0, 0))) * setup.scale[:, None]
        law = jnp.einsum("li,liq->lq", cond.row, along) @ moves * setup.columns
        assert now.frozen is not None
        unit = now.frozen.scale[:, -1] / setup.h**2
        J = jnp.block([[J, pull * unit], [law, -jnp.diag(cond.c * unit)]])
        value = jnp.concatenate([value, -cond.last])
    return value, jax.lax.stop_gradient(J) if held else J, loads.power, cond


def triple(into: Array, S: Array, along: Array) -> Array:
    """Sum over the lines of into^T S along, (p, q)."""
    lines, _, p = into.shape
    if lines * 6 * p * p > SMALL_PRODUCT or is_compact():
        return jnp.einsum("lip,lij,ljq->pq", into, S, along)
    moved_forces = matmul(S, along)
    return (into[:, :, :, None] * moved_forces[:, :, None, :]).sum((0, 1))


def stays_open(model: Model) -> bool:
    """Is the last multiplier of lines an unknown of the whole system?

    Eliminated, it would spoil the numbers where an inextensible line is straight and taut.
    """
    arrays = None if model.lines is None else model.lines.arrays
    return arrays is not None and arrays.inextensible and not arrays.bending


def newton(
    model: Model,
    form: Form,
    setup: Setup,
    walk: Walk,
    now: Instant,
    at: Unknowns,
    held: bool = False,
    rows: LineRows | None = None,
) -> Direction:
    """Change of all unknowns, residual before it, powers, and end forces after it."""
    value, J, power, cond = evaluate(model, form, setup, walk, now, at, held, rows)
    size = Sizes.of(model, form)
    plain = size.rows + size.contacts + size.ties == 0 and not stays_open(model)
    found = -(solve_dominant if plain else jnp.linalg.solve)(J, value)
    count = at.x.shape[0]
    dx = found[:count] * setup.columns
    error, merit = jnp.abs(value).max(), (value * value).sum()
    if cond is None:
        return Direction(Unknowns(dx, None, None, None), error, merit, power, None)
    old = ends_after(model, form, setup, walk, at.x)
    d_ends = ends_after(model, form, setup, walk, at.x + dx) - old
    flat = d_ends.reshape(d_ends.shape[0], -1)
    if stays_open(model):
        d_last = found[count:] * now.frozen.scale[:, -1] / setup.h**2
        dq, dmu, dnu = back_substitute(cond, d_ends, d_last)
        pull = matvec(cond.matrix, flat) + cond.column * d_last[:, None]
        end_force = -(cond.balance + pull.reshape(d_ends.shape))
    else:
        dq, dmu, dnu = back_substitute(cond, d_ends)
        pull = matvec(cond.S, flat)
        end_force = -(cond.end_force_residual + pull.reshape(d_ends.shape))
    error, merit = jnp.maximum(error, cond.error.max()), merit + cond.merit.sum()
    return Direction(Unknowns(dx, dq, dmu, dnu), error, merit, power, end_force)


def changed(
    model: Model, form: Form, setup: Setup, walk: Walk, at: Unknowns, change: Unknowns
) -> Unknowns:
    """Unknowns after a change; ends of lines stay where they are held."""
    after = jax.tree.map(jnp.add, at, change)
    if after.q is None:
        return after
    ends = ends_after(model, form, setup, walk, after.x)
    return replace(after, q=with_ends(after.q, ends))


def search(model: Model, form: Form, setup: Setup, walk: Walk, now: Instant) -> Iterate:
    """Newton's method from where the last step points."""

    def body(it: Iterate) -> Iterate:
        part = jax.tree.map(lambda x: it.share * x, it.change)
        trial = changed(model, form, setup, walk, it.at, part)
        rows = None
        if now.frozen is not None:
            # friction that keeps changing its side: take its secant for a while
            secant = jnp.where(it.count % (2 * PATIENCE) < PATIENCE, 0.0, 1.0)
            rows = line_rows(model, form, setup, walk, now, trial, secant=secant)
        found = newton(model, form, setup, walk, now, trial, rows=rows)
        error, merit = found.error, found.merit
        # near the solution the next residual follows from the last two
        expected = error * jnp.minimum(error / it.error, 1.0)
        sure = (error < QUADRATIC) & (expected < form.tolerance) & (it.count > 0)
        # rounding ends what Newton's method can do
        rounding = ROUNDING * (1.0 + setup.h**2)
        stalled = (error < rounding) & (error > 0.3 * it.error) & (it.count > 1)
        done = (error < form.tolerance) | sure | stalled
        # the residual may rise while lines change sides, but not above the last few
        good = (merit <= it.recent.max() * (1.0 - 1e-3 * it.share)) | done
        good = good | ((it.share < SHORTEST) & jnp.isfinite(merit))
        pick = lambda a, b: jax.tree.map(lambda x, y: jnp.where(good, x, y), a, b)  # noqa: E731
        later = jnp.where(it.count == 0, merit, jnp.append(it.recent[1:], merit))
        return Iterate(
            at=pick(trial, it.at),
            change=pick(found.change, it.change),
            share=jnp.where(good, 1.0, 0.5 * it.share),
            recent=jnp.where(good, later, it.recent),
            error=jnp.where(good, error, it.error),
            count=it.count + 1,
            done=done,
            power=found.power,
            end_force=found.end_force,
        )

    def unfinished(it: Iterate) -> Array:
        return ~it.done & (it.count < form.max_iterations)

    it = jax.lax.while_loop(unfinished, body, _first_iterate(model, form, setup, walk, now))
    # the last correction costs nothing more
    return replace(it, at=changed(model, form, setup, walk, it.at, it.change))


def search_inside(model: Model, form: Form, setup: Setup, walk: Walk, now: Instant) -> Iterate:
    """The same by the interior point; contacts of bodies keep their smooth rows."""
    first = _first_iterate(model, form, setup, walk, now)
    frozen, arrays = now.frozen, model.lines.arrays
    rest, contact = frozen.rest[:, 1], frozen.contact

    def gaps(u: Unknowns) -> tuple[Array, Array]:
        d = u.q[:, 1:] - u.q[:, :-1]
        clearance = (contact.normal * u.q).sum(-1) - contact.offset
        return (rest**2 - (d * d).sum(-1)) / (2.0 * rest), clearance

    pairs = Pairs(
        masks=(
            ~jnp.isfinite(arrays.EA) & (frozen.active > 0.0),
            (contact.touch > 0.0) & (contact.kind == "rigid"),
        ),
        scales=(
            2.0 * setup.h**2 / (frozen.scale[:, 1:] + frozen.scale[:, :-1]),
            setup.h**2 / frozen.scale,
        ),
        gaps=gaps,
        multipliers=lambda u: (u.mu, u.nu),
        with_multipliers=lambda u, new: replace(u, mu=new[0], nu=new[1]),
    )

    def rows_at(u: Unknowns, s: list[Array], wanted: list[Array]) -> tuple[Any, Array]:
        slack = Slack(tension=s[0], bed=s[1], tension_target=wanted[0], bed_target=wanted[1])
        rows = line_rows(model, form, setup, walk, now, u, slack)
        value, _, _, _ = evaluate(model, form, setup, walk, now, u, rows=rows)
        return (u, rows), jnp.maximum(jnp.abs(value).max(), rows.error.max())

    def direction(found: Any, add: list[Array]) -> Unknowns:
        u, rows = found
        rows = replace(rows, F=rows.F + add[0], bed_F=rows.bed_F + add[1])
        return newton(model, form, setup, walk, now, u, rows=rows).change

    def further(u: Unknowns, du: Unknowns, share: Array) -> Unknowns:
        part = jax.tree.map(lambda x: share * x, du)
        return changed(model, form, setup, walk, u, part)

    u, error, count = interior_point(
        pairs, rows_at, direction, further, first.at, setup.tau, INSIDE, 2 * form.max_iterations
    )
    # the last correction, powers and end forces as the other solver has them
    last = newton(model, form, setup, walk, now, u)
    return replace(
        first,
        at=changed(model, form, setup, walk, u, last.change),
        error=error,
        count=count,
        done=error <= INSIDE,
        power=last.power,
        end_force=last.end_force,
    )


def _first_iterate(model: Model, form: Form, setup: Setup, walk: Walk, now: Instant) -> Iterate:
    """The last half step goes on, multipliers stay."""
    x = first_guess(model, form, setup, walk)
    at, end_force = Unknowns(x, None, None, None), None
    if now.frozen is not None:
        lines = walk.lines
        ends = ends_after(model, form, setup, walk, x)
        at = Unknowns(x, with_ends(2.0 * lines.q - lines.q_last, ends), lines.mu, lines.nu)
        end_force = jnp.zeros_like(ends)
    others = line_terms(model) + len(model.layout.drives)
    terms = jnp.zeros_like(walk.work[: walk.work.shape[0] - others])
    return Iterate(
        at=at,
        change=jax.tree.map(jnp.zeros_like, at),
        share=jnp.array(1.0),
        recent=jnp.full(MEMORY, jnp.inf),
        error=jnp.array(jnp.inf),
        count=jnp.array(0),
        done=jnp.array(False),
        power=terms,
        end_force=end_force,
    )


def line_terms(model: Model) -> int:
    """Terms of the energy budget that belong to lines."""
    return 0 if model.lines is None else len(model.lines.names)


def driven_power(model: Model, form: Form, t: Array, lam: Array) -> Array:
    """Power that each prescribed motion puts into the system now."""
    count = len(model.layout.drives)
    if count == 0:
        return jnp.zeros(0)
    drive = np.array([r.j if r.kind in ("slide", "turn") else -1 for r in form.rows], dtype=int)
    hits = (np.arange(count)[:, None] == drive[None, :]).astype(float)
    return (hits @ lam) * drives_at(model.drives, t).rate


def released(model: Model, setup: Setup, walk: Walk, tie: Array) -> Array:
    """Which ties have let go once this step is done: by time or by tension."""
    if not walk.let_go.shape[0]:
        return walk.let_go
    lines, own = model.lines, np.array(model.lines.tie_line)
    late = walk.t + setup.h >= lines.release_time[own] - 1e-9
    torn = jnp.sqrt((tie * tie).sum(-1)) >= lines.release_tension[own]
    return jnp.where(late | torn, 1.0, walk.let_go)


def line_rows(
    model: Model,
    form: Form,
    setup: Setup,
    walk: Walk,
    now: Instant,
    at: Unknowns,
    slack: Slack | None = None,
    secant: Array | float = 0.0,
) -> LineRows:
    """Rows of the lines at an iterate; with slacks those of the interior point."""
    lines = walk.lines
    beyond = None
    if model.lines.arrays.bending:
        last = end_positions(model.lines, before(walk.pose, walk.v_minus, setup.h), lines.y_last)
        beyond = last[:, 2:], ends_after(model, form, setup, walk, at.x)[:, 2:]
    return assemble(
        model.lines.arrays,
        now.frozen,
        setup.h,
        lines.q_last,
        lines.q,
        at.q,
        at.mu,
        at.nu,
        setup.tau,
        setup.theta,
        beyond=beyond,
        slack=slack,
        secant=secant,
    )


def ends_after(model: Model, form: Form, setup: Setup, walk: Walk, x: Array) -> Array:
    """Points of all lines at the next instant (line, point, 3)."""
    u, y, _, _, _ = Sizes.of(model, form).split(x)
    p, g, _ = moved(model, form, walk, u)
    after = three_poses(model, walk.pose, walk.v_minus, p, g, setup.h).next
    return end_positions(model.lines, after, y)


def with_ends(q: Array, ends: Array) -> Array:
    """Positions of the nodes with the ends where they are held."""
    return jnp.concatenate([ends[:, :1], q[:, 1:-1], ends[:, 1:2]], axis=1)


def _finished(
    model: Model, form: Form, setup: Setup, walk: Walk, now: Instant, it: Iterate
) -> tuple[Walk, Sample]:
    """The next walk, and the sample of the instant that was left."""
    u, y, lam, contact, tie = Sizes.of(model, form).split(it.at.x)
    p, g, q = moved(model, form, walk, u)
    three = three_poses(model, walk.pose, walk.v_minus, p, g, setup.h)
    v = three.v
    chi = mean_memory(setup, walk, v)
    found = dof_coordinates(model, three.next_frames, walk.angles)
    angles = found[np.array(model.layout.angle_dofs, dtype=int)]
    rates = element_rates(model, setup, walk, now, v)
    elements = jax.tree.map(
        lambda x, new, old: x + setup.h * (1.5 * new - 0.5 * old),
        walk.elements,
        rates,
        walk.element_rates,
    )
    power = it.power + immersed_power(model, setup, now.awash, three)
    lines, sample = walk.lines, None
    if it.at.q is not None:
        lines, sample, pulled = _finished_lines(model, setup, walk, now, it, three.next, y, tie)
        power = jnp.concatenate([power, pulled])
    elif lines is not None:
        lines = LineWalk(lines.q, lines.q, lines.mu, lines.nu, y, lines.y)
    touching = jnp.zeros((0, 3))
    if model.lines is not None and model.lines.n_contacts:
        touching, _ = contact_forces(model.lines, setup, walk, now, three, y, contact)
    power = jnp.concatenate([power, driven_power(model, form, walk.t, lam)])
    after = Walk(
        t=walk.t + setup.ahead,
        pose=three.next,
        v_minus=three.v_plus,
        q=q,
        angles=angles,
        chi=chi if setup.memory is None else 2.0 * chi - walk.chi,
        elements=elements,
        element_rates=rates,
        work=walk.work + setup.h * power,
        lam=lam,
        contact=contact,
        tie=tie,
        let_go=released(model, setup, walk, tie),
        lines=lines,
    )
    return after, Sample(
        t=walk.t,
        pose=walk.pose,
        v=v,
        v_dot=(three.v_plus - three.v_minus) / setup.h,
        angles=walk.angles,
        inner=Inner(chi, walk.elements),
        lam=lam,
        contact=contact,
        contact_force=touching,
        tie=tie,
        work=walk.work + 0.5 * setup.h * power,
        lines=sample,
        iterations=it.count,
        error=it.error,
        solved=it.done,
    )


def _finished_lines(
    model: Model,
    setup: Setup,
    walk: Walk,
    now: Instant,
    it: Iterate,
    after: Pose,
    y: Array,
    tie: Array,
) -> tuple[LineWalk, LineSample, Array]:
    """Lines at the next instant, their sample now, and the power they give to bodies."""
    lines, at = walk.lines, it.at
    q, mu, nu = at.q, at.mu, at.nu
    v = (q - lines.q_last) / (2.0 * setup.h)
    beyond = None
    if model.lines.arrays.bending:
        last = end_positions(model.lines, before(walk.pose, walk.v_minus, setup.h), lines.y_last)
        here = end_positions(model.lines, walk.pose, lines.y)
        ahead = end_positions(model.lines, after, y)
        beyond = last[:, 2:], here[:, 2:], ahead[:, 2:]
    found = report(
        model.lines.arrays,
        now.frozen,
        setup.h,
        lines.q_last,
        lines.q,
        q,
        mu,
        nu,
        beyond,
        setup.theta,
    )
    held = jnp.stack([v[:, 0], v[:, -1]], axis=1)
    body = np.array(model.lines.end_body).reshape(-1, model.lines.n_points)[:, :2]
    on_body = (body < walk.v_minus.shape[0]).astype(float)
    pulled = (on_body[:, :, None] * it.end_force[:, :2] * held).sum((1, 2))
    if model.lines.tie_body:
        moving = ((y - lines.y_last) / (2.0 * setup.h))[np.array(model.lines.tie_junction)]
        of_line = np.eye(q.shape[0])[np.array(model.lines.tie_line)]
        pulled = pulled - of_line.T @ (tie * moving).sum(-1)
    moved_on = LineWalk(q, lines.q, mu, nu, y, lines.y)
    return (
        moved_on,
        LineSample(lines.q, v, nu, found, it.end_force, lines.y, setup.h * found.tension, setup.h),
        pulled,
    )
