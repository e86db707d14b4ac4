"""Forces and torques applied at a body point: signals of time, or a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import HasLinearForm, HasNonlinearity, Reports
from swelltree.model.effect import Coordinate, Instant, LinearForm, Loads
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.multibody.kinematics import PointMotion, point_motion, spread
from swelltree.spatial.rotations import cross, dot, matvec

if TYPE_CHECKING:
    from swelltree.multibody.layout import Layout


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


@pytree("body", "in_body_axes", "function")
class Applied:
    """One applied force."""

    point: Array  # (3,)
    signals: tuple[Callable[[Array], Array], ...]  # three of the force, three of the torque
    body: int
    in_body_axes: bool
    function: Callable[[Array, PointMotion], tuple[Array, Array]] | None


@pytree("names")
class AppliedForces(HasNonlinearity, HasLinearForm, Reports):
    """All applied forces and torques; their work is external."""

    elements: tuple[Applied, ...]
    names: tuple[str, ...]

    kind: ClassVar[str] = "applied"

    def loads(self, model: Model, now: Instant) -> Loads:
        elements, t = self.elements, now.t
        body = np.array([e.body for e in elements], dtype=int)
        xp = namespace(now.motion.pose.p)
        points = point_motion(now.motion, body, xp.stack([xp.asarray(e.point) for e in elements]))
        forces, moments = [], []
        for i, element in enumerate(elements):
            point = PointMotion(
                points.position[i],
                points.rotation[i],
                points.velocity[i],
                points.angular_velocity[i],
            )
            values = [xp.asarray(f(t), dtype=float) for f in element.signals]
            force, moment = xp.stack(values[:3]), xp.stack(values[3:])
            if element.in_body_axes:
                force, moment = matvec(point.rotation, force), matvec(point.rotation, moment)
            if element.function is not None:
                extra_force, extra_moment = element.function(t, point)
                force, moment = force + xp.asarray(extra_force), moment + xp.asarray(extra_moment)
            forces.append(force)
            moments.append(moment)
        force, moment = xp.stack(forces), xp.stack(moments)
        wrench = spread(model.layout, now.motion, body, points.position, force, moment)
        power = dot(force, points.velocity) + dot(moment, points.angular_velocity)
        return Loads(wrench, 0.0 * power, power, {"force": force, "torque": moment})

    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        return LinearForm(inputs={n: self._units(model, now, i) for i, n in enumerate(self.names)})

    def _units(self, model: Model, now: Instant, i: int) -> np.ndarray:
        """Wrenches (6, 6N) of a unit force and torque along each axis of an element."""
        element, motion = self.elements[i], now.motion
        body = np.full(6, element.body)
        point = point_motion(motion, body, np.tile(np.asarray(element.point), (6, 1)))
        axes = np.asarray(point.rotation)[0].T if element.in_body_axes else np.eye(3)
        force, moment = np.zeros((6, 3)), np.zeros((6, 3))
        force[:3], moment[3:] = axes, axes
        each = [
            spread(model.layout, motion, body[:1], point.position[:1], f[None], m[None])
            for f, m in zip(force, moment, strict=True)
        ]
        return np.array(each, float).reshape(6, -1)

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        for name, element in zip(self.names, self.elements, strict=True):
            steady = all(isinstance(signal, Constant) for signal in element.signals)
            if element.function is not None or not steady:
                return f"force '{name}' changes with time or motion"
        return ""

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        bodies = (*layout.bodies, "world")
        on = [bodies[e.body] for e in self.elements]
        return {
            "applied": ("applied", self.names, "applied force"),
            "applied_body": ("applied", on, "body the force acts on"),
        }


def applied_forces(model: Model) -> tuple[Applied, ...]:
    effect = model.effect(AppliedForces)
    return () if effect is None else effect.elements
