"""Ends of lines that bodies catch and let go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.integrate.complementarity.attached import attached_points
from swelltree.integrate.complementarity.instant import Step
from swelltree.integrate.complementarity.state import CAUGHT, MISSED, RELEASED, noted
from swelltree.jit import Array, Tree, jnp
from swelltree.mooring.dynamic.lines import WAITS
from swelltree.multibody.kinematics import Pose, with_world
from swelltree.spatial.rotations import dot, matvec, transpose

if TYPE_CHECKING:
    pass


def finished_ties(
    step: Step, after: Pose, y: Array, tie: Array, log: Tree
) -> tuple[Array, Array, Tree]:
    """Which ties hold after the step, where, and the log.

    An end that is caught keeps its place on the body; its velocity joins that of the body in the
    next step. One that is out of reach when its time comes stays loose. `let_go` is 0 while a tie
    holds, 1 when it is loose, and WAITS until it is caught.

    Args:
        step: as solved.
        after: poses after it.
        y: junctions after it (junction, 3).
        tie: forces of the ties (tie, 3).
        log: so far.
    """
    state, setup = step.state, step.setup
    if not state.let_go.shape[0]:
        return state.let_go, state.tie_point, log
    lines = step.lines
    t = state.t + setup.ahead
    size = jnp.sqrt(dot(tie, tie))
    holds = state.let_go == 0.0
    due = holds & ((t >= lines.tie_end - 1e-9) | (size >= lines.tie_tension))
    body = np.array(lines.tie_body, dtype=int)
    end = y[np.array(lines.tie_junction)]
    none = tuple(y.shape[0] for _ in lines.tie_body)
    off = end - attached_points(lines.tie_body, none, state.tie_point, after, y)
    far = jnp.sqrt(dot(off, off))
    now = (state.let_go == WAITS) & (t >= lines.tie_begin - 1e-9)
    caught = now & (far <= lines.tie_reach)
    p, R = with_world(after.p, np.zeros(3))[body], with_world(after.R, np.eye(3))[body]
    point = jnp.where(caught[:, None], matvec(transpose(R), end - p), state.tie_point)
    let_go = jnp.where(due | (now & ~caught), 1.0, jnp.where(caught, 0.0, state.let_go))
    for k in range(len(body)):
        log = noted(log, now[k], t, jnp.where(caught[k], CAUGHT, MISSED), k, far[k])
        log = noted(log, due[k], t, RELEASED, k, size[k])
    return let_go, point, log
