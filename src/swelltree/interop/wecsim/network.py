"""What a model joins: which frames are the world, which a body, which neither.

A fixed constraint with nothing but other joints on one side makes two frames one. A frame that
still has no body, between two joints in a row, gets a body without mass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from swelltree.describe.topology import WORLD_NAME, Groups
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.diagram import Block, Diagram
from swelltree.interop.wecsim.findings import Findings

# blocks of WEC-Sim's libraries, the DOFs they leave, and the joint that leaves them
JOINTS: dict[str, str] = {
    "fixed": "weld",
    "translational": "slider",
    "rotational": "hinge",
    "hinge": "hinge",
    "spherical": "ball",
    "gimbal": "ball",
    "universal": "universal",
    "floating (3dof)": "planar",
    "floating": "planar",
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


@dataclass(frozen=True)
class Tie:
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
        carriers: what each frame is on: "world" or a name of a body.
        ties: constraints and PTOs.
        welds: pairs of bodies on one frame.
        massless: bodies that only stand between two joints.
        merged: fixed constraints that made one frame of two, as kind and number.
        groups: frames of the diagram that are one.
    """

    carriers: dict[str, str] = field(default_factory=dict)
    ties: list[Tie] = field(default_factory=list)
    welds: list[tuple[str, str]] = field(default_factory=list)
    massless: list[str] = field(default_factory=list)
    merged: list[tuple[str, int]] = field(default_factory=list)
    groups: Groups = field(default_factory=lambda: Groups(()))

    def carrier(self, frame: str) -> str | None:
        """What a frame of the diagram is on."""
        return self.carriers.get(self.groups.top(frame))


def object_number(block: Block, kind: str) -> int | None:
    """Number of the object that a block stands for: 2 for body(2)."""
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
            for frame in _frames_of(diagram, block):
                frames.join(frame, WORLD_NAME)
    for number, block in body_blocks(diagram).items():
        if number in names:
            result = _frames_of(diagram, block)
            frame = result[0] if result else f"{block.sid}#alone"
            if not result:
                frames.add(frame)
            on.setdefault(frame, []).append(names[number])
    joints = [block for block in diagram.blocks.values() if _joint_kind(block)]
    _merge_fixed(diagram, frames, joints, on)
    network = Network(groups=frames)
    _carry(network, frames, on)
    for block in joints:
        _add_tie(network, diagram, frames, block, findings)
    return network


def _frames_of(diagram: Diagram, block: Block) -> list[str]:
    """Frames that the ports of a block are on."""
    head = f"{block.sid}#"
    return [frame for port, frame in diagram.frames.items() if port.startswith(head)]


def _joint_kind(block: Block) -> str:
    return {"constraints": "constraint", "ptos": "pto"}.get(block.library, "")


def _merge_fixed(
    diagram: Diagram, frames: Groups, joints: list[Block], on: dict[str, list[str]]
) -> None:
    """Fixed constraints to frames without a body make one frame of two."""
    changed = True
    while changed:
        changed = False
        used = {frames.top(frame) for frame in on} | {frames.top(WORLD_NAME)}
        for block in joints:
            ends = [diagram.frame(block.sid, port) for port in ("lconn:1", "rconn:1")]
            if JOINTS.get(block.word) != "weld" or None in ends:
                continue
            a, b = (frames.top(str(end)) for end in ends)
            if a != b and not {a, b} <= used:
                frames.join(a, b)
                changed = True
                break


def _carry(network: Network, frames: Groups, on: dict[str, list[str]]) -> None:
    """Give every frame a carrier."""
    world = frames.top(WORLD_NAME)
    network.carriers[world] = WORLD_NAME
    for frame, bodies in on.items():
        top = frames.top(frame)
        for body in bodies:
            if top in network.carriers:
                network.welds.append((network.carriers[top], body))
            else:
                network.carriers[top] = body


def _add_tie(
    network: Network, diagram: Diagram, frames: Groups, block: Block, findings: Findings
) -> None:
    place = diagram.place(block)
    kind = _joint_kind(block)
    number = object_number(block, kind)
    ends = [diagram.frame(block.sid, port) for port in ("lconn:1", "rconn:1")]
    if block.word not in JOINTS or number is None:
        findings.leave(place, f"a {kind} of the kind '{block.word}' has no counterpart.")
        return
    if None in ends:
        findings.leave(place, "one of its sides is joined to nothing; it is left out.")
        return
    tops = [frames.top(str(end)) for end in ends]
    if tops[0] == tops[1]:
        network.merged.append((kind, number))  # it made one frame of two
        return
    for top in tops:
        if top not in network.carriers:
            name = f"frame{len(network.massless) + 1}"
            network.carriers[top] = name
            network.massless.append(name)
    base, follower = (network.carriers[top] for top in tops)
    network.ties.append(Tie(block, kind, number, JOINTS[block.word], base, follower))


