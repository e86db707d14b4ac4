r"""One step of the two-step scheme: Newton's method on all unknowns at once.

Unknown are the next poses (or tree coordinates), junctions, multipliers of joints and contact
forces; nodes and tensions of lines are eliminated line by line. Forces of the model are taken at
the positions now and the mean velocity, which holds the unknown; their derivative by velocity is
kept from the start of the run, the rest of the Jacobian is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.constraints import Drives
from swelltree.model.forces.loads import Loads
from swelltree.model.forces.total import total_loads
from swelltree.model.inner import Inner
from swelltree.model.kinematics import (
    Motion,
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
)
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.tree import moved_positions
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jax, jnp
from swelltree.spatial.vectors import matmul, transpose
from swelltree.two_step.balance import inertia_balance, weight_correction
from swelltree.two_step.cayley import gibbs
from swelltree.two_step.joint_rows import body_rows, row_residual, row_wrenches
from swelltree.two_step.path import discrete_path_matrix
from swelltree.two_step.poses import Three, half_velocity, three_poses
from swelltree.two_step.walk import Form, Setup, Walk


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
    contact: Array
    line_wrench: Array  # (N, 6) of line ends, about the reference points
    work: Array
    lines: Any  # line_step.LineSample, or None
    iterations: Array
    error: Array  # largest residual [m, rad]


@pytree()
class Instant:
    """What a step holds fixed: forces are asked at the positions now."""

    motion: Motion  # its velocity and rates are replaced by the mean ones
    next_drives: Drives


def instant(model: Model, setup: Setup, walk: Walk) -> Instant:
    """Positions, joint coordinates and memory now."""
    frames = joint_frames(model, walk.pose)
    coordinate = dof_coordinates(model, frames, walk.angles)
    motion = Motion(walk.pose, walk.v_minus, frames, coordinate, 0.0 * coordinate)
    return Instant(motion, drives_at(model.drives, walk.t + setup.h))


def forces_at(model: Model, setup: Setup, walk: Walk, now: Instant, v: Array) -> Loads:
    """Forces of the model at the positions now and the mean velocity; memory included."""
    m = now.motion
    motion = Motion(m.pose, v, m.frames, m.coordinate, dof_rates(model, m.pose, m.frames, v))
    loads = total_loads(model, walk.t, motion, Inner(mean_memory(setup, walk, v), walk.elements))
    return loads


def mean_memory(setup: Setup, walk: Walk, v: Array) -> Any:
    """State of the radiation memory now: the implicit midpoint of its half steps."""
    if setup.memory is None:
        return walk.chi
    X, XB = setup.memory
    return X @ walk.chi + XB @ v.reshape(-1)


def moved(model: Model, form: Form, walk: Walk, u: Array) -> tuple[Array, Array, Array]:
    """Next positions, Gibbs vectors of the step and tree coordinates."""
    layout = model.layout
    if not form.joint_coordinates:
        u = u.reshape(-1, 6)
        return walk.pose.p + u[:, :3], u[:, 3:], walk.q
    q = moved_positions(layout, walk.q, u)
    pose = forward(model, q[: layout.n_positions])
    return pose.p, gibbs(matmul(pose.R, transpose(walk.pose.R))), q


def first_guess(model: Model, form: Form, setup: Setup, walk: Walk) -> Array:
    """Unknowns of the bodies as if the last half step went on."""
    if not form.joint_coordinates:
        v = walk.v_minus
        return jnp.concatenate([setup.h * v[:, :3], 0.5 * setup.h * v[:, 3:]], -1).reshape(-1)
    layout = model.layout
    frames = joint_frames(model, walk.pose)
    rate = dof_rates(model, walk.pose, frames, walk.v_minus)[: layout.n_tree]
    return setup.h * rate


@pytree()
class Trial:
    """Equations evaluated at trial unknowns."""

    value: Array  # (unknowns,)
    P: Array  # (6N, n) directions in which bodies may move; identity for poses
    v: Array  # (N, 6) mean velocity
    three: Three


def equations(
    model: Model,
    form: Form,
    setup: Setup,
    walk: Walk,
    now: Instant,
    unknown: Array,
    wrench: Array,
) -> tuple[tuple[Array, Array], Trial]:
    """Balances and joint equations; the forces of the model and of lines are given.

    Args:
        unknown: of the bodies, then multipliers.
        wrench: on every body (N, 6).

    Returns:
        value, displacement of the bodies (6N,), and what else was found.
    """
    n = n_unknown(model, form)
    u, lam = unknown[:n], unknown[n:]
    p, g, _ = moved(model, form, walk, u)
    three = three_poses(model, walk.pose, walk.v_minus, p, g, setup.h)
    r = inertia_balance(model, three, setup.coupled, setup.h) - wrench
    r = (r - weight_correction(model, three)).reshape(-1)
    P = jnp.eye(r.shape[0])
    closing = jnp.zeros(0)
    if form.rows:
        spread = body_rows(model, form.rows, *row_wrenches(model, form.rows, three))
        r = r - lam @ spread.reshape(len(form.rows), -1)
        closing = row_residual(model, form.rows, three, walk.angles, now.next_drives)
    if form.joint_coordinates:
        P = discrete_path_matrix(model, three)
        r = P.T @ r
    value = jnp.concatenate([r, closing])
    step = jnp.concatenate([p - walk.pose.p, g], axis=-1).reshape(-1)
    return (value, step), Trial(value, P, three.v, three)


def n_unknown(model: Model, form: Form) -> int:
    """Number of unknowns of the bodies."""
    return model.layout.n_tree if form.joint_coordinates else 6 * model.layout.n_bodies


@pytree()
class Iterate:
    """Where Newton's method is."""

    unknown: Array
    change: Array  # the last change of the unknowns
    error: Array  # residual before it, and of now
    count: Array
    trial: Trial
    power: Array


