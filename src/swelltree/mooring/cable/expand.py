"""From described cables to the bodies and joints they are made of.

A multibody cable is a chain: from the end that hangs on something, every element is a joint of
three DOFs (two turns and a length) that leads to a point mass. Half the mass of an element
sits at each of its ends. What hangs at the far end is carried by a ball joint; where that body
is held already, the ball closes a loop. A lumped cable has the same masses as free points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.describe import WORLD, Body, System
from swelltree.describe.bodies.body import Point
from swelltree.describe.joints.kinds import (
    Ball,
    CableElement,
    DhRow,
    Free,
    SubsetJoint,
    Weld,
    dh_chain,
)
from swelltree.describe.mooring.line import CABLES, Line, LineEnd, OnJunction, OnLine
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.mooring.operations import winch_schedule
from swelltree.describe.mooring.winch_checks import drum_length, first_segment, lines_from_winches
from swelltree.describe.topology import WORLD_NAME, Groups
from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint


# --- Where the nodes of a cable are as described: straight, or hanging where it is slack


def onto(direction: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "3 3"]:
    """Rotation without twist that aligns the z axis with a direction."""
    x, y, z = direction / np.linalg.norm(direction)
    if z < -1.0 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    f = 1.0 / (1.0 + z)
    return np.array(
        [[1.0 - f * x * x, -f * x * y, x], [-f * x * y, 1.0 - f * y * y, y], [-x, -y, z]]
    )


def described_nodes(
    a: Float[np.ndarray, " 3"], b: Float[np.ndarray, " 3"], lengths: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "m 3"]:
    """Nodes from A to B: on the straight, stretched evenly, or on the catenary if it is slack.

    Args:
        a: end A [m].
        b: end B [m].
        lengths: unstretched lengths of the elements [m].
    """
    s = np.concatenate([[0.0], np.cumsum(lengths)])
    gap = b - a
    full = s[-1]
    if np.linalg.norm(gap) >= full * (1.0 - 1e-9):
        return a + gap * (s / full)[:, None]
    across = np.array([gap[0], gap[1], 0.0])
    span = float(np.linalg.norm(across))
    # ends above each other: two legs a little apart
    least = 1e-3 * full
    way = across / span if span > 1e-9 * full else np.array([1.0, 0.0, 0.0])
    return a + _catenary(s, max(span, least), float(gap[2]), span, way)


def _catenary(s: np.ndarray, span: float, rise: float, true_span: float, way: np.ndarray):
    """Points at distances s along an inextensible catenary, from its first end."""
    full = s[-1]
    goal = np.sqrt(max(full**2 - rise**2, span**2 * (1.0 + 1e-12))) / span
    low, high = 1e-9, 40.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sinh(middle) / middle < goal else (low, middle)
    c = 0.5 * span / (0.5 * (low + high))  # radius at the lowest point
    lowest = 0.5 * span - c * np.arctanh(rise / full)  # from the first end
    begin = c * np.sinh(-lowest / c)  # distance of the first end from the lowest point
    x = lowest + c * np.arcsinh((s + begin) / c)
    z = c * np.cosh((x - lowest) / c) - c * np.cosh(lowest / c)
    # the ends themselves are met exactly
    share = s / full
    x = x + share * (true_span - x[-1])
    z = z + share * (rise - z[-1])
    return x[:, None] * way + z[:, None] * np.array([0.0, 0.0, 1.0])


SAME_PLACE = 1e-6  # of an element: an end this close to a node of another cable is at it
FreeEnd = Point | tuple[Line, str]  # a point that is there, or the junction that a cable makes


@dataclass(frozen=True)
class Chain:
    """What a cable is made of.

    Args:
        line: the description.
        nodes: body and point of every node, from A to B, one more than elements.
        rest_lengths: unstretched lengths of the elements [m].
        types: what each element is made of.
        idle: elements at A that are still on the drum of a winch, of the length of the next one.
        turned: is its end A the described end B, at which a winch is?
    """

    line: Line
    nodes: tuple[Point, ...]
    rest_lengths: tuple[float, ...]
    types: tuple[LineType, ...]
    idle: int = 0
    turned: bool = False


def elements_of(system: System, line: Line) -> tuple[list[float], list[LineType]]:
    """Rest length and type of every element, from A to B."""
    lengths: list[float] = []
    types: list[LineType] = []
    for part, count in zip(line.parts, line.segment_counts, strict=True):
        kind = system.line_type(part.type)
        if kind.static_curve is not None and kind.original_curve is None:
            raise line.fail(
                f"line type '{kind.name}' has a stretch table, which a {line.model} cable does "
                "not take. Give EA, or model='dynamic'."
            )
        if kind.dynamic_EA is not None:
            raise line.fail(
                f"line type '{kind.name}' has a dynamic_EA, which a {line.model} cable does not "
                "take. Give EA alone, or model='dynamic'."
            )
        if kind.EI > 0:
            raise line.fail(
                f"line type '{kind.name}' has bending stiffness, which a {line.model} cable does "
                "not take. Give EI=0, or model='dynamic'."
            )
        lengths += [part.length / count] * count
        types += [kind] * count
    return lengths, types


def idle_elements(system: System, line: Line) -> int:
    """Number of idle elements for pay-out, including one at A that is never used."""
    winch = next((winch for winch in system.winches if winch.line == line.name), None)
    if winch is None:
        return 0
    schedule = winch_schedule(system.operations, winch.name)
    more = drum_length(line, winch, schedule) - line.rest_length
    return int(np.ceil(more / first_segment(line) - 1e-9)) + 1


def with_cables(system: System) -> tuple[System, tuple[Chain, ...]]:
    """The system with multibody and lumped cables as bodies and joints, and these chains."""
    lines = [line for line in lines_from_winches(system).values() if line.model in CABLES]
    if not lines:
        return system, ()
    built = _Maker(system)
    waiting = list(lines)
    while waiting:
        # a chain begins at an end that something holds
        line = next((line for line in waiting if built.holds(line)), waiting[0])
        waiting.remove(line)
        built.add(line)
    chains = tuple(built.chains[line.name] for line in lines)
    return built.system(), chains


@dataclass
class _Maker:
    """Builder of the bodies and joints of cables."""

    described: System
    chains: dict[str, Chain] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    junctions: dict[str, Point] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = (body.name for body in self.described.bodies)
        self.groups = Groups((WORLD_NAME, *names))
        for joint in self.described.joints:
            self.groups.join(joint.base.body, joint.follower.body)

    def system(self) -> System:
        old = self.described
        bodies, joints = (*old.bodies, *self.bodies.values()), (*old.joints, *self.joints)
        return old.replace(bodies=bodies, joints=joints)

    def where(self, line: Line, end: LineEnd) -> Point | None:
        """Body and point of an end; None for a junction or line that is not connected yet."""
        if isinstance(end, OnJunction):
            return self.junctions.get(end.junction)
        if not isinstance(end, OnLine):
            return end
        chain = self.chains.get(end.line)
        if chain is None:
            return None
        places = np.concatenate([[0.0], np.cumsum(chain.rest_lengths[chain.idle :])])
        k = int(np.abs(places - end.at).argmin())
        if abs(places[k] - end.at) > SAME_PLACE * max(chain.rest_lengths):
            near = ", ".join(f"{x:g}" for x in places[max(k - 1, 1) : k + 2])
            raise line.fail(
                f"its end at {end.at:g} m of line '{end.line}' is between nodes. "
                f"Give the position of a node ({near} m), or other segments."
            )
        return chain.nodes[chain.idle + k]

    def fixed(self, point: Point | None) -> bool:
        """Whether a point is connected to the world by joints and cables so far."""
        return point is not None and self.groups.top(point.body) == self.groups.top(WORLD_NAME)

    def holds(self, line: Line) -> bool:
        """Whether one of the ends is connected."""
        return any(self.fixed(self.where(line, end)) for end in (line.A, line.B))

    def add(self, line: Line) -> None:
        lengths, types = elements_of(self.described, line)
        idle = idle_elements(self.described, line)
        a, b = (self._place(line, end) for end in (line.A, line.B))
        at = described_nodes(a, b, np.array(lengths))
        mass = 0.5 * np.array([r * t.mass_per_length for r, t in zip(lengths, types, strict=True)])
        at = np.concatenate([np.repeat(at[:1], idle, axis=0), at])
        mass = np.concatenate([np.zeros(idle), mass])
        lengths, types = lengths[:1] * idle + lengths, types[:1] * idle + types
        from_B = not self.fixed(self.where(line, line.A)) and self.fixed(self.where(line, line.B))
        if idle and (from_B or line.form != "block"):
            raise line.fail(
                "it hangs on the end without its winch. Give the winch the other end, or swap "
                "the ends."
                if from_B
                else "it has a winch, which needs form='block'. Leave form out."
            )
        ends = (line.B, line.A) if from_B else (line.A, line.B)
        if from_B:
            at, mass = at[::-1], mass[::-1]
        numbers = list(range(len(lengths), -1, -1)) if from_B else list(range(len(lengths) + 1))
        names = [f"{line.name}_{k}" for k in numbers]
        if line.model == "multibody":
            nodes = self._chain(line, names, at, mass, *ends)
        else:
            nodes = self._points(names, at, mass, *(self._free(line, end) for end in ends))
        nodes = nodes[::-1] if from_B else nodes
        turned = any(w.line == line.name and w.end == "B" for w in self.described.winches)
        parts = tuple(nodes), tuple(lengths), tuple(types)
        self.chains[line.name] = Chain(line, *parts, idle, turned)

    def _place(self, line: Line, end: LineEnd) -> np.ndarray:
        """Described position of an end."""
        result = self.where(line, end) if isinstance(end, OnLine) else None
        if result is not None and result.body in self.bodies:
            return np.array(self.bodies[result.body].position)
        return self.described.end_point(end)

    def _body(self, name: str, mass: float, at: np.ndarray, R: np.ndarray | None = None) -> Point:
        """New point mass, and its point."""
        turned = None if R is None else tuple(map(tuple, R.tolist()))
        self.bodies[name] = Body(name, mass=float(mass), position=tuple(at), rotation=turned)
        self.groups.add(name)
        return self.bodies[name].at()

    def _joined(self, joint: Joint) -> None:
        self.joints.append(joint)
        self.groups.join(joint.base.body, joint.follower.body)

    def _at_end(self, name: str, mass: float, point: Point) -> Point:
        """Mass of half an element at an existing point; its position."""
        if point.body == WORLD_NAME:
            return point
        if point.body in self.bodies:
            body = self.bodies[point.body]
            self.bodies[point.body] = body.replace(mass=body.mass + float(mass))
            return point
        self._body(name, mass, self.described.world_point(point))
        self._joined(Weld(f"{name}_weld", point, name))
        return point

    def _chain(
        self,
        line: Line,
        names: list[str],
        at: np.ndarray,
        mass: np.ndarray,
        near: LineEnd,
        far: LineEnd,
    ) -> list[Point]:
        """Nodes of a chain from the near end to the far one."""
        start = self.where(line, near)
        if start is None:
            raise line.fail(
                "neither end is supported. Start with a line that is attached to a body or the "
                "world."
            )
        nodes = [self._at_end(names[0], mass[0], start)]
        node_mass = np.append(mass[:-1] + mass[1:], mass[-1])
        if line.form == "plain":
            nodes += self._plain(line, names[1:], at, node_mass, nodes[0])
        else:
            for k, name in enumerate(names[1:], start=1):
                # idle nodes have the axes of the first element in use
                free = next(i for i in range(k, len(at)) if np.any(at[i] != at[i - 1]))
                R = onto(at[free - 1] - at[free])
                node = self._body(name, node_mass[k - 1], at[k], R)
                self._joined(CableElement(f"{name}_link", node, nodes[-1]))
                nodes.append(node)
        self._carry(line, nodes[-1], far)
        return nodes

    def _plain(
        self, line: Line, names: list[str], at: np.ndarray, mass: np.ndarray, start: Point
    ) -> list[Point]:
        """Hinge, hinge and slider for every element, by modified Denavit-Hartenberg rows."""
        R = onto(at[0] - at[1])
        carrier = self._carrier(start)
        base = (np.eye(3) if carrier is None else carrier.rotation_matrix).T @ R
        bodies, rows = [], []
        for k, name in enumerate(names):
            d = at[k] - at[k + 1]
            length = float(np.linalg.norm(d))
            x, y, z = R.T @ d / length
            first, second = float(np.arctan2(x, z)), float(-np.arcsin(np.clip(y, -1.0, 1.0)))
            rows += [
                DhRow(-0.5 * np.pi, theta=0.5 * np.pi + first),
                DhRow(0.5 * np.pi, theta=0.5 * np.pi + second),
                DhRow(-0.5 * np.pi, r=-length, kind="slider"),
            ]
            bodies += [Body(f"{name}_a"), Body(f"{name}_b"), Body(name, mass=float(mass[k]))]
            for row in rows[-3:]:
                R = R @ _turn(0, row.alpha) @ _turn(2, row.theta)
        turned = tuple(map(tuple, base.tolist()))
        point = Point(start.body, start.position, turned)
        placed, joints = dh_chain(bodies, rows, point, f"{line.name}_joint_", carrier)
        for body in placed:
            self.bodies[body.name] = body
            self.groups.add(body.name)
        for joint in joints:
            self._joined(joint)
        return [self.bodies[name].at() for name in names]

    def _carrier(self, point: Point) -> Body | None:
        if point.body == WORLD_NAME:
            return None
        built = self.bodies.get(point.body)
        return self.described.body(point.body) if built is None else built

    def _carry(self, line: Line, node: Point, far: LineEnd) -> None:
        """Join the last node to what is at the far end."""
        if isinstance(far, OnJunction) and far.junction not in self.junctions:
            self._settle(line, node, far.junction)
            return
        there = self.where(line, far)
        if there is None:
            raise line.fail(
                f"its end on line '{getattr(far, 'line', '')}' has no support. Describe that line "
                "with a supported end."
            )
        closes = self.groups.top(there.body) == self.groups.top(node.body)
        self._joined(Ball(f"{line.name}_end", node, there, cut=closes))

    def _settle(self, line: Line, node: Point, name: str) -> None:
        """Use the node as the junction from now on."""
        junction = next(j for j in self.described.junctions if j.name == name)
        if junction.drag_area > 0:
            raise line.fail(
                f"junction '{name}' has a drag_area, which cables do not take. "
                "End the cable on a body with drag instead."
            )
        body = self.bodies[node.body]
        more: NamedValues = {"mass": body.mass + junction.mass}
        if junction.volume > 0:
            added = self.described.water.rho * junction.volume * junction.added_mass
            more |= {
                "displaced_volume": junction.volume,
                "added_mass": dict.fromkeys(("Surge", "Sway", "Heave"), added),
            }
        self.bodies[node.body] = body.replace(**more)
        self.junctions[name] = node

    def _free(self, line: Line, end: LineEnd) -> FreeEnd:
        """End of a lumped cable: an existing point, or the name of a new junction."""
        if isinstance(end, OnJunction) and end.junction not in self.junctions:
            return line, end.junction
        point = self.where(line, end)
        if point is None:
            raise line.fail(
                f"line '{getattr(end, 'line', '')}', on which it ends, is not there yet. "
                "Describe it first."
            )
        if not self.fixed(point):
            self._joined(Free(f"{point.body}_free", WORLD, point.body))
        return point

    def _points(
        self, names: list[str], at: np.ndarray, mass: np.ndarray, near: FreeEnd, far: FreeEnd
    ) -> list[Point]:
        node_mass = np.concatenate([mass[:1], mass[:-1] + mass[1:], mass[-1:]])
        nodes = []
        for k, name in enumerate(names):
            end = near if k == 0 else far if k == len(names) - 1 else None
            if isinstance(end, Point):
                nodes.append(self._at_end(name, node_mass[k], end))
                continue
            node = self._body(name, node_mass[k], at[k])
            free = SubsetJoint(f"{name}_free", WORLD, name, ("Surge", "Sway", "Heave"))
            self._joined(free)
            if end is not None:
                self._settle(end[0], node, end[1])
            nodes.append(node)
        return nodes


def _turn(axis: int, angle: float) -> np.ndarray:
    """Rotation about an axis of the frame."""
    from swelltree.describe.values import euler_matrix

    turns = [0.0, 0.0, 0.0]
    turns[axis] = angle
    return euler_matrix(*turns)
