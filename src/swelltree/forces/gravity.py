"""Weight, and the constant buoyancy of submerged bodies given by their volume."""

from __future__ import annotations

from typing import ClassVar

from swelltree.jit import namespace, pytree
from swelltree.model.capabilities import HasNonlinearity
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.spatial.rotations import cross, dot, matvec


@pytree("names")
class Gravity(HasNonlinearity):
    """Weight at the centre of mass, buoyancy at the centre of buoyancy (MBS4WEC, eq. 17)."""

    kind: ClassVar[str] = "gravity"
    names: tuple[str, ...] = ("gravity", "buoyancy")

    def loads(self, model: Model, now: Instant) -> Loads:
        bodies, pose = model.bodies, now.motion.pose
        xp = namespace(pose.p)
        com = matvec(pose.R, bodies.com)
        lift = matvec(pose.R, bodies.buoyancy)
        weight = bodies.mass[:, None] * model.gravity
        upthrust = -(model.rho * bodies.volume)[:, None] * model.gravity
        moment = cross(com, weight) + cross(lift, upthrust)
        wrench = xp.concatenate([weight + upthrust, moment], -1)
        stored = -dot(weight, pose.p + com).sum(), -dot(upthrust, pose.p + lift).sum()
        return Loads(wrench, xp.stack(stored), xp.zeros(2), {})

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        return ""
