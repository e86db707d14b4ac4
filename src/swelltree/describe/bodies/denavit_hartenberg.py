"""Chains described by modified Denavit-Hartenberg parameters (Khalil and Kleinfinger).

The frame of link j follows from that of link j - 1 by

    Rot(x, alpha) Trans(x, d) Rot(z, theta) Trans(z, r)

with theta the coordinate of a hinge or r that of a slider, as in Wuillaume et al. (2017).
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from swelltree.describe.bodies.body import WORLD, Body, as_point
from swelltree.describe.bodies.frames import euler_matrix, nearest_rotation
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.joints.joint import Joint
from swelltree.describe.joints.kinds import Hinge, Slider


@dataclasses.dataclass(frozen=True)
class DhRow:
    """One row of the table.

    Args:
        alpha: twist about x of the link before [rad].
        d: distance along that x [m].
        theta: angle about z [rad]; the initial coordinate of a hinge.
        r: distance along z [m]; the initial coordinate of a slider.
        kind: "hinge" or "slider".
    """

    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0
    kind: str = "hinge"


def dh_chain(
    bodies: Sequence[Body],
    table: Sequence[DhRow],
    base: object = WORLD,
    prefix: str = "joint",
    carrier: Body | None = None,
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies placed along the chain and the joints between them.

    Body frames are the link frames of the table. The chain hangs on `base`, whose frame (or
    point with a rotation) is link 0; only a base on the world places the bodies in the world.

    Args:
        bodies: one per row, from the base outwards.
        table: one row per body.
        base: the world, a point on it, or a point on another body.
        prefix: joints are named prefix1, prefix2 ...
        carrier: the body of which base is a point.
    """
    if len(bodies) != len(table):
        raise SwelltreeError(
            f"dh_chain: {len(bodies)} bodies but {len(table)} rows. Give one row per body."
        )
    start = as_point(base)
    carrier = base if isinstance(base, Body) else carrier
    if start.body != (WORLD.name if carrier is None else carrier.name):
        raise SwelltreeError(
            f"dh_chain: base is a point on '{start.body}'. "
            f"Give the body too: dh_chain(..., carrier={start.body})."
        )
    position, R = np.array(start.position), start.rotation_matrix
    if carrier is not None:
        position = np.array(carrier.position) + carrier.rotation_matrix @ position
        R = carrier.rotation_matrix @ R
    before, first = start.body, start
    placed: list[Body] = []
    joints: list[Joint] = []
    for number, (body, row) in enumerate(zip(bodies, table, strict=True), start=1):
        twist, turn = euler_matrix(row.alpha, 0, 0), euler_matrix(0, 0, row.theta)
        if row.kind not in ("hinge", "slider"):
            raise SwelltreeError(
                f"dh_chain: row {number} has kind '{row.kind}'. Choose 'hinge' or 'slider'."
            )
        along = twist @ np.array([row.d, 0.0, row.r if row.kind == "hinge" else 0.0])
        frame = twist if row.kind == "hinge" else twist @ turn
        origin = np.zeros(3)
        if number == 1:
            # a base point with its own axes carries the table with it
            origin, axes = np.array(first.position), first.rotation_matrix
            along, frame = axes @ along, axes @ frame
        end = dataclasses.replace(
            as_point(before), position=tuple(origin + along), rotation=_rows(frame)
        )
        cls, value = (Hinge, row.theta) if row.kind == "hinge" else (Slider, row.r)
        follower = body.at(rotation=_rows(np.eye(3)))
        joints.append(cls(f"{prefix}{number}", end, follower, axis="z", position=value))
        # pose of the link in the world
        position = position + R @ twist @ np.array([row.d, 0.0, row.r])
        R = nearest_rotation(R @ twist @ turn)
        placed.append(body.moved(tuple(position), rotation=_rows(R)))
        before = body.name
    return tuple(placed), tuple(joints)


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in matrix)
