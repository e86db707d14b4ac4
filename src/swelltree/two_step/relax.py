"""Equilibrium of bodies, lines and junctions as the end of a walk without memory of velocity.

With theta = 1 and the whole stiffness in the next instant a long step from rest is a Newton step of
statics: what is left of inertia only keeps it within bounds. Steps grow while all goes well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.kinematics import Pose, forward
from swelltree.model.model import Model
from swelltree.spatial.arrays import pytree
from swelltree.two_step.attached import end_positions
from swelltree.two_step.start import set_up
from swelltree.two_step.walk import Form, Walk

FIRST_STEP, LAST_STEP = 0.5, 64.0  # s
ENOUGH = 10.0  # s: rest over such a step is rest
MOST = 400
MANY = 10  # iterations
NOTHING = 0.01  # of the tolerance: what moves less is at rest, however short the step
BACK = 0.5  # of a step: who comes so near to where the last step began swings to and fro
FAR = 0.1  # m, rad: after such a motion of a body its stiffness is asked anew


@pytree()
class Rest:
    """Where a system came to rest."""

    walk: Walk
    sample: Any
    moved: Any  # largest motion of the last step [m, rad]
    steps: Any


def relaxed(
    step: Callable[..., Any],
    model: Model,
    form: Form,
    walk: Walk,
    derivatives: Callable[[Walk], tuple[np.ndarray, np.ndarray]],
    tolerance: float = 1e-7,
    hold: bool = False,
) -> Rest:
    """Walk to rest.

    Args:
        step: compiled `advance`.
        model: in still water.
        form: coordinates.
        walk: where to begin; its velocities are ignored.
        derivatives: stiffness and damping of the model's forces at a walk.
        tolerance: motion that counts as none [m, rad].
        hold: bodies stay where they are.
    """
    walk = stopped(walk)
    h, longest, moved, sample, before = FIRST_STEP, LAST_STEP, np.inf, None, None
    found, at = derivatives(walk), walk
    for count in range(1, MOST + 1):
        setup = set_up(model, form, h, found, theta=1.0, beta=1.0, hold=hold)
        after, now = step(model, setup, walk)
        if not bool(now.solved):
            # large tensions leave more of rounding than a long step may leave unsolved
            if moved < NOTHING * tolerance:
                return Rest(walk, sample, moved, count)
            longest = max(0.5 * h, ENOUGH)
            h *= 0.25
            if h < 1e-3:
                return Rest(walk, now, moved, count)
            continue
        moved, sample = _distance(walk, after), now
        # levers of forces are averaged over a step: a load under its sling swings about its rest
        turns_back = before is not None and _distance(before, after) < BACK * moved
        before = None if turns_back else walk
        walk = stopped(halfway(model, form, walk, after) if turns_back else after)
        if moved < tolerance and h >= ENOUGH:
            return Rest(walk, sample, moved, count)
        if _turned_or_moved(at, walk) > FAR:
            found, at = derivatives(walk), walk
        # a step that took Newton long may have ended far from where it should
        if int(sample.iterations) > MANY:
            longest, h = max(0.5 * h, ENOUGH), 0.5 * h
        else:
            h = min(2.0 * h, longest)
    return Rest(walk, sample, moved, MOST)


def stopped(walk: Walk) -> Walk:
    """The walk at rest: every velocity and the memory forgotten."""
    lines = walk.lines
    if lines is not None:
        lines = replace(lines, q_last=lines.q, y_last=lines.y)
    return replace(
        walk,
        t=np.zeros(()),
        v_minus=0.0 * walk.v_minus,
        chi=0.0 * walk.chi,
        work=0.0 * walk.work,
        lines=lines,
    )


def halfway(model: Model, form: Form, a: Walk, b: Walk) -> Walk:
    """The middle between two walks that are near to one another; multipliers of the second."""
    p, R, q = (np.asarray(x) for x in (b.pose.p, b.pose.R, b.q))
    p = 0.5 * (p + np.asarray(a.pose.p))
    U, _, Vt = np.linalg.svd(R + np.asarray(a.pose.R))
    pose = Pose(p, U @ Vt)
    if form.joint_coordinates:
        q = 0.5 * (q + np.asarray(a.q))
        for _, first in model.layout.quaternions:
            own = slice(first, first + 4)
            q[own] = q[own] / np.linalg.norm(q[own])
        pose = forward(model, q[: model.layout.n_positions])
    lines = b.lines
    if lines is not None:
        y = 0.5 * (np.asarray(lines.y) + np.asarray(a.lines.y))
        nodes = 0.5 * (np.asarray(lines.q) + np.asarray(a.lines.q))
        if model.lines.arrays is not None and nodes.size:
            ends = np.asarray(end_positions(model.lines, pose, y))
            idle = (np.asarray(lines.q) == np.asarray(lines.q)[:, :1]).all(-1, keepdims=True)
            nodes = np.where(idle, ends[:, :1], nodes)
            nodes[:, -1] = ends[:, 1]
        lines = replace(lines, q=nodes, y=y)
    return replace(b, pose=pose, q=q, lines=lines)


def _turned_or_moved(a: Walk, b: Walk) -> float:
    """Largest motion of a body between two walks."""
    pairs = [(a.pose.p, b.pose.p), (a.pose.R, b.pose.R)]
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max(initial=0.0)) for x, y in pairs)


def _distance(a: Walk, b: Walk) -> float:
    """Largest motion between two walks."""
    pairs = [(a.pose.p, b.pose.p), (a.pose.R, b.pose.R)]
    if a.lines is not None:
        pairs += [(a.lines.q, b.lines.q), (a.lines.y, b.lines.y)]
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max(initial=0.0)) for x, y in pairs)
