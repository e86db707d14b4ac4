r"""Wind on bodies: coefficients over the relative heading, and turbines with thrust curves.

.. math:: T = \tfrac12 \rho_a A\, C_t(|U|)\, U |U|, \qquad U = a \cdot (W - v_{hub})
"""

from __future__ import annotations

from types import ModuleType
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
class WindDrags(FeelsEnvironment, Reports):
    """All wind forces (e of them), tabulated over a full turn."""

    kind: ClassVar[str] = "wind"
    feels = ("wind",)

    point: Array  # (e, 3) from the reference point, body axes
    coefficient: Array  # (e, 3, a) CX A, CY A, CN A L at equal steps from -pi to pi
    body: tuple[int, ...]
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"wind_drag": ("wind_drag", self.names, "wind force")}

    def loads(self, model: Model, now: Instant) -> Loads:
        body = np.array(self.body)
        at_point = point_motion(now.motion, body, self.point)
        xp = namespace(at_point.position)
        wind = model.sea.wind
        assert wind is not None
        W = wind.at(at_point.position) - at_point.velocity[:, :2]
        # heading: the body's x axis seen from above
        ahead = at_point.rotation[:, :2, 0]
        ahead = ahead / xp.sqrt(dot(ahead, ahead) + 1e-12)[:, None]
        along = dot(W, ahead)
        across = ahead[:, 0] * W[:, 1] - ahead[:, 1] * W[:, 0]
        C = _at_angle(self.coefficient, _angle(xp, across, along))
        X, Y, N = [0.5 * wind.rho * dot(W, W) * C[:, i] for i in range(3)]
        force = xp.stack(
            [X * ahead[:, 0] - Y * ahead[:, 1], X * ahead[:, 1] + Y * ahead[:, 0], 0.0 * X], -1
        )
        moment = xp.stack([0.0 * N, 0.0 * N, N], -1)
        wrench = spread(model.layout, now.motion, body, at_point.position, force, moment)
        power = dot(force, at_point.velocity) + N * at_point.angular_velocity[:, 2]
        return Loads(wrench, 0.0 * power, power, {"force": force})


def _angle(xp: ModuleType, y: Array, x: Array) -> Array:
    """Angle of (x, y), differentiable at zero."""
    calm = (x**2 + y**2) < 1e-20
    return xp.arctan2(xp.where(calm, 0.0, y), xp.where(calm, 1.0, x))


def _at_angle(table: Array, angle: Array) -> Array:
    """Linear interpolation in tables (e, c, a) at one angle each, (e, c)."""
    xp = namespace(angle, table)
    count = table.shape[-1]
    place = (angle + np.pi) / (2 * np.pi) * (count - 1)
    weight = xp.maximum(1.0 - abs(place[:, None] - np.arange(count)), 0.0)
    return (table * weight[:, None, :]).sum(-1)


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
