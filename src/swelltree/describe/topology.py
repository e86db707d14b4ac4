"""Topology: which joints form the tree, which are cut, and the order of the bodies.

Bodies and world are the nodes of a graph, joints its edges. A spanning tree keeps the
joints with the fewest DOFs (Kruskal), so that a loop is cut where that costs the fewest
equations; a depth-first search from the world then numbers the bodies (MBS4WEC, eq. 9).
"""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.joints.joint import Joint

WORLD_NAME = "world"


@dataclasses.dataclass(frozen=True)
class Topology:
    """The tree of a system and what was cut to get it.

    Args:
        body_names: bodies in depth-first order; a parent comes before its children.
        parent: number of each body's parent, -1 for the world.
        tree_joint: name of the joint that leads to each body.
        implicit_free: bodies that got a free joint "<body>_free" to the world, because only
            joints without coordinates (or cut ones) hold them.
        reversed_joints: tree joints whose base is on the leaf side.
        cut_joints: joints kept as equations: the cut ones and all without coordinates.
        loops: each cut joint and the tree joints that close its loop, from base to follower.
    """

    body_names: tuple[str, ...]
    parent: tuple[int, ...]
    tree_joint: tuple[str, ...]
    implicit_free: tuple[str, ...]
    reversed_joints: tuple[str, ...]
    cut_joints: tuple[str, ...]
    loops: tuple[tuple[str, tuple[str, ...]], ...]

    def path_matrix(self) -> np.ndarray:
        """Entry (i, j) is 1 when body j is on the path from the root to body i, itself included.

        MBS4WEC, eq. 9; lower triangular because parents come first.
        """
        n = len(self.parent)
        path = np.eye(n, dtype=int)
        for body, parent in enumerate(self.parent):
            if parent >= 0:
                path[body] += path[parent]
        return path

    def index(self, body: str) -> int:
        """Number of a body, -1 for the world."""
        return -1 if body == WORLD_NAME else self.body_names.index(body)


