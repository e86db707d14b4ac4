"""Stroke and rate of elements that act between two points or on a joint coordinate.

The stroke x is the length or coordinate less its value at rest. A force F acts to increase it:
its wrenches on the bodies are F W with a unit pair W, and v = W . (body velocities), so that F v
is the power of the pair.
"""

from __future__ import annotations

import numpy as np

from swelltree.model.forces.loads import joint_pair, spread
from swelltree.model.forces.springs import Springs, lengths
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree


@pytree("dof", "place")
class Strokes:
    """Where e elements act: first those between points, then those on joints, then sorted."""

    springs: Springs  # ends of those between points
    rest: Array  # (e,) m, rad
    dof: tuple[int, ...]  # of those on joints
    place: tuple[int, ...]  # element -> position in (points, joints)


def stroke(own: Strokes, motion: Motion) -> tuple[Array, Array]:
    """Stroke and rate of every element, (e,) each."""
    dof, place = np.array(own.dof, dtype=int), np.array(own.place, dtype=int)
    x, v = motion.coordinate[dof], motion.rate[dof]
    if own.springs.body_a:
        xp = namespace(x, motion.pose.p)
        length, rate = lengths(own.springs, motion)[:2]
        x, v = xp.concatenate([length, x]), xp.concatenate([rate, v])
    return x[place] - own.rest, v[place]


def pair_wrench(model: Model, own: Strokes, motion: Motion, force: Array) -> Array:
    """Wrenches on the bodies (N, 6) of forces (e,) that act to increase the strokes."""
    xp = namespace(force, motion.pose.p)
    layout = model.layout
    back = np.argsort(np.array(own.place, dtype=int))
    sorted_force = force[back]
    n = len(own.springs.body_a)
    wrench = xp.zeros((layout.n_bodies, 6))
    if n:
        _, _, unit, at_a, at_b = lengths(own.springs, motion)
        push = sorted_force[:n, None] * unit
        body_a, body_b = (np.array(b, dtype=int) for b in (own.springs.body_a, own.springs.body_b))
        wrench = wrench + spread(layout, motion, body_b, at_b, push, 0.0 * push)
        wrench = wrench - spread(layout, motion, body_a, at_a, push, 0.0 * push)
    if own.dof:
        wrench = wrench + joint_wrench(model, own.dof, motion, sorted_force[n:])
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
