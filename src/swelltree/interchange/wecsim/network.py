"""What a model joins: which frames are the world, which a body, which neither.

A fixed constraint with nothing but other joints on one side makes two frames one. A frame that
still has no body, between two joints in a row, gets a body without mass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from swelltree.interchange.wecsim.diagram import Block, Diagram
from swelltree.interchange.wecsim.findings import Findings
from swelltree.system.topology import WORLD_NAME, Groups

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
