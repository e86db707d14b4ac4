r"""Drag and lift of bodies given by numbers.

.. math::
    f = \tfrac12 \rho \sum_i \left[ C_{d,i} A_i |w_i| w_i\, e_i
        + C_{l,i} A_i\, w_i \left( |w| e_i - \frac{w_i}{|w|} w \right) \right]

with w the velocity of the water relative to the centre of pressure in body axes. The second part
is normal to w, of size |w|^2 sin(a) cos(a) with sin(a) = w_i / |w|.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.effects.drag.drag import TINY, DragPieces, size
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.effect import Coordinate, Effect, Loads, Now
from swelltree.model.kinematics import Motion
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.model.points import point_motion, spread
from swelltree.model.sea import water_at
from swelltree.spatial.vectors import dot, matvec, skew, transpose


@pytree("names", "body")
class BodyDrags(Effect):
    """All such elements (e of them)."""

    kind: ClassVar[str] = "body_drag"
    uses_sea: ClassVar[bool] = True
    feels_current: ClassVar[bool] = True
    adds_excitation: ClassVar[bool] = True

    point: Array  # (e, 3) centre of pressure from the reference point, body axes
    drag_area: Array  # (e, 3) Cd A, m^2
    lift_area: Array  # (e, 3) Cl A, m^2
    body: tuple[int, ...]
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"body_drag": ("body_drag", self.names, "drag and lift of a body")}

    def loads(self, model: Model, now: Now) -> Loads:
        """Wrenches and their power."""
        body = np.array(self.body)
        at_point = point_motion(now.motion, body, self.point)
        u = water_at(model, now.t, at_point.position).velocity
        w = matvec(transpose(at_point.rotation), u - at_point.velocity)
        force = matvec(at_point.rotation, self._law(model.rho, w))
        wrench = spread(model.layout, now.motion, body, at_point.position, force, 0.0 * force)
        power = dot(force, at_point.velocity)
        return Loads(wrench, 0.0 * power, power, {"force": force})

    def _law(self, rho: Array, w: Float[Array, "*n e 3"]) -> Float[Array, "*n e 3"]:
        xp = namespace(w, self.drag_area)
        along = self.drag_area * w * xp.sqrt(w**2 + TINY)
        speed = size(w)
        lift = self.lift_area * w
        across = lift * speed - (lift * w).sum(-1)[..., None] * w / speed
        return 0.5 * rho * (along + across)

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """One piece for each element."""
        body = np.array(self.body)
        at_point = point_motion(motion, body, self.point)
        back = np.asarray(transpose(at_point.rotation))
        arm = np.asarray(at_point.position) - np.asarray(motion.pose.p)[body]
        L = np.concatenate([back, -back @ np.asarray(skew(arm))], axis=-1)
        still = model.replace(sea=replace(model.sea, waves=None))
        flow = np.asarray(water_at(still, np.zeros(()), at_point.position).velocity)
        mean = (back @ flow[:, :, None])[:, :, 0]
        rho = np.asarray(model.rho)
        return (
            DragPieces(
                body,
                np.asarray(at_point.position),
                L,
                back,
                mean,
                L.transpose(0, 2, 1),
                lambda w: np.asarray(self._law(rho, w)),
            ),
        )

    def without_drag(self) -> BodyDrags:
        """The same elements, taking no force."""
        return replace(self, drag_area=0.0 * self.drag_area, lift_area=0.0 * self.lift_area)
