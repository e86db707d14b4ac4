"""From described power take-offs to the group of machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.describe_layout import local_point
from swelltree.model.forces.laws.base import Law
from swelltree.model.forces.laws.damper import Damper
from swelltree.model.forces.laws.generator import Generator
from swelltree.model.forces.laws.hydraulic import Hydraulic
from swelltree.model.forces.laws.rectifier import Rectifier
from swelltree.model.forces.laws.switching import NEVER, Declutching, Latching
from swelltree.model.forces.ptos import Ptos
from swelltree.model.forces.springs import Springs
from swelltree.model.forces.stops import Stops
from swelltree.model.forces.strokes import Strokes
from swelltree.model.layout import Layout
from swelltree.model.signals import compile_signal
from swelltree.system import Pto, System

NONE = 1e30  # a limit that is not there; finite, for the sake of derivatives
# the law of each type; machines of one law stand together
LAWS = {
    "linear": "damper",
    "coulomb": "damper",
    "end_stops": "damper",
    "constant_pressure": "damper",
    "hydraulic": "hydraulic",
    "direct_drive": "generator",
    "mechanical_rectifier": "rectifier",
    "latching": "latching",
    "declutching": "declutching",
}
ORDER = tuple(dict.fromkeys(LAWS.values()))


def build_ptos(system: System, layout: Layout) -> Ptos | None:
    """The group of all PTOs that are more than a simple force element."""
    machines = sorted(system.machines, key=lambda pto: ORDER.index(LAWS[pto.type]))
    if not machines:
        return None
    for pto in machines:
        _check_angle(system, layout, pto)
    driven = {name for controller in system.controllers for name in controller.drives}
    laws, counts = [], []
    for kind in ORDER:
        own = [pto for pto in machines if LAWS[pto.type] == kind]
        # maps of generators may differ in size, so each is a law of its own
        for part in [[pto] for pto in own] if kind == "generator" else [own]:
            if part:
                laws.append(MAKERS[kind](part, driven))
                counts.append(len(part))
    signals = [getattr(pto, "force", None) for pto in machines]
    return Ptos(
        strokes=_strokes(system, layout, machines),
        stiffness=column(machines, "stiffness"),
        stops=Stops(
            column(machines, "lower", -np.inf),
            column(machines, "upper", np.inf),
            column(machines, "stop_stiffness"),
            column(machines, "stop_damping"),
            column(machines, "stop_ramp"),
        ),
        force_limit=column(machines, "force_limit", NONE),
        power_limit=column(machines, "power_limit", NONE),
        signals=tuple(None if s is None else compile_signal(s) for s in signals),
        laws=tuple(laws),
        counts=tuple(counts),
        names=tuple(pto.name for pto in machines),
        turns=tuple(
            pto.joint is not None and layout.dofs[_dof(system, layout, pto)].turns
            for pto in machines
        ),
        watches_hold=any(getattr(pto, "release_force", None) is not None for pto in machines),
    )


def column(items: list[Any], name: str, missing: float = 0.0) -> np.ndarray:
    """One number of every item."""
    values = [getattr(item, name, None) for item in items]
    return np.array([missing if x is None else x for x in values], dtype=float)


def _dof(system: System, layout: Layout, pto: Pto) -> int:
    return layout.dof_number(pto.joint, system.dof_of(pto))


def _check_angle(system: System, layout: Layout, pto: Pto) -> None:
    if pto.joint is None:
        return
    dof = layout.dofs[_dof(system, layout, pto)]
    if dof.free_turn and (pto.stiffness or pto.stop_stiffness):
        raise pto.fail(
            f"joint '{pto.joint}' turns freely, so {dof.label} has no angle for a spring or stop. "
            "Use a hinge or universal joint, or act between points."
        )


def _strokes(system: System, layout: Layout, machines: list[Any]) -> Strokes:
    between = [pto for pto in machines if pto.joint is None]
    on_joints = [pto for pto in machines if pto.joint is not None]
    known = [*between, *on_joints]

    def body(point: Any) -> int:
        return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)

    def rest(pto: Any) -> float:
        if pto.rest is not None or pto.joint is not None:
            return pto.rest or 0.0
        return float(np.linalg.norm(system.world_point(pto.b) - system.world_point(pto.a)))

    def places(points: list[Any]) -> np.ndarray:
        return np.array([local_point(system, p) for p in points], dtype=float).reshape(-1, 3)

    none = np.zeros(len(between))
    springs = Springs(
        places([pto.a for pto in between]),
        places([pto.b for pto in between]),
        none,
        none,
        none,
        tuple(body(pto.a) for pto in between),
        tuple(body(pto.b) for pto in between),
        (False,) * len(between),
    )
    return Strokes(
        springs,
        np.array([rest(pto) for pto in machines], dtype=float),
        tuple(_dof(system, layout, pto) for pto in on_joints),
        tuple(known.index(pto) for pto in machines),
    )


# --- one maker for each law ------------------------------------------------------------------
def _damper(own: list[Any], _: set[str]) -> Law:
    force = column(own, "friction") + column(own, "pressure") * column(own, "piston_area")
    smoothing = [
        getattr(pto, "friction_velocity", getattr(pto, "smoothing_velocity", 1.0)) for pto in own
    ]
    return Damper(column(own, "damping"), force, np.array(smoothing), column(own, "efficiency"))


def _hydraulic(own: list[Any], _: set[str]) -> Law:
    begin = np.array([pto.begin for pto in own])
    precharge, volume, gamma = (column(own, x) for x in ("precharge", "gas_volume", "gamma"))
    return Hydraulic(
        column(own, "piston_area"),
        precharge,
        volume,
        volume * (1.0 - (precharge / begin) ** (1.0 / gamma)),
        column(own, "low_pressure"),
        column(own, "low_gas_volume", NONE),
        volume,  # as much oil as could fill the high side
        gamma,
        column(own, "motor_flow"),
        column(own, "motor_gain"),
        column(own, "efficiency"),
        column(own, "valve_resistance"),
        column(own, "smoothing_velocity"),
    )


def _generator(own: list[Any], _: set[str]) -> Law:
    (pto,) = own
    table = np.array(pto.map_efficiency or [[pto.efficiency] * 2] * 2, dtype=float)
    copper = pto.resistance / (pto.force_constant or 1.0) ** 2
    return Generator(
        column(own, "damping"),
        np.array([copper]),
        np.array(pto.map_force or (0.0, 1.0), dtype=float),
        np.array(pto.map_speed or (0.0, 1.0), dtype=float),
        table,
    )


def _rectifier(own: list[Any], _: set[str]) -> Law:
    clutch = [
        100.0 * pto.generator_damping if pto.clutch_damping is None else pto.clutch_damping
        for pto in own
    ]
    return Rectifier(
        column(own, "ratio"),
        column(own, "inertia"),
        column(own, "generator_damping"),
        np.array(clutch, dtype=float),
        column(own, "both_ways"),
        column(own, "start_speed"),
        column(own, "friction"),
        column(own, "efficiency"),
    )


def _switching(law: Any, time: str) -> Any:
    def make(own: list[Any], driven: set[str]) -> Law:
        return law(
            column(own, "damping"),
            column(own, "friction"),
            column(own, "friction_velocity", 1.0),
            column(own, "efficiency"),
            column(own, time, NEVER),
            column(own, "release_force", NEVER),
            column(own, "rearm"),
            np.array([pto.name in driven for pto in own], dtype=float),
        )

    return make


MAKERS: dict[str, Any] = {
    "damper": _damper,
    "hydraulic": _hydraulic,
    "generator": _generator,
    "rectifier": _rectifier,
    "latching": _switching(Latching, "release_after"),
    "declutching": _switching(Declutching, "off_for"),
}
