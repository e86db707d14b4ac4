"""Static layout of a compiled system: who hangs on whom, and where each number lives.

Everything here is a tuple of names and integers, so a layout is hashable and
two systems of the same topology share one compiled program. Bodies are in
depth-first order; joint i of the first N joints leads to body i ("tree"
joints), the joints after them close loops ("cut" joints).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from swelltree.jit import Array, Tree

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")


Place = tuple[tuple[str | int, ...], int | None, dict[str, str]]  # of numbers


class Dof(NamedTuple):
    joint: int
    label: str
    turns: bool  # rotation (True) or translation
    axis: int  # 0, 1, 2 in the joint frame
    on_follower: bool  # second axis of a universal joint is fixed in the follower
    free_turn: bool  # rotation of a ball or free joint (quaternion)


@dataclass(frozen=True)
class Row:
    """One scalar constraint between base and follower of a joint; the kinds are in `model.rows`.

    Args:
        joint: number of the joint.
        i: index, by kind: an axis, or a dof.
        j: second index, by kind: an axis of the follower, or the number of a prescribed motion.
    """

    joint: int
    i: int = 0
    j: int = 0

    prescribed: ClassVar[bool] = False  # of a prescribed motion
    of_coordinates: ClassVar[bool] = False  # of coordinates that the joint itself leaves free
    of_rates: ClassVar[bool] = False  # of velocities only: there is no position to keep
    unit: ClassVar[str] = "m"  # of the residual

    @property
    def coupling(self) -> int | None:
        """Number of the coupling whose equation it is; None: a joint's."""
        return None

    def parts(self) -> tuple[Row, ...]:
        return (self,)

    def owner(self, layout: Layout) -> str:
        """Item of the equation, for messages."""
        return f"joint '{layout.joints[self.joint]}'"

    def numbers(self, layout: Layout) -> dict[str, list[Place]]:
        """Own parameters by item: path of fields, row, and aliases."""
        return {}

    def check(self, model: Tree, frames: Tree) -> None:
        """Reject an equation that cannot be.

        Args:
            model: compiled.
            frames: `kinematics.Frames` of its joints where bodies are described.
        """

    def note(self, model: Tree, frames: Tree, angles: Array) -> str:
        """What a user should know about an equation at the start of a run; empty: nothing."""
        return ""

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Tree) -> tuple[Array, ...]:
        """Residual, wrench on the follower, rate of the wrench, and prescribed rates.

        Args:
            rows: all of this kind, m of them.
            at: `model.rows.Trial` of these rows.

        Returns:
            g (m,), force (m, 3) and moment (m, 3) per unit multiplier, the rates of these two,
            prescribed rate (m,) and acceleration (m,).
        """
        raise NotImplementedError

    def gradient(self, model: Tree, mean: Tree) -> tuple[Array, Array, Array]:
        """Discrete gradient: force on the follower, couples on follower and base, (3,) each.

        Args:
            model: compiled.
            mean: `model.rows.MeanFrames` over the last and the next pose.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Layout:
    """Topology and index maps of a system; hashable."""

    bodies: tuple[str, ...]
    parent: tuple[int, ...]
    joints: tuple[str, ...]
    base: tuple[int, ...]
    follower: tuple[int, ...]
    dofs: tuple[Dof, ...]
    n_tree: int
    rows: tuple[Row, ...]
    drives: tuple[int, ...]
    described: tuple[str, ...]
    couplings: tuple[str, ...] = ()

    @property
    def n_bodies(self) -> int:
        return len(self.bodies)

    @property
    def n_joints(self) -> int:
        """Number of joints, tree joints first."""
        return len(self.joints)

    # --- tree -----------------------------------------------------------------
    @cached_property
    def path(self) -> np.ndarray:
        """Path matrix (MBS4WEC, eq. 9): 1 where body j lies on the way from the root to i."""
        path = np.zeros((self.n_bodies, self.n_bodies))
        for i, p in enumerate(self.parent):
            if p >= 0:
                path[i] = path[p]
            path[i, i] = 1.0
        return path

    @cached_property
    def moves(self) -> np.ndarray:
        """Sign with which tree velocity k moves body i: path matrix spread over the dofs.

        Minus where a joint was described with its base on the leaf side.
        """
        sign = np.where(np.array(self.follower[: self.n_bodies]) == np.arange(self.n_bodies), 1, -1)
        joint = [d.joint for d in self.dofs[: self.n_tree]]
        return (self.path * sign[None, :])[:, joint]

    @cached_property
    def jumps(self) -> tuple[np.ndarray, ...]:
        """Ancestors at distance 1, 2, 4, ... of each body; N is the world."""
        N = self.n_bodies
        ancestor = np.array([p if p >= 0 else N for p in self.parent] + [N], dtype=int)
        jumps = []
        while (ancestor[:N] < N).any():
            jumps.append(ancestor[:N].copy())
            ancestor = ancestor[ancestor]
        return tuple(jumps)

    @cached_property
    def branches(self) -> tuple[tuple[int, ...], ...]:
        """Tree velocities of every independent branch of the world."""
        root = list(range(self.n_bodies))
        for i, p in enumerate(self.parent):
            root[i] = root[p] if p >= 0 else i
        result: dict[int, list[int]] = {}
        for k, dof in enumerate(self.dofs[: self.n_tree]):
            result.setdefault(root[dof.joint], []).append(k)
        return tuple(tuple(dofs) for dofs in result.values())

    # --- where coordinates live --------------------------------------------------
    @cached_property
    def position_index(self) -> tuple[tuple[int, ...], ...]:
        """For each tree joint the indices of its position coordinates in q."""
        start, index = 0, []
        for j in range(self.n_bodies):
            dofs = [d for d in self.dofs[: self.n_tree] if d.joint == j]
            plain = sum(not d.free_turn for d in dofs)
            count = plain + (4 if any(d.free_turn for d in dofs) else 0)
            index.append(tuple(range(start, start + count)))
            start += count
        return tuple(index)

    @property
    def n_positions(self) -> int:
        """Number of tree position coordinates (four per quaternion)."""
        return sum(len(i) for i in self.position_index)

    @cached_property
    def dof_position(self) -> np.ndarray:
        """Index in q of each tree dof's own coordinate; -1 for quaternion rotations."""
        index = []
        for k, d in enumerate(self.dofs[: self.n_tree]):
            first = next(i for i, e in enumerate(self.dofs) if e.joint == d.joint)
            index.append(-1 if d.free_turn else self.position_index[d.joint][k - first])
        return np.array(index, dtype=int)

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """(tree joint, first index in q) of every quaternion."""
        result = []
        for j in range(self.n_bodies):
            if any(d.free_turn and d.joint == j for d in self.dofs[: self.n_tree]):
                result.append((j, self.position_index[j][-4]))
        return tuple(result)

    @cached_property
    def slide_index(self) -> np.ndarray:
        """(N, 3) index in q (n_positions: none) of each tree joint's translations."""
        index = np.full((self.n_bodies, 3), self.n_positions, dtype=int)
        for k, d in enumerate(self.dofs[: self.n_tree]):
            if not d.turns:
                index[d.joint, d.axis] = self.dof_position[k]
        return index

    @cached_property
    def turn_slots(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Per slot of the rotation sequence: index in q (N,) and axis (N, 3)."""
        slots: list[tuple[np.ndarray, np.ndarray]] = []
        counts = [0] * self.n_bodies
        for k, d in enumerate(self.dofs[: self.n_tree]):
            if not d.turns or d.free_turn:
                continue
            slot = counts[d.joint]
            counts[d.joint] += 1
            if slot == len(slots):
                axes = np.tile(np.eye(3)[2], (self.n_bodies, 1))
                slots.append((np.full(self.n_bodies, self.n_positions, dtype=int), axes))
            slots[slot][0][d.joint] = self.dof_position[k]
            slots[slot][1][d.joint] = np.eye(3)[d.axis]
        return tuple(slots)

    @cached_property
    def angle_dofs(self) -> tuple[int, ...]:
        """DOFs (of all joints) that are single angles and may exceed a turn."""
        return tuple(k for k, d in enumerate(self.dofs) if d.turns and not d.free_turn)

    # --- constraints --------------------------------------------------------------
    @cached_property
    def cut_rows(self) -> tuple[Row, ...]:
        """Rows not satisfied by joint coordinates: of cut joints, drives and couplings."""
        return tuple(r for r in self.rows if r.joint >= self.n_bodies or r.of_coordinates)

    def dof_number(self, joint: str, label: str) -> int:
        """Index of a joint's dof in `dofs`."""
        j = self.joints.index(joint)
        return next(k for k, d in enumerate(self.dofs) if d.joint == j and d.label == label)

    @cached_property
    def dof_labels(self) -> tuple[str, ...]:
        return tuple(f"{self.joints[d.joint]}__{d.label}" for d in self.dofs)
