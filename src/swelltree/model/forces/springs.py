r"""Spring-damper-actuators between two points (MBS4WEC, eqs. 13-16).

.. math:: T = k (l - l_0) + c \dot l - u

pulls the ends together; u > 0 pushes them apart. The unit vector runs from end
a to end b (not stated in print; the opposite choice makes a stretched spring
push). Tension-only elements carry no force when slack.
"""

from __future__ import annotations

import numpy as np

from swelltree.model.forces.loads import Loads, point_motion, spread
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import dot


@pytree("body_a", "body_b", "tension_only")
class Springs:
    """All spring-damper-actuators of a system (e of them)."""

    point_a: Array  # (e, 3)
    point_b: Array  # (e, 3)
    stiffness: Array  # (e,) N/m
    damping: Array  # (e,) N s/m
    rest_length: Array  # (e,) m
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]
    tension_only: tuple[bool, ...]


def lengths(springs: Springs, motion: Motion) -> tuple[Array, Array, Array, Array, Array]:
    """Length, rate, unit vector a to b, and the two end points."""
    a = point_motion(motion, np.array(springs.body_a, dtype=int), springs.point_a)
    b = point_motion(motion, np.array(springs.body_b, dtype=int), springs.point_b)
    d = b.position - a.position
    xp = namespace(d)
    square = dot(d, d)
    # coincident ends have no direction: no force, and a finite derivative
    apart = square > 0.0
    length = xp.where(apart, xp.sqrt(xp.where(apart, square, 1.0)), 0.0)
    unit = d / xp.where(apart, length, 1.0)[:, None]
    return length, dot(unit, b.velocity - a.velocity), unit, a.position, b.position


def springs(model: Model, motion: Motion, control: Array) -> Loads:
    """Tensions of all springs; `control` is the actuator force u of each."""
    own: Springs = model.forces.springs
    length, rate, unit, at_a, at_b = lengths(own, motion)
    xp = namespace(length)
    stretch = length - own.rest_length
    one_sided = np.array(own.tension_only, dtype=bool)
    elastic = own.stiffness * xp.where(one_sided & (stretch < 0.0), 0.0, stretch)
    tension = own.stiffness * stretch + own.damping * rate - control
    tension = xp.where(one_sided & ((stretch < 0.0) | (tension < 0.0)), 0.0, tension)
    pull = tension[:, None] * unit
    none = 0.0 * pull
    layout = model.layout
    wrench = spread(layout, motion, np.array(own.body_a, dtype=int), at_a, pull, none)
    wrench = wrench + spread(layout, motion, np.array(own.body_b, dtype=int), at_b, -pull, none)
    stored = 0.5 * elastic * xp.where(one_sided & (stretch < 0.0), 0.0, stretch)
    power = -(tension - elastic) * rate
    return Loads(wrench, stored, power, {"tension": tension, "length": length, "rate": rate})
