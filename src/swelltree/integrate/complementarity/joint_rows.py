r"""Joints in the two-step scheme: rows at the next pose, forces along their discrete gradients.

Each scalar joint equation g holds at the next pose. Its multiplier acts along a discrete gradient:
every factor of g, linear or bilinear in positions and axes, is averaged over the last and the next
pose, and then

.. math:: \hat\Phi\, \bar v = \frac{g_+ - g_-}{2h}

exactly, so that joints do no work. Angles (screw and prescribed turns) are not bilinear; there the
averaged axis is right to second order. A joint that does not turn about an axis of its base, as the
element of a cable, has no angle to keep: the turn of each step has no part about that axis.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.integrate.complementarity.cayley import couple_of, gibbs
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.jit import Array, jnp
from swelltree.model.model import Model
from swelltree.multibody.build_layout import evaluate_rows
from swelltree.multibody.kinematics import body_index, dof_coordinates, joint_frames, with_world
from swelltree.multibody.layout import Row
from swelltree.multibody.rows import Drives, MeanFrames, combination
from swelltree.spatial.rotations import cross, matmul, matvec, transpose


def row_residual(
    model: Model, rows: tuple[Row, ...], three: PoseStencil, angles: Array, drives: Drives
) -> Float[Array, " m"]:
    """Joint equations at the next pose [m, rad]."""
    values = evaluate_rows(model, rows, three.next, three.next_frames, three.v_plus, angles, drives)
    turns = [k for k, row in enumerate(rows) if row.of_rates]
    if not turns:
        return values.residual
    spun = _spun(model, [rows[k] for k in turns], three)
    return values.residual.at[np.array(turns)].set(spun)


def _spun(model: Model, rows: list[Row], three: PoseStencil) -> Array:
    """Rotation of joints in the step about the axis fixed in the base [rad]."""
    joint = np.array([row.joint for row in rows], dtype=int)
    now, after = joint_frames(model, three.now), three.next_frames
    relative = [matmul(transpose(f.base_R[joint]), f.follower_R[joint]) for f in (now, after)]
    g = gibbs(matmul(relative[1], transpose(relative[0])))
    return 2.0 * g[np.arange(len(rows)), np.array([row.i for row in rows], dtype=int)]


def row_wrenches(
    model: Model, rows: tuple[Row, ...], three: PoseStencil
) -> tuple[Float[Array, "m 6"], Float[Array, "m 6"]]:
    """Discrete gradient of every part of the rows: wrench on the follower and on the base."""
    layout = model.layout
    parts = [part for row in rows for part in row.parts()]
    joint = np.array([r.joint for r in parts], dtype=int)
    base, follower = (
        body_index(layout, layout.base)[joint],
        body_index(layout, layout.follower)[joint],
    )
    force, couple_f, couple_b = _gradients(model, parts, three)
    R = with_world(0.5 * (three.last.R + three.next.R), np.eye(3))
    T = with_world(three.T, np.eye(3))
    lever_f = matvec(R[follower], model.joints.follower_point[joint])
    lever_b = matvec(R[base], model.joints.base_point[joint])
    on_follower = couple_of(T[follower], cross(lever_f, force) + couple_f)
    on_base = couple_of(T[base], couple_b - cross(lever_b, force))
    return jnp.concatenate([force, on_follower], -1), jnp.concatenate([-force, on_base], -1)


def _gradients(model: Model, rows: list[Row], three: PoseStencil) -> tuple[Array, Array, Array]:
    """Force on the follower at its joint point, couples on follower and base, per row."""
    a, b = three.last_frames, three.next_frames
    mean = MeanFrames(
        base_R=0.5 * (a.base_R + b.base_R),
        follower_R=0.5 * (a.follower_R + b.follower_R),
        gap=0.5 * (a.follower_o - a.base_o + b.follower_o - b.base_o),
        slide=0.5 * (a.slide + b.slide),
        turn=0.5 * (a.turn + b.turn),
    )
    each = [row.gradient(model, mean) for row in rows]
    force, on_follower, on_base = (jnp.stack([part[k] for part in each]) for k in range(3))
    return force, on_follower, on_base


def body_rows(
    model: Model, rows: tuple[Row, ...], three: PoseStencil, angles: Array
) -> Float[Array, "m n 6"]:
    """Discrete gradients of rows, spread over the bodies they join.

    Weights that change are those at the mean of the last and the next coordinates.

    Args:
        model: compiled.
        rows: which.
        three: poses around the step.
        angles: of single-axis joints at the next pose.
    """
    layout = model.layout
    on_follower, on_base = row_wrenches(model, rows, three)
    joint = np.array([part.joint for row in rows for part in row.parts()], dtype=int)
    N = np.arange(layout.n_bodies)
    hit_f = (body_index(layout, layout.follower)[joint][:, None] == N).astype(float)
    hit_b = (body_index(layout, layout.base)[joint][:, None] == N).astype(float)
    each = hit_f[:, :, None] * on_follower[:, None] + hit_b[:, :, None] * on_base[:, None]
    x = jnp.zeros(len(joint))
    if model.couplings is not None and model.couplings.laws:
        ends = (three.last_frames, three.next_frames)
        last, after = (dof_coordinates(model, frames, angles) for frames in ends)
        dof = [0 if r.coupling is None else p.i for r in rows for p in r.parts()]
        x = 0.5 * (last + after)[np.array(dof)]
    of_parts = combination(model, rows, x, 0.0 * x)
    return each if of_parts is None else jnp.einsum("mp,pnk->mnk", of_parts.weight, each)
