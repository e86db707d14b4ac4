"""Rotation matrices of described frames (numpy only; the solvers have their own in `spatial`)."""

import numpy as np

Matrix = np.ndarray


def euler_matrix(roll: float, pitch: float, yaw: float) -> Matrix:
    """Rotation matrix of intrinsic z-y-x angles, R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        roll: angle about x [rad].
        pitch: angle about y [rad].
        yaw: angle about z [rad].
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def euler_deg_matrix(angles: tuple[float, float, float]) -> Matrix:
    """Rotation matrix of (roll, pitch, yaw) in degrees."""
    roll, pitch, yaw = np.deg2rad(angles)
    return euler_matrix(roll, pitch, yaw)


def quaternion_matrix(quaternion: tuple[float, ...]) -> Matrix:
    """Rotation matrix of a quaternion (w, x, y, z); its length does not matter."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def nearest_rotation(matrix: Matrix) -> Matrix:
    """The rotation nearest to a matrix typed with a limited number of digits."""
    R = np.array(matrix, dtype=float)
    if np.abs(R.T @ R - np.eye(3)).max() < 1e-14:
        return R
    U, _, Vt = np.linalg.svd(R)
    return U @ Vt


def nearest_axis(direction: tuple[float, ...]) -> int:
    """Number of the principal axis nearest to a direction, sign ignored; x before y before z."""
    size = np.abs(np.asarray(direction)) / np.linalg.norm(direction)
    return int(np.argmax(size > size.max() - 1e-9))


def turned_onto(direction: tuple[float, ...], axis: int | None = None) -> Matrix:
    """The smallest rotation that brings a principal axis onto a direction.

    When the direction is the negative of that axis e_k, the turn is by pi about e_(k+1).

    Args:
        direction: of any length.
        axis: number of the axis; the nearest one if not given.
    """
    k = nearest_axis(direction) if axis is None else axis
    start, goal = np.eye(3)[k], np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    # the direction half way; its part along e_k without the cancellation of 1 + goal[k]
    half = goal + start
    if goal[k] < 0:
        half[k] = np.sum(np.delete(goal, k) ** 2) / (1 - goal[k])
    # scaled first: squares of parts below 1e-154 would not be numbers any more
    size = np.abs(half).max()
    half = half / size if size > 0 else np.eye(3)[(k + 2) % 3]
    half = half / np.linalg.norm(half)
    # a half turn about the axis, then one about the direction half way
    return (2 * np.outer(half, half) - np.eye(3)) @ (2 * np.outer(start, start) - np.eye(3))
