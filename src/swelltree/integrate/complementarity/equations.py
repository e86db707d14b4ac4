"""The equations of a step: balances of bodies and junctions, joints, contacts."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.integrate.complementarity.attached import attached_points, with_energy_terms
from swelltree.integrate.complementarity.cayley import couple_of, gibbs
from swelltree.integrate.complementarity.immersed import immersed_balance
from swelltree.integrate.complementarity.instant import Step
from swelltree.integrate.complementarity.joint_rows import body_rows, row_residual, row_wrenches
from swelltree.integrate.complementarity.poses import PoseStencil, three_poses
from swelltree.integrate.complementarity.solve.complementarity import fischer_burmeister
from swelltree.integrate.complementarity.solve.friction import friction, smooth_friction
from swelltree.integrate.complementarity.state import LIGHT, without_surplus
from swelltree.integrate.complementarity.sticking import stick_forces, stick_rows, stick_wrench
from swelltree.jit import Array, jax, jnp, namespace, pytree
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.multibody.inertia import kirchhoff, world_added_mass
from swelltree.multibody.kinematics import Pose, dof_rates, forward, joint_frames, moved_positions
from swelltree.multibody.layout import Layout, Row
from swelltree.multibody.rows import Rotation, Translation, coordinate_row
from swelltree.spatial.rotations import (
    apply,
    cross,
    dot,
    matmul,
    matvec,
    product,
    transpose,
    transpose_apply,
)

# Balance of forces on every body over two steps in a row.
#
# .. math::     m \frac{c_+ - 2 c_n + c_-}{h^2}, \qquad     R_n \Bigl[ J \frac{W_+ - W_-}{h} +
# \bar W \times J \bar W \Bigr], \qquad     \Bigl(A_\infty + \tfrac14 h^2 K\Bigr) \frac{v_+ -
# v_-}{h}
#
# The first acts at the centre of mass with the averaged lever, W = R_n^T w. K is the stiffness
# of the forces at rest: forces are taken at q_n, and the term beta h^2 K with beta = 1/4 makes
# their linear part unconditionally stable (it weighs it 1/4, 1/2, 1/4 over the three instants).
# Multiplied by the mean velocity the inertia terms are exact differences of kinetic energy.


def inertia_balance(
    model: Model, three: PoseStencil, coupled: Float[Array, "b6 b6"] | None, h: Array
) -> Float[Array, "n 6"]:
    """Wrench that the bodies need, rigid and added mass.

    Args:
        model: compiled.
        three: poses around the step.
        coupled: added mass of all bodies and stabilising stiffness times beta h^2, world axes.
        h: step [s].
    """
    bodies, now = model.bodies, three.now
    xp = namespace(three.v_plus)
    arms = [matvec(pose.R, bodies.com) for pose in (three.last, now, three.next)]
    places = [pose.p + arm for pose, arm in zip((three.last, now, three.next), arms, strict=True)]
    force = bodies.mass[:, None] * (places[2] - 2.0 * places[1] + places[0]) / h**2
    lever = 0.5 * (arms[0] + arms[2])
    back = transpose(now.R)
    W_plus, W_minus = matvec(back, three.v_plus[:, 3:]), matvec(back, three.v_minus[:, 3:])
    mean = 0.5 * (W_plus + W_minus)
    spin = matvec(bodies.inertia, (W_plus - W_minus) / h) + cross(
        mean, matvec(bodies.inertia, mean)
    )
    moment = matvec(now.R, spin) + couple_of(three.T, cross(lever, force))
    needed = xp.concatenate([force, moment], axis=-1)
    acceleration = (three.v_plus - three.v_minus) / h
    if coupled is not None:
        needed = needed + apply(coupled, acceleration.reshape(-1)).reshape(needed.shape)
    added = world_added_mass(bodies.added_mass, now)
    if added is not None:
        needed = needed + matvec(added, acceleration) + kirchhoff(added, three.v)
    return needed


def weight_correction(model: Model, three: PoseStencil) -> Float[Array, "n 6"]:
    """What the averaged lever changes in the moments of weight and constant buoyancy.

    Forces of the model act with their levers now; with the averaged ones the work of weight is
    exactly the change of its potential.
    """
    bodies = model.bodies
    xp = namespace(three.v_plus)
    weight = bodies.mass[:, None] * model.gravity
    upthrust = -(model.rho * bodies.volume)[:, None] * model.gravity
    moment = 0.0
    for force, point in ((weight, bodies.com), (upthrust, bodies.buoyancy)):
        mean = matvec(0.5 * (three.last.R + three.next.R), point)
        moment = moment + couple_of(three.T, cross(mean, force))
        moment = moment - cross(matvec(three.now.R, point), force)
    return xp.concatenate([0.0 * moment, moment], axis=-1)


# The discrete path matrix: exact null space of all tree joints over two steps.
#
# Each tree joint has six rows: its equations, and its DOFs. Written with discrete gradients
# they tie the mean velocity of a body to that of its parent,
#
# .. math:: V_i = X_i V_{p(i)} + S_i \dot z_i
#
# and products of the X along the path give :math:`\hat P` with :math:`\hat\Phi \hat P = 0`
# exactly. Equations projected with it give the very motion of the form with multipliers.


def tree_rows(layout: Layout) -> tuple[Row, ...]:
    """Six rows per tree joint: its equations, then its DOFs."""
    rows: list[Row] = []
    for j in range(layout.n_bodies):
        of_joint = [r for r in layout.rows if r.joint == j and not r.of_coordinates]
        for k, dof in enumerate(layout.dofs[: layout.n_tree]):
            if dof.joint == j:
                of_joint.append(coordinate_row(dof.turns, j, k))
        assert len(of_joint) == 6
        rows += of_joint
    return tuple(rows)


def discrete_path_matrix(model: Model, three: PoseStencil) -> Float[Array, "b6 n"]:
    """Mean velocities of all bodies per unit mean velocity of the tree coordinates."""
    layout = model.layout
    N, n = layout.n_bodies, layout.n_tree
    rows = tree_rows(layout)
    on_follower, on_base = row_wrenches(model, rows, three)
    outward = (np.array(layout.follower[:N]) == np.arange(N))[:, None, None]
    on_follower, on_base = on_follower.reshape(N, 6, 6), on_base.reshape(N, 6, 6)
    on_outer = jnp.where(outward, on_follower, on_base)
    parent = jnp.where(outward, on_base, on_follower)
    inverse = jnp.linalg.inv(on_outer)
    X = -inverse @ parent
    rooted = np.array([p >= 0 for p in layout.parent])[:, None, None]
    X = jnp.where(rooted, X, jnp.eye(6))
    for ancestor in layout.jumps:
        X = X @ jnp.concatenate([X, jnp.eye(6)[None]])[ancestor]
    # column of each DOF, carried back to the root and out again along the path
    joint = np.array([d.joint for d in layout.dofs[:n]], dtype=int)
    slot = np.array([_slot(rows, int(j), k) for k, j in enumerate(joint)], dtype=int)
    S = inverse[joint, :, slot]
    at_root = jnp.linalg.solve(X[joint], S[:, :, None])[:, :, 0]
    P = jnp.einsum("iab,kb->iak", X, at_root) * layout.path[:, joint][:, None, :]
    return P.reshape(6 * N, n)


def _slot(rows: tuple[Row, ...], joint: int, dof: int) -> int:
    """Index of the DOF among a joint's six rows."""
    block = rows[6 * joint : 6 * joint + 6]
    return next(
        i for i, r in enumerate(block) if isinstance(r, Translation | Rotation) and r.i == dof
    )