class Groups:
    """Sets of connected names (union-find).

    Args:
        names: at first connected to nothing.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.above = {name: name for name in names}

    def add(self, name: str) -> None:
        self.above[name] = name

    def top(self, name: str) -> str:
        """Representative of the group of a name."""
        while self.above[name] != name:
            self.above[name] = self.above[self.above[name]]
            name = self.above[name]
        return name

    def join(self, one: str, other: str) -> bool:
        """Connect two names; false if they were connected already."""
        one, other = self.top(one), self.top(other)
        self.above[one] = other
        return one != other


def find_topology(
    bodies: Sequence[str], joints: "Sequence[Joint]", ties: Iterable[tuple[str, str]] = ()
) -> Topology:
    """The topology of a system.

    Args:
        bodies: names in the order described.
        joints: the joints in the order described.
        ties: pairs of bodies that cables connect.
    """
    _check_connected(bodies, joints, ties)
    tree, groups = _spanning_tree(bodies, joints)

    # groups that no tree joint ties to the world float on a free joint at their first body
    free: list[str] = []
    for body in bodies:
        if groups.join(WORLD_NAME, body):
            free.append(body)

    order = _depth_first(bodies, tree, free)
    number = {name: k for k, (name, _, _) in enumerate(order)} | {WORLD_NAME: -1}
    joint_by_name = {joint.name: joint for joint in tree}
    cut = [joint for joint in joints if joint.name not in joint_by_name]
    topology = Topology(
        body_names=tuple(name for name, _, _ in order),
        parent=tuple(number[parent] for _, parent, _ in order),
        tree_joint=tuple(joint for _, _, joint in order),
        implicit_free=tuple(free),
        reversed_joints=tuple(
            joint
            for name, _, joint in order
            if joint in joint_by_name and joint_by_name[joint].base.body == name
        ),
        cut_joints=tuple(joint.name for joint in cut),
        loops=(),
    )
    loops = tuple(
        (joint.name, _loop(topology, joint.base.body, joint.follower.body)) for joint in cut
    )
    return dataclasses.replace(topology, loops=loops)


def _check_connected(
    bodies: Sequence[str], joints: "Sequence[Joint]", ties: Iterable[tuple[str, str]]
) -> None:
    ties = list(ties)
    groups = Groups((WORLD_NAME, *bodies, *(end for tie in ties for end in tie)))
    for one, other in ties:
        groups.join(one, other)
    for joint in joints:
        groups.join(joint.base.body, joint.follower.body)
    lost = [body for body in bodies if groups.top(body) != groups.top(WORLD_NAME)]
    if not lost:
        return
    # report the first island only; the others follow once it is fixed
    island = [body for body in lost if groups.top(body) == groups.top(lost[0])]
    what = (
        f"body '{island[0]}' is"
        if len(island) == 1
        else f"bodies {listed(island)} hang together but are"
    )
    raise SwelltreeError(
        f"{what} not connected to the world. Add a joint, "
        f"e.g. Free('{island[0]}_free', WORLD, '{island[0]}') for a floating body."
    )


def _spanning_tree(
    bodies: Sequence[str], joints: "Sequence[Joint]"
) -> "tuple[list[Joint], Groups]":
    """Tree joints by Kruskal's algorithm: fewest DOFs first, then in the described order."""
    groups = Groups((WORLD_NAME, *bodies))
    movable = [joint for joint in joints if not joint.layout().rows_only]
    tree: "list[Joint]" = []
    for joint in sorted(
        (joint for joint in movable if not joint.cut), key=lambda joint: joint.layout().n_dof
    ):
        if groups.join(joint.base.body, joint.follower.body):
            tree.append(joint)
    # a joint marked as cut must close a loop of the others
    for joint in (joint for joint in joints if joint.cut):
        others = Groups((WORLD_NAME, *bodies))
        for other in joints:
            if other is not joint:
                others.join(other.base.body, other.follower.body)
        if others.top(joint.base.body) != others.top(joint.follower.body):
            raise joint.fail("cut is set, but the joint closes no loop. Leave cut out.")
    return tree, groups


def _depth_first(
    bodies: Sequence[str], tree: "Sequence[Joint]", free: Sequence[str]
) -> list[tuple[str, str, str]]:
    """(body, parent, joint) in depth-first order from the world, branches as described."""
    branches: dict[str, list[tuple[str, str]]] = {name: [] for name in (WORLD_NAME, *bodies)}
    place = {name: k for k, name in enumerate(bodies)}
    for joint in tree:
        branches[joint.base.body].append((joint.follower.body, joint.name))
        branches[joint.follower.body].append((joint.base.body, joint.name))
    branches[WORLD_NAME] += [(body, f"{body}_free") for body in free]
    order: list[tuple[str, str, str]] = []
    reached = {WORLD_NAME}
    # an explicit stack, so that long chains do not meet Python's recursion limit
    stack = [(WORLD_NAME, "", "")]
    while stack:
        body, parent, joint = stack.pop()
        if body != WORLD_NAME:
            order.append((body, parent, joint))
            reached.add(body)
        ahead = [(child, name) for child, name in branches[body] if child not in reached]
        for child, name in sorted(ahead, key=lambda branch: place[branch[0]], reverse=True):
            stack.append((child, body, name))
    return order


def _loop(topology: Topology, base: str, follower: str) -> tuple[str, ...]:
    """Tree joints from the base body to the follower."""

    def to_root(body: int) -> list[int]:
        path = []
        while body >= 0:
            path.append(body)
            body = topology.parent[body]
        return path

    up, down = to_root(topology.index(base)), to_root(topology.index(follower))
    # drop what both paths share
    while up and down and up[-1] == down[-1]:
        up.pop()
        down.pop()
    return tuple(topology.tree_joint[body] for body in (*up, *reversed(down)))
