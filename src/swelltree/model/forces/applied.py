"""Forces and torques applied at a body point: signals of time, or a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swelltree.model.forces.loads import Loads, PointMotion, point_motion, spread
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import dot, matvec


@pytree("body", "in_body_axes", "function")
class Applied:
    """One applied force."""

    point: Array  # (3,)
    signals: tuple[Any, ...]  # three of the force, three of the torque
    body: int
    in_body_axes: bool
    function: Callable[[Array, PointMotion], tuple[Array, Array]] | None


def applied(model: Model, t: Array, motion: Motion) -> Loads:
    """Applied forces and torques, all counted as work done on the system."""
    elements: tuple[Applied, ...] = model.forces.applied
    body = np.array([e.body for e in elements], dtype=int)
    xp = namespace(motion.pose.p)
    points = point_motion(motion, body, xp.stack([xp.asarray(e.point) for e in elements]))
    forces, moments = [], []
    for i, element in enumerate(elements):
        own = PointMotion(
            points.position[i], points.rotation[i], points.velocity[i], points.angular_velocity[i]
        )
        values = [xp.asarray(f(t), dtype=float) for f in element.signals]
        force, moment = xp.stack(values[:3]), xp.stack(values[3:])
        if element.in_body_axes:
            force, moment = matvec(own.rotation, force), matvec(own.rotation, moment)
        if element.function is not None:
            extra_force, extra_moment = element.function(t, own)
            force, moment = force + xp.asarray(extra_force), moment + xp.asarray(extra_moment)
        forces.append(force)
        moments.append(moment)
    force, moment = xp.stack(forces), xp.stack(moments)
    wrench = spread(model.layout, motion, body, points.position, force, moment)
    power = dot(force, points.velocity) + dot(moment, points.angular_velocity)
    return Loads(wrench, 0.0 * power, power, {"force": force, "torque": moment})
