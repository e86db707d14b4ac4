"""Rotations as matrices and unit quaternions (w, x, y, z); no Euler singularity inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace

# --- Products of small vectors and matrices, written so that XLA fuses them


def cross(a: Float[Array, "*n 3"], b: Float[Array, "*m 3"]) -> Float[Array, "*k 3"]:
    """Vector product a x b along the last axis, broadcasting the others."""
    xp = namespace(a, b)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return xp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def dot(a: Float[Array, "*n i"], b: Float[Array, "*m i"]) -> Float[Array, "*k"]:
    """Scalar product along the last axis."""
    return (a * b).sum(-1)


def matvec(A: Float[Array, "*n i j"], x: Float[Array, "*m j"]) -> Float[Array, "*k i"]:
    """Small matrix times vector."""
    return (A * x[..., None, :]).sum(-1)


def matmul(A: Float[Array, "*n i j"], B: Float[Array, "*m j k"]) -> Float[Array, "*l i k"]:
    """Small matrix times matrix."""
    return (A[..., :, :, None] * B[..., None, :, :]).sum(-2)


def transpose(A: Float[Array, "*n i j"]) -> Float[Array, "*n j i"]:
    """Swap the last two axes."""
    return namespace(A).swapaxes(A, -1, -2)


def skew(a: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    """Matrix S(a) with S(a) b = a x b."""
    xp = namespace(a)
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = xp.zeros_like(x)
    rows = [xp.stack(r, axis=-1) for r in ((o, -z, y), (z, o, -x), (-y, x, o))]
    return xp.stack(rows, axis=-2)


def unskew(S: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Vector of the skew-symmetric part of a matrix."""
    xp = namespace(S)
    parts = [S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]]
    return 0.5 * xp.stack(parts, axis=-1)


LOCKED = 1e-20  # square of the cosine of the pitch where roll and yaw are one


def about_axis(axis: Float[Array, "*n 3"], angle: Float[Array, "*n"]) -> Float[Array, "*n 3 3"]:
    r"""Rotation by an angle about a unit axis.

    .. math:: R = 1 + \sin\theta\, S(a) + (1 - \cos\theta)\, S(a)^2
    """
    xp = namespace(axis, angle)
    K = skew(axis)
    sin, cos = xp.sin(angle)[..., None, None], xp.cos(angle)[..., None, None]
    return np.eye(3) + sin * K + (1.0 - cos) * matmul(K, K)


def normalise(quat: Float[Array, "*n 4"]) -> Float[Array, "*n 4"]:
    return quat / namespace(quat).sqrt(dot(quat, quat))[..., None]


def quat_to_matrix(quat: Float[Array, "*n 4"]) -> Float[Array, "*n 3 3"]:
    """Rotation matrix of a quaternion of any non-zero length."""
    unit = normalise(quat)
    w, u = unit[..., :1, None], unit[..., 1:]
    K = skew(u)
    return np.eye(3) + 2.0 * w * K + 2.0 * matmul(K, K)


def matrix_to_quat(R: Float[Array, "*n 3 3"]) -> Float[Array, "*n 4"]:
    """Unit quaternion of a rotation matrix, the branch chosen by the largest component."""
    xp = namespace(R)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = xp.stack([xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy], axis=-1)
    a, b, c = 2.0 * xp.moveaxis(unskew(R), -1, 0)
    d, e, f = (
        R[..., 1, 0] + R[..., 0, 1],
        R[..., 0, 2] + R[..., 2, 0],
        R[..., 2, 1] + R[..., 1, 2],
    )
    one = 1.0 + squares
    # four proportional quaternions; the one with the largest leading entry is well conditioned
    rows = [
        xp.stack([one[..., 0], a, b, c], axis=-1),
        xp.stack([a, one[..., 1], d, e], axis=-1),
        xp.stack([b, d, one[..., 2], f], axis=-1),
        xp.stack([c, e, f, one[..., 3]], axis=-1),
    ]
    best = xp.argmax(squares, axis=-1)[..., None]
    quat = xp.where(
        best == 0, rows[0], xp.where(best == 1, rows[1], xp.where(best == 2, rows[2], rows[3]))
    )
    return normalise(xp.where(quat[..., :1] < 0, -quat, quat))


