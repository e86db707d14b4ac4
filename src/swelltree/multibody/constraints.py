"""Joint and loop equations as rows of reaction wrenches; their kinds are in `model.rows`.

Rows are written for body velocities in world axes, so one function serves cut
joints (`path_matrix` and friends) and all joints (`lagrange`, `partition`).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace, pytree
from swelltree.model.model import Model
from swelltree.multibody.kinematics import (
    Frames,
    Pose,
    body_index,
    with_world,
)
from swelltree.multibody.layout import Row
from swelltree.multibody.rows import Drives, Trial, combination
from swelltree.spatial.rotations import cross, dot


@pytree()
class Rows:
    """Evaluated constraints: residual, Jacobian in body velocities, right-hand sides."""

    residual: Array  # (m,) g, m or rad
    jacobian: Array  # (m, 6N): d(g)/dt = jacobian v - drift
    velocity_rhs: Array  # (m,) velocity asked for: jacobian v = drift
    gamma: Array  # (m,) acceleration asked for: jacobian vdot = gamma
    # of the parts of the rows, one joint each; p = m without couplings
    force: Array  # (p, 3) on the follower at the joint point, per unit multiplier
    moment: Array  # (p, 3)
    part_jacobian: Array  # (p, 6N)
    spread: (
        Array | None
    )  # (m, p) coefficient of each part in each row, None: the parts are the rows

    def part_multipliers(self, lam: Array) -> Array:
        """Multipliers of the parts from those of the rows."""
        return lam if self.spread is None else lam @ self.spread


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
    layout, full = model.layout, rows
    rows = tuple(part for row in full for part in row.parts())
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
    for kind in dict.fromkeys(type(r) for r in rows):
        n = np.array([k for k, r in enumerate(rows) if type(r) is kind])
        at = Trial(model, frames, w_b[n], w_f[n], v_o[n], vw, angles, drives)
        parts.append(kind.evaluate([rows[k] for k in n], at))
        order += n.tolist()
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
    gamma = acceleration - convective
    of_parts = combination(model, full, g, jacobian @ v.reshape(-1))
    if of_parts is None:
        return Rows(g, jacobian, rate, gamma, f, n, jacobian, None)
    weight, gamma = of_parts.weight, of_parts.weight @ gamma - of_parts.turning
    return Rows(of_parts.value, weight @ jacobian, weight @ rate, gamma, f, n, jacobian, weight)
