"""Equations of a step at an iterate, linearised: residual, Jacobian and the change they ask for.

Unknown are the next poses (or tree coordinates), junctions, multipliers of joints and contact
forces; nodes and tensions of lines are eliminated line by line. Forces of the model are taken at
the positions now and the mean velocity, which holds the unknown; their derivative by velocity is
kept from the start of the run, the rest of the Jacobian is exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.attached import directions, end_positions
from swelltree.integrate.complementarity.equations import (
    Rub,
    Trial,
    contact_velocity,
    equations,
    moved,
    poses_around,
)
from swelltree.integrate.complementarity.instant import Step, forces_at
from swelltree.integrate.complementarity.lines.rows import LineRows, assemble
from swelltree.integrate.complementarity.poses import before, half_velocity
from swelltree.integrate.complementarity.solve.block_solve import (
    Condensed,
    back_substitute,
    eliminate,
)
from swelltree.integrate.complementarity.solve.complementarity import Slack
from swelltree.integrate.complementarity.sticking import stick_wrench, with_stick_forces
from swelltree.jit import Array, derivatives_along, jax, jnp, namespace, pytree
from swelltree.mooring.dynamic.arrays import LineArrays
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.spatial.rotations import SMALL_PRODUCT, is_compact, matmul, product


@pytree()
class Unknowns:
    """Unknowns of a step."""

    x: Array  # of bodies, junctions, joints, contacts
    q: Array  # (line, node, 3) next positions, or None
    mu: Array
    nu: Array
    rub: Array | None = None  # (line, node, 3) friction of the bed, where it is rough
    contact_rub: Array | None = None  # (contact, 3) the same at contact points


@pytree()
class Direction:
    """One evaluation of Newton's method."""

    change: Unknowns
    error: Array  # largest residual of bodies, junctions, joints and contacts before it [m, rad]
    line_error: Array  # the same of lines
    merit: Array  # sum of squares
    power: Array


@pytree()
class Linear:
    """Linearised equations at an iterate, lines condensed to their ends."""

    value: Array  # scaled residual (unknowns,)
    J: Array  # scaled Jacobian
    power: Array
    cond: Condensed | None
    along: Array  # (line, point * 3, 6N + 3J) how ends that move go with bodies and junctions
    off: Array  # scaled residual with the friction forces of the iterate, and their rows
    rubbing: tuple[Array, Array]  # friction of contacts (k, 3), its Jacobian


