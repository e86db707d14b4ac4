"""Nonlinear hydrostatics and Froude-Krylov forces of hulls, at their actual position."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from swelltree.effects.hulls.wetted_hull import (
    Panels,
    Triangles,
    place,
    pressed,
    under_water,
    wetted,
)
from swelltree.engine.arrays import Array, known, namespace, pytree
from swelltree.engine.loops import along, rows_of
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.local import LocalWaves, local_waves, roomy
from swelltree.waves.sea import RealisedSea, surface_about


@pytree("names", "bodies", "radius")
class Hulls(Effect):
    """Pressure of the undisturbed sea on hulls, and their buoyancy.

    In still water buoyancy stores energy; in waves all of it is counted as work.
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
        # of all bodies, zero where there is no such hull
        row = (np.arange(pose.p.shape[0])[:, None] == body[None, :]).astype(float)

        def of_all(x: Array) -> Array:
            return (row[:, :, None] * x[None]).sum(1)

        if sea.waves is None:
            wet = wetted(hull, p, R, rho_g)
            wrench, power = of_all(wet.wrench), (wet.wrench * now.motion.v[body]).sum(-1)
            channels = {"force": wrench, "volume": (row * wet.volume[None]).sum(1)}
            return Loads(wrench, wet.potential, 0.0 * power, channels)
        waves = sea.waves if self.near is None else self.near

        def at_vertices(p: Array, R: Array, vertices: Array) -> tuple[Array, ...]:
            """Elevation and pressure head of the sea, once for all that is asked of the panels."""
            at = surface_about(waves, now.t, p, model.water, sea.stretching)

            def vertex(x: Array) -> tuple[Array, ...]:
                # XLA keeps the result of a division, where it would evaluate the sea again for
                # every panel around a vertex
                return tuple(rho_g * field / rho_g for field in at(*place(p, R, x)))

            return along(xp, vertex, vertices)

        def load(p: Array, R: Array, *panels: Array) -> tuple[Array]:
            return (pressed(Panels(*panels), p, R, rho_g),)

        def shown(p: Array, R: Array, *parts: Array) -> tuple[Array, Array]:
            """Volume, and the wrench without the dynamic pressure."""
            panels = Panels(*parts)
            return under_water(panels, p, R), pressed(panels._replace(head=None), p, R, rho_g)

        fields = rows_of(xp, at_vertices, p, R, hull.vertices)
        parts = hull.corner, hull.point, hull.area, *fields
        (own,) = rows_of(xp, load, p, R, *parts)
        volume, level = rows_of(xp, shown, p, R, *parts)
        channels = {"force": of_all(own), "volume": (row * volume[None]).sum(1)}
        channels["froude_krylov"] = of_all(own - level)
        power = (own * now.motion.v[body]).sum(-1)
        return Loads(channels["force"], xp.zeros(len(body)), power, channels)
