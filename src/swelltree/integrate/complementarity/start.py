"""Setting up the two-step scheme: constants of a run, and where it starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.hydro.linear.radiation import fitted_memory
from swelltree.integrate.complementarity.attached import attached_points, end_positions
from swelltree.integrate.complementarity.immersed import apart
from swelltree.integrate.complementarity.lines.stretch import at_mean_tension
from swelltree.integrate.complementarity.lines.winch_statics import winches_at_start
from swelltree.integrate.complementarity.solve.newton import other_terms
from swelltree.integrate.complementarity.state import (
    LIGHT,
    LineState,
    SchemeOptions,
    Sizes,
    StepConstants,
    StepperState,
    Trend,
    empty_log,
)
from swelltree.jit import Array, mapped, namespace
from swelltree.model.capabilities import InternalState, internal_at_rest, internal_settled
from swelltree.model.model import Model
from swelltree.model.solved import element_names, total_loads
from swelltree.mooring.dynamic.lines import DynamicLines, lines_of
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.kinematics import (
    Motion,
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
    tree_blocks,
    velocity_matrix,
)
from swelltree.pto.actuators.actuators import pair_wrench
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.spatial.rotations import about_axis, matmul

BETA = 0.25  # weight of the stiffness at the last and the next instant
IMMOVABLE = 1e20  # kg, kg m^2: a body this heavy does not move
DIFFERENCE_STEP = 1e-6  # m, rad, m/s: for differences


def motion_at(model: Model, pose: Pose, v: Array, angles: Array) -> Motion:
    frames = joint_frames(model, pose)
    coordinate = dof_coordinates(model, frames, angles)
    return Motion(pose, v, frames, coordinate, dof_rates(model, pose, frames, v))


def start_motion(model: Model) -> Motion:
    pose = forward(model, np.asarray(model.start.q))
    P = velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose)))
    v = (P @ np.asarray(model.start.s)).reshape(-1, 6)
    return motion_at(model, pose, v, np.asarray(model.start.angles))


def turned(pose: Pose, k: int, amount: float) -> Pose:
    """Pose with one body displaced along one of its six directions in world axes."""
    body, direction = divmod(k, 6)
    p, R = np.array(pose.p), np.array(pose.R)
    if direction < 3:
        p[body, direction] += amount
    else:
        R[body] = matmul(about_axis(np.eye(3)[direction - 3], np.array(amount)), R[body])
    return Pose(p, R)


Wrenches = Callable[[Model, Pose, np.ndarray, np.ndarray, InternalState], np.ndarray]


def wrench_at(model: Model, pose: Pose, v: Array, angles: Array, internal: InternalState) -> Array:
    """Forces of all effects on all bodies (6N,) at a pose.

    Args:
        model: whose effects do not look at the sea (`apart`).
        pose: of all bodies.
        v: their velocities (N, 6).
        angles: of joints before, from which turns are counted.
        internal: states of the effects.
    """
    at = motion_at(model, pose, v, angles)
    return total_loads(model, np.zeros(()), at, internal).wrench.reshape(-1)


def wrenches_one_by_one(
    model: Model, poses: Pose, v: np.ndarray, angles: np.ndarray, internal: InternalState
) -> np.ndarray:
    """Wrenches at many poses (k, ...), NumPy."""
    rows = zip(poses.p, poses.R, v, strict=True)
    return np.stack(
        [np.asarray(wrench_at(model, Pose(p, R), x, angles, internal)) for p, R, x in rows]
    )


def force_derivatives(
    model: Model,
    motion: Motion,
    internal: InternalState,
    wrenches: Wrenches = wrenches_one_by_one,
) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of all forces at a pose: derivatives with the sign reversed.

    Args:
        model: compiled.
        motion: of all bodies.
        internal: states of the effects.
        wrenches: function that gives the forces at many poses.
    """
    count = 6 * model.layout.n_bodies
    angles = np.asarray(motion.coordinate)[np.array(model.layout.angle_dofs, dtype=int)]
    pose, v = motion.pose, np.asarray(motion.v)
    poses = [turned(pose, k, s * DIFFERENCE_STEP) for k in range(count) for s in (1.0, -1.0)]
    aside = DIFFERENCE_STEP * np.eye(count).reshape(count, -1, 6)
    p, R = np.asarray(pose.p), np.asarray(pose.R)
    many = Pose(
        np.concatenate([np.stack([x.p for x in poses]), np.tile(p, (2 * count, 1, 1))]),
        np.concatenate([np.stack([x.R for x in poses]), np.tile(R, (2 * count, 1, 1, 1))]),
    )
    speeds = np.stack([v + aside, v - aside], axis=1).reshape(2 * count, -1, 6)
    speeds = np.concatenate([np.zeros_like(speeds), speeds])
    found = np.asarray(wrenches(apart(model), many, speeds, angles, internal))
    rows = -(found[::2] - found[1::2]) / (2.0 * DIFFERENCE_STEP)
    return rows[:count].T.copy(), rows[count:].T.copy()