def advance(model: Model, form: Form, setup: Setup, walk: Walk) -> tuple[Walk, Sample]:
    """One step."""
    now = instant(model, setup, walk)
    n = n_unknown(model, form)
    columns = jnp.concatenate([jnp.ones(n), jnp.full(len(form.rows), 1.0) * setup.lam_scale])

    def evaluate(unknown: Array) -> tuple[Array, Array, Trial, Loads]:
        """Scaled residual and Jacobian."""
        p, g, _ = moved(model, form, walk, unknown[:n])
        v = 0.5 * (walk.v_minus + half_velocity(walk.pose.p, p, g, setup.h))
        loads = forces_at(model, setup, walk, now, v)

        def f(x: Array) -> tuple[tuple[Array, Array], Trial]:
            return equations(model, form, setup, walk, now, x, loads.wrench)

        (J, N), trial = jax.jacfwd(f, has_aux=True)(unknown)
        # forces oppose velocity: mean velocity is half of the step over h, for turns the whole
        per_step = jnp.tile(jnp.repeat(jnp.array([0.5, 1.0]), 3), walk.v_minus.shape[0]) / setup.h
        pulled = trial.P.T @ (setup.damping * per_step) @ N
        J = J.at[:n].add(pulled)
        value = trial.value * setup.scale
        return value, J * setup.scale[:, None] * columns, trial, loads

    def body(at: Iterate) -> Iterate:
        value, J, trial, loads = evaluate(at.unknown)
        error = jnp.abs(value).max()
        done = error < form.tolerance
        # a step that made things worse is taken back by half
        worse = (error > 2.0 * at.error) & (at.count > 0)
        newton = -jnp.linalg.solve(J, value) * columns
        change = jnp.where(worse, -0.5 * at.change, newton)
        change = jnp.where(done, 0.0, change)
        kept = jnp.where(worse, at.error, error)
        carried = jnp.where(worse, 0.5 * at.change, change)
        return Iterate(at.unknown + change, carried, kept, at.count + 1, trial, loads.power)

    def unfinished(at: Iterate) -> Array:
        return (at.error >= form.tolerance) & (at.count < form.max_iterations)

    guess = jnp.concatenate([first_guess(model, form, setup, walk), walk.lam])
    like = jax.eval_shape(evaluate, guess)
    zero = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), (like[2], like[3].power))
    start = Iterate(guess, 0.0 * guess, jnp.array(jnp.inf), jnp.array(0), *zero)
    at = jax.lax.while_loop(unfinished, body, start)
    return _finished(model, form, setup, walk, now, at)


def _finished(
    model: Model, form: Form, setup: Setup, walk: Walk, now: Instant, at: Iterate
) -> tuple[Walk, Sample]:
    """The next walk, and the sample of the instant that was left."""
    three, v = at.trial.three, at.trial.v
    n = n_unknown(model, form)
    lam = at.unknown[n:]
    _, _, q = moved(model, form, walk, at.unknown[:n])
    chi = mean_memory(setup, walk, v)
    found = dof_coordinates(model, three.next_frames, walk.angles)
    angles = found[np.array(model.layout.angle_dofs, dtype=int)]
    work = walk.work + setup.h * at.power
    after = Walk(
        t=walk.t + setup.h,
        pose=three.next,
        v_minus=three.v_plus,
        q=q,
        angles=angles,
        chi=chi if setup.memory is None else 2.0 * chi - walk.chi,
        elements=walk.elements,
        element_rates=walk.element_rates,
        work=work,
        lam=lam,
        contact=walk.contact,
        lines=walk.lines,
    )
    sample = Sample(
        t=walk.t,
        pose=walk.pose,
        v=v,
        v_dot=(three.v_plus - three.v_minus) / setup.h,
        angles=walk.angles,
        inner=Inner(chi, walk.elements),
        lam=lam,
        contact=walk.contact,
        line_wrench=jnp.zeros_like(v),
        work=walk.work + 0.5 * setup.h * at.power,
        lines=walk.lines,
        iterations=at.count,
        error=at.error,
    )
    return after, sample
