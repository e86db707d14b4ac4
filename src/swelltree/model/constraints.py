r"""Joint and loop equations as rows of reaction wrenches.

Every scalar constraint is described by the wrench (f, n) that a unit
multiplier puts on the follower at the joint point. Power invariance then gives
its velocity form, the same for all kinds of rows:

.. math:: \dot g = f \cdot u + n \cdot \omega_{rel} - \dot g_t

with u the velocity of the follower's joint point relative to the base. Rows
are written for body velocities in world axes, so one function serves cut
joints (`path_matrix` and friends) and all joints (`lagrange`, `partition`).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.kinematics import (
    Frames,
    Pose,
    body_index,
    dof_coordinates,
    with_world,
    wrapped,
)
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.spatial.vectors import cross, dot, matmul, matvec, transpose


@pytree()
class Rows:
    """Evaluated constraints: residual, Jacobian in body velocities, right-hand sides."""

    residual: Array  # (m,) g, m or rad
    jacobian: Array  # (m, 6N): d(g)/dt = jacobian v - drift
    velocity_rhs: Array  # (m,) velocity asked for: jacobian v = drift
    gamma: Array  # (m,) acceleration asked for: jacobian vdot = gamma
    force: Array  # (m, 3) on the follower at the joint point, per unit multiplier
    moment: Array  # (m, 3)


@pytree()
class Drives:
    """Prescribed coordinates at one time: value, rate, acceleration."""

    value: Array
    rate: Array
    acceleration: Array


def evaluate_rows(
    model: Model,
    rows: tuple[Row, ...],
    pose: Pose,
    frames: Frames,
    v: Float[Array, "n 6"],
    angles: Float[Array, " a"],
    drives: Drives,
) -> Rows:
    """Residual, Jacobian and acceleration terms of the given rows.

    Args:
        rows: which constraints, in the order wanted.
        v: body velocities, linear first, world axes.
        angles: nearby values of the single-axis angles (choose the turn).
        drives: prescribed motions now.
    """
    layout = model.layout
    xp = namespace(pose.p, v)
    joint = np.array([r.joint for r in rows], dtype=int)
    base, follower = body_index(layout, layout.base), body_index(layout, layout.follower)
    base, follower = base[joint], follower[joint]
    p, vw = with_world(pose.p, np.zeros(3)), with_world(v, np.zeros(6))
    w_b, w_f = vw[base, 3:], vw[follower, 3:]
    o = frames.follower_o[joint]
    arm_b, arm_f = o - p[base], o - p[follower]
    v_o = vw[follower, :3] + cross(w_f, arm_f)
    u, spin = v_o - vw[base, :3] - cross(w_b, arm_b), w_f - w_b

    # residual, wrench and wrench rate, kind by kind, then back into the order of `rows`
    order: list[int] = []
    parts: list[tuple[Array, ...]] = []
    for kind, evaluate in _KINDS.items():
        at = [n for n, r in enumerate(rows) if r.kind == kind]
        if at:
            order += at
            n = np.array(at)
            picked = [rows[i] for i in at]
            parts.append(
                evaluate(model, picked, frames, w_b[n], w_f[n], v_o[n], vw, angles, drives)
            )
    place = np.argsort(np.array(order, dtype=int))
    g, f, n, f_dot, n_dot, rate, acceleration = (
        xp.concatenate([part[i] for part in parts])[place] for i in range(7)
    )

    to_follower = xp.concatenate([f, cross(arm_f, f) + n], axis=-1)
    to_base = -xp.concatenate([f, cross(arm_b, f) + n], axis=-1)
    N = layout.n_bodies
    hit_f = (follower[:, None] == np.arange(N)).astype(float)[:, :, None]
    hit_b = (base[:, None] == np.arange(N)).astype(float)[:, :, None]
    jacobian = (hit_f * to_follower[:, None, :] + hit_b * to_base[:, None, :]).reshape(-1, 6 * N)
    # terms of the second derivative that need no accelerations
    centripetal = cross(w_f, cross(w_f, arm_f)) - cross(w_b, v_o - vw[base, :3])
    convective = dot(f, centripetal) + dot(f_dot, u) + dot(n_dot, spin)
    return Rows(g, jacobian, rate, acceleration - convective, f, n)


def _joints(rows: list[Row]) -> np.ndarray:
    return np.array([r.joint for r in rows], dtype=int)


def _still(rows: list[Row], like: Array) -> tuple[Array, Array]:
    zero = namespace(like).zeros(len(rows))
    return zero, zero


def _point(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Follower point stays in a plane of the base: e . (o_F - o_B) = offset."""
    j = _joints(rows)
    axis = np.array([r.i for r in rows], dtype=int)
    e = frames.base_R[j, :, axis]
    g = dot(e, frames.follower_o[j] - frames.base_o[j]) - model.joints.offset[j]
    zero = 0.0 * e
    return g, e, zero, cross(w_b, e), zero, *_still(rows, e)