# --- Where bodies begin: displaced and turned from where they are described

POSE_TOL = 1e-6  # m, rad


class Start(NamedTuple):
    """x_world = R x + t for points x of the frame of a body."""

    R: np.ndarray
    t: np.ndarray

    @property
    def is_rest(self) -> bool:
        """Whether the body begins where it is described."""
        return bool(np.abs(self.R - np.eye(3)).max() < 1e-12 and np.abs(self.t).max() < 1e-12)

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Displacement of a point and rotation vector, (6,)."""
        twist = np.array([self.R[k, j] - self.R[j, k] for j, k in ((1, 2), (2, 0), (0, 1))])
        angle = np.arctan2(0.5 * np.linalg.norm(twist), 0.5 * (np.trace(self.R) - 1.0))
        size = np.linalg.norm(twist)
        turn = twist * (angle / size) if size > 0 else np.zeros(3)
        return np.concatenate([self.R @ point + self.t - point, turn])


REST = Start(np.eye(3), np.zeros(3))


def turn_about(axis: object, angle: float) -> np.ndarray:
    """Rotation about an axis by Rodrigues' formula; none about an axis of no length."""
    n = np.asarray(axis, dtype=float)
    size = np.linalg.norm(n)
    if not size > 0:
        return np.eye(3)
    x, y, z = n / size
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def start_of(body: Assignments, center: np.ndarray | None) -> Start:
    """How a body begins.

    Args:
        body: of the script, with `initial` or a call of setInitDisp.
        center: of gravity, None where it is not known; then it is taken at the origin.
    """
    c = np.zeros(3) if center is None else center
    d = np.array(body.numbers("initial.displacement", 3, default=[0.0, 0.0, 0.0]))
    axis = body.numbers("initial.axis", 3, default=[0.0, 1.0, 0.0])
    R = turn_about(axis, body.number("initial.angle", 0.0))
    called = _called(body, c)
    if called is not None:
        R, d = called
    return Start(R, d + (c - R @ c))


def _called(body: Assignments, c: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Turn and displacement by setInitDisp(relCoord, [axis angle; ...], displacement).

    Scripts before version 4.2 call setInitDisp(point, axis, angle, displacement).
    """
    specified = body.raw("setInitDisp")
    if not isinstance(specified, list):
        return None
    rows = [np.asarray(x) for x in specified if isinstance(x, np.ndarray) and np.isfinite(x).all()]
    R = np.eye(3)
    if (
        len(rows) == len(specified) == 3
        and rows[1].shape[1] == 4
        and rows[0].size == rows[2].size == 3
    ):
        for row in rows[1]:
            R = turn_about(row[:3], float(row[3])) @ R
        arm, extra = rows[0].reshape(3), rows[2].reshape(3)
    elif len(rows) == len(specified) == 4 and [x.size for x in rows] == [3, 3, 1, 3]:
        R = turn_about(rows[1].reshape(3), float(rows[2][0, 0]))
        arm, extra = c - rows[0].reshape(3), rows[3].reshape(3)
    else:
        body.refuse("setInitDisp", "has arguments that are not understood")
        return None
    return R, R @ arm - arm + extra


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
    r = frame.T @ (follower.R @ point + follower.t - base.R @ point - base.t)
    Q = frame.T @ follower.R @ axes
    slides, turns = ("Surge", "Sway", "Heave"), ("Roll", "Pitch", "Yaw")
    result = {dof: float(r[slides.index(dof)]) for dof in dofs if dof in slides}
    rest = [r[k] for k, dof in enumerate(slides) if dof not in dofs]
    free = [dof for dof in dofs if dof in turns]
    if len(free) == 3:
        angles = _euler(Q)
        left = np.eye(3)
    elif len(free) == 1:
        k = turns.index(free[0])
        i, j = (k + 1) % 3, (k + 2) % 3
        angle = float(np.arctan2(Q[j, i] - Q[i, j], Q[i, i] + Q[j, j]))
        angles = {free[0]: angle}
        left = turn_about(np.eye(3)[k], -angle) @ Q
    else:
        angles = dict.fromkeys(free, 0.0)
        left = Q
    misfit = max([abs(float(x)) for x in rest] + [float(np.abs(left - np.eye(3)).max())])
    result |= angles
    return {dof: value for dof, value in result.items() if abs(value) > 1e-12}, misfit


def _euler(Q: np.ndarray) -> dict[str, float]:
    """Roll, pitch and yaw, intrinsic z-y-x."""
    pitch = float(np.arcsin(np.clip(-Q[2, 0], -1.0, 1.0)))
    roll = float(np.arctan2(Q[2, 1], Q[2, 2]))
    yaw = float(np.arctan2(Q[1, 0], Q[0, 0]))
    return {"Roll": roll, "Pitch": pitch, "Yaw": yaw}
