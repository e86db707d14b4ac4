"""Weight, and the constant buoyancy of submerged bodies given by their volume."""

from __future__ import annotations

from swelltree.model.forces.loads import Loads
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import namespace
from swelltree.spatial.vectors import cross, dot, matvec


def gravity(model: Model, motion: Motion) -> Loads:
    """Weight at the centre of mass, buoyancy at the centre of buoyancy (MBS4WEC, eq. 17)."""
    bodies, pose = model.bodies, motion.pose
    xp = namespace(pose.p)
    com = matvec(pose.R, bodies.com)
    lift = matvec(pose.R, bodies.buoyancy)
    weight = bodies.mass[:, None] * model.gravity
    upthrust = -(model.rho * bodies.volume)[:, None] * model.gravity
    wrench = xp.concatenate([weight + upthrust, cross(com, weight) + cross(lift, upthrust)], -1)
    stored = -dot(weight, pose.p + com).sum(), -dot(upthrust, pose.p + lift).sum()
    return Loads(wrench, xp.stack(stored), xp.zeros(2), {})
