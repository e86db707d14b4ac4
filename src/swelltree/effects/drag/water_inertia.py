r"""Moving water around bodies given by numbers: Froude-Krylov force and added mass.

.. math::
    f = (\rho V + A)\, \frac{Du}{Dt} - A\, \dot v

for a small body in a flow that varies slowly over it (Auton, Hunt and Prud'homme 1988). The term
in the body's acceleration is in the mass matrix, together with Kirchhoff's terms in its velocity
v; here these are replaced by those in v - u, which gives Munk's moment in a current. That the
water itself turns is left out.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.effect import Coordinate, Effect, Loads, Now
from swelltree.model.inertia import kirchhoff, world_added_mass
from swelltree.model.kinematics import Pose
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.model.sea import water_at
from swelltree.spatial.vectors import cross, dot, matvec


@pytree("names", "body")
class WaterInertia(Effect):
    """All bodies with an added mass of their own (e of them)."""

    kind: ClassVar[str] = "water_inertia"
    feels_current: ClassVar[bool] = True  # Munk's moment
    uses_sea: ClassVar[bool] = True
    adds_excitation: ClassVar[bool] = True

    added_mass: Array  # (e, 6, 6) body axes, at the reference point
    body: tuple[int, ...]
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"water_inertia": ("water_inertia", self.names, "body with added mass of its own")}

    def loads(self, model: Model, now: Now) -> Loads:
        """Wrenches and their power."""
        body = np.array(self.body)
        motion = now.motion
        v, p, R = motion.v[body], motion.pose.p[body], motion.pose.R[body]
        xp = namespace(p)
        arm = matvec(R, model.bodies.buoyancy[body])
        water = water_at(model, now.t, p)
        none = xp.zeros((len(body), 3))
        acceleration = xp.concatenate([water.acceleration, none], axis=-1)
        A = world_added_mass(self.added_mass, Pose(p, R))
        relative = xp.concatenate([v[:, :3] - water.velocity, v[:, 3:]], axis=-1)
        wrench = matvec(A, acceleration) + kirchhoff(A, v) - kirchhoff(A, relative)
        # pressure of the undisturbed flow, at the centre of buoyancy
        push = (model.rho * model.bodies.volume[body])[:, None]
        push = push * water_at(model, now.t, p + arm).acceleration
        wrench = wrench + xp.concatenate([push, cross(arm, push)], axis=-1)
        hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
        power = dot(wrench, v)
        total = (hits[:, :, None] * wrench[None]).sum(1)
        return Loads(total, 0.0 * power, power, {"wrench": wrench})