def restoring(stiffness: Array) -> Array:
    """Symmetric restoring part, which can be added to the mass safely."""
    xp = namespace(stiffness)
    values, vectors = xp.linalg.eigh(0.5 * (stiffness + stiffness.T))
    return (vectors * xp.maximum(values, 0.0)) @ vectors.T


def set_up(
    model: Model,
    form: SchemeOptions,
    h: float,
    derivatives: tuple[Array, Array],
    *,
    theta: float = 0.5,
    beta: float = BETA,
    hold: bool = False,
    pose: Pose | None = None,
) -> StepConstants:
    """Constants of a run with step h.

    Args:
        model: compiled, in its sea.
        form: coordinates.
        h: step [s].
        derivatives: stiffness and damping of `force_derivatives`.
        theta: 1/2, or 1 for steps that must not fail.
        beta: weight of the stiffness; 1 for finding equilibrium, where time stands still.
        hold: bodies stay where they are, only lines and junctions move.
        pose: where the bodies are on the way to rest; the start if not given.
    """
    stiffness, damping = derivatives
    xp = namespace(stiffness, *(x for x in (model.added_mass,) if x is not None))
    coupled = beta * h**2 * restoring(stiffness)
    if model.added_mass is not None:
        coupled = coupled + model.added_mass
    memory, fitted = None, fitted_memory(model)
    if fitted is not None:
        memory = fitted.midpoint(h)
        damping = damping + fitted.C @ memory[1]
    if beta == 1.0:
        # on the way to rest inertia only slows: most of it is taken off, of a body as it is turned
        dry = model.replace(added_mass=None)
        pose = forward(model, model.start.q) if pose is None else pose
        coupled = beta * h**2 * restoring(stiffness)
        coupled = coupled - LIGHT * dense_inertia(dry, world_inertia(dry, pose))
        damping = 0.0 * damping
    if hold:
        coupled = coupled + IMMOVABLE * np.eye(len(coupled))
    size = Sizes.of(model, form)
    masses = [_body_scale(model, form, coupled), *_junction_scale(model)]
    inertia = xp.concatenate(masses)
    typical = xp.median(inertia[: size.bodies]) if size.bodies else 1.0
    inertia = xp.maximum(inertia, 1e-9 * typical)
    contact = xp.ones(size.contacts) * typical
    lines = lines_of(model)
    if lines is not None:
        knots = xp.append(inertia[size.bodies :: 3], typical)
        contact = xp.where(
            np.array(lines.contact_body, dtype=int) < model.layout.n_bodies,
            typical,
            knots[np.array(lines.contact_junction, dtype=int)],
        )
    # ties pull at junctions, which are light
    light = inertia[size.bodies :].mean() if size.junctions else typical
    sticking = _stroke_inertia(model, coupled) if size.sticks else np.zeros(0)
    return StepConstants(
        h=np.array(h),
        ahead=np.array(0.0 if beta == 1.0 else h),
        winding=np.array(0.0 if beta == 1.0 else 1.0),
        theta=np.array(theta),
        beta=np.array(beta),
        # complementarity is smoothed over a hundred times what a step leaves unsolved
        tau=np.array((100.0 * form.tolerance) ** 2),
        coupled=coupled,
        damping=damping,
        memory=memory,
        scale=xp.concatenate([h**2 / inertia, np.ones(sum(size[2:]))]),
        columns=xp.concatenate(
            [
                np.ones(size.balances),
                np.ones(size.rows) * typical / h**2,
                contact / h**2,
                np.ones(size.ties) * light / h**2,
                sticking / h**2,
            ]
        ),
        stick_mass=sticking,
        tie_scale=light / h**2,
        contact_scale=h**2 / contact,
    )


def _body_scale(model: Model, form: SchemeOptions, coupled: Array) -> Array:
    """Inertia that scales each balance of the bodies."""
    xp = namespace(coupled)
    pose = forward(model, model.start.q)
    dry = model.replace(added_mass=None)
    M = dense_inertia(dry, world_inertia(dry, pose)) + coupled
    if form.joint_coordinates:
        P = velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose)))
        M = P.T @ M @ P
    # a massless body takes its scale from the others
    return xp.maximum(xp.diag(M), 1e-9 * xp.diag(M).max(initial=0.0))


