"""What a model joins: frames that are the world, a body or neither, and the joints between them.

A fixed constraint with nothing but other joints on one side makes two frames one. A frame that
still has no body, between two joints in a row, gets a body without mass. Constraints and power
take-offs become joints and PTOs of a case file.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from swelltree.describe.topology import WORLD_NAME, Groups
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments, Findings, plain, plain_name
from swelltree.interop.wecsim.diagram import Block, Diagram
from swelltree.interop.wecsim.values import Value

# joints of WEC-Sim's libraries, and the joint that leaves the same DOFs
JOINTS: dict[str, str] = {
    "fixed": "weld",
    "translational": "slider",
    "rotational": "hinge",
    "hinge": "hinge",
    "spherical": "ball",
    "gimbal": "ball",
    "universal": "universal",
    "floating": "planar",
    "floating (3dof)": "planar",
    "floating (6dof)": "free",
    "translational pto": "slider",
    "rotational pto": "hinge",
    "spherical pto": "ball",
    "rotational-translational pto": "cylindrical",
    "translational-rotational pto": "cylindrical",
    "translational pto actuation force": "slider",
    "translational pto actuation motion": "slider",
    "rotational pto actuation torque": "hinge",
    "rotational pto actuation force": "hinge",
    "rotational pto actuation motion": "hinge",
}
BODY_BLOCKS = ("rigid body", "drag body", "body", "nonhydro body", "flex body", "flexible body")
SLIDES, TURNS = ("Surge", "Sway", "Heave"), ("Roll", "Pitch", "Yaw")
# DOFs of each joint: WEC-Sim slides along z and turns about y of the joint's axes
DOFS = {
    "weld": (),
    "slider": ("Heave",),
    "hinge": ("Pitch",),
    "ball": TURNS,
    "universal": ("Roll", "Pitch"),
    "planar": ("Surge", "Heave", "Pitch"),
    "cylindrical": ("Heave", "Yaw"),
    "free": SLIDES + TURNS,
}
POSE_TOL = 1e-6  # m, rad


class Tie(NamedTuple):
    """A joint of the model: a constraint or a power take-off between two carriers.

    Args:
        block: of the model.
        kind: "constraint" or "pto".
        number: of the object in the script.
        joint: type of the joint here.
        base: name of what its base is on.
        follower: likewise.
    """

    block: Block
    kind: str
    number: int
    joint: str
    base: str
    follower: str


@dataclass
class Network:
    """Bodies and joints of a model.

    Args:
        frames: frames of the diagram, those that are one as a group.
        carriers: what each frame is on: "world" or a name of a body.
        ties: constraints and PTOs.
        welds: pairs of bodies on one frame.
        massless: bodies that only stand between two joints.
        merged: fixed constraints that made one frame of two, as kind and number.
    """

    frames: Groups
    carriers: dict[str, str] = field(default_factory=dict)
    ties: list[Tie] = field(default_factory=list)
    welds: list[tuple[str, str]] = field(default_factory=list)
    massless: list[str] = field(default_factory=list)
    merged: list[tuple[str, int]] = field(default_factory=list)

    def carrier(self, frame: str) -> str | None:
        return self.carriers.get(self.frames.top(frame))


def object_number(block: Block, kind: str) -> int | None:
    """Number of the object of a block: 2 for body(2)."""
    text = block.values.get(kind, f"{kind}(1)")
    match = re.fullmatch(rf"{kind}(?:\((\d{{1,6}})\))?", text.replace(" ", ""))
    return None if match is None else int(match[1] or 1)


def body_blocks(diagram: Diagram) -> dict[int, Block]:
    """The blocks of the bodies by their number in the script."""
    result: dict[int, Block] = {}
    for block in diagram.blocks.values():
        number = object_number(block, "body") if block.library == "body elements" else None
        if number is not None and block.word in BODY_BLOCKS:
            result.setdefault(number, block)
    return result


def network_of(diagram: Diagram, names: dict[int, str], findings: Findings) -> Network:
    """Bodies and joints of a diagram.

    Args:
        diagram: of the model.
        names: of the bodies by number.
        findings: takes blocks that have no counterpart.
    """
    frames = Groups(set(diagram.frames.values()) | {WORLD_NAME})
    on: dict[str, list[str]] = {}
    for block in diagram.blocks.values():
        if block.library == "frames" and block.word == "global reference frame":
            for frame in diagram.frames_of(block):
                frames.join(frame, WORLD_NAME)
    for number, block in body_blocks(diagram).items():
        if number in names:
            frame = next(iter(diagram.frames_of(block)), f"{block.sid}#alone")
            if frame not in frames.above:
                frames.add(frame)
            on.setdefault(frame, []).append(names[number])
    joints = [block for block in diagram.blocks.values() if _joint_kind(block)]
    while _merge_fixed(diagram, frames, joints, {*on, WORLD_NAME}):
        pass
    network = Network(frames, {frames.top(WORLD_NAME): WORLD_NAME})
    for frame, bodies in on.items():
        for body in bodies:
            carrier = network.carriers.setdefault(frames.top(frame), body)
            if carrier != body:
                network.welds.append((carrier, body))
    for block in joints:
        _add_tie(network, diagram, block, findings)
    return network


def _joint_kind(block: Block) -> str:
    return {"constraints": "constraint", "ptos": "pto"}.get(block.library, "")


def _merge_fixed(diagram: Diagram, frames: Groups, joints: list[Block], carried: set[str]) -> bool:
    """Merge two frames joined by a fixed constraint without a body."""
    used = {frames.top(frame) for frame in carried}
    for block in joints:
        ends = diagram.ends(block)
        if JOINTS.get(block.word) == "weld" and None not in ends:
            a, b = (frames.top(str(end)) for end in ends)
            if a != b and not {a, b} <= used:
                return frames.join(a, b)
    return False


def _add_tie(network: Network, diagram: Diagram, block: Block, findings: Findings) -> None:
    place = diagram.place(block)
    kind = _joint_kind(block)
    number = object_number(block, kind)
    ends = diagram.ends(block)
    if block.word not in JOINTS or number is None:
        findings.leave(place, f"a {kind} of the kind '{block.word}' has no counterpart.")
        return
    if None in ends:
        findings.leave(place, "one of its sides is joined to nothing; it is left out.")
        return
    tops = [network.frames.top(str(end)) for end in ends]
    if tops[0] == tops[1]:
        network.merged.append((kind, number))  # it made one frame of two
        return
    for top in tops:
        if top not in network.carriers:
            network.carriers[top] = f"frame{len(network.massless) + 1}"
            network.massless.append(network.carriers[top])
    base, follower = (network.carriers[top] for top in tops)
    network.ties.append(Tie(block, kind, number, JOINTS[block.word], base, follower))


# --- Where bodies begin: displaced and turned from where they are described


class Start(NamedTuple):
    """x_world = R x + t for points x of the frame of a body."""

    R: np.ndarray
    t: np.ndarray

    @property
    def is_rest(self) -> bool:
        return bool(np.abs(self.R - np.eye(3)).max() < 1e-12 and np.abs(self.t).max() < 1e-12)

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Displacement of a point and rotation vector, (6,)."""
        return np.concatenate([self.R @ point + self.t - point, _rotation_vector(self.R)])


