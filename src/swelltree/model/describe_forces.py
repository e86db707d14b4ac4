"""From described force elements, controllers and sensors to arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.model.describe_immersions import build_immersions
from swelltree.model.describe_layout import local_point
from swelltree.model.describe_lines import build_lines
from swelltree.model.describe_ptos import build_ptos
from swelltree.model.describe_viscous import viscous_groups
from swelltree.model.forces.applied import Applied
from swelltree.model.forces.controllers import CompiledController, PlainLaw
from swelltree.model.forces.joint_forces import JointForces
from swelltree.model.forces.law_checks import check_law
from swelltree.model.forces.moorings import Moorings
from swelltree.model.forces.springs import Springs
from swelltree.model.forces.total import Forces
from swelltree.model.kinematics import Pose
from swelltree.model.layout import DOFS, Layout
from swelltree.model.sensors import Sensors
from swelltree.model.signals import compile_signal
from swelltree.system import AppliedForce, JointForce, SpringDamper, System
from swelltree.system.bodies import Point
from swelltree.system.controllers import parse_measure
from swelltree.system.sensors import DistanceSensor, PointSensor
from swelltree.system.signals import resolve
from swelltree.system.six import dense, six


@dataclass(frozen=True)
class Names:
    """Names of the elements, in the order of the arrays."""

    springs: tuple[str, ...]
    joint_forces: tuple[str, ...]
    applied: tuple[str, ...]
    controllers: tuple[str, ...]
    points: tuple[str, ...]
    distances: tuple[str, ...]
    ptos: tuple[str, ...]
    moorings: tuple[str, ...]

    @property
    def elements(self) -> tuple[str, ...]:
        """Names of the terms of the energy budget."""
        own = (*self.springs, *self.joint_forces, *self.applied, *self.moorings)
        return ("gravity", "buoyancy", *own)


def _body(layout: Layout, point: Point) -> int:
    """Body number of a point, N for the world."""
    return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)


def _points(system: System, points: list[Point]) -> np.ndarray:
    return np.array([local_point(system, p) for p in points], dtype=float).reshape(-1, 3)


def _signal(value):
    return None if value is None else compile_signal(value)


def build_forces(system: System, layout: Layout) -> tuple[Forces, Sensors, Names]:
    """Arrays of every force element and sensor."""
    springs = [f for f in system.elements if isinstance(f, SpringDamper)]
    on_joints = [f for f in system.elements if isinstance(f, JointForce)]
    applied = [f for f in system.elements if isinstance(f, AppliedForce)]
    points = [s for s in system.sensors if isinstance(s, PointSensor)]
    distances = [s for s in system.sensors if isinstance(s, DistanceSensor)]
    names = Names(
        tuple(f.name for f in springs),
        tuple(f.name for f in on_joints),
        tuple(f.name for f in applied),
        tuple(c.name for c in system.controllers),
        tuple(s.name for s in points),
        tuple(s.name for s in distances),
        tuple(p.name for p in system.ptos),
        tuple(m.name for m in system.moorings),
    )
    group, moored = build_ptos(system, layout), build_lines(system, layout)
    immersed = build_immersions(system, layout)
    machines = () if group is None else group.names
    forces = Forces(
        springs=_springs(system, layout, springs),
        joint_forces=_joint_forces(system, layout, on_joints),
        applied=tuple(_applied(system, layout, f) for f in applied),
        moorings=_moorings(system, layout),
        controllers=tuple(_controller(layout, names, machines, c) for c in system.controllers),
        spring_signals=tuple(_signal(f.force) for f in springs),
        joint_signals=tuple(_signal(f.force) for f in on_joints),
        groups=(
            *(() if group is None else (group,)),
            *(() if moored is None else (moored,)),
            *viscous_groups(system, layout),
            *(() if immersed is None else (immersed,)),
        ),
    )
    sensors = Sensors(
        _points(system, [s.point for s in points]),
        _points(system, [s.a for s in distances]),
        _points(system, [s.b for s in distances]),
        tuple(_body(layout, s.point) for s in points),
        tuple(_body(layout, s.a) for s in distances),
        tuple(_body(layout, s.b) for s in distances),
    )
    return forces, sensors, names


def _springs(system: System, layout: Layout, springs: list[SpringDamper]) -> Springs:
    rest = [
        np.linalg.norm(system.world_point(f.b) - system.world_point(f.a))
        if f.rest_length is None
        else f.rest_length
        for f in springs
    ]
    return Springs(
        _points(system, [f.a for f in springs]),
        _points(system, [f.b for f in springs]),
        np.array([f.stiffness for f in springs], dtype=float),
        np.array([f.damping for f in springs], dtype=float),
        np.array(rest, dtype=float),
        tuple(_body(layout, f.a) for f in springs),
        tuple(_body(layout, f.b) for f in springs),
        tuple(f.tension_only for f in springs),
    )


def _joint_forces(system: System, layout: Layout, forces: list[JointForce]) -> JointForces:
    def column(name: str, missing: float = 0.0) -> np.ndarray:
        values = [getattr(f, name) for f in forces]
        return np.array([missing if x is None else x for x in values], dtype=float)

    dofs = tuple(layout.dof_number(f.joint, system.dof_of(f)) for f in forces)
    for force, k in zip(forces, dofs, strict=True):
        if layout.dofs[k].free_turn and (force.stiffness or force.stop_stiffness):
            raise force.fail(
                f"joint '{force.joint}' turns freely, so {layout.dofs[k].label} has no angle for a "
                "spring or stop. Use a hinge or universal joint, or springs between points."
            )
    return JointForces(
        column("stiffness"),
        column("rest_position"),
        column("damping"),
        column("friction"),
        column("friction_velocity"),
        column("lower", -np.inf),
        column("upper", np.inf),
        column("stop_stiffness"),
        column("stop_damping"),
        column("stop_ramp"),
        dofs,
    )


def _moorings(system: System, layout: Layout) -> Moorings:
    own = system.moorings
    places, turns = [], []
    for mooring in own:
        body = system.body(mooring.body.body)
        R = body.rotation_matrix
        places.append(np.array(body.position) + R @ np.array(body.reference))
        turns.append(R)
    return Moorings(
        np.array([dense(getattr(m, "stiffness", ())) for m in own]).reshape(-1, 6, 6),
        np.array([dense(m.damping) for m in own]).reshape(-1, 6, 6),
        np.array([six(getattr(m, "pretension", ())) for m in own]).reshape(-1, 6),
        Pose(np.array(places).reshape(-1, 3), np.array(turns).reshape(-1, 3, 3)),
        tuple(_body(layout, m.body) for m in own),
    )


def _applied(system: System, layout: Layout, force: AppliedForce) -> Applied:
    signals = [*(force.force or (0.0,) * 3), *(force.torque or (0.0,) * 3)]
    return Applied(
        local_point(system, force.point),
        tuple(compile_signal(s) for s in signals),
        _body(layout, force.point),
        force.axes == "body",
        resolve(force.function) if force.function is not None else None,
    )


def _controller(
    layout: Layout, names: Names, machines: tuple[str, ...], controller
) -> CompiledController:
    measures = []
    for text in controller.measures:
        item, quantity, is_rate = parse_measure(text)
        strokes = {"pto": machines, "spring": names.springs, "joint": names.joint_forces}
        if quantity in ("stroke", "rate", "force"):
            kind, own = next((k, own) for k, own in strokes.items() if item in own)
            if quantity == "force":
                measures.append((f"{kind}_force", own.index(item), False))
                continue
            measure = "stroke" if kind == "pto" else f"{kind}_stroke"
            measures.append((measure, own.index(item), is_rate or quantity == "rate"))
        elif item in layout.bodies:
            index = 6 * layout.bodies.index(item) + DOFS.index(quantity)
            measures.append(("body", index, is_rate))
        elif item in names.springs:
            measures.append(("length", names.springs.index(item), is_rate))
        else:
            k = layout.dof_number(item, quantity)
            if layout.dofs[k].free_turn and not is_rate:
                raise controller.fail(
                    f"measure '{text}': joint '{item}' turns freely and has no angle {quantity}. "
                    f"Measure '{text}.rate'."
                )
            measures.append(("coordinate", k, is_rate))
    groups = {"spring": names.springs, "joint": names.joint_forces, "pto": machines}
    drives = tuple(
        (group, own.index(name))
        for name in controller.drives
        for group, own in groups.items()
        if name in own
    )
    law = resolve(controller.law)
    if controller.plain:
        law = PlainLaw(law, len(drives), controller.name)
    else:
        check_law(controller.name, law, len(measures), len(drives))
    return CompiledController((), law, tuple(measures), drives)