def quat_rate(quat: Float[Array, "*n 4"], omega: Float[Array, "*n 3"]) -> Float[Array, "*n 4"]:
    r"""Rate of a quaternion turning with angular velocity `omega` in base axes.

    .. math:: \dot e = \tfrac12\, (0, \omega) \otimes e
    """
    xp = namespace(quat, omega)
    w, u = quat[..., :1], quat[..., 1:]
    rate = xp.concatenate([-dot(omega, u)[..., None], w * omega + cross(omega, u)], axis=-1)
    return 0.5 * rate


def quat_multiply(a: Float[Array, "*n 4"], b: Float[Array, "*n 4"]) -> Float[Array, "*n 4"]:
    """Quaternion of the rotation `b` followed by `a`."""
    xp = namespace(a, b)
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    w = aw * bw - dot(av, bv)[..., None]
    return xp.concatenate([w, aw * bv + bw * av + cross(av, bv)], axis=-1)


def quat_velocity(quat: Float[Array, "*n 4"], rate: Float[Array, "*n 4"]) -> Float[Array, "*n 3"]:
    r"""Angular velocity in base axes of a unit quaternion with that rate: inverse of `quat_rate`.

    .. math:: (0, \omega) = 2\, \dot e \otimes \bar e
    """
    w, u = quat[..., :1], quat[..., 1:]
    return 2.0 * (w * rate[..., 1:] - rate[..., :1] * u - cross(rate[..., 1:], u))


def turn_quat(quat: Float[Array, "*n 4"], turn: Float[Array, "*n 3"]) -> Float[Array, "*n 4"]:
    """Quaternion turned by a small rotation vector in base axes (exact to second order)."""
    xp = namespace(quat, turn)
    step = xp.concatenate([xp.ones_like(turn[..., :1]), 0.5 * turn], axis=-1)
    return normalise(quat_multiply(step, quat))