STICKS = 1e3  # see `friction`: the points of a body share a load
OWN = 1.0 / 32.0  # a corner of a body that turns feels this fraction of its inertia
GIVES = 1e-7  # give of a rigid seabed under bodies, of the step's free fall under the same force


@pytree()
class Trial:
    """Equations evaluated at trial unknowns."""

    value: Array  # (unknowns,)
    P: Array  # (6N, n) directions in which bodies may move; identity for poses
    three: PoseStencil
    g: Array  # (N, 3) Gibbs vectors of the step
    rubbing: Array  # (k, 3) friction of contacts [N]
    row: Array  # (k, 3) how far it is from its law [m]


def moved(step: Step, u: Array) -> tuple[Array, Array, Array]:
    """Next positions, Gibbs vectors of the step and tree coordinates."""
    model, state = step.model, step.state
    if not step.form.joint_coordinates:
        u = u.reshape(-1, 6)
        return state.pose.p + u[:, :3], u[:, 3:], state.q
    q = moved_positions(model.layout, state.q, u)
    pose = forward(model, q[: model.layout.n_positions])
    return pose.p, gibbs(matmul(pose.R, transpose(state.pose.R))), q


def poses_around(step: Step, p: Array, g: Array) -> PoseStencil:
    """Poses around the step for given next positions and Gibbs vectors."""
    state = step.state
    return three_poses(step.model, state.pose, state.v_minus, p, g, step.setup.h)


