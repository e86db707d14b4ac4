"""Wind forces from coefficients over the direction of the wind relative to the heading."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import FeelsEnvironment, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import point_motion, spread
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import dot


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
        C = _looked_up(self.coefficient, _angle(xp, across, along))
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


def _looked_up(table: Array, angle: Array) -> Array:
    """Linear interpolation in tables (e, c, a) at one angle each, (e, c)."""
    xp = namespace(angle, table)
    count = table.shape[-1]
    place = (angle + np.pi) / (2 * np.pi) * (count - 1)
    weight = xp.maximum(1.0 - abs(place[:, None] - np.arange(count)), 0.0)
    return (table * weight[:, None, :]).sum(-1)
