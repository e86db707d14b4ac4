"""Lines on winches: how long they are now, and how long after the step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.state import StepConstants, StepperState, WinchStepperState
from swelltree.jit import Array, namespace
from swelltree.model.model import Model
from swelltree.mooring.dynamic.arrays import with_first
from swelltree.mooring.dynamic.lines import DynamicLines, lines_of
from swelltree.mooring.winches import WinchState, after_step, winch_start
from swelltree.multibody.kinematics import Pose, with_world
from swelltree.spatial.rotations import cross, matvec

CARRY = 0.4  # of a segment: the most that a winch may move in one step


def winches_at_start(lines: DynamicLines, v: Array, pose: Pose) -> WinchStepperState | None:
    """Winches before the first step."""
    winches = lines.winches
    if winches is None:
        return None
    arrays = lines.nodes
    first = np.asarray(arrays.first)
    rest = np.asarray(arrays.rest_length)[np.arange(arrays.n_lines), first]
    zero, rows = np.zeros(winches.count), np.zeros((winches.count, 3))
    tip = np.asarray(tip_velocity(lines, pose, v, np.zeros((len(lines.junctions), 3))))
    return WinchStepperState(
        first=first.astype(np.int32),
        rest=rest,
        rest_last=rest,
        winch_state=winch_start(winches),
        tip=tip,
        tension=zero,
        standing=zero,
        work=zero,
        brought=zero,
        lost=zero,
        momentum=rows,
        slip=rows,
    )


def tip_velocity(lines: DynamicLines, pose: Pose, v: Array, junctions: Array) -> Array:
    """Upward velocity of the points and junctions that winches measure (winch,) [m/s].

    Args:
        lines: with winches.
        pose: of the bodies.
        v: their velocities (body, 6).
        junctions: their velocities (junction, 3).
    """
    winches = lines.winches
    assert winches is not None
    body = np.array(winches.tip_body, dtype=int)
    xp = namespace(v, pose.R, junctions)
    lever = matvec(with_world(pose.R, np.eye(3))[body], winches.tip_point)
    moving = with_world(v, np.zeros(6))[body]
    on_bodies = (moving[:, :3] + cross(moving[:, 3:], xp.asarray(lever)))[:, 2]
    names = (*lines.junctions, "")
    tip_numbers = np.array([names.index(name) for name in winches.tip_junction], dtype=int)
    return on_bodies + with_world(junctions, np.zeros(3))[tip_numbers, 2]


def tip_now(lines: DynamicLines, setup: StepConstants, state: StepperState) -> Array:
    """Velocity of the tip from bodies and junctions half a step ago."""
    junctions = (state.lines.y - state.lines.y_last) / setup.h
    return tip_velocity(lines, state.pose, state.v_minus, junctions)


def present(model: Model, state: StepperState) -> Model:
    """The model with its lines at their present lengths."""
    lines = lines_of(model)
    if lines is None or lines.winches is None:
        return model
    w = state.lines.winch
    return model.with_effect(replace(lines, arrays=with_first(lines.nodes, w.first, w.rest)))


def next_state(lines: DynamicLines, setup: StepConstants, state: StepperState) -> WinchState | None:
    """States of the winches after the step, found from what is known before it."""
    winches = lines.winches
    if winches is None:
        return None
    w = state.lines.winch
    tip = tip_now(lines, setup, state)
    # half a step ahead the tip goes on as it did
    ahead = 2.0 * tip - w.tip
    h = setup.ahead * setup.winding
    most = CARRY * winches.segment / setup.h
    return after_step(winches, state.t + 0.5 * h, h, w.winch_state, (tip, ahead), w.tension, most)


def change_of_rest(lines: DynamicLines, setup: StepConstants, winch_state: WinchState) -> Array:
    """Change of length of the first segments in the step (line,) [m]."""
    winches = lines.winches
    assert winches is not None
    hits = np.array(winches.line)[:, None] == np.arange(lines.nodes.n_lines)
    xp = namespace(winch_state.speed)
    return (
        setup.ahead
        * setup.winding
        * (xp.asarray(hits.astype(float)) * winch_state.speed[:, None]).sum(0)
    )
