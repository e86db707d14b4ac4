r"""Spring, damper, friction, end stops and actuator on a joint coordinate.

.. math::
    Q = -k (q - q_0) - c \dot q - F_c \tanh(\dot q / v_c) + Q_{stop} + u

Friction is smoothed by the stated velocity v_c; the stops are those of
`stops`. The force acts as equal and opposite wrenches on follower and base, so every formulation
takes it alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.forces.loads import Loads
from swelltree.model.forces.stops import Stops, stop_forces
from swelltree.model.forces.strokes import joint_wrench
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree


@pytree("dof")
class JointForces:
    """All joint-coordinate forces of a system (e of them)."""

    stiffness: Array
    rest_position: Array
    damping: Array
    friction: Array
    friction_velocity: Array
    lower: Array  # -inf: no stop
    upper: Array
    stop_stiffness: Array
    stop_damping: Array
    stop_ramp: Array
    dof: tuple[int, ...]
    stop_tip: Any = None  # (e,) see `stops`


def joint_forces(model: Model, motion: Motion, control: Array) -> Loads:
    """Generalised forces on joint coordinates as wrench pairs; `control` is u of each."""
    own: JointForces = model.forces.joint_forces
    dof = np.array(own.dof, dtype=int)
    q, rate = motion.coordinate[dof], motion.rate[dof]
    xp = namespace(q)
    spring = -own.stiffness * (q - own.rest_position)
    friction = -own.friction * xp.tanh(rate / own.friction_velocity)
    ends, hardness = (own.lower, own.upper), (own.stop_stiffness, own.stop_damping)
    stops = Stops(*ends, *hardness, own.stop_ramp, own.stop_tip)
    push, elastic, squeezed = stop_forces(stops, q, rate)
    total = spring - own.damping * rate + friction + push + control
    stored = 0.5 * own.stiffness * (q - own.rest_position) ** 2 + squeezed
    power = (total - spring - elastic) * rate
    wrench = joint_wrench(model, own.dof, motion, total)
    return Loads(wrench, stored, power, {"force": total})