def first_guess(step: Step) -> Array:
    """Initial guess of the unknowns: the last half step continued."""
    model, state, h = step.model, step.state, step.setup.h
    v = state.v_minus
    if step.form.joint_coordinates:
        frames = joint_frames(model, state.pose)
        u = h * dof_rates(model, state.pose, frames, v)[: model.layout.n_tree]
    else:
        u = jnp.concatenate([h * v[:, :3], 0.5 * h * v[:, 3:]], -1).reshape(-1)
    y = (
        jnp.zeros(0)
        if state.lines is None
        else (2.0 * state.lines.y - state.lines.y_last).reshape(-1)
    )
    sticking = stick_forces(model, state)
    return jnp.concatenate([u, y, state.lam, state.contact, state.tie.reshape(-1), sticking])


def equations(
    step: Step, unknown: Array, wrench: Array, end_force: Array | None, rub: Rub | None = None
) -> tuple[tuple[Array, Array, Array], Trial]:
    """Balances, joint equations and contacts; forces of the model and of lines are given.

    Args:
        step: what is given.
        unknown: of bodies, junctions, joints and contacts, see `Sizes`.
        wrench: of the model's forces on every body, without those of what can stick (N, 6).
        end_force: what lines need at their points (line * point, 3).
        rub: friction at contacts, or None.

    Returns:
        value, displacement of bodies and junctions (6N + 3J,), friction forces of contacts
        (k * 3,), and what else was found.
    """
    model, form, setup, state = step.model, step.form, step.setup, step.state
    theta = setup.theta
    u, y, lam, nu, tie, sticking = step.size.split(unknown)
    p, g, _ = moved(step, u)
    three = poses_around(step, p, g)
    r = inertia_balance(model, three, setup.coupled, setup.h) - wrench
    stuck = jnp.zeros(0)
    if step.size.sticks:
        r = r - stick_wrench(model, step.now.motion, sticking)
        stuck = stick_rows(step, three, sticking)
    r = r - weight_correction(model, three)
    r = r + immersed_balance(model, setup, step.now.splash_state, three)[0]
    knots = jnp.zeros((0, 3))
    touching, tied = jnp.zeros(0), jnp.zeros(0)
    rubbing = row = jnp.zeros((0, 3))
    lines = lines_of(model)
    if lines is not None:
        knots = junction_balance(step, y)
        if end_force is not None:
            on_bodies, on_knots = with_energy_terms(
                lines.end_body, lines.end_junction, lines.end_point, three, y, end_force, theta
            )
            r, knots = r + on_bodies, knots + on_knots
        if lines.n_contacts:
            force, touching, rubbing, row = contact_forces(step, three, y, nu, rub)
            on_bodies, on_knots = with_energy_terms(
                lines.contact_body,
                lines.contact_junction,
                lines.contact_point,
                three,
                y,
                force,
                theta,
            )
            r, knots = r - on_bodies, knots - on_knots
        if lines.tie_body:
            none = tuple(y.shape[0] for _ in lines.tie_body)
            on_bodies, _ = with_energy_terms(
                lines.tie_body, none, state.tie_point, three, y, tie, theta
            )
            hits = np.eye(y.shape[0])[np.array(lines.tie_junction)]
            r, knots = r + on_bodies, knots - product(hits.T, tie)
            tied = tie_rows(step, three, y, tie)
    r = r.reshape(-1)
    P = jnp.eye(r.shape[0])
    closing = jnp.zeros(0)
    if form.rows:
        spread = body_rows(model, form.rows, three, step.now.next_angles)
        r = r - transpose_apply(spread.reshape(len(form.rows), -1), lam)
        closing = row_residual(model, form.rows, three, step.now.next_angles, step.now.next_drives)
        closing = without_surplus(step.now.surplus, setup, step.size, closing, lam)
    if form.joint_coordinates:
        P = discrete_path_matrix(model, three)
        r = transpose_apply(P, r)
        if model.locked is not None:
            r = jnp.where(model.locked > 0.5, u / setup.scale[: u.shape[0]], r)
    value = jnp.concatenate([r, knots.reshape(-1), closing, touching, tied, stuck])
    way = jnp.concatenate([p - state.pose.p, g], axis=-1).reshape(-1)
    moves = jnp.concatenate([way, y.reshape(-1)])
    return (value, moves, rubbing.reshape(-1)), Trial(value, P, three, g, rubbing, row)


