"""Constraints and power take-offs as joints and PTOs of a case file."""

from __future__ import annotations

import math

import numpy as np

from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.bodies import plain
from swelltree.interop.wecsim.findings import Findings
from swelltree.interop.wecsim.hydro_data import plain_name
from swelltree.interop.wecsim.network import POSE_TOL, REST, Start, Tie, coordinates

# DOFs of each joint: WEC-Sim slides along z and turns about y of the joint's axes
DOFS = {
    "weld": (),
    "slider": ("Heave",),
    "hinge": ("Pitch",),
    "ball": ("Roll", "Pitch", "Yaw"),
    "universal": ("Roll", "Pitch"),
    "planar": ("Surge", "Heave", "Pitch"),
    "cylindrical": ("Heave", "Yaw"),
    "free": ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"),
}


class Names:
    """Gives every item of a system a name of its own."""

    def __init__(self, used: list[str]) -> None:
        self.used = {*used, WORLD_NAME}

    def new(self, wish: str) -> str:
        """A name like the wish that nothing else has."""
        name, k = wish, 2
        while name in self.used:
            name, k = f"{wish}_{k}", k + 1
        self.used.add(name)
        return name


def end(carrier: str, point: np.ndarray) -> str | NamedValues:
    """A point of a body or the world; all frames are that of the world at rest."""
    return carrier if not point.any() else {"body": carrier, "position": plain(point)}


def axes_of(specified: Assignments) -> np.ndarray:
    """Axes of a joint as columns, from its z and y."""
    z = np.array(specified.numbers("orientation.z", 3, default=[0.0, 0.0, 1.0]))
    y = np.array(specified.numbers("orientation.y", 3, default=[0.0, 1.0, 0.0]))
    specified.raw("orientation.x")
    specified.raw("orientation.rotationMatrix")
    sizes = np.linalg.norm(z), np.linalg.norm(y)
    if not min(sizes) > 0 or abs(z @ y) > 1e-3 * sizes[0] * sizes[1]:
        specified.refuse("orientation.z", "and orientation.y are not at right angles")
        return np.eye(3)
    z, y = z / sizes[0], y / sizes[1]
    x = np.cross(y, z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def joint_table(
    tie: Tie, specified: Assignments, name: str, starts: dict[str, Start], findings: Findings
) -> tuple[NamedValues, dict[str, float]]:
    """The joint of a constraint or PTO, and its coordinates in the start."""
    point = np.array(specified.numbers("location", 3, default=[0.0, 0.0, 0.0]))
    if not specified.has("location"):
        findings.comment("joints", name, f"{specified.label}.location is not given; the origin.")
    axes = axes_of(specified)
    table: NamedValues = {
        "type": tie.joint,
        "name": name,
        "base": end(tie.base, point),
        "follower": end(tie.follower, point),
    }
    if tie.joint == "cylindrical":
        table["axis"] = "z"
    if tie.joint != "weld" and np.abs(axes - np.eye(3)).max() > 1e-12:
        table["orientation"] = [plain(row) for row in axes]
    begin = [starts.get(carrier, REST) for carrier in (tie.base, tie.follower)]
    position, misfit = coordinates(begin[0], begin[1], point, axes, DOFS[tie.joint])
    if misfit > POSE_TOL:
        findings.leave(
            specified.place(),
            f"{specified.label}: the bodies begin {misfit:.3g} (m, rad) off what the joint "
            f"'{tie.block.name}' allows; that part of their displacement is left out.",
        )
    if position:
        table["position"] = position
    moved = specified.numbers("initial.displacement", 3, default=[0.0, 0.0, 0.0])
    if any(moved):
        findings.comment(
            "joints",
            name,
            f"{specified.label}.initial.displacement follows from that of the bodies.",
        )
    specified.raw("setInitDisp")
    return table, position


def stops_of(specified: Assignments, turns: bool) -> NamedValues:
    """End stops: bounds, stiffness and damping; those of hinges are in degrees."""
    unit = math.pi / 180.0 if turns else 1.0
    result: NamedValues = {}
    sides = {}
    for side in ("lower", "upper"):
        head = f"hardStops.{side}Limit"
        default = -1.0 if side == "lower" else 1.0
        values = {
            "bound": specified.number(f"{head}Bound", default) * unit,
            "stiffness": specified.number(f"{head}Stiffness", 1e6) / unit,
            "damping": specified.number(f"{head}Damping", 1e3) / unit,
            "ramp": specified.number(
                f"{head}TransitionRegionWidth", specified.number(f"{head}TransitionRegion", 1e-4)
            )
            * unit,
        }
        if specified.is_on(f"{head}Specify"):
            sides[side] = values
            result[side] = values["bound"]
    if not sides:
        return {}
    first = sides.get("upper") or sides["lower"]
    other = sides.get("lower", first)
    if any(first[key] != other[key] for key in ("stiffness", "damping")):
        specified.leave(
            "hardStops.lowerLimitStiffness", "both stops take the values of the upper one."
        )
    if first["ramp"] > 1e-3:
        specified.leave(
            "hardStops.upperLimitTransitionRegion",
            f"the stop's spring sets in at once here, not over {first['ramp']:g} m or rad.",
        )
    result["stop_stiffness"] = first["stiffness"]
    if first["damping"]:
        result["stop_damping"] = first["damping"]
        result["stop_ramp"] = max(first["ramp"], 1e-6)
    return result


def pto_table(
    tie: Tie,
    specified: Assignments,
    name: str,
    joint: str,
    start: dict[str, float],
    findings: Findings,
) -> NamedValues:
    """The spring, damper and stops of a power take-off on its joint."""
    turns = tie.joint != "slider"
    stiffness = specified.first("stiffness", 0.0)
    unit = math.pi / 180.0 if turns else 1.0
    rest = specified.number("equilibriumPosition", 0.0) * unit
    pull = specified.number("pretension", 0.0)
    if pull and not rest:
        rest = -pull / stiffness if stiffness else 0.0
        if not stiffness:
            specified.leave("pretension", "without stiffness it does nothing in WEC-Sim either.")
    dofs = DOFS[tie.joint]
    table: NamedValues = {"type": "linear", "name": name, "joint": joint}
    if len(dofs) > 1:
        table["dof"] = "Pitch" if "Pitch" in dofs else dofs[0]
        specified.leave("damping", f"of a joint with {len(dofs)} DOFs acts on {table['dof']} only.")
    table["damping"] = specified.first("damping", 0.0)
    if stiffness:
        table["stiffness"] = stiffness
    stops = stops_of(specified, turns)
    # WEC-Sim counts the stroke from where the bodies begin
    begin = start.get(dofs[-1] if len(dofs) == 1 else table.get("dof", ""), 0.0)
    if (stiffness or stops) and begin + rest:
        table["rest"] = begin + rest
    for side in ("lower", "upper"):
        if side in stops:
            stops[side] -= rest
    return table | stops


def constraint_stops(
    tie: Tie, specified: Assignments, name: str, joint: str, findings: Findings
) -> NamedValues | None:
    """End stops of a constraint as a force on its joint."""
    stops = stops_of(specified, tie.joint != "slider")
    if not stops:
        return None
    if len(DOFS[tie.joint]) != 1:
        specified.leave("hardStops.upperLimitSpecify", "stops of several DOFs are not translated.")
        return None
    return {"type": "joint_force", "name": name, "joint": joint, **stops}


def pto_name(specified: Assignments, number: int) -> str:
    """Name of a constraint or PTO."""
    return plain_name(specified.first_text()) or f"{specified.kind}{number}"