def rotation_vector(R: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Axis times angle of a rotation, angle in [0, pi]; smooth at the identity."""
    xp = namespace(R)
    quat = matrix_to_quat(R)
    w, u = quat[..., 0], quat[..., 1:]
    square = dot(u, u)
    small = square < 1e-16
    length = xp.sqrt(xp.where(small, 1.0, square))
    factor = xp.where(small, 2.0, 2.0 * xp.arctan2(length, w) / length)
    return factor[..., None] * u


def matrix_to_euler(R: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Roll, pitch, yaw of R = Rz(yaw) Ry(pitch) Rx(roll); for results only."""
    xp = namespace(R)
    square = R[..., 0, 0] ** 2 + R[..., 1, 0] ** 2
    # at a pitch of a quarter turn only yaw less roll is there: all of it is yaw
    locked = square < LOCKED
    sin_roll, cos_roll = xp.where(locked, 0.0, R[..., 2, 1]), xp.where(locked, 1.0, R[..., 2, 2])
    sin_yaw = xp.where(locked, -R[..., 0, 1], R[..., 1, 0])
    cos_yaw = xp.where(locked, R[..., 1, 1], R[..., 0, 0])
    across = xp.where(locked, 0.0, xp.sqrt(xp.where(locked, 1.0, square)))
    angles = [
        xp.arctan2(sin_roll, cos_roll),
        xp.arctan2(-R[..., 2, 0], across),
        xp.arctan2(sin_yaw, cos_yaw),
    ]
    return xp.stack(angles, axis=-1)


def euler_rates(euler: Float[Array, "*n 3"], omega: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    r"""Rates of roll, pitch, yaw from the angular velocity in base axes.

    .. math:: \dot\theta = \omega_y \cos\psi - \omega_x \sin\psi, \quad
              \dot\varphi = (\omega_x \cos\psi + \omega_y \sin\psi) / \cos\theta, \quad
              \dot\psi = \omega_z + \dot\varphi \sin\theta

    At a pitch of a quarter turn, where the angles jump, roll and yaw have no rate: they are zero.
    """
    xp = namespace(euler, omega)
    theta, psi = euler[..., 1], euler[..., 2]
    x, y, z = omega[..., 0], omega[..., 1], omega[..., 2]
    cos = xp.cos(theta)
    locked = cos**2 < LOCKED
    about = x * xp.cos(psi) + y * xp.sin(psi)
    roll = xp.where(locked, 0.0, about / xp.where(locked, 1.0, cos))
    pitch = y * xp.cos(psi) - x * xp.sin(psi)
    return xp.stack([roll, pitch, xp.where(locked, 0.0, z + roll * xp.sin(theta))], axis=-1)


def euler_velocity(
    euler: Float[Array, "*n 3"], rates: Float[Array, "*n 3"]
) -> Float[Array, "*n 3"]:
    """Angular velocity in base axes of rates of roll, pitch, yaw: inverse of `euler_rates`."""
    xp = namespace(euler, rates)
    theta, psi = euler[..., 1], euler[..., 2]
    roll, pitch, yaw = rates[..., 0], rates[..., 1], rates[..., 2]
    along = roll * xp.cos(theta)
    return xp.stack(
        [
            along * xp.cos(psi) - pitch * xp.sin(psi),
            along * xp.sin(psi) + pitch * xp.cos(psi),
            yaw - roll * xp.sin(theta),
        ],
        axis=-1,
    )


def euler_to_matrix(euler: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    """Rotation of roll, pitch, yaw (intrinsic z-y-x)."""
    xp = namespace(euler)
    x, y, z = np.eye(3)
    ones = xp.ones_like(euler[..., :1])
    Rx = about_axis(x * ones, euler[..., 0])
    Ry = about_axis(y * ones, euler[..., 1])
    return matmul(about_axis(z * ones, euler[..., 2]), matmul(Ry, Rx))


# --- Products with large matrices that choose their kernel by size; numpy or JAX alike

WRITTEN_OUT = 16  # most terms of a sum along a path or over a branch
SMALL_PRODUCT = 20_000  # multiplications above which a dot pays
_compact: ContextVar[bool] = ContextVar("compact", default=False)


@contextmanager
def compact() -> Iterator[None]:
    """Trace with library calls throughout: quicker to compile, slower to run.

    For programs that run once per sample and not in the time loop.
    """
    token = _compact.set(True)
    try:
        yield
    finally:
        _compact.reset(token)


def is_compact() -> bool:
    """Whether a program is traced that runs only once per sample."""
    return _compact.get()


def gram(P: Float[Array, "b n"], MP: Float[Array, "b n"]) -> Float[Array, "n n"]:
    """P^T (M P)."""
    if P.shape[0] * P.shape[1] ** 2 <= SMALL_PRODUCT:
        return (P[:, :, None] * MP[:, None, :]).sum(0)
    return P.T @ MP


def transpose_apply(P: Float[Array, "b n"], x: Float[Array, " b"]) -> Float[Array, " n"]:
    return (P * x[:, None]).sum(0) if P.size <= SMALL_PRODUCT else P.T @ x


def apply(A: Float[Array, "m n"], x: Float[Array, " n"]) -> Float[Array, " m"]:
    return (A * x[None, :]).sum(1) if A.size <= SMALL_PRODUCT else A @ x


def product(A: Float[Array, "m k"], B: Float[Array, "k n"]) -> Float[Array, "m n"]:
    if A.shape[0] * A.shape[1] * B.shape[1] > SMALL_PRODUCT or _compact.get():
        return A @ B
    return (A[:, :, None] * B[None, :, :]).sum(1)


def masked_sum(mask: np.ndarray, x: Float[Array, "m k"]) -> Float[Array, "n k"]:
    """Sums of rows of x chosen by a constant 0/1 mask (n, m)."""
    if mask.shape[1] <= WRITTEN_OUT and not _compact.get():
        # written out: a reduction would wait for every addition, this vectorises over columns
        terms = [mask[:, j, None] * x[j] for j in range(mask.shape[1])]
        return sum(terms[1:], terms[0]) if terms else np.zeros((mask.shape[0], x.shape[1]))
    return mask @ x