def junction_balance(step: Step, y: Array) -> Array:
    """Balance of junctions apart from lines: inertia, weight, buoyancy, drag (J, 3)."""
    if not y.shape[0]:
        return y
    model, lines, h = step.model, step.lines, step.setup.h
    before, here = step.state.lines.y_last, step.state.lines.y
    water = step.now.junctions.water
    displaced = (model.rho * water.wet * lines.junction_volume)[:, None]
    added = lines.junction_added[:, None]
    inertia = (lines.junction_mass[:, None] + added * displaced) * (y - 2.0 * here + before)
    w = water.velocity - (y - before) / (2.0 * h)
    drag = 0.5 * model.rho * (water.wet * lines.junction_drag)[:, None]
    drag = drag * jnp.sqrt(dot(w, w) + 1e-20)[:, None] * w
    weight = (lines.junction_mass[:, None] - displaced) * model.gravity
    # in steps of statics the lift follows the heights
    lift = (2.0 * step.setup.theta - 1.0) * step.now.junctions.sink * (y - here)[:, 2]
    lift = lift[:, None] * jnp.array([0.0, 0.0, 1.0])
    return inertia / h**2 - weight + lift - drag - displaced * (1.0 + added) * water.acceleration


@pytree("exact")
class Rub:
    """Friction at contacts, at an iterate.

    Args:
        last: forces of the last step (k, 3) [N].
        p: forces (k, 3) [N].
        nu: normal forces (k,) [N].
        v: velocities of the points over the next half step (k, 3) [m/s].
        slow: velocity that smooths the law [m/s]; 0 where contacts stick.
        exact: are the forces to be taken as they are?
    """

    last: Array
    p: Array
    nu: Array
    v: Array
    slow: Array | float
    exact: bool


def contact_velocity(step: Step, unknown: Array) -> Array:
    """Velocities of contact points over the next half step (k, 3) [m/s]."""
    u, y, *_ = step.size.split(unknown)
    p, g, _ = moved(step, u)
    after = _contacts_at(step, poses_around(step, p, g).next, y)
    return (after - _contacts_at(step, step.state.pose, step.state.lines.y)) / step.setup.h