def evaluate(
    step: Step,
    at: Unknowns,
    frozen_jacobian: bool = False,
    rows: LineRows | None = None,
    slow: Array | float = 0.0,
) -> Linear:
    """Scaled residual and Jacobian, powers, and lines reduced to their ends.

    Args:
        step: what is given.
        at: the iterate.
        frozen_jacobian: leave the Jacobian out of derivatives.
        rows: of the lines, where they are known.
        slow: velocity that smooths friction at contacts [m/s]; 0: it is as it is.
    """
    model, setup, state, now = step.model, step.setup, step.state, step.now
    size, N = step.size, state.v_minus.shape[0]
    p, g, _ = moved(step, at.x[: size.bodies])
    v = 0.5 * (state.v_minus + half_velocity(state.pose.p, p, g, setup.h))
    # on the way to rest, where time stands still, forces see no velocity
    sticking = size.split(at.x)[5]
    loads = forces_at(with_stick_forces(step, sticking), setup.ahead / setup.h * v)
    wrench = loads.wrench
    if size.sticks:  # unknown themselves
        wrench = wrench - stick_wrench(model, now.motion, sticking)
    rigid = stays_open(step)
    cond = force = None
    if now.frozen is not None:
        if rows is None:
            rows = line_rows(step, at)
        if frozen_jacobian:
            rows = replace(jax.lax.stop_gradient(rows), R=rows.R, F=rows.F, bed_F=rows.bed_F)
        fixed = anchored(step)
        cond = eliminate(rows, fixed)
        force = cond.balance if rigid else cond.end_force_residual
        if fixed:
            force = jnp.pad(force, ((0, 0), (1, 0), (0, 0)))
        force = force.reshape(-1, 3)

    rub = None
    if at.contact_rub is not None:
        nu = step.size.split(at.x)[3]
        here = at.contact_rub, nu, contact_velocity(step, at.x)
        rub = Rub(state.contact_rub, *jax.lax.stop_gradient(here), slow, exact=False)

    def f(x: Array) -> tuple[tuple[Array, Array, Array], Trial]:
        return equations(step, x, wrench, force, rub)

    (J, moves, rub_J), trial = derivatives_along(f, at.x)
    # mean velocity is half of a displacement over h, for Gibbs vectors the whole
    per_step = jnp.tile(jnp.repeat(jnp.array([0.5, 1.0]), 3), N) / setup.h
    into = along = jnp.zeros((0, 0, 6 * N + size.junctions))
    K = setup.damping * per_step
    K = jnp.pad(K, ((0, size.junctions), (0, size.junctions)))
    if cond is not None:
        count = size.junctions // 3
        into, along = directions(step.lines, trial.three, state.pose, trial.g, count, setup.theta)
        k = 3 * step.lines.n_points
        first = 3 if anchored(step) else 0
        into, along = (x.reshape(-1, k, x.shape[-1])[:, first:] for x in (into, along))
        K = K + triple(into, cond.matrix if rigid else cond.S, along)

    def projected(x: Array) -> Array:
        """Rows of bodies in their free directions."""
        if not step.form.joint_coordinates:
            return x
        free = 1.0 if model.locked is None else 1.0 - model.locked[:, None]
        return jnp.concatenate([free * product(trial.P.T, x[: 6 * N]), x[6 * N :]])

    rest = J.shape[0] - size.balances
    if step.form.joint_coordinates:
        J = J + jnp.pad(projected(product(K, moves)), ((0, rest), (0, 0)))
        along = along @ moves
    else:  # the unknowns are the motions themselves
        J = J + jnp.pad(K, ((0, rest), (0, rest)))
        along = jnp.pad(along, ((0, 0), (0, 0), (0, rest)))
    J = J * setup.scale[:, None] * setup.columns
    along = along * setup.columns
    value = off = trial.value * setup.scale
    if rub is not None:
        exact = equations(step, at.x, wrench, force, replace(rub, exact=True))[1]
        off = jnp.concatenate([exact.value * setup.scale, trial.row.reshape(-1)])
    if rigid and cond is not None and now.frozen is not None:
        # the last multiplier of each line stays among the unknowns
        pull = projected((into * cond.column[:, :, None]).sum(1).T)
        pull = jnp.pad(pull, ((0, J.shape[0] - size.balances), (0, 0))) * setup.scale[:, None]
        law = (cond.row[:, :, None] * along).sum(1)
        unit = now.frozen.scale[:, -1] / setup.h**2
        J = jnp.block([[J, pull * unit], [law, -jnp.diag(cond.c * unit)]])
        value, off = (jnp.concatenate([x, -cond.last]) for x in (value, off))
    J = jax.lax.stop_gradient(J) if frozen_jacobian else J
    return Linear(value, J, loads.power, cond, along, off, (trial.rubbing, rub_J))


def triple(into: Array, S: Array, along: Array) -> Array:
    """Sum over the lines of into^T S along, (p, q)."""
    lines, _, p = into.shape
    if lines * 6 * p * p > SMALL_PRODUCT or is_compact():
        return jnp.einsum("lip,lij,ljq->pq", into, S, along)
    moved_forces = matmul(S, along)
    return (into[:, :, :, None] * moved_forces[:, :, None, :]).sum((0, 1))


def stays_open(step: Step) -> bool:
    """Is the last multiplier of lines an unknown of the whole system?

    Eliminated, it would spoil the numbers where an inextensible line is straight and taut.
    """
    lines = lines_of(step.model)
    arrays = None if lines is None else lines.arrays
    return arrays is not None and arrays.inextensible and not arrays.bending


