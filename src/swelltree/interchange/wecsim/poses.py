"""Where bodies begin: displaced and turned from where they are described.

A body's frame is that of the world while the body is at rest in its nominal place, as the frames on
the lines of a WEC-Sim model are, so that `location` is a point of every body. A body that starts
displaced by d and turned by R about its centre of gravity c has

.. math:: x_\\text{world} = R (x - c) + c + d
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.interchange.wecsim.given import Given

SMALL = 1e-6  # m, rad


class Start(NamedTuple):
    """x_world = R x + t for points x of the frame of a body."""

    R: np.ndarray
    t: np.ndarray

    @property
    def is_rest(self) -> bool:
        """Whether the body begins where it is described."""
        return bool(np.abs(self.R - np.eye(3)).max() < 1e-12 and np.abs(self.t).max() < 1e-12)

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Displacement of a point and rotation vector, (6,)."""
        twist = np.array([self.R[k, j] - self.R[j, k] for j, k in ((1, 2), (2, 0), (0, 1))])
        angle = np.arctan2(0.5 * np.linalg.norm(twist), 0.5 * (np.trace(self.R) - 1.0))
        size = np.linalg.norm(twist)
        turn = twist * (angle / size) if size > 0 else np.zeros(3)
        return np.concatenate([self.R @ point + self.t - point, turn])


REST = Start(np.eye(3), np.zeros(3))


def turn_about(axis: object, angle: float) -> np.ndarray:
    """Rotation about an axis by Rodrigues' formula; none about an axis of no length."""
    n = np.asarray(axis, dtype=float)
    size = np.linalg.norm(n)
    if not size > 0:
        return np.eye(3)
    x, y, z = n / size
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def start_of(body: Given, center: np.ndarray | None) -> Start:
    """How a body begins.

    Args:
        body: of the script, with `initial` or a call of setInitDisp.
        center: of gravity, None where it is not known; then it is taken at the origin.
    """
    c = np.zeros(3) if center is None else center
    d = np.array(body.numbers("initial.displacement", 3, default=[0.0, 0.0, 0.0]))
    axis = body.numbers("initial.axis", 3, default=[0.0, 1.0, 0.0])
    R = turn_about(axis, body.number("initial.angle", 0.0))
    called = _called(body, c)
    if called is not None:
        R, d = called
    return Start(R, d + (c - R @ c))


def _called(body: Given, c: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Turn and displacement by setInitDisp(relCoord, [axis angle; ...], displacement).

    Scripts before version 4.2 call setInitDisp(point, axis, angle, displacement).
    """
    given = body.raw("setInitDisp")
    if not isinstance(given, list):
        return None
    rows = [np.asarray(x) for x in given if isinstance(x, np.ndarray) and np.isfinite(x).all()]
    R = np.eye(3)
    if len(rows) == len(given) == 3 and rows[1].shape[1] == 4 and rows[0].size == rows[2].size == 3:
        for row in rows[1]:
            R = turn_about(row[:3], float(row[3])) @ R
        arm, extra = rows[0].reshape(3), rows[2].reshape(3)
    elif len(rows) == len(given) == 4 and [x.size for x in rows] == [3, 3, 1, 3]:
        R = turn_about(rows[1].reshape(3), float(rows[2][0, 0]))
        arm, extra = c - rows[0].reshape(3), rows[3].reshape(3)
    else:
        body.refuse("setInitDisp", "has arguments that are not understood")
        return None
    return R, R @ arm - arm + extra


def coordinates(
    base: Start, follower: Start, point: np.ndarray, axes: np.ndarray, dofs: tuple[str, ...]
) -> tuple[dict[str, float], float]:
    """Coordinates of a joint in the start, and how far the start is from what the joint allows.

    Args:
        base: start of its base.
        follower: start of its follower.
        point: where the joint is at rest.
        axes: of the joint, as columns.
        dofs: that it leaves, by name.
    """
    frame = base.R @ axes
    r = frame.T @ (follower.R @ point + follower.t - base.R @ point - base.t)
    Q = frame.T @ follower.R @ axes
    slides, turns = ("Surge", "Sway", "Heave"), ("Roll", "Pitch", "Yaw")
    result = {dof: float(r[slides.index(dof)]) for dof in dofs if dof in slides}
    rest = [r[k] for k, dof in enumerate(slides) if dof not in dofs]
    free = [dof for dof in dofs if dof in turns]
    if len(free) == 3:
        angles = _euler(Q)
        left = np.eye(3)
    elif len(free) == 1:
        k = turns.index(free[0])
        i, j = (k + 1) % 3, (k + 2) % 3
        angle = float(np.arctan2(Q[j, i] - Q[i, j], Q[i, i] + Q[j, j]))
        angles = {free[0]: angle}
        left = turn_about(np.eye(3)[k], -angle) @ Q
    else:
        angles = dict.fromkeys(free, 0.0)
        left = Q
    misfit = max([abs(float(x)) for x in rest] + [float(np.abs(left - np.eye(3)).max())])
    result |= angles
    return {dof: value for dof, value in result.items() if abs(value) > 1e-12}, misfit


def _euler(Q: np.ndarray) -> dict[str, float]:
    """Roll, pitch and yaw, intrinsic z-y-x."""
    pitch = float(np.arcsin(np.clip(-Q[2, 0], -1.0, 1.0)))
    roll = float(np.arctan2(Q[2, 1], Q[2, 2]))
    yaw = float(np.arctan2(Q[1, 0], Q[0, 0]))
    return {"Roll": roll, "Pitch": pitch, "Yaw": yaw}
