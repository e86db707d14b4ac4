"""The power take-offs that a control study drives: where they act and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swelltree.model.forces.springs import lengths
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace
from swelltree.system.errors import SwelltreeError, listed, suggest


@dataclass(frozen=True)
class Ports:
    """Driven elements (p of them): F = u - c v - k x with x the stroke from its zero."""

    names: tuple[str, ...]
    place: tuple[tuple[str, int], ...]  # ("spring" or "joint", index)
    damping: np.ndarray  # (p,) c
    stiffness: np.ndarray  # (p,) k
    zero: np.ndarray  # (p,) length or coordinate at which the stroke is zero
    angle: tuple[bool, ...]  # the stroke is an angle

    def __len__(self) -> int:
        return len(self.names)


def find_ports(model: Model, names: Any) -> Ports:
    """Driven elements by name; all PTOs that can be driven if no names are given."""
    known = {name: ("spring", i) for i, name in enumerate(model.names.springs)}
    known |= {name: ("joint", i) for i, name in enumerate(model.names.joint_forces)}
    if names is None:
        names = [name for name in model.names.ptos if name in known]
        if not names:
            raise SwelltreeError(
                "optimal_control: the model has no linear PTO. Add LinearPto(...) to the system."
            )
    names = (names,) if isinstance(names, str) else tuple(names)
    forces = model.forces
    place = []
    machines = {name for g in forces.groups if g.kind == "pto" for name in g.names}
    for name in names:
        if name in machines:
            raise SwelltreeError(
                f"pto '{name}' is a machine with a law of its own, and its force cannot be chosen "
                "freely. Name a plain LinearPto, and give its limits here."
            )
        if name not in known:
            raise SwelltreeError(
                f"pto '{name}': there is no linear PTO, spring or joint force of this name."
                f"{suggest(name, known)} Choose from {listed(known)}."
            )
        if names.count(name) > 1:
            raise SwelltreeError(f"pto '{name}' is named twice. Name each once.")
        if any(known[name] in c.drives for c in forces.controllers):
            raise SwelltreeError(
                f"pto '{name}': a controller already drives it. Take the controller away."
            )
        group, i = known[name]
        if group == "spring" and forces.springs.tension_only[i]:
            raise SwelltreeError(
                f"pto '{name}' carries tension only, so its force cannot be chosen freely. "
                "Name an element that can push."
            )
        place.append(known[name])
    own = {"spring": forces.springs, "joint": forces.joint_forces}
    zeros = {"spring": forces.springs.rest_length, "joint": forces.joint_forces.rest_position}

    def column(values: dict[str, Any]) -> np.ndarray:
        return np.array([float(values[group][i]) for group, i in place])

    dofs = model.layout.dofs
    return Ports(
        names,
        tuple(place),
        column({group: x.damping for group, x in own.items()}),
        column({group: x.stiffness for group, x in own.items()}),
        column(zeros),
        tuple(
            group == "joint" and bool(dofs[forces.joint_forces.dof[i]].turns) for group, i in place
        ),
    )


def port_motion(ports: Ports, model: Model, motion: Motion) -> tuple[Array, Array]:
    """Strokes and their rates, (p,) each."""
    xp = namespace(motion.pose.p, motion.coordinate)
    forces = model.forces
    x, v = [], []
    between = lengths(forces.springs, motion)[:2] if forces.springs.body_a else None
    for group, i in ports.place:
        if group == "spring":
            assert between is not None
            x.append(between[0][i])
            v.append(between[1][i])
        else:
            k = forces.joint_forces.dof[i]
            x.append(motion.coordinate[k])
            v.append(motion.rate[k])
    return xp.stack(x) - ports.zero, xp.stack(v)


def port_rows(ports: Ports, model: Model, linear: dict[str, Any]) -> np.ndarray:
    """Strokes per unit of the free directions of a linearised system, (p, n)."""
    rows = [
        linear["to_lengths"][i]
        if group == "spring"
        else linear["to_coordinates"][model.forces.joint_forces.dof[i]]
        for group, i in ports.place
    ]
    return np.array(rows)


def with_signals(model: Model, ports: Ports, signals: Any) -> Model:
    """The model with the actuators u of the ports given by compiled signals."""
    forces = model.forces
    springs, joints = list(forces.spring_signals), list(forces.joint_signals)
    for (group, i), signal in zip(ports.place, signals, strict=True):
        (springs if group == "spring" else joints)[i] = signal
    return model.replace(
        forces=replace(forces, spring_signals=tuple(springs), joint_signals=tuple(joints))
    )
