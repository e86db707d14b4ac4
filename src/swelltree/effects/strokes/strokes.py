"""Strokes: distances between two points, and joint coordinates, on which forces act.

The stroke x is the length or coordinate less its value at rest. A force F acts to increase it:
its wrenches on the bodies are F W with a unit pair W, and v = W . (body velocities), so that F v
is the power of the pair.
"""

from __future__ import annotations

import numpy as np

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.model.points import joint_pair, point_motion, spread
from swelltree.spatial.vectors import dot


@pytree("body_a", "body_b")
class Ends:
    """Pairs of points fixed in bodies (p of them); N is the number of the world."""

    point_a: Array  # (p, 3)
    point_b: Array  # (p, 3)
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]


@pytree("dof", "place")
class Strokes:
    """Where e elements act: first those between points, then those on joints, then sorted."""

    ends: Ends  # of those between points
    rest: Array  # (e,) m, rad
    dof: tuple[int, ...]  # of those on joints
    place: tuple[int, ...]  # element -> position in (points, joints)

    def dof_of(self, i: int) -> int | None:
        """The joint coordinate that an element acts on, None between points."""
        k = self.place[i] - len(self.ends.body_a)
        return None if k < 0 else int(self.dof[k])


def lengths(ends: Ends, motion: Motion) -> tuple[Array, Array, Array, Array, Array]:
    """Length, rate, unit vector a to b, and the two end points."""
    a = point_motion(motion, np.array(ends.body_a, dtype=int), ends.point_a)
    b = point_motion(motion, np.array(ends.body_b, dtype=int), ends.point_b)
    d = b.position - a.position
    xp = namespace(d)
    square = dot(d, d)
    # coincident ends have no direction: no force, and a finite derivative
    apart = square > 0.0
    length = xp.where(apart, xp.sqrt(xp.where(apart, square, 1.0)), 0.0)
    unit = d / xp.where(apart, length, 1.0)[:, None]
    return length, dot(unit, b.velocity - a.velocity), unit, a.position, b.position


def stroke(strokes: Strokes, motion: Motion) -> tuple[Array, Array]:
    """Stroke and rate of every element, (e,) each."""
    dof, place = np.array(strokes.dof, dtype=int), np.array(strokes.place, dtype=int)
    x, v = motion.coordinate[dof], motion.rate[dof]
    if strokes.ends.body_a:
        xp = namespace(x, motion.pose.p)
        length, rate = lengths(strokes.ends, motion)[:2]
        x, v = xp.concatenate([length, x]), xp.concatenate([rate, v])
    return x[place] - strokes.rest, v[place]


def pair_wrench(model: Model, strokes: Strokes, motion: Motion, force: Array) -> Array:
    """Wrenches on the bodies (N, 6) of forces (e,) that act to increase the strokes."""
    xp = namespace(force, motion.pose.p)
    layout = model.layout
    back = np.argsort(np.array(strokes.place, dtype=int))
    sorted_force = force[back]
    n = len(strokes.ends.body_a)
    wrench = xp.zeros((layout.n_bodies, 6))
    if n:
        _, _, unit, at_a, at_b = lengths(strokes.ends, motion)
        push = sorted_force[:n, None] * unit
        body_a, body_b = (
            np.array(b, dtype=int) for b in (strokes.ends.body_a, strokes.ends.body_b)
        )
        wrench = wrench + spread(layout, motion, body_b, at_b, push, 0.0 * push)
        wrench = wrench - spread(layout, motion, body_a, at_a, push, 0.0 * push)
    if strokes.dof:
        wrench = wrench + joint_wrench(model, strokes.dof, motion, sorted_force[n:])
    return wrench


def joint_wrench(model: Model, dofs: tuple[int, ...], motion: Motion, force: Array) -> Array:
    """Wrench pairs of generalised forces on joint coordinates, (N, 6)."""
    xp = namespace(force, motion.pose.p)
    layout, dof = model.layout, np.array(dofs, dtype=int)
    joint = np.array([layout.dofs[k].joint for k in dofs], dtype=int)
    turns = np.array([layout.dofs[k].turns for k in dofs], dtype=bool)[:, None]
    moment = force[:, None] * motion.frames.turn[dof]
    push = xp.where(turns, 0.0, force[:, None] * motion.frames.slide[dof])
    return joint_pair(layout, motion, joint, push, moment)
