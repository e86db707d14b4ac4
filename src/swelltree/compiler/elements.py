"""From described elements, controllers and sensors to effects and arrays."""

from __future__ import annotations

import numpy as np

from swelltree.describe import AppliedForce, System
from swelltree.describe.bodies.body import Point
from swelltree.describe.forces.controllers import (
    AnyController,
    Controller,
    DistanceSensor,
    PointSensor,
    parse_measure,
)
from swelltree.describe.forces.fmu import Fmu
from swelltree.describe.forces.signals import resolve
from swelltree.describe.forces.weak_scatterer import SCATTERER_TYPES
from swelltree.describe.matrix6 import dense, six
from swelltree.forces.applied import Applied, AppliedForces, Gravity
from swelltree.forces.between_bodies import build_body_contacts, build_bushings
from swelltree.forces.own_effect import build_own_effects
from swelltree.forces.wind import build_rotors
from swelltree.hydro.morison.build import viscous_groups
from swelltree.hydro.splash_zone.build import build_immersions
from swelltree.model.effect import Effect
from swelltree.model.signals import Sensors, compile_signal
from swelltree.mooring.catenary.left_out import checked_lines
from swelltree.mooring.dynamic.build import build_dynamic_lines
from swelltree.mooring.linear import LinearMoorings
from swelltree.multibody.build_layout import local_point, pose_of
from swelltree.multibody.kinematics import Pose
from swelltree.multibody.layout import DOFS, Layout
from swelltree.pto.actuators.build import build_stroke_forces
from swelltree.pto.actuators.forces import NO_STROKES, StrokeForces
from swelltree.pto.controllers.controllers import (
    CompiledController,
    Controllers,
    LawOfGains,
    LawOfStates,
    PlainLaw,
)
from swelltree.pto.controllers.fmu import fmu_law
from swelltree.pto.controllers.law_checks import check_law, count_surfaces


def _body(layout: Layout, point: Point) -> int:
    """Body number of a point; N for the world."""
    return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)


def _points(system: System, points: list[Point]) -> np.ndarray:
    return np.array([local_point(system, p) for p in points], dtype=float).reshape(-1, 3)


def described_pose(system: System, layout: Layout) -> Pose:
    """Pose of all bodies as described, depth first."""
    poses = [reference_pose(system, name) for name in layout.bodies]
    p, R = (np.array([pose[k] for pose in poses]) for k in (0, 1))
    return Pose(p.reshape(-1, 3), R.reshape(-1, 3, 3))


