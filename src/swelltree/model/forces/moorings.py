"""Linear moorings and damping on bodies (MBS4WEC, eq. 11): matrices on xi and v."""

from __future__ import annotations

import numpy as np

from swelltree.model.forces.loads import Loads
from swelltree.model.hydrodynamics import displacement
from swelltree.model.kinematics import Motion, Pose
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.vectors import dot, matvec


@pytree("body")
class Moorings:
    """All linear moorings and dampings of a system (e of them)."""

    stiffness: Array  # (e, 6, 6)
    damping: Array  # (e, 6, 6)
    pretension: Array  # (e, 6)
    mean: Pose  # of the moored bodies
    body: tuple[int, ...]


def moorings(model: Model, motion: Motion) -> Loads:
    """Wrenches of all linear moorings, booked as work."""
    own: Moorings = model.forces.moorings
    body = np.array(own.body, dtype=int)
    xi = displacement(own.mean, Pose(motion.pose.p[body], motion.pose.R[body]))
    v = motion.v[body]
    each = own.pretension - matvec(own.stiffness, xi) - matvec(own.damping, v)
    hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
    wrench = (hits[:, :, None] * each[None]).sum(1)
    power = dot(each, v)
    return Loads(wrench, 0.0 * power, power, {"wrench": each})