def _contacts_at(step: Step, pose: Pose, knots: Array) -> Array:
    """Contact points (k, 3) [m]."""
    lines = step.lines
    return attached_points(
        lines.contact_body, lines.contact_junction, lines.contact_point, pose, knots
    )


def contact_forces(
    step: Step, three: PoseStencil, y: Array, nu: Array, rub: Rub | None
) -> tuple[Array, Array, Array, Array]:
    """Force of the seabed at contact points (k, 3), and their rows of complementarity (k,).

    Rigid: the clearance at the next instant; soft: averaged over the last and the next. After
    these the friction forces and how far they are from their law, (k, 3) each.
    """
    lines, setup, now = step.lines, step.setup, step.now
    bed, state = lines.ground, step.state
    after, before = (
        _contacts_at(step, three.next, y),
        _contacts_at(step, three.last, state.lines.y_last),
    )
    n = now.normal
    gap, last = dot(n, after) - now.offset, dot(n, before) - now.offset
    if bed.soft:
        compliance = 1.0 / (bed.stiffness * lines.contact_area)
        damping = bed.damping / bed.stiffness
        gap = 0.5 * (gap + last) + damping * (gap - last) / (2.0 * setup.h) + compliance * nu
    else:
        # four corners of a box share its weight in one way only if each gives by a trifle, in the
        # long steps of statics too; a junction stands alone
        shares = np.array(lines.contact_body, dtype=int) < step.model.layout.n_bodies
        # on the way to equilibrium inertia, by which contacts are scaled, is a fraction of the real
        of_inertia = jnp.where(setup.ahead > 0.0, 1.0, 1.0 - LIGHT)
        give = GIVES * of_inertia * jnp.minimum(1.0, 1.0 / setup.h**2) * shares
        gap = gap + give * nu * setup.contact_scale
    row, _, _ = fischer_burmeister(nu * setup.contact_scale, gap, setup.tau)
    if lines.tie_body:
        # what a tie holds on the ground needs no ground
        same = np.array(lines.contact_junction)[:, None] == np.array(lines.tie_junction)
        held = (same & (state.let_go == 0.0)).any(1)
        row = jnp.where(held, nu * setup.contact_scale, row)
    force = nu[:, None] * n
    none = jnp.zeros_like(force)
    if not bed.rough or rub is None:
        return force, row, none, none
    if rub.exact:
        return force + rub.p, row, rub.p, none
    mass, coefficient = setup.h**2 / setup.contact_scale, bed.friction + 0.0 * nu
    here = rub.p, rub.nu, rub.v, n, mass, setup.h
    as_it_is = friction(coefficient, rub.last, *here, STICKS, OWN)
    smoothed = smooth_friction(coefficient, *here, rub.slow)
    held = jax.tree.map(lambda a, b: jnp.where(rub.slow > 0.0, a, b), smoothed, as_it_is)
    v = (after - _contacts_at(step, state.pose, state.lines.y)) / setup.h
    p = held.start + jnp.sum(held.by_u * (v - rub.v)[:, None, :], -1)
    p = p + held.by_nu * (nu - rub.nu)[:, None]
    return force + p, row, p, held.row


def tie_rows(step: Step, three: PoseStencil, y: Array, tie: Array) -> Array:
    """Residual between releasable ends and their bodies; zero once released [m]."""
    lines = step.lines
    none = tuple(y.shape[0] for _ in lines.tie_body)
    there = attached_points(lines.tie_body, none, step.state.tie_point, three.next, y)
    gap = y[np.array(lines.tie_junction)] - there
    free = tie / step.setup.tie_scale
    return jnp.where(step.state.let_go[:, None] > 0.0, free, gap).reshape(-1)
