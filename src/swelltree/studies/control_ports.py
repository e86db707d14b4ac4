"""The power take-offs that a control study drives: where they act and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swelltree.model.forces.controllers import pto_group, pto_strokes
from swelltree.model.forces.springs import lengths
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace
from swelltree.studies.control_machines import with_machines
from swelltree.system.errors import SwelltreeError, listed, suggest


@dataclass(frozen=True)
class Ports:
    """Driven elements (p of them): F = u - c v - k x with x the stroke from its zero."""

    names: tuple[str, ...]
    place: tuple[tuple[str, int], ...]  # ("spring", "joint" or "pto", index)
    damping: np.ndarray  # (p,) c
    stiffness: np.ndarray  # (p,) k
    zero: np.ndarray  # (p,) length or coordinate at which the stroke is zero
    angle: tuple[bool, ...]  # the stroke is an angle

    def __len__(self) -> int:
        return len(self.names)


def find_ports(model: Model, names: Any) -> Ports:
    """Driven elements by name; all PTOs that can be driven if no names are given."""
    group = pto_group(model)
    machines = () if group is None else group.names
    known = {name: ("spring", i) for i, name in enumerate(model.names.springs)}
    known |= {name: ("joint", i) for i, name in enumerate(model.names.joint_forces)}
    known |= {name: ("pto", i) for i, name in enumerate(machines)}
    if names is None:
        plain = [name for name in model.names.ptos if name not in machines]
        names = plain or list(machines)
        if not names:
            raise SwelltreeError(
                "optimal_control: the model has no PTO. Add LinearPto(...) to the system."
            )
    names = (names,) if isinstance(names, str) else tuple(names)
    forces = model.forces
    place = []
    for name in names:
        if name not in known:
            raise SwelltreeError(
                f"pto '{name}': there is no PTO, spring or joint force of this name."
                f"{suggest(name, known)} Choose from {listed(known)}."
            )
        if names.count(name) > 1:
            raise SwelltreeError(f"pto '{name}' is named twice. Name each once.")
        if any(known[name] in c.drives for c in forces.controllers):
            raise SwelltreeError(
                f"pto '{name}': a controller already drives it. Take the controller away."
            )
        kind, i = known[name]
        if kind == "spring" and forces.springs.tension_only[i]:
            raise SwelltreeError(
                f"pto '{name}' carries tension only, so its force cannot be chosen freely. "
                "Name an element that can push."
            )
        dof = _dof(model, kind, i)
        if dof is not None and model.layout.dofs[dof].free_turn:
            raise SwelltreeError(
                f"pto '{name}' turns about {model.layout.dofs[dof].label} of a joint that turns "
                "freely, where no angle tells its stroke. Use a hinge or universal joint."
            )
        place.append(known[name])
    # the law of a machine gives way to u; its stroke counts from its rest already
    none = np.zeros(len(machines))
    springs, joints = forces.springs, forces.joint_forces
    damping = {"spring": springs.damping, "joint": joints.damping, "pto": none}
    stiffness = {"spring": springs.stiffness, "joint": joints.stiffness}
    stiffness["pto"] = none if group is None else group.stiffness
    zeros = {"spring": springs.rest_length, "joint": joints.rest_position, "pto": none}

    def column(values: dict[str, Any]) -> np.ndarray:
        return np.array([float(values[kind][i]) for kind, i in place])

    def turns(kind: str, i: int) -> bool:
        dof = _dof(model, kind, i)
        return dof is not None and bool(model.layout.dofs[dof].turns)

    return Ports(
        names,
        tuple(place),
        column(damping),
        column(stiffness),
        column(zeros),
        tuple(turns(*where) for where in place),
    )


def _dof(model: Model, kind: str, i: int) -> int | None:
    """The joint coordinate that an element acts on, None between points."""
    if kind == "joint":
        return int(model.forces.joint_forces.dof[i])
    if kind == "spring":
        return None
    own = pto_group(model).strokes
    k = own.place[i] - len(own.springs.body_a)
    return None if k < 0 else int(own.dof[k])


def port_motion(ports: Ports, model: Model, motion: Motion) -> tuple[Array, Array]:
    """Strokes and their rates, (p,) each."""
    xp = namespace(motion.pose.p, motion.coordinate)
    forces = model.forces
    x, v = [], []
    kinds = {kind for kind, _ in ports.place}
    between = {}
    if "spring" in kinds:
        between["spring"] = lengths(forces.springs, motion)[:2]
    if "pto" in kinds:
        between["pto"] = pto_strokes(model, motion)
    for kind, i in ports.place:
        if kind in between:
            x.append(between[kind][0][i])
            v.append(between[kind][1][i])
        else:
            k = forces.joint_forces.dof[i]
            x.append(motion.coordinate[k])
            v.append(motion.rate[k])
    return xp.stack(x) - ports.zero, xp.stack(v)


def port_rows(ports: Ports, model: Model, linear: dict[str, Any]) -> np.ndarray:
    """Strokes per unit of the free directions of a linearised system, (p, n)."""
    tables = {"spring": "to_lengths", "pto": "to_strokes", "joint": "to_coordinates"}
    dofs = model.forces.joint_forces.dof
    rows = [linear[tables[kind]][dofs[i] if kind == "joint" else i] for kind, i in ports.place]
    return np.array(rows)


def with_signals(model: Model, ports: Ports, signals: Any) -> Model:
    """The model with the actuators u of the ports given by compiled signals."""
    forces = model.forces
    group = pto_group(model)
    own = {"spring": list(forces.spring_signals), "joint": list(forces.joint_signals)}
    own["pto"] = [] if group is None else list(group.signals)
    for (kind, i), signal in zip(ports.place, signals, strict=True):
        own[kind][i] = signal
    forces = replace(forces, spring_signals=tuple(own["spring"]), joint_signals=tuple(own["joint"]))
    model = model.replace(forces=forces)
    if group is not None and any(kind == "pto" for kind, _ in ports.place):
        model = with_machines(model, replace(group, signals=tuple(own["pto"])))
    return model