def reference_pose(system: System, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Described position of a body's reference point and its rotation."""
    p, R = pose_of(system, name)
    if name == "world":
        return p, R
    return p + R @ np.array(system.body(name).reference), R


def build_effects(system: System, layout: Layout) -> tuple[Effect, ...]:
    """All effects of described elements, in the order of the energy balance."""
    on_strokes = build_stroke_forces(system, layout)
    result: list[Effect | None] = [
        Gravity(),
        on_strokes,
        _controllers(system, layout, on_strokes or NO_STROKES),
        _applied_forces(system, layout),
        build_bushings(system, layout),
        build_body_contacts(system, layout),
        _moorings(system, layout),
        checked_lines(system, layout),
        build_dynamic_lines(system, layout),
        *viscous_groups(system, layout),
        build_immersions(system, layout),
        build_rotors(system, layout),
        _weak_scatterers(system, layout),
        *build_own_effects(system),
    ]
    return tuple(effect for effect in result if effect is not None)


def _weak_scatterers(system: System, layout: Layout) -> Effect | None:
    if not any(force.type in SCATTERER_TYPES for force in system.forces):
        return None
    from swelltree.hydro.weak_scatterer.build import build_weak_scatterers

    return build_weak_scatterers(system, layout)


def build_sensors(system: System, layout: Layout) -> Sensors:
    points = [s for s in system.sensors if isinstance(s, PointSensor)]
    pairs = [s for s in system.sensors if isinstance(s, DistanceSensor)]
    return Sensors(
        _points(system, [s.point for s in points]),
        _points(system, [s.a for s in pairs]),
        _points(system, [s.b for s in pairs]),
        tuple(s.name for s in points),
        tuple(s.name for s in pairs),
        tuple(_body(layout, s.point) for s in points),
        tuple(_body(layout, s.a) for s in pairs),
        tuple(_body(layout, s.b) for s in pairs),
    )


def _moorings(system: System, layout: Layout) -> LinearMoorings | None:
    described = system.moorings
    if not described:
        return None
    places, turns = [], []
    for mooring in described:
        body = system.body(mooring.body.body)
        R = body.rotation_matrix
        places.append(np.array(body.position) + R @ np.array(body.reference))
        turns.append(R)
    return LinearMoorings(
        np.array([dense(getattr(m, "stiffness", ())) for m in described]).reshape(-1, 6, 6),
        np.array([dense(m.damping) for m in described]).reshape(-1, 6, 6),
        np.array([six(getattr(m, "pretension", ())) for m in described]).reshape(-1, 6),
        Pose(np.array(places).reshape(-1, 3), np.array(turns).reshape(-1, 3, 3)),
        tuple(_body(layout, m.body) for m in described),
        tuple(m.name for m in described),
    )


def _applied_forces(system: System, layout: Layout) -> AppliedForces | None:
    described = [f for f in system.forces if isinstance(f, AppliedForce)]
    if not described:
        return None
    result = tuple(_applied(system, layout, f) for f in described)
    return AppliedForces(result, tuple(f.name for f in described))


def _applied(system: System, layout: Layout, force: AppliedForce) -> Applied:
    signals = [*(force.force or (0.0,) * 3), *(force.torque or (0.0,) * 3)]
    return Applied(
        local_point(system, force.point),
        tuple(compile_signal(s) for s in signals),
        _body(layout, force.point),
        force.axes == "body",
        resolve(force.function) if force.function is not None else None,
    )


def _controllers(system: System, layout: Layout, strokes: StrokeForces) -> Controllers | None:
    if not system.controllers:
        return None
    return Controllers(tuple(_controller(system, layout, strokes, c) for c in system.controllers))


def _controller(
    system: System, layout: Layout, strokes: StrokeForces, controller: AnyController
) -> CompiledController:
    measures = tuple(_measure(layout, strokes, controller, text) for text in controller.measures)
    of_bodies = any(quantity == "body" for quantity, *_ in measures)
    drives = tuple(strokes.names.index(name) for name in controller.drives)
    zero = described_pose(system, layout) if of_bodies else None
    if isinstance(controller, Fmu):
        law, hidden = fmu_law(controller)
        names = (*controller.reports, *(f"state_{k}" for k in range(hidden)))
        return CompiledController(
            law,
            measures,
            drives,
            name=str(controller.name),
            states=names,
            hidden=hidden,
            start=(np.zeros(()),) * len(names),
            sample_time=np.array(controller.sample_time),
            zero=zero,
        )
    assert isinstance(controller, Controller)
    gains = tuple(name for name, _ in controller.gains)
    names, count = tuple(controller.states), len(measures) + len(gains) + len(controller.states)
    size = len(drives) + len(names)
    law, surfaces, n_surfaces = resolve(controller.law), None, 0
    if controller.surfaces is not None:
        surfaces = resolve(controller.surfaces)
        if names:
            surfaces = LawOfStates(surfaces, gains, names, 0, controller.name, is_surface=True)
        elif gains:
            surfaces = LawOfGains(surfaces, gains)
        n_surfaces = count_surfaces(controller.name, surfaces, count)
    if names:
        law = LawOfStates(law, gains, names, len(drives), controller.name)
    elif gains:
        law = LawOfGains(law, gains)
    start, every = dict(controller.start), controller.sample_time
    first = [start.get(name, 0.0) for name in names]
    if controller.plain:
        rest = [*dict(controller.gains).values(), *first]
        law = PlainLaw(law, size, controller.name).rehearsed(len(measures), rest)
    else:
        check_law(controller.name, law, count, size)
    return CompiledController(
        law,
        measures,
        drives,
        tuple(np.array(value) for _, value in controller.gains),
        controller.name,
        names,
        start=tuple(map(np.array, first)),
        sample_time=None if every is None else np.array(every),
        surfaces=surfaces,
        n_surfaces=n_surfaces,
        zero=zero,
    )


def _measure(
    layout: Layout, strokes: StrokeForces, controller: AnyController, text: str
) -> tuple[str, int, bool]:
    item, quantity, is_rate = parse_measure(text)
    if quantity == "force" and strokes.law_of(strokes.names.index(item))[0].sticks:
        raise controller.fail(
            f"measure '{text}': while '{item}' sticks, its force follows from all others, and no "
            f"law can know it before. Measure '{item}.stroke' or '{item}.rate'."
        )
    if quantity in ("stroke", "length", "force"):
        return quantity, strokes.names.index(item), is_rate
    if quantity == "rate":
        return "stroke", strokes.names.index(item), True
    if item in layout.bodies:
        return "body", 6 * layout.bodies.index(item) + DOFS.index(quantity), is_rate
    k = layout.dof_number(item, quantity)
    if layout.dofs[k].free_turn and not is_rate:
        raise controller.fail(
            f"measure '{text}': joint '{item}' turns freely and has no angle {quantity}. "
            f"Measure '{text}.rate'."
        )
    return "coordinate", k, is_rate
