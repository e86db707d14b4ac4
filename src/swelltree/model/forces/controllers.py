"""Controllers: u(t, measured channels) drives actuators of springs and joint forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swelltree.model.forces.springs import lengths
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree


@pytree("law", "measures", "drives")
class CompiledController:
    """A control law with what it measures and what it drives.

    measures: (kind, index, is_rate); kinds coordinate (dof), body (6 i + k)
    and length (spring). drives: (group, index) with group spring or joint.
    """

    parameters: Any
    law: Callable[[Array, Array], Array]
    measures: tuple[tuple[str, int, bool], ...]
    drives: tuple[tuple[str, int], ...]


def measured(model: Model, motion: Motion, controller: CompiledController) -> Array:
    """Values of the measured channels, in order."""
    xp = namespace(motion.pose.p)
    values = []
    spring = None
    for kind, index, is_rate in controller.measures:
        if kind == "coordinate":
            values.append((motion.rate if is_rate else motion.coordinate)[index])
        elif kind == "length":
            spring = lengths(model.forces.springs, motion) if spring is None else spring
            values.append(spring[1 if is_rate else 0][index])
        elif is_rate:
            values.append(motion.v[index // 6, index % 6])
        else:
            values.append(motion.pose.p[index // 6, index % 6])
    return xp.stack(values) if values else xp.zeros(0)


def actuation(model: Model, t: Array, motion: Motion) -> tuple[Array, Array]:
    """Actuator force of every spring and of every joint force: signals plus controllers."""
    forces = model.forces
    xp = namespace(motion.pose.p)
    groups = {"spring": list(forces.spring_signals), "joint": list(forces.joint_signals)}
    totals = {
        name: [xp.zeros(()) if f is None else xp.asarray(f(t), dtype=float) for f in signals]
        for name, signals in groups.items()
    }
    for controller in forces.controllers:
        u = xp.asarray(controller.law(t, measured(model, motion, controller)), dtype=float)
        u = u.reshape(len(controller.drives))
        for k, (group, index) in enumerate(controller.drives):
            totals[group][index] = totals[group][index] + u[k]
    spring, joint = (xp.stack(x) if x else xp.zeros(0) for x in totals.values())
    return spring, joint
