r"""Thrust of wind turbines from their thrust curves.

.. math:: T = \tfrac12 \rho_a A\, C_t(|U|)\, U |U|, \qquad U = a \cdot (W - v_{hub})
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swelltree.describe import System
from swelltree.describe.forces.viscous import Rotor
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import FeelsEnvironment, HasParameters, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.kinematics import point_motion, spread
from swelltree.multibody.layout import Layout, Place
from swelltree.spatial.rotations import dot, matvec


@pytree("names", "body")
class Rotors(FeelsEnvironment, HasParameters, Reports):
    """All rotors of a system (e of them)."""

    point: Array  # (e, 3) hub from the reference point, body axes
    axis: Array  # (e, 3) unit vector downwind, body axes
    area: Array  # (e,) m^2
    wind_speed: Array  # (e, r) rows of the tables, m/s; short ones repeat their last row
    Ct: Array  # (e, r) thrust coefficient there
    Cp: Array  # (e, r) power coefficient
    body: tuple[int, ...]
    names: tuple[str, ...]

    kind: ClassVar[str] = "rotor"
    feels = ("wind",)

    def loads(self, model: Model, now: Instant) -> Loads:
        body = np.array(self.body)
        hub = point_motion(now.motion, body, self.point)
        xp = namespace(hub.position)
        wind = model.sea.wind
        assert wind is not None
        along = matvec(hub.rotation, self.axis)
        still_air = wind.at(hub.position)
        W = xp.concatenate([still_air, 0.0 * still_air[:, :1]], -1) - hub.velocity
        U = dot(W, along)
        Ct, Cp = (_looked_up(self.wind_speed, table, xp.abs(U)) for table in (self.Ct, self.Cp))
        pressure = 0.5 * wind.rho * self.area
        T = pressure * Ct * U * xp.abs(U)
        force = T[:, None] * along
        wrench = spread(model.layout, now.motion, body, hub.position, force, 0.0 * force)
        channels = {"thrust": T, "wind": U, "power": pressure * Cp * xp.abs(U) ** 3}
        power = dot(force, hub.velocity)
        return Loads(wrench, 0.0 * power, power, channels)

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"rotor": ("rotor", self.names, "rotor in the wind")}

    def parameters(self) -> dict[str, list[Place]]:
        return {name: [((), i, {})] for i, name in enumerate(self.names)}


def _looked_up(at: Array, table: Array, U: Array) -> Array:
    """Linear interpolation in tables (e, r) by their bends, held beyond their ends."""
    xp = namespace(U, table, at)
    gap = at[:, 1:] - at[:, :-1]
    rise = (table[:, 1:] - table[:, :-1]) / xp.where(gap > 0.0, gap, 1.0)
    bend = xp.concatenate([rise[:, :1], rise[:, 1:] - rise[:, :-1]], -1)
    excess = xp.maximum(xp.clip(U, at[:, 0], at[:, -1])[:, None] - at[:, :-1], 0.0)
    return table[:, 0] + (bend * excess).sum(-1)


def build_rotors(system: System, layout: Layout) -> Rotors | None:
    described = [force for force in system.forces if isinstance(force, Rotor)]
    if not described:
        return None
    if system.wind is None:
        raise described[0].fail("there is no wind. Give System(..., wind=Wind(speed=...)).")
    longest = max(len(rotor.wind_speed) for rotor in described)

    def table(name: str) -> np.ndarray:
        rows = [getattr(rotor, name) or (0.0,) * len(rotor.wind_speed) for rotor in described]
        return np.array([np.pad(row, (0, longest - len(row)), mode="edge") for row in rows])

    axis = np.array([rotor.axis for rotor in described], dtype=float)
    return Rotors(
        np.array([local_point(system, rotor.hub) for rotor in described]),
        axis / np.linalg.norm(axis, axis=1, keepdims=True),
        np.array([0.25 * np.pi * rotor.diameter**2 for rotor in described]),
        table("wind_speed"),
        table("Ct"),
        table("Cp"),
        tuple(layout.bodies.index(rotor.hub.body) for rotor in described),
        tuple(rotor.name for rotor in described),
    )