def _align(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Axis a of the follower stays perpendicular to axis b of the base."""
    j = _joints(rows)
    b = frames.base_R[j, :, np.array([r.i for r in rows], dtype=int)]
    a = frames.follower_R[j, :, np.array([r.j for r in rows], dtype=int)]
    n_dot = cross(cross(w_f, a), b) + cross(a, cross(w_b, b))
    zero = 0.0 * a
    return dot(a, b), zero, cross(a, b), zero, n_dot, *_still(rows, a)


def _distance(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Joint points keep their distance: (|d|^2 - L^2) / 2L = 0."""
    j = _joints(rows)
    base = body_index(model.layout, model.layout.base)[j]
    length = model.joints.length[j][:, None]
    d = frames.follower_o[j] - frames.base_o[j]
    arm = matvec(_base_rotation(model, frames, j), model.joints.base_point[j])
    d_dot = v_o - vw[base, :3] - cross(w_b, arm)
    zero = 0.0 * d
    g = (dot(d, d) - length[:, 0] ** 2) / (2.0 * length[:, 0])
    return g, d / length, zero, d_dot / length, zero, *_still(rows, d)


def _base_rotation(model, frames, j):
    """World rotation of the base body, recovered from the joint frame."""
    return matmul(frames.base_R[j], transpose(model.joints.base_rotation[j]))


def _screw(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Advance equals lead times angle; the nearest turn is meant."""
    j = _joints(rows)
    e = frames.base_R[j, :, np.array([r.i for r in rows], dtype=int)]
    lead = model.joints.lead[j]
    dofs = [next(k for k, d in enumerate(model.layout.dofs) if d.joint == r.joint) for r in rows]
    advance = dot(e, frames.follower_o[j] - frames.base_o[j])
    angle = dof_coordinates(model, frames, angles)[np.array(dofs)]
    g = lead * wrapped(advance / lead - angle)
    n = -lead[:, None] * e
    return g, e, n, cross(w_b, e), cross(w_b, n), *_still(rows, e)


def _slide(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Prescribed translation."""
    j = _joints(rows)
    e = frames.slide[np.array([r.i for r in rows], dtype=int)]
    k = np.array([r.j for r in rows], dtype=int)
    g = dot(e, frames.follower_o[j] - frames.base_o[j]) - drives.value[k]
    zero = 0.0 * e
    return g, e, zero, cross(w_b, e), zero, drives.rate[k], drives.acceleration[k]


def _turn(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """Prescribed angle, modulo whole turns."""
    dof = np.array([r.i for r in rows], dtype=int)
    k = np.array([r.j for r in rows], dtype=int)
    r = frames.turn[dof]
    on_follower = np.array([model.layout.dofs[i].on_follower for i in dof], dtype=bool)
    angle = dof_coordinates(model, frames, angles)[dof]
    xp = namespace(r)
    carried = xp.where(on_follower[:, None], w_f, w_b)
    zero = 0.0 * r
    g = wrapped(angle - drives.value[k])
    return g, zero, r, zero, cross(carried, r), drives.rate[k], drives.acceleration[k]


def _spin(model, rows, frames, w_b, w_f, v_o, vw, angles, drives):
    """The follower does not turn about an axis of the base; there is no position to keep."""
    j = _joints(rows)
    e = frames.base_R[j, :, np.array([r.i for r in rows], dtype=int)]
    zero = 0.0 * e
    return zero[:, 0], zero, e, zero, cross(w_b, e), *_still(rows, e)


_KINDS = {
    "point": _point,
    "align": _align,
    "distance": _distance,
    "screw": _screw,
    "slide": _slide,
    "turn": _turn,
    "spin": _spin,
}
