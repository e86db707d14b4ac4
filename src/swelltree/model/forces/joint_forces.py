r"""Spring, damper, friction, end stops and actuator on a joint coordinate.

.. math::
    Q = -k (q - q_0) - c \dot q - F_c \tanh(\dot q / v_c) + Q_{stop} + u

Friction is smoothed by the stated velocity v_c. A stop pushes back in
proportion to the overrun and to the closing speed, never pulls. The force
acts as equal and opposite wrenches on follower and base, so every formulation
takes it alike.
"""

from __future__ import annotations

import numpy as np

from swelltree.model.forces.loads import Loads, joint_pair
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
    dof: tuple[int, ...]


def joint_forces(model: Model, motion: Motion, control: Array) -> Loads:
    """Generalised forces on joint coordinates as wrench pairs; `control` is u of each."""
    own: JointForces = model.forces.joint_forces
    dof = np.array(own.dof, dtype=int)
    q, rate = motion.coordinate[dof], motion.rate[dof]
    xp = namespace(q)
    spring = -own.stiffness * (q - own.rest_position)
    friction = -own.friction * xp.tanh(rate / own.friction_velocity)
    over, under = xp.maximum(q - own.upper, 0.0), xp.maximum(own.lower - q, 0.0)
    stop = own.stop_stiffness * (under - over)
    touching = (over > 0.0) | (under > 0.0)
    pushing = stop - xp.where(touching, own.stop_damping * rate, 0.0)
    # a stop pushes only: no sticking on the way out
    pushing = xp.where(over > 0.0, xp.minimum(pushing, 0.0), xp.maximum(pushing, 0.0))
    pushing = xp.where(touching, pushing, 0.0)
    total = spring - own.damping * rate + friction + pushing + control
    stored = 0.5 * own.stiffness * (q - own.rest_position) ** 2
    stored = stored + 0.5 * own.stop_stiffness * (over**2 + under**2)
    power = (total - spring - stop) * rate
    layout = model.layout
    joint = np.array([layout.dofs[k].joint for k in own.dof], dtype=int)
    turns = np.array([layout.dofs[k].turns for k in own.dof], dtype=bool)[:, None]
    moment = total[:, None] * motion.frames.turn[dof]
    force = xp.where(turns, 0.0, total[:, None] * motion.frames.slide[dof])
    wrench = joint_pair(layout, motion, joint, force, moment)
    return Loads(wrench, stored, power, {"force": total})