def _stroke_inertia(model: Model, coupled: Array) -> Array:
    """Inertia of each stroke that can stick, of bodies without their joints (s,)."""
    forces, motion = stroke_forces(model), start_motion(model)
    xp = namespace(coupled)
    dry = model.replace(added_mass=None)
    M = dense_inertia(dry, world_inertia(dry, motion.pose)) + coupled
    M = M + xp.diag(1e-9 * xp.diag(M).max() + 0.0 * xp.diag(M))
    units = np.eye(len(forces.names))[np.flatnonzero(forces.can_stick())]
    W = [pair_wrench(model, forces.strokes, motion, unit).reshape(-1) for unit in units]
    return xp.stack([1.0 / (w @ xp.linalg.solve(M, w)) for w in W])


def _junction_scale(model: Model) -> list[np.ndarray]:
    """Mass of every junction with half of the segments that end there, three times each."""
    lines = lines_of(model)
    if lines is None or lines.arrays is None or not lines.junctions:
        return []
    mass = np.asarray(lines.junction_mass) + float(model.rho) * np.asarray(lines.junction_volume)
    segment_mass = np.asarray(lines.arrays.mass_per_length) * np.asarray(lines.arrays.rest_length)
    first = np.asarray(lines.arrays.first)
    ends = np.array(lines.end_junction, dtype=int).reshape(-1, lines.n_points)
    mass = np.append(mass, 0.0)
    for k in range(ends.shape[0]):
        mass[ends[k, 0]] += 0.5 * segment_mass[k, first[k]]
        mass[ends[k, 1]] += 0.5 * segment_mass[k, -1]
    return [np.repeat(mass[:-1], 3)]


def at_rest(model: Model, form: SchemeOptions, lines: LineState | None = None) -> StepperState:
    """Initial state, with the present velocity for the previous half step."""
    motion = start_motion(model)
    internal = internal_settled(model, internal_at_rest(model), motion.pose)
    size = Sizes.of(model, form)
    described = lines_of(model)
    if lines is None and described is not None:
        lines = lines_at_rest(described, motion)
    terms = len(element_names(model)) + other_terms(model)
    radiation = internal.radiation
    return StepperState(
        t=np.zeros(()),
        pose=motion.pose,
        v_minus=motion.v,
        q=np.asarray(model.start.q, float) if form.joint_coordinates else np.zeros(0),
        angles=np.asarray(model.start.angles, float),
        chi=radiation if isinstance(radiation, np.ndarray) else np.zeros(0),
        elements=internal.elements,
        element_rates={kind: 0.0 * x for kind, x in internal.elements.items()},
        work=np.zeros(terms),
        lam=np.zeros(size.rows),
        contact=np.zeros(size.contacts),
        contact_rub=np.zeros((size.contacts, 3))
        if size.contacts and _is_rough(described)
        else None,
        tie=np.zeros((size.ties // 3, 3)),
        let_go=np.zeros(0) if described is None else np.array(described.tie_waits, float),
        tie_point=np.zeros((0, 3)) if described is None else np.array(described.tie_point),
        lines=lines,
        trend=no_trend(size, lines),
        log=empty_log(model),
    )


def no_trend(size: Sizes, lines: LineState | None) -> Trend:
    x = np.zeros(sum(size))
    if lines is None or not lines.q.size:
        return Trend(x, None, None, None)
    return Trend(x, 0.0 * lines.q, 0.0 * lines.mu, 0.0 * lines.nu)


def lines_at_rest(lines: DynamicLines, motion: Motion) -> LineState:
    """Lines as they hang between their described ends; their ends where the bodies are now."""
    pose = motion.pose
    y = np.array(lines.junction_position, float)
    if lines.tie_body:
        nothing = (0,) * len(lines.tie_body)
        tied = attached_points(lines.tie_body, nothing, lines.tie_point, pose, np.zeros((0, 3)))
        holds = np.array(lines.tie_waits) == 0.0
        y[np.array(lines.tie_junction)[holds]] = tied[holds]
    if lines.arrays is None:
        none = np.zeros((0, 0, 3))
        return LineState(none, none, np.zeros((0, 0)), np.zeros((0, 0)), y, y)
    q = np.array(lines.shape)
    ends = np.asarray(end_positions(lines, pose, y))
    q[:, 0], q[:, -1] = ends[:, 0], ends[:, 1]
    idle = np.arange(q.shape[1]) < np.asarray(lines.arrays.first)[:, None]
    q = np.where(idle[:, :, None], ends[:, :1], q)
    winch = winches_at_start(lines, motion.v, pose)
    rub = np.zeros(q.shape) if _is_rough(lines) else None
    mu, nu = np.array(lines.tension), np.zeros(q.shape[:2])
    slow = None
    if lines.arrays.slow:
        slow = mapped(np.asarray, at_mean_tension(lines.arrays, mu))
    return LineState(q, q, mu, nu, y, y, winch, rub, slow)


def _is_rough(lines: DynamicLines | None) -> bool:
    """Whether the seabed has friction."""
    return lines is not None and lines.bed is not None and lines.bed.rough
