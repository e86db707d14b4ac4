r"""What lines hang on: ends on bodies, junctions and the world, in the equations of a step.

An end on a body point p feels the force of its line with the averaged lever through T (`cayley`),
with that of the next pose where theta = 1; its position moves with the unknowns of the body by

.. math:: \frac{\partial}{\partial g} C(g) w = \frac{2}{1 + g^2}
          \bigl[-\hat w + (g \cdot w) + g w^\top - 2 w g^\top\bigr] - \frac{4}{(1 + g^2)^2} a g^\top

with w = R_n p and a = g x w + g x (g x w).
"""

from __future__ import annotations

import numpy as np

from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.jit import Array, jnp, namespace
from swelltree.mooring.dynamic.lines import DynamicLines
from swelltree.multibody.kinematics import Pose, with_world
from swelltree.spatial.rotations import cross, dot, matmul, matvec, product, skew, transpose


def attached_points(
    bodies: tuple[int, ...], junctions: tuple[int, ...], point: Array, pose: Pose, y: Array
) -> Array:
    """World positions of points on bodies, on junctions or fixed, (k, 3)."""
    body, junction = np.array(bodies, dtype=int), np.array(junctions, dtype=int)
    xp = namespace(pose.p, y)
    p, R = with_world(pose.p, np.zeros(3)), with_world(pose.R, np.eye(3))
    carried = p[body] + matvec(R[body], point)
    if not y.shape[0]:
        return carried
    return carried + xp.concatenate([y, xp.zeros((1, 3))])[junction]


def end_positions(lines: DynamicLines, pose: Pose, y: Array) -> Array:
    """World positions of the points of all lines, (line, point, 3)."""
    result = attached_points(lines.end_body, lines.end_junction, lines.end_point, pose, y)
    return result.reshape(-1, lines.n_points, 3)


def _hits(index: tuple[int, ...], count: int) -> np.ndarray:
    """(k, count) ones where a point is on a body or junction."""
    return (np.array(index, dtype=int)[:, None] == np.arange(count)).astype(float)


def with_energy_terms(
    bodies: tuple[int, ...],
    junctions: tuple[int, ...],
    point: Array,
    three: PoseStencil,
    y: Array,
    force: Array,
    theta: Array,
) -> tuple[Array, Array]:
    """Forces at points, applied to the bodies (N, 6) and junctions (J, 3) they are on."""
    N, J = three.T.shape[0], y.shape[0]
    body = np.array(bodies, dtype=int)
    R = with_world(_between(three, theta), np.eye(3))
    T = with_world(three.T, np.eye(3))
    moment = matvec(transpose(T[body]), cross(matvec(R[body], point), force))
    wrench = jnp.concatenate([force, moment], -1)
    return product(_hits(bodies, N).T, wrench), product(_hits(junctions, J).T, force)


def _between(three: PoseStencil, theta: Array) -> Array:
    """Rotations for lever arms: the mean of last and next, or the next."""
    return (1.0 - theta) * three.last.R + theta * three.next.R


def directions(
    lines: DynamicLines, three: PoseStencil, now: Pose, g: Array, n_junctions: int, theta: Array
) -> tuple[Array, Array]:
    """How forces at ends enter the balances, and how ends move with bodies and junctions.

    (line * point, 3, 6N + 3J) each.
    """
    N = now.p.shape[0]
    body = np.array(lines.end_body, dtype=int)
    R = with_world(_between(three, theta), np.eye(3))
    T = with_world(three.T, np.eye(3))
    lever = matvec(R[body], lines.end_point)
    # moment = T^T (lever x f): its transpose maps to the force
    turn = transpose(matmul(transpose(T[body]), skew(lever)))
    w = matvec(with_world(now.R, np.eye(3))[body], lines.end_point)
    moved = _turned(with_world(g, np.zeros(3))[body], w)
    eye = jnp.broadcast_to(jnp.eye(3), moved.shape)
    on, junction = _hits(lines.end_body, N), _hits(lines.end_junction, n_junctions)

    def spread(rotation: Array) -> Array:
        block = jnp.concatenate([eye, rotation], -1)  # (k, 3, 6)
        k = block.shape[0]
        bodies = (on[:, None, :, None] * block[:, :, None, :]).reshape(k, 3, 6 * N)
        joints = (junction[:, None, :, None] * eye[:, :, None, :]).reshape(k, 3, 3 * n_junctions)
        return jnp.concatenate([bodies, joints], -1)

    return spread(turn), spread(moved)


def _turned(g: Array, w: Array) -> Array:
    """Derivative of C(g) w by g, (k, 3, 3)."""
    outer = lambda a, b: a[:, :, None] * b[:, None, :]  # noqa: E731
    one = (1.0 + dot(g, g))[:, None, None]
    a = cross(g, w) + cross(g, cross(g, w))
    internal = -skew(w) + dot(g, w)[:, None, None] * jnp.eye(3) + outer(g, w) - 2.0 * outer(w, g)
    return 2.0 / one * internal - 4.0 / one**2 * outer(a, g)
