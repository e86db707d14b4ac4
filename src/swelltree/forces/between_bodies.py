r"""Forces between bodies: contacts with simple shapes, and bushings.

A contact is compliant along the normal, with smooth Coulomb friction. With :math:`\delta` the depth
of a point (or of a sphere about it) in the shape, the normal force is

.. math:: f = k \delta\, (1 + c \dot\delta), \qquad f \ge 0

(Hunt and Crossley, 1975). Over an impact the work of :math:`k \delta` is zero, so the velocities v
before and e v after it obey, whatever the stiffness and the mass,

.. math:: c v - \ln(1 + c v) = -c e v - \ln(1 - c e v) .

Friction is :math:`-\mu f v_t / \sqrt{v_t^2 + v_s^2}`. Both forces act on the two bodies at the same
place, the nearest one on the surface of the shape, so that momentum is conserved.

A bushing has a quadratic energy of the relative pose of two frames, and linear damping. With d the
relative displacement and :math:`\varphi` the rotation vector (of length :math:`\theta`), both in
the axes of a, and g the derivative of :math:`U = x^\top K x / 2` by x = (d, :math:`\varphi`), the
force on b is -g_d and its moment

.. math:: m = -J^{-\top} g_\varphi, \qquad
          J^{-\top} g = g + \tfrac12 \varphi \times g + c\, \varphi \times (\varphi \times g),

.. math:: c = \frac{1 - (\theta/2) \cot(\theta/2)}{\theta^2}

where J takes the rate of the rotation vector to the angular velocity, so that the power of the
wrench is exactly the energy that the spring loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.describe.forces.elements import SHAPES, BodyContact, Bushing
from swelltree.describe.matrix6 import dense
from swelltree.jit import Array, known, namespace, pytree
from swelltree.model.capabilities import (
    HasNonlinearity,
    HasParameters,
    Impulsive,
    Reports,
    StoresElastically,
)
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


TINY = 1e-300  # of squares of lengths: the direction of a vector of no length is zero


@pytree("names", "shapes", "body_a", "body_b", "item")
class BodyContacts(Impulsive, StoresElastically, HasParameters, Reports):
    """All contacts between bodies (e contacts with k points)."""

    size: Array  # (e, 3) half lengths of a box; radius, radius, half length of round shapes
    radius: Array  # (e,)
    stiffness: Array  # (e,)
    dissipation: Array  # (e,)
    friction: Array  # (e,)
    slip_speed: Array  # (e,)
    centre: Array  # (e, 3) of the shape, body axes, from the reference point
    axes: Array  # (e, 3, 3) of the shape in its body
    point: Array  # (k, 3) body axes
    shapes: tuple[str, ...]
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]
    item: tuple[int, ...]  # (k,) contact of each point
    names: tuple[str, ...]

    kind: ClassVar[str] = "body_contact"
    direct: ClassVar[tuple[str, ...]] = ("stiffness", "dissipation", "friction", "slip_speed")

    def loads(self, model: Model, now: Instant) -> Loads:
        motion, item = now.motion, np.array(self.item)
        body_a, body_b = np.array(self.body_a)[item], np.array(self.body_b)[item]
        a = point_motion(motion, body_a, self.point)
        b = point_motion(motion, body_b, self.centre[item])
        xp = namespace(a.position, self.stiffness)
        frame = matmul(b.rotation, self.axes[item])
        gap, normal = self._nearest(matvec(transpose(frame), a.position - b.position))
        normal = matvec(frame, normal)
        at = a.position - gap[:, None] * normal
        on_a = a.velocity + cross(a.angular_velocity, at - a.position)
        slip = on_a - b.velocity - cross(b.angular_velocity, at - b.position)
        closing = -dot(slip, normal)
        slip = slip + closing[:, None] * normal

        gap = gap - self.radius[item]
        depth = xp.maximum(-gap, 0.0)
        elastic = self.stiffness[item] * depth
        push = elastic * xp.maximum(1.0 + self.dissipation[item] * closing, 0.0)
        speed = xp.sqrt(dot(slip, slip) + self.slip_speed[item] ** 2)
        drag = (self.friction[item] * push / speed)[:, None] * slip
        force = push[:, None] * normal - drag
        layout, none = model.layout, xp.zeros_like(force)
        wrench = spread(layout, motion, body_a, at, force, none)
        wrench = wrench - spread(layout, motion, body_b, at, force, none)
        of_item = (np.arange(len(self.names))[:, None] == item).astype(float)
        stored = of_item @ (0.5 * elastic * depth)
        power = of_item @ ((elastic - push) * closing - dot(drag, slip))
        nearest = xp.where(of_item > 0.0, gap, np.inf).min(1)
        return Loads(wrench, stored, power, {"force": of_item @ force, "gap": nearest})

    def _nearest(self, x: Array) -> tuple[Array, Array]:
        """Distance of points from the surface of their shapes, negative inside, and its normal."""
        xp, item = namespace(x, self.size), np.array(self.item)
        size, shapes = self.size[item], np.array(self.shapes)[item]
        is_plane, is_round = shapes == "plane", np.isin(shapes, ("sphere", "cylinder"))
        is_sphere = shapes == "sphere"
        # a sphere by its radius, a cylinder by radius and height, a box by its three coordinates
        across = xp.where(is_sphere[:, None], x, x * np.array([1.0, 1.0, 0.0]))
        square = dot(across, across)
        radius = xp.sqrt(xp.where(square > TINY, square, TINY))
        out = across / radius[:, None]
        side = xp.where(x < 0.0, -1.0, 1.0)
        box = side[:, :, None] * np.eye(3)
        only = np.array([1.0, 0.0, 0.0])
        turned = xp.concatenate([out[:, None], xp.zeros_like(box[:, :1]), box[:, 2:]], 1)
        directions = xp.where(is_round[:, None, None], turned, box)
        along = xp.where(is_round[:, None], radius[:, None] * only + abs(x) * only[::-1], abs(x))
        # what is not there is far inside
        counts = np.ones((len(shapes), 3), bool)
        counts[is_round, 1] = False
        counts[is_sphere, 2] = False
        excess = xp.where(counts, along - size, -np.inf)
        outside = xp.maximum(excess, 0.0)
        square = dot(outside, outside)
        is_outside = square > 0.0
        distance = xp.sqrt(xp.where(is_outside, square, 1.0))
        face = (np.arange(3) == xp.argmax(excess, 1)[:, None]).astype(float)
        share = xp.where(is_outside[:, None], outside / distance[:, None], face)
        gap = xp.where(is_outside, distance, excess.max(1))
        normal = (share[:, :, None] * directions).sum(1)
        up = np.array([0.0, 0.0, 1.0])
        return xp.where(is_plane, x[:, 2], gap), xp.where(is_plane[:, None], up, normal)

    def parameters(self) -> dict[str, list[Place]]:
        hidden = {"axes": "", "centre": "", "point": "", "size": ""}
        return {name: [((), i, hidden)] for i, name in enumerate(self.names)}

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"body_contact": ("body_contact", self.names, "contact between bodies")}


def too_long_step(model: Model, step: float) -> str:
    r"""Why fixed steps are too long for friction under weight, in words; empty: they are not.

    Where a body of mass m sticks, friction is a damper :math:`\mu m g / v_s`, whose time constant
    :math:`v_s / (\mu g)` holds for any mass.

    Args:
        model: that is run.
        step: [s].
    """
    effect = model.effect(BodyContacts)
    if effect is None or not known(effect.friction, effect.slip_speed, model.gravity):
        return ""
    slope = np.asarray(effect.friction) * np.linalg.norm(model.gravity) / effect.slip_speed
    worst = int(slope.argmax())
    if step * slope[worst] <= 1.0 + 1e-9:
        return ""
    return (
        f"contact '{effect.names[worst]}': step {step:.3g} s is longer than the "
        f"{1.0 / slope[worst]:.3g} s in which friction stops a body under its weight, "
        "slip_speed / (friction g). Sticking and sliding are not resolved: give such a step, a "
        "larger slip_speed, or solver='tsit5'."
    )


def build_body_contacts(system: System, layout: Layout) -> BodyContacts | None:
    items = [force for force in system.forces if isinstance(force, BodyContact)]
    if not items:
        return None

    def number(point: Point) -> int:
        return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)

    def half(item: BodyContact) -> list[float]:
        if item.shape == "box":
            return [0.5 * x for x in item.size]
        if item.shape == "plane":
            return [1.0] * len(SHAPES["box"])
        radius, length = (*item.size, 1.0)[:2]
        return [radius, radius, 0.5 * length]

    places = [
        local_point(system, item.a) + item.a.rotation_matrix @ np.array(point)
        for item in items
        for point in item.contact_points
    ]
    fields = ("radius", "stiffness", "dissipation", "friction", "slip_speed")
    return BodyContacts(
        size=np.array([half(item) for item in items]),
        centre=np.array([local_point(system, item.b) for item in items]),
        axes=np.array([item.b.rotation_matrix for item in items]),
        point=np.array(places),
        shapes=tuple(item.shape for item in items),
        body_a=tuple(number(item.a) for item in items),
        body_b=tuple(number(item.b) for item in items),
        item=tuple(i for i, item in enumerate(items) for _ in item.contact_points),
        names=tuple(item.name for item in items),
        **{name: np.array([getattr(item, name) for item in items]) for name in fields},
    )


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