def anchored(step: Step) -> bool:
    """Whether end A of every line is fixed; not for lines with bending."""
    lines = step.lines
    if lines.nodes.bending:
        return False
    at_A = zip(lines.end_body[::2], lines.end_junction[::2], strict=True)
    return all(end == (step.model.layout.n_bodies, len(lines.junctions)) for end in at_A)


def direction(
    step: Step,
    at: Unknowns,
    frozen_jacobian: bool = False,
    rows: LineRows | None = None,
    slow: Array | float = 0.0,
) -> Direction:
    """Change of all unknowns, residual before it, and powers."""
    now, setup = step.now, step.setup
    if rows is None and now.frozen is not None:
        rows = line_rows(step, at)
    lin = evaluate(step, at, frozen_jacobian, rows, slow)
    value, cond = lin.value, lin.cond
    result = -jnp.linalg.solve(lin.J, value) if value.shape[0] else value
    count = at.x.shape[0]
    dx = result[:count] * setup.columns
    error, merit = jnp.abs(lin.off).max(initial=0.0), (lin.off * lin.off).sum()
    contact_rub = None
    if at.contact_rub is not None:
        start, by_x = lin.rubbing
        contact_rub = start - at.contact_rub + (by_x * dx).sum(-1).reshape(-1, 3)
    if cond is None:
        change = Unknowns(dx, None, None, None, None, contact_rub)
        return Direction(change, error, 0.0 * error, merit, lin.power)
    d_ends = (lin.along * result[:count]).sum(-1).reshape(cond.balance.shape)
    d_last = None
    if stays_open(step):
        assert now.frozen is not None
        d_last = result[count:] * now.frozen.scale[:, -1] / setup.h**2
    dq, dmu, dnu = back_substitute(cond, d_ends, d_last)
    rub = None
    if at.rub is not None:
        assert rows is not None
        assert rows.rub_r is not None
        rub = rows.rub + (rows.rub_r * dq[:, :, None, :]).sum(-1) + rows.rub_nu * dnu[:, :, None]
    change = Unknowns(dx, dq, dmu, dnu, rub, contact_rub)
    return Direction(change, error, cond.error.max(), merit + cond.merit.sum(), lin.power)


def changed(step: Step, at: Unknowns, change: Unknowns) -> Unknowns:
    """Unknowns after a change; held line ends stay."""
    after = jax.tree.map(jnp.add, at, change)
    if after.q is None:
        return after
    ends = ends_after(step, after.x)
    return replace(after, q=with_ends(step.lines.nodes, after.q, ends))


def line_rows(
    step: Step, at: Unknowns, slack: Slack | None = None, secant: Array | float = 0.0
) -> LineRows:
    """Rows of the lines at an iterate; with slacks those of the interior point."""
    setup, lines = step.setup, step.state.lines
    excess = None
    if step.lines.nodes.bending:
        excess = ends_before(step)[:, 2:], ends_after(step, at.x)[:, 2:]
    return assemble(
        step.lines.nodes,
        step.now.frozen,
        setup.h,
        lines.q_last,
        lines.q,
        at.q,
        at.mu,
        at.nu,
        setup.tau,
        setup.theta,
        excess=excess,
        slack=slack,
        secant=secant,
        rub=None if at.rub is None else (lines.rub, at.rub),
    )


def ends_before(step: Step) -> Array:
    """Points of all lines one step ago (line, point, 3)."""
    state = step.state
    last = before(state.pose, state.v_minus, step.setup.h)
    return end_positions(step.lines, last, state.lines.y_last)


def ends_after(step: Step, x: Array) -> Array:
    u, y, *_ = step.size.split(x)
    p, g, _ = moved(step, u)
    return end_positions(step.lines, poses_around(step, p, g).next, y)


def with_ends(arrays: LineArrays, q: Array, ends: Array) -> Array:
    """Positions of the nodes with the ends at their attachments; idle nodes are at A."""
    at_A = np.arange(q.shape[1]) <= arrays.first[:, None]
    xp = namespace(at_A, ends, q)
    q = xp.where(at_A[:, :, None], ends[:, :1], q)
    return xp.concatenate([q[:, :-1], ends[:, 1:2]], axis=1)
