"""Nonlinear hydrostatics and Froude-Krylov forces of hulls, at their actual position."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from swelltree.effects.hulls.wetted_hull import Triangles, places, wetted
from swelltree.engine.arrays import known, namespace, pytree
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.local import LocalWaves, local_waves, roomy
from swelltree.waves.sea import RealisedSea, surface_head


@pytree("names", "bodies", "radius")
class Hulls(Effect):
    """Pressure of the undisturbed sea on hulls, and their buoyancy.

    In still water buoyancy stores energy; in waves all of it is booked as work.
    """

    kind: ClassVar[str] = "hull"
    uses_sea: ClassVar[bool] = True
    triangles: Triangles
    near: (
        RealisedSea | LocalWaves | None
    )  # the sea expanded about the bodies; None: use that of the model
    names: tuple[str, ...]
    bodies: tuple[int, ...]
    radius: float  # of the farthest point of any hull from its reference point, m

    def in_sea(self, model: Model, waves: RealisedSea) -> Hulls:
        """The same in a realised sea, expanded about the bodies where that is quicker."""
        near = waves
        if isinstance(waves, Components) and waves.is_known and known(model.water.depth):
            near = local_waves(waves, self.radius, model.water)
        return replace(self, near=near)

    def with_room(self, model: Model) -> Hulls:
        """The same with as many terms as any expansion has."""
        if not isinstance(self.near, LocalWaves):
            return self
        return replace(self, near=roomy(self.near, model.water))

    def loads(self, model: Model, now: Now) -> Loads:
        """Wrenches of the total pressure; stored energy in still water, else power."""
        pose = now.motion.pose
        xp = namespace(pose.p)
        body = np.array(self.bodies, dtype=int)
        p, R = pose.p[body], pose.R[body]
        hull, sea = self.triangles, model.sea
        rho_g = -model.rho * model.gravity[2]
        surface = None
        if sea.waves is not None:
            waves = sea.waves if self.near is None else self.near
            place = places(hull, p, R)
            surface = surface_head(waves, now.t, p, *place, model.water, sea.stretching)
        wet = wetted(hull, p, R, rho_g, surface)
        power = (wet.wrench * now.motion.v[body]).sum(-1)
        # of all bodies, zero where there is no such hull
        row = (np.arange(pose.p.shape[0])[:, None] == body[None, :]).astype(float)
        wrench = (row[:, :, None] * wet.wrench[None]).sum(1)
        channels = {"force": wrench, "volume": (row * wet.volume[None]).sum(1)}
        if surface is None:
            return Loads(wrench, wet.potential, 0.0 * power, channels)
        level = wetted(hull, p, R, rho_g, (surface[0], 0.0 * surface[1])).wrench
        channels["froude_krylov"] = (row[:, :, None] * (wet.wrench - level)[None]).sum(1)
        return Loads(wrench, xp.zeros(len(body)), power, channels)
