"""Controllers: u(t, measured channels) drives actuators of springs, joint forces and PTOs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from swelltree.model.forces.law_checks import plain_values
from swelltree.model.forces.loads import Now
from swelltree.model.forces.springs import lengths
from swelltree.model.forces.strokes import stroke
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.system.errors import SwelltreeError

FORCES = ("pto_force", "spring_force", "joint_force")  # of PTOs, measured


@pytree("law", "measures", "drives")
class CompiledController:
    """A control law with what it measures and what it drives.

    measures: (kind, index, is_rate); kinds coordinate (dof), body (6 i + k), length (spring) and
    stroke (PTO), the strokes of plain PTOs, spring_stroke and joint_stroke, and FORCES.
    drives: (group, index) with group spring, joint or pto.
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
    faults: list[str] = field(default_factory=list, compare=False)  # of calls from a program

    def values(self, t: Any, y: Any) -> np.ndarray:
        """The law itself, its answer checked."""
        return plain_values(self.name, self.function, self.count, t, y)

    def called(self, t: Any, y: Any) -> np.ndarray:
        """The same from inside a program, which errors cannot leave: they are told afterwards."""
        try:
            return self.values(t, y)
        except SwelltreeError as error:
            self.faults.append(str(error))
            return np.full(self.count, np.nan)

    def __call__(self, t: Array, y: Array) -> Array:
        if namespace(t, y) is np:
            return self.values(t, y)
        from swelltree.spatial.callbacks import called_back

        return called_back(self.called, self.count, t, y)


def raise_faults(model: Model) -> None:
    """Raise what went wrong in a plain law during a program."""
    for controller in model.forces.controllers:
        if isinstance(controller.law, PlainLaw) and controller.law.faults:
            first = controller.law.faults[0]
            controller.law.faults.clear()
            raise SwelltreeError(first)


def measured(model: Model, now: Now, controller: CompiledController) -> Array:
    """Values of the measured channels, in order."""
    motion = now.motion
    xp = namespace(motion.pose.p)
    values = []
    spring = None
    for kind, index, is_rate in controller.measures:
        if kind == "coordinate":
            values.append((motion.rate if is_rate else motion.coordinate)[index])
        elif kind == "length":
            spring = lengths(model.forces.springs, motion) if spring is None else spring
            values.append(spring[1 if is_rate else 0][index])
        elif kind in FORCES:
            values.append(_forces(model, now, controller, kind)[index])
        elif kind == "spring_stroke":
            own = lengths(model.forces.springs, motion)
            zero = 0.0 if is_rate else model.forces.springs.rest_length[index]
            values.append(own[1 if is_rate else 0][index] - zero)
        elif kind == "joint_stroke":
            joints = model.forces.joint_forces
            at = (motion.rate if is_rate else motion.coordinate)[joints.dof[index]]
            values.append(at - (0.0 if is_rate else joints.rest_position[index]))
        elif kind == "stroke":
            values.append(pto_strokes(model, motion)[1 if is_rate else 0][index])
        elif is_rate:
            values.append(motion.v[index // 6, index % 6])
        else:
            values.append(motion.pose.p[index // 6, index % 6])
    return xp.stack(values) if values else xp.zeros(0)


def _forces(model: Model, now: Now, controller: CompiledController, kind: str) -> Array:
    """Forces that act to increase the strokes, without what the controller itself gives."""
    from swelltree.model.forces.joint_forces import joint_forces
    from swelltree.model.forces.springs import springs

    others = tuple(c for c in model.forces.controllers if c is not controller)
    bare = model.replace(forces=replace(model.forces, controllers=others))
    if kind == "pto_force":
        return pto_group(bare).loads(bare, now).channels["force"]
    on_springs, on_joints = actuation(bare, now)
    if kind == "spring_force":
        return -springs(bare, now.motion, on_springs).channels["tension"]
    return joint_forces(bare, now.motion, on_joints).channels["force"]


def driven(model: Model, now: Now, controller: CompiledController) -> Array:
    """What a controller gives to each element it drives."""
    xp = namespace(now.motion.pose.p)
    u = xp.asarray(controller.law(now.t, measured(model, now, controller)), dtype=float)
    return u.reshape(len(controller.drives))


def pto_group(model: Model) -> Any:
    """The group of PTOs, None if there are none."""
    return next((group for group in model.forces.groups if group.kind == "pto"), None)


def pto_strokes(model: Model, motion: Motion) -> tuple[Array, Array]:
    """Strokes of the PTOs and their rates."""
    return stroke(pto_group(model).strokes, motion)


def pto_actuation(model: Model, now: Now, signals: tuple[Any, ...]) -> Array:
    """u of every PTO: signals plus controllers."""
    xp = namespace(now.motion.pose.p)
    total = [xp.zeros(()) if f is None else xp.asarray(f(now.t), dtype=float) for f in signals]
    for controller in model.forces.controllers:
        own = [(k, i) for k, (group, i) in enumerate(controller.drives) if group == "pto"]
        if own:
            u = driven(model, now, controller)
            for k, i in own:
                total[i] = total[i] + u[k]
    return xp.stack(total)


def actuation(model: Model, now: Now) -> tuple[Array, Array]:
    """Actuator force of every spring and of every joint force: signals plus controllers."""
    forces = model.forces
    xp = namespace(now.motion.pose.p)
    groups = {"spring": list(forces.spring_signals), "joint": list(forces.joint_signals)}
    totals = {
        name: [xp.zeros(()) if f is None else xp.asarray(f(now.t), dtype=float) for f in signals]
        for name, signals in groups.items()
    }
    for controller in forces.controllers:
        if not any(group in totals for group, _ in controller.drives):
            continue
        u = driven(model, now, controller)
        for k, (group, index) in enumerate(controller.drives):
            if group in totals:
                totals[group][index] = totals[group][index] + u[k]
    spring, joint = (xp.stack(x) if x else xp.zeros(0) for x in totals.values())
    return spring, joint
