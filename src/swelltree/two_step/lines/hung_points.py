"""What hangs on points of bodies at an instant: ends of lines, and junctions tied to them.

Each is a mass that moves with its point and a force on it. The body that carries them accelerates
as if they were part of it; what it then feels of each is the force less mass times acceleration.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.effects.lines.dynamic.lines import DynamicLines
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.machine.program import Program
from swelltree.engine.trees import mapped
from swelltree.model.kinematics import Pose, with_world
from swelltree.model.model import Model
from swelltree.spatial.vectors import cross, matvec, skew
from swelltree.two_step.attached import end_positions
from swelltree.two_step.equations import junction_balance
from swelltree.two_step.first_half_step import Given, given_by
from swelltree.two_step.instant import step_from
from swelltree.two_step.lines.instant import Ends, ends_now
from swelltree.two_step.lines.node_axes import node_axes
from swelltree.two_step.samples import Sample
from swelltree.two_step.state import Form, Setup, StepperState
from swelltree.two_step.step_rows import with_ends


class Points(NamedTuple):
    """Points that carry masses, the ends A and B of all lines first, then ties."""

    body: np.ndarray  # (k,) that has the point, N: none
    arm: np.ndarray  # (k, 3) from its reference point, world axes [m]
    mass: np.ndarray  # (k, 3, 3) [kg]

    def moved(self, v: np.ndarray) -> np.ndarray:
        """Velocities of the points, or their accelerations but for `centripetal` (k, 3)."""
        v = with_world(v, np.zeros(6))[self.body]
        return v[:, :3] + cross(v[:, 3:], self.arm)

    def centripetal(self, v: np.ndarray) -> np.ndarray:
        """Acceleration of the points by the turning alone (k, 3)."""
        w = with_world(v, np.zeros(6))[self.body, 3:]
        return cross(w, cross(w, self.arm))

    def add_to(self, M: np.ndarray, f: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inertia (6N, 6N) and right-hand side (6N,) of the bodies with these masses."""
        M, f = np.array(M), np.array(f)
        pulled = matvec(self.mass, self.centripetal(v))
        for body, arm, mass, force in zip(self.body, self.arm, self.mass, pulled, strict=True):
            if 6 * body < len(f):
                block = slice(6 * body, 6 * body + 6)
                B = np.concatenate([np.eye(3), -skew(arm)], axis=1)
                M[block, block] += B.T @ mass @ B
                f[block] -= B.T @ force
        return M, f


def hung(
    model: Model, form: Form, setup: Setup, state: StepperState, first: Sample
) -> tuple[Sample, Points | None]:
    """The first sample with tensions of that instant, and forces of ends without their inertia.

    Args:
        model: compiled, in its sea.
        form: coordinates.
        setup: constants of the run.
        state: the start, with the velocities given.
        first: sample of the first step, with the velocities given.
    """
    if first.lines is None:
        return first, None
    lines = model.dynamic_lines
    given, points = given_by(state, setup.h), _points(lines, state, first.pose)
    moving, junctions = _velocities(lines, state, points, given.junctions, first.v)
    given = given._replace(v=first.v, junctions=junctions)
    report = first.lines.report
    ends_and_junctions = _program(form)(model, setup, state, given, moving, report.tension)
    ends, v, needed = mapped(np.asarray, ends_and_junctions)
    # what hangs on junctions that move alone stays as the first step says
    alone = np.array(lines.end_junction).reshape(-1, lines.n_points) < len(lines.junctions)
    force = np.where(alone[:, :, None], report.end_force, ends.force)
    mass = np.where(alone[:, :2, None, None], 0.0, ends.mass).reshape(-1, 3, 3)
    tie, tied = _tied(model, state, ends, needed)
    points = points._replace(mass=np.concatenate([mass, tied]))
    report = replace(report, tension=ends.tension, end_force=force)
    return replace(first, tie=tie, lines=replace(first.lines, v=v, report=report)), points


