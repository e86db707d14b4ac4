r"""Bushings: a quadratic energy of the relative pose of two frames, and linear damping.

With d the relative displacement and :math:`\varphi` the rotation vector (of length
:math:`\theta`), both in the axes of a, and g the derivative of :math:`U = x^\top K x / 2` by
x = (d, :math:`\varphi`), the force on b is -g_d and its moment

.. math:: m = -J^{-\top} g_\varphi, \qquad
          J^{-\top} g = g + \tfrac12 \varphi \times g + c\, \varphi \times (\varphi \times g),

.. math:: c = \frac{1 - (\theta/2) \cot(\theta/2)}{\theta^2}

where J takes the rate of the rotation vector to the angular velocity, so that the power of the
wrench is exactly the energy that the spring loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.describe.forces.elements import Bushing
from swelltree.describe.matrix6 import dense
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import HasNonlinearity, HasParameters, Reports, StoresElastically
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.build_layout import local_point, pose_of
from swelltree.multibody.kinematics import point_motion, spread
from swelltree.multibody.layout import Place
from swelltree.spatial.rotations import cross, dot, matmul, matvec, rotation_vector, transpose

if TYPE_CHECKING:
    from swelltree.describe import System
    from swelltree.describe.bodies.body import Point
    from swelltree.multibody.layout import Layout

SERIES_LIMIT = 1e-3  # rad^2: below this the factor c is taken by its series


@pytree("names", "body_a", "body_b")
class Bushings(StoresElastically, HasNonlinearity, HasParameters, Reports):
    """All bushings of a system (e of them)."""

    stiffness: Array  # (e, 6, 6)
    damping: Array  # (e, 6, 6)
    point_a: Array  # (e, 3) body axes, from the reference point
    point_b: Array  # (e, 3)
    axes: Array  # (e, 3, 3) frame of a in its body
    gap: Array  # (e, 3) described displacement, axes of a
    turned: Array  # (e, 3, 3) described rotation of body b in the axes of a
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]
    names: tuple[str, ...]

    kind: ClassVar[str] = "bushing"

    def loads(self, model: Model, now: Instant) -> Loads:
        motion = now.motion
        body_a, body_b = np.array(self.body_a, dtype=int), np.array(self.body_b, dtype=int)
        a = point_motion(motion, body_a, self.point_a)
        b = point_motion(motion, body_b, self.point_b)
        xp = namespace(a.position, self.stiffness)
        frame = matmul(a.rotation, self.axes)
        back = transpose(frame)
        apart = b.position - a.position
        turn = rotation_vector(matmul(matmul(back, b.rotation), transpose(self.turned)))
        x = xp.concatenate([matvec(back, apart) - self.gap, turn], axis=-1)
        # velocity of b less that of a at the same place
        slip = b.velocity - a.velocity - cross(a.angular_velocity, apart)
        spin = b.angular_velocity - a.angular_velocity
        rate = xp.concatenate([matvec(back, slip), matvec(back, spin)], axis=-1)

        g, lost = matvec(self.stiffness, x), matvec(self.damping, rate)
        moment = _conjugate(turn, g[:, 3:])
        each = -xp.concatenate([g[:, :3], moment], axis=-1) - lost
        force, couple = matvec(frame, each[:, :3]), matvec(frame, each[:, 3:])
        layout = model.layout
        wrench = spread(layout, motion, body_b, b.position, force, couple)
        wrench = wrench - spread(layout, motion, body_a, b.position, force, couple)
        channels = {"wrench": each, "deformation": x}
        return Loads(wrench, 0.5 * dot(x, g), -dot(rate, lost), channels)

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        return ""

    def parameters(self) -> dict[str, list[Place]]:
        hidden = {"axes": "", "gap": "", "turned": ""}
        return {name: [((), i, hidden)] for i, name in enumerate(self.names)}

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"bushing": ("bushing", self.names, "bushing")}


def _conjugate(turn: Array, g: Array) -> Array:
    """Moment conjugate to a derivative with respect to the rotation vector."""
    xp = namespace(turn)
    square = dot(turn, turn)
    is_small = square < SERIES_LIMIT
    half = 0.5 * xp.sqrt(xp.where(is_small, 1.0, square))
    series = 1.0 / 12.0 + square / 720.0 + square**2 / 30240.0
    c = xp.where(is_small, series, (1.0 - half / xp.tan(half)) / xp.where(is_small, 1.0, square))
    return g + 0.5 * cross(turn, g) + c[:, None] * cross(turn, cross(turn, g))


def build_bushings(system: System, layout: Layout) -> Bushings | None:
    items = [force for force in system.forces if isinstance(force, Bushing)]
    if not items:
        return None

    def number(point: Point) -> int:
        return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)

    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("axes", "gap", "turned")}
    for item in items:
        (p_a, R_a), (p_b, R_b) = pose_of(system, item.a.body), pose_of(system, item.b.body)
        frame = R_a @ item.a.rotation_matrix
        apart = p_b + R_b @ np.array(item.b.position) - p_a - R_a @ np.array(item.a.position)
        columns["axes"].append(item.a.rotation_matrix)
        columns["gap"].append(frame.T @ apart)
        columns["turned"].append(frame.T @ R_b)
    return Bushings(
        stiffness=np.array([dense(item.stiffness) for item in items]),
        damping=np.array([dense(item.damping) for item in items]),
        point_a=np.array([local_point(system, item.a) for item in items]),
        point_b=np.array([local_point(system, item.b) for item in items]),
        body_a=tuple(number(item.a) for item in items),
        body_b=tuple(number(item.b) for item in items),
        names=tuple(item.name for item in items),
        **{name: np.array(rows) for name, rows in columns.items()},
    )