REST = Start(np.eye(3), np.zeros(3))


def _rotation_vector(R: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def _turn_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about an axis; identity for a zero axis."""
    from scipy.spatial.transform import Rotation

    size = np.linalg.norm(axis)
    return Rotation.from_rotvec(angle * axis / size).as_matrix() if size > 0 else np.eye(3)


def start_of(body: Assignments, center: np.ndarray | None) -> Start:
    """How a body begins.

    Args:
        body: of the script, with `initial` or a call of setInitDisp.
        center: of gravity, None where it is not known; then it is taken at the origin.
    """
    c = np.zeros(3) if center is None else center
    d = body.vector("initial.displacement")
    axis = body.vector("initial.axis", (0.0, 1.0, 0.0))
    R = _turn_about(axis, body.number("initial.angle"))
    called = body.raw("setInitDisp")
    if isinstance(called, list):
        R, d = _called(body, called, c) or (R, d)
    return Start(R, d + (c - R @ c))


def _called(
    body: Assignments, values: list[Value], c: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Turn and displacement by setInitDisp(relCoord, [axis angle; ...], displacement).

    Scripts before version 4.2 call setInitDisp(point, axis, angle, displacement).
    """
    rows = [np.asarray(x) for x in values if isinstance(x, np.ndarray) and np.isfinite(x).all()]
    sizes = [x.size for x in rows]
    R = np.eye(3)
    if len(rows) == len(values) == 3 and rows[1].shape[1] == 4 and sizes[::2] == [3, 3]:
        for row in rows[1]:
            R = _turn_about(row[:3], float(row[3])) @ R
        arm = rows[0].reshape(3)
    elif len(rows) == len(values) == 4 and sizes == [3, 3, 1, 3]:
        R = _turn_about(rows[1].reshape(3), float(rows[2][0, 0]))
        arm = c - rows[0].reshape(3)
    else:
        body.refuse("setInitDisp", "has arguments that are not understood")
        return None
    return R, R @ arm - arm + rows[-1].reshape(3)


def coordinates(
    base: Start, follower: Start, point: np.ndarray, axes: np.ndarray, dofs: tuple[str, ...]
) -> tuple[dict[str, float], float]:
    """Coordinates of a joint in the start, and how far the start is from what the joint allows.

    Args:
        base: start of its base.
        follower: start of its follower.
        point: where the joint is at rest.
        axes: of the joint, as columns.
        dofs: that it leaves, by name.
    """
    frame = base.R @ axes
    slides = frame.T @ (follower.R @ point + follower.t - base.R @ point - base.t)
    Q = frame.T @ follower.R @ axes
    turns = _rotation_vector(Q)
    if set(TURNS) <= set(dofs):  # roll, pitch and yaw, intrinsic z-y-x
        pitch = np.arcsin(np.clip(-Q[2, 0], -1.0, 1.0))
        turns = [np.arctan2(Q[2, 1], Q[2, 2]), pitch, np.arctan2(Q[1, 0], Q[0, 0])]
    elif len(set(TURNS) & set(dofs)) == 2:
        dofs = tuple(dof for dof in dofs if dof in SLIDES)
    values = dict(zip(SLIDES + TURNS, map(float, [*slides, *turns]), strict=True))
    misfit = max([abs(value) for dof, value in values.items() if dof not in dofs], default=0.0)
    return {dof: values[dof] for dof in dofs if abs(values[dof]) > 1e-12}, misfit


# --- Constraints and power take-offs


class Names:
    """Assigns unique names to the items of a system."""

    def __init__(self, used: list[str]) -> None:
        self.used = {*used, WORLD_NAME}

    def new(self, wish: str) -> str:
        """A unique name similar to the requested one."""
        name, k = wish, 2
        while name in self.used:
            name, k = f"{wish}_{k}", k + 1
        self.used.add(name)
        return name


def end(carrier: str, point: np.ndarray) -> str | NamedValues:
    """Connection point on a body or the world; all frames coincide with the world's at rest."""
    return carrier if not point.any() else {"body": carrier, "position": plain(point)}


def _axes_of(specified: Assignments) -> np.ndarray:
    z = specified.vector("orientation.z", (0.0, 0.0, 1.0))
    y = specified.vector("orientation.y", (0.0, 1.0, 0.0))
    specified.use("orientation.x", "orientation.rotationMatrix")
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
    """Joint of a constraint or PTO, and its initial coordinates."""
    point = specified.vector("location")
    if not specified.has("location"):
        findings.comment("joints", name, f"{specified.label}.location is not given; the origin.")
    axes = _axes_of(specified)
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
    if specified.vector("initial.displacement").any():
        findings.comment(
            "joints",
            name,
            f"{specified.label}.initial.displacement follows from that of the bodies.",
        )
    specified.use("setInitDisp")
    return table, position


def stops_of(tie: Tie, specified: Assignments) -> NamedValues:
    """End stops: bounds, stiffness and damping; those of hinges are in degrees."""
    unit = 1.0 if tie.joint == "slider" else math.pi / 180.0
    sides: dict[str, dict[str, float]] = {}
    for side, default in (("upper", 1.0), ("lower", -1.0)):
        head = f"hardStops.{side}Limit"
        width = specified.number(f"{head}TransitionRegion", 1e-4)
        values = {
            "bound": specified.number(f"{head}Bound", default) * unit,
            "stiffness": specified.number(f"{head}Stiffness", 1e6) / unit,
            "damping": specified.number(f"{head}Damping", 1e3) / unit,
            "ramp": specified.number(f"{head}TransitionRegionWidth", width) * unit,
        }
        if specified.is_on(f"{head}Specify"):
            sides[side] = values
    if not sides:
        return {}
    first, last = next(iter(sides.values())), sides.get("lower", sides.get("upper", {}))
    if any(first[key] != last[key] for key in ("stiffness", "damping")):
        specified.leave(
            "hardStops.lowerLimitStiffness", "both stops take the values of the upper one."
        )
    if first["ramp"] > 1e-3:
        specified.leave(
            "hardStops.upperLimitTransitionRegion",
            f"the stop's spring sets in at once here, not over {first['ramp']:g} m or rad.",
        )
    result: NamedValues = {s: sides[s]["bound"] for s in ("lower", "upper") if s in sides}
    result["stop_stiffness"] = first["stiffness"]
    if first["damping"]:
        result |= {"stop_damping": first["damping"], "stop_ramp": max(first["ramp"], 1e-6)}
    return result


def pto_table(
    tie: Tie, specified: Assignments, name: str, joint: str, start: dict[str, float]
) -> NamedValues:
    """Spring, damper and stops of a power take-off on its joint."""
    stiffness = (specified.numbers("stiffness") or [0.0])[0]
    unit = 1.0 if tie.joint == "slider" else math.pi / 180.0
    rest = specified.number("equilibriumPosition") * unit
    pull = specified.number("pretension")
    if pull and not stiffness and not rest:
        specified.leave("pretension", "without stiffness it does nothing in WEC-Sim either.")
    elif pull and not rest:
        rest = -pull / stiffness
    dofs = DOFS[tie.joint]
    table: NamedValues = {"type": "linear", "name": name, "joint": joint}
    dof = "Pitch" if "Pitch" in dofs else next(iter(dofs), "")
    if len(dofs) > 1:
        table["dof"] = dof
        specified.leave("damping", f"of a joint with {len(dofs)} DOFs acts on {dof} only.")
    table["damping"] = (specified.numbers("damping") or [0.0])[0]
    if stiffness:
        table["stiffness"] = stiffness
    stops = stops_of(tie, specified)
    # WEC-Sim counts the stroke from where the bodies begin
    begin = start.get(dof, 0.0)
    if (stiffness or stops) and begin + rest:
        table["rest"] = begin + rest
    bounds = {side: stops[side] - rest for side in ("lower", "upper") if side in stops}
    return table | stops | bounds


def constraint_stops(tie: Tie, specified: Assignments, name: str, joint: str) -> NamedValues | None:
    """End stops of a constraint as a force on its joint."""
    stops = stops_of(tie, specified)
    if stops and len(DOFS[tie.joint]) != 1:
        specified.leave("hardStops.upperLimitSpecify", "stops of several DOFs are not translated.")
        return None
    return {"type": "joint_force", "name": name, "joint": joint, **stops} if stops else None


def pto_name(specified: Assignments, number: int) -> str:
    return plain_name(specified.first_text()) or f"{specified.kind}{number}"
