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


def turned_onto(direction: tuple[float, ...]) -> Matrix:
    """The smallest rotation that brings the nearest principal axis onto a direction.

    When the direction is the negative of that axis e_k, the turn is by pi about e_(k+1).
    """
    k = nearest_axis(direction)
    goal = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    start = np.eye(3)[k]
    cosine, axis = start @ goal, np.cross(start, goal)
    if cosine < -1 + 1e-14:
        return 2 * np.outer(np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 1) % 3]) - np.eye(3)
    # Rodrigues' formula written with the cross product of the two directions
    S = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + S + S @ S / (1 + cosine)
