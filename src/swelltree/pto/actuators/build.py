"""From described springs, joint forces and power take-offs to forces on strokes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.describe import JointForce, SpringDamper, System
from swelltree.describe.forces.elements import OnJoint
from swelltree.describe.pto import Pto
from swelltree.model.signals import compile_signal
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout
from swelltree.pto.actuators.actuators import Ends, Stops, Strokes
from swelltree.pto.actuators.forces import LIMITLESS, StrokeForces
from swelltree.pto.laws.base import Damper, FrictionDamper, Generator, Law, make_own_law
from swelltree.pto.laws.hydraulic import Hydraulic, Rectifier
from swelltree.pto.laws.switching import NEVER, Declutching, Latching, Sticking

if TYPE_CHECKING:
    from swelltree.describe.bodies.body import Point
    from swelltree.describe.forces.elements import Force
    from swelltree.describe.pto import (
        DirectDrivePto,
        HydraulicPto,
        MechanicalRectifierPto,
        OwnLaw,
    )

Element = SpringDamper | JointForce | Pto
Maker = Callable[[list[Any], set[str]], Law]  # elements, names of those that are driven


def law_of(item: Force) -> Maker:
    """Constructor of the law of an element."""
    if getattr(item, "stick", False):
        return _sticking
    return _friction if isinstance(item, JointForce) and item.friction else LAWS[item.type]


def role_of(item: Force) -> str:
    """Kind of description of an element."""
    if isinstance(item, SpringDamper):
        return "spring"
    return "joint_force" if isinstance(item, JointForce) else "pto"


def build_stroke_forces(system: System, layout: Layout) -> StrokeForces | None:
    roles = (SpringDamper, JointForce)
    items = [item for role in roles for item in system.forces if isinstance(item, role)]
    order: tuple[Maker, ...] = (*dict.fromkeys(LAWS.values()), _sticking)
    items = sorted([*items, *system.ptos], key=lambda item: order.index(law_of(item)))
    if not items:
        return None
    for item in items:
        _check_angle(system, layout, item)
    driven = {name for controller in system.controllers for name in controller.drives}
    laws, counts = [], []
    for make in order:
        group = [item for item in items if law_of(item) is make]
        # maps of generators may differ in size and laws of users in class: each stands alone
        alone = make in (_generator, _own_law)
        for part in [[item] for item in group] if alone else [group]:
            if part:
                laws.append(make(part, driven))
                counts.append(len(part))
    signals = [getattr(item, "force", None) for item in items]
    force_limit = column(items, "force_limit", LIMITLESS)
    power_limit = column(items, "power_limit", LIMITLESS)
    lower, upper = column(items, "lower", -np.inf), column(items, "upper", np.inf)
    dofs = [_dof(system, layout, x) for x in items]
    return StrokeForces(
        strokes=_strokes(system, layout, items),
        stiffness=column(items, "stiffness"),
        neutral=column(items, "rest_position"),
        stops=Stops(
            lower,
            upper,
            column(items, "stop_stiffness"),
            column(items, "stop_damping"),
            column(items, "stop_ramp", 0.01),
        ),
        force_limit=force_limit,
        power_limit=power_limit,
        signals=tuple(None if s is None else compile_signal(s) for s in signals),
        laws=tuple(laws),
        counts=tuple(counts),
        names=tuple(item.name for item in items),
        roles=tuple(role_of(item) for item in items),
        ptos=tuple(items.index(pto) for pto in system.ptos),
        turns=tuple(dof is not None and layout.dofs[dof].turns for dof in dofs),
        tension_only=tuple(getattr(item, "tension_only", False) for item in items),
        limited=bool((np.minimum(force_limit, power_limit) < LIMITLESS).any()),
        stopped=bool(np.isfinite([*lower, *upper]).any()),
        watches_hold=any(law.watches_hold for law in laws)
        or any(
            getattr(item, "release_force", None) is not None or law_of(item) is _sticking
            for item in items
        ),
    )


def column(items: Sequence[object], name: str, missing: float = 0.0) -> np.ndarray:
    values = [getattr(item, name, None) for item in items]
    return np.array([missing if x is None else x for x in values], dtype=float)


def _dof(system: System, layout: Layout, item: Element) -> int | None:
    """Coordinate of an element, None between points."""
    if not isinstance(item, OnJoint) or item.joint is None:
        return None
    return layout.dof_number(item.joint, system.dof_of(item))


def _check_angle(system: System, layout: Layout, item: Element) -> None:
    number = _dof(system, layout, item)
    if number is None or isinstance(item, SpringDamper):
        return
    dof = layout.dofs[number]
    if dof.free_turn and (item.stiffness or item.stop_stiffness):
        raise item.fail(
            f"joint '{item.joint}' turns freely, so {dof.label} has no angle for a spring or stop. "
            "Use a hinge or universal joint, or act between points."
        )


def _rest(system: System, item: Element) -> float:
    """Length or coordinate at stroke zero; for a joint force the coordinate itself."""
    specified = getattr(item, "rest_length" if isinstance(item, SpringDamper) else "rest", None)
    if specified is not None or isinstance(item, JointForce) or item.a is None:
        return specified or 0.0
    return float(np.linalg.norm(system.world_point(item.b) - system.world_point(item.a)))


def _strokes(system: System, layout: Layout, items: list[Element]) -> Strokes:
    numbers = [_dof(system, layout, item) for item in items]
    on_joints = [x for x, dof in zip(items, numbers, strict=True) if dof is not None]
    pairs = zip(items, numbers, strict=True)
    between = [x for x, dof in pairs if dof is None and not isinstance(x, JointForce)]
    known = [id(item) for item in (*between, *on_joints)]

    def body(point: Point) -> int:
        return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)

    def places(points: list[Point]) -> np.ndarray:
        return np.array([local_point(system, p) for p in points], dtype=float).reshape(-1, 3)

    ends = Ends(
        places([item.a for item in between]),
        places([item.b for item in between]),
        tuple(body(item.a) for item in between),
        tuple(body(item.b) for item in between),
    )
    return Strokes(
        ends,
        np.array([_rest(system, item) for item in items], dtype=float),
        tuple(dof for dof in numbers if dof is not None),
        tuple(known.index(id(item)) for item in items),
    )


# --- one maker for each law ------------------------------------------------------------------
def _damper(group: list[Force], _: set[str]) -> Law:
    return Damper(column(group, "damping"), column(group, "efficiency", 1.0))


def _friction(group: list[Force], _: set[str]) -> Law:
    force = column(group, "friction") + column(group, "pressure") * column(group, "piston_area")
    smoothing = [
        getattr(pto, "friction_velocity", getattr(pto, "smoothing_velocity", 1.0)) for pto in group
    ]
    efficiency = column(group, "efficiency", 1.0)
    return FrictionDamper(column(group, "damping"), force, np.array(smoothing), efficiency)


def _sticking(group: Sequence[Force], _: set[str]) -> Law:
    friction, static = column(group, "friction"), column(group, "static_friction")
    efficiency = column(group, "efficiency", 1.0)
    return Sticking(column(group, "damping"), friction, static, efficiency)


def _hydraulic(group: list[HydraulicPto], _: set[str]) -> Law:
    begin = np.array([pto.begin for pto in group])
    precharge, volume, gamma = (column(group, x) for x in ("precharge", "gas_volume", "gamma"))
    return Hydraulic(
        column(group, "piston_area"),
        precharge,
        volume,
        volume * (1.0 - (precharge / begin) ** (1.0 / gamma)),
        column(group, "low_pressure"),
        column(group, "low_gas_volume", LIMITLESS),
        volume,  # as much oil as could fill the high side
        gamma,
        column(group, "motor_flow"),
        column(group, "motor_gain"),
        column(group, "efficiency"),
        column(group, "valve_resistance"),
        column(group, "smoothing_velocity"),
    )


def _generator(group: list[DirectDrivePto], _: set[str]) -> Law:
    (pto,) = group
    table = np.array(pto.map_efficiency or [[pto.efficiency] * 2] * 2, dtype=float)
    copper = pto.resistance / (pto.force_constant or 1.0) ** 2
    return Generator(
        column(group, "damping"),
        np.array([copper]),
        np.array(pto.map_force or (0.0, 1.0), dtype=float),
        np.array(pto.map_speed or (0.0, 1.0), dtype=float),
        table,
    )


def _rectifier(group: list[MechanicalRectifierPto], _: set[str]) -> Law:
    clutch = [
        100.0 * pto.generator_damping if pto.clutch_damping is None else pto.clutch_damping
        for pto in group
    ]
    return Rectifier(
        column(group, "ratio"),
        column(group, "inertia"),
        column(group, "generator_damping"),
        np.array(clutch, dtype=float),
        column(group, "both_ways"),
        column(group, "start_speed"),
        column(group, "friction"),
        column(group, "efficiency"),
    )


def _switching(law: Callable[..., Law], time: str) -> Callable[[list[Force], set[str]], Law]:
    def make(group: list[Force], driven: set[str]) -> Law:
        return law(
            column(group, "damping"),
            column(group, "friction"),
            column(group, "friction_velocity", 1.0),
            column(group, "efficiency"),
            column(group, time, NEVER),
            column(group, "release_force", NEVER),
            column(group, "rearm"),
            np.array([pto.name in driven for pto in group], dtype=float),
        )

    return make


def _own_law(group: list[OwnLaw], _: set[str]) -> Law:
    return make_own_law(group)


_latching = _switching(Latching, "release_after")
_declutching = _switching(Declutching, "off_for")
# the law of each type; elements of one law stand together
LAWS: dict[str, Maker] = {
    "spring_damper": _damper,
    "joint_force": _damper,
    "linear": _damper,
    "coulomb": _friction,
    "end_stops": _damper,
    "constant_pressure": _friction,
    "hydraulic": _hydraulic,
    "direct_drive": _generator,
    "mechanical_rectifier": _rectifier,
    "latching": _latching,
    "declutching": _declutching,
    "own_law": _own_law,
}