@functools.lru_cache(maxsize=32)
def _program(form: Form) -> Callable[..., tuple[Ends, Array, Array]]:
    """Ends of lines, velocities of nodes, and what junctions need but for their inertia."""

    def ends_and_junctions(
        model: Model, setup: Setup, state: StepperState, given: Given, moving: Array, tension: Array
    ) -> tuple[Ends, Array, Array]:
        step = step_from(model, form, setup, state)
        lines, h, y = step.model.dynamic_lines, setup.h, state.lines.y
        v = with_ends(lines.nodes, given.nodes, moving)
        beyond = end_positions(lines, state.pose, y)[:, 2:]
        ends = ends_now(lines.nodes, step.now.frozen, h, state.lines.q, v, tension, beyond)
        # a junction on its way takes no force for its inertia
        steady = replace(state.lines, y_last=y - h * given.junctions)
        steady = replace(step, state=replace(state, lines=steady))
        return ends, v, junction_balance(steady, y + h * given.junctions)

    return Program(ends_and_junctions, like=_like, rows=_rows)


def _like(*args: Tree) -> tuple[Ends, Array, Array]:
    """Structure of the results."""
    none = np.zeros(0)
    return Ends(none, none, none), none, none


def _rows(
    model: Model, setup: Setup, state: StepperState, *rest: Array
) -> dict[tuple[int, ...], int]:
    """First axes of arrays that are computed in loops: over nodes and segments."""
    return node_axes(model, state.lines.mu.shape)


def with_inertia(sample: Sample, points: Points | None) -> Sample:
    """The sample of `hung` with what bodies that accelerate feel of their points."""
    if points is None:
        return sample
    taken = matvec(points.mass, points.moved(sample.v_dot) + points.centripetal(sample.v))
    report = sample.lines.report
    force = np.array(report.end_force)
    count = 2 * len(force)
    force[:, :2] -= taken[:count].reshape(-1, 2, 3)
    lines = replace(sample.lines, report=replace(report, end_force=force))
    return replace(sample, tie=sample.tie + taken[count:], lines=lines)


def _points(lines: DynamicLines, state: StepperState, pose: Pose) -> Points:
    """Ends and ties without masses."""
    ends = np.array(lines.end_body, dtype=int).reshape(-1, lines.n_points)[:, :2]
    own = np.asarray(lines.end_point).reshape(-1, lines.n_points, 3)[:, :2]
    body = np.concatenate([ends.reshape(-1), np.array(lines.tie_body, dtype=int)])
    point = np.concatenate([own.reshape(-1, 3), np.asarray(state.tie_point).reshape(-1, 3)])
    arm = matvec(with_world(np.asarray(pose.R), np.eye(3))[body], point)
    return Points(body, arm, np.zeros((len(body), 3, 3)))


def _velocities(
    lines: DynamicLines, state: StepperState, points: Points, junctions: Array, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the ends (line, 2, 3) and of the junctions (junction, 3); tied ones follow."""
    moving, junctions = points.moved(v), np.array(junctions)
    assert lines.arrays is not None
    ends, ties = np.split(moving, [2 * lines.arrays.n_lines])
    for k, j in enumerate(lines.tie_junction):
        if state.let_go[k] == 0.0:
            junctions[j] = ties[k]
    ends = ends + with_world(junctions, np.zeros(3))[_junctions_of(lines)]
    return ends.reshape(-1, 2, 3), junctions


def _junctions_of(lines: DynamicLines) -> np.ndarray:
    """Junction of the ends A and B of every line (line * 2,), J: none."""
    result = np.array(lines.end_junction, dtype=int).reshape(-1, lines.n_points)
    return result[:, :2].reshape(-1)


def _tied(
    model: Model, state: StepperState, ends: Ends, needed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Force (tie, 3) that ties need but for their inertia, and the mass (tie, 3, 3) they carry."""
    lines = model.dynamic_lines
    on = _junctions_of(lines)
    force, mass = ends.force[:, :2].reshape(-1, 3), ends.mass.reshape(-1, 3, 3)
    own = lines.junction_mass + lines.junction_added * model.rho * lines.junction_volume
    tie, carried = np.zeros((len(lines.tie_body), 3)), np.zeros((len(lines.tie_body), 3, 3))
    for k, j in enumerate(lines.tie_junction):
        if state.let_go[k] == 0.0:
            tie[k] = needed[j] - force[on == j].sum(0)
            carried[k] = own[j] * np.eye(3) + mass[on == j].sum(0)
    return tie, carried
