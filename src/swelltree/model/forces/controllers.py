"""Controllers: u(t, measured channels) drives actuators of springs, joint forces and PTOs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.model.forces.springs import lengths
from swelltree.model.forces.strokes import stroke
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.system.errors import SwelltreeError


@pytree("law", "measures", "drives")
class CompiledController:
    """A control law with what it measures and what it drives.

    measures: (kind, index, is_rate); kinds coordinate (dof), body (6 i + k)
    length (spring) and stroke (PTO). drives: (group, index) with group spring, joint or pto.
    """

    parameters: Any
    law: Callable[[Array, Array], Array]
    measures: tuple[tuple[str, int, bool], ...]
    drives: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PlainLaw:
    """A control law in plain Python, called back from the compiled program.

    Its derivative is taken by differences, so that linear studies and gradients see it.
    """

    function: Callable[[float, np.ndarray], Any]
    count: int
    name: str

    def values(self, t: Any, y: Any) -> np.ndarray:
        """The law itself, its answer checked."""
        u = np.asarray(self.function(float(t), np.array(y)), dtype=float).reshape(-1)
        if u.shape != (self.count,):
            raise SwelltreeError(
                f"controller '{self.name}': the law gives {u.size} values but drives "
                f"{self.count} elements. Return one value for each."
            )
        return u

    def __call__(self, t: Array, y: Array) -> Array:
        if namespace(t, y) is np:
            return self.values(t, y)
        from swelltree.spatial.callbacks import called_back

        return called_back(self.values, self.count, t, y)


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
        elif kind == "stroke":
            values.append(pto_strokes(model, motion)[1 if is_rate else 0][index])
        elif is_rate:
            values.append(motion.v[index // 6, index % 6])
        else:
            values.append(motion.pose.p[index // 6, index % 6])
    return xp.stack(values) if values else xp.zeros(0)


def driven(model: Model, t: Array, motion: Motion, controller: CompiledController) -> Array:
    """What a controller gives to each element it drives."""
    xp = namespace(motion.pose.p)
    u = xp.asarray(controller.law(t, measured(model, motion, controller)), dtype=float)
    return u.reshape(len(controller.drives))


def pto_group(model: Model) -> Any:
    """The group of PTOs, None if there are none."""
    return next((group for group in model.forces.groups if group.kind == "pto"), None)


def pto_strokes(model: Model, motion: Motion) -> tuple[Array, Array]:
    """Strokes of the PTOs and their rates."""
    return stroke(pto_group(model).strokes, motion)


def pto_actuation(model: Model, t: Array, motion: Motion, signals: tuple[Any, ...]) -> Array:
    """u of every PTO: signals plus controllers."""
    xp = namespace(motion.pose.p)
    total = [xp.zeros(()) if f is None else xp.asarray(f(t), dtype=float) for f in signals]
    for controller in model.forces.controllers:
        own = [(k, i) for k, (group, i) in enumerate(controller.drives) if group == "pto"]
        if own:
            u = driven(model, t, motion, controller)
            for k, i in own:
                total[i] = total[i] + u[k]
    return xp.stack(total)


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
        if not any(group in totals for group, _ in controller.drives):
            continue
        u = driven(model, t, motion, controller)
        for k, (group, index) in enumerate(controller.drives):
            if group in totals:
                totals[group][index] = totals[group][index] + u[k]
    spring, joint = (xp.stack(x) if x else xp.zeros(0) for x in totals.values())
    return spring, joint
