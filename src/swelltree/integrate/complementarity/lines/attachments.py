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

from swelltree.integrate.complementarity.attached import end_positions
from swelltree.integrate.complementarity.equations import junction_balance
from swelltree.integrate.complementarity.first_half_step import Prescribed, specified_by
from swelltree.integrate.complementarity.instant import step_from
from swelltree.integrate.complementarity.lines.bending import bend
from swelltree.integrate.complementarity.lines.forces import LaggedCoefficients
from swelltree.integrate.complementarity.lines.node_axes import node_axes
from swelltree.integrate.complementarity.lines.report import at_ends
from swelltree.integrate.complementarity.lines.rows import drag
from swelltree.integrate.complementarity.lines.stretch import stretch_law
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.state import SchemeOptions, StepConstants, StepperState
from swelltree.integrate.complementarity.step_rows import with_ends
from swelltree.jit import Array, Program, jax, jnp, mapped, pytree
from swelltree.model.model import Model
from swelltree.mooring.dynamic.arrays import LineArrays
from swelltree.mooring.dynamic.lines import DynamicLines, required_lines
from swelltree.multibody.kinematics import Pose, with_world
from swelltree.spatial.rotations import cross, matvec, skew

# --- Lines at an instant of which positions and velocities are known, whatever the step

SHORT = 1e-6  # s: a step that is none


@pytree()
class Ends:
    """Lines as what holds them feels them.

    Args:
        tension: (line, segment) [N].
        force: on the points that hold the line, inertia left out (line, point, 3) [N].
        mass: of the half segments at the ends A and B (line, 2, 3, 3) [kg].
    """

    tension: Array
    force: Array
    mass: Array


def ends_now(
    lines: LineArrays,
    frozen: LaggedCoefficients,
    h: Array,
    q: Array,
    v: Array,
    rigid: Array,
    excess: Array,
) -> Ends:
    """Tensions, and what lines do to their ends.

    Args:
        lines: all lines, as long as they are now.
        frozen: their data now.
        h: step over which `frozen` has the change of unstretched lengths [s].
        q: positions of the nodes (line, node, 3) [m].
        v: their velocities.
        rigid: tension of segments that cannot stretch (line, segment) [N].
        excess: points beyond the ends of lines that bend (line, 2, 3) [m].
    """

    def one(
        line: LineArrays, frozen: LaggedCoefficients, q: Array, v: Array, rigid: Array, far: Array
    ) -> Ends:
        d, growth = q[1:] - q[:-1], v[1:] - v[:-1]
        length = jnp.sqrt(jnp.sum(d**2, -1) + 1e-20)
        along = d / length[:, None]
        rate = jnp.sum(along * growth, -1)
        L, L_rate = line.rest_length, (frozen.rest[1] - frozen.rest[0]) / (2.0 * h)
        lengths = length - SHORT * rate, length + SHORT * rate
        rests = L - SHORT * L_rate, L + SHORT * L_rate
        law = stretch_law(line, lengths, rests, SHORT, 0.5)[0]
        soft = jnp.isfinite(line.EA)
        law = jnp.where(line.pushes, law, jnp.maximum(law, 0.0))
        elastic = jnp.where(soft, line.EA, 0.0) / L * law * length / L
        tension = jnp.where(soft, elastic, rigid) * frozen.active
        pull = tension[:, None] * along
        none = jnp.zeros_like(pull[:1])
        total = frozen.force + drag(frozen, v)[0]
        total = total + jnp.concatenate([pull, none]) - jnp.concatenate([none, pull])
        bent = None
        if line.bending:
            bent = bend(line, frozen.active, (far, far), q, q, 0.5, 1.0).force
        mass = jnp.stack([frozen.mass[line.first], frozen.mass[-1]])
        return Ends(tension, at_ends(line, total, bent), mass)

    return jax.vmap(one)(lines, frozen, q, v, rigid, excess)


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
        """Add the inertia (6N, 6N) and right-hand side (6N,) of these masses to the bodies."""
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
    model: Model, form: SchemeOptions, setup: StepConstants, state: StepperState, first: Sample
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
    lines = required_lines(model)
    specified, points = specified_by(state, setup.h), _points(lines, state, first.pose)
    moving, junctions = _velocities(lines, state, points, specified.junctions, first.v)
    specified = specified._replace(v=first.v, junctions=junctions)
    report = first.lines.report
    ends_and_junctions = _program(form)(model, setup, state, specified, moving, report.tension)
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
def _program(form: SchemeOptions) -> Callable[..., tuple[Ends, Array, Array]]:
    """Line ends, node velocities, and junction forces without inertia."""

    def ends_and_junctions(
        model: Model,
        setup: StepConstants,
        state: StepperState,
        specified: Prescribed,
        moving: Array,
        tension: Array,
    ) -> tuple[Ends, Array, Array]:
        step = step_from(model, form, setup, state)
        lines, h, y = step.lines, setup.h, state.lines.y
        v = with_ends(lines.nodes, specified.nodes, moving)
        excess = end_positions(lines, state.pose, y)[:, 2:]
        ends = ends_now(lines.nodes, step.now.frozen, h, state.lines.q, v, tension, excess)
        # a junction on its way takes no force for its inertia
        steady = replace(state.lines, y_last=y - h * specified.junctions)
        steady = replace(step, state=replace(state, lines=steady))
        return ends, v, junction_balance(steady, y + h * specified.junctions)

    return Program(ends_and_junctions, rows=_rows)


def _rows(
    model: Model, setup: StepConstants, state: StepperState, *rest: Array
) -> dict[tuple[int, ...], int]:
    """First axes of arrays computed in loops: over nodes and segments."""
    return node_axes(model, state.lines.mu.shape)


def with_inertia(sample: Sample, points: Points | None) -> Sample:
    """The sample of `hung` with the inertia forces of points on accelerating bodies."""
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
    ends = np.array(lines.end_body, dtype=int).reshape(-1, lines.n_points)[:, :2]
    own = np.asarray(lines.end_point).reshape(-1, lines.n_points, 3)[:, :2]
    body = np.concatenate([ends.reshape(-1), np.array(lines.tie_body, dtype=int)])
    point = np.concatenate([own.reshape(-1, 3), np.asarray(state.tie_point).reshape(-1, 3)])
    arm = matvec(with_world(np.asarray(pose.R), np.eye(3))[body], point)
    return Points(body, arm, np.zeros((len(body), 3, 3)))


def _velocities(
    lines: DynamicLines, state: StepperState, points: Points, junctions: Array, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the ends (line, 2, 3) and of the junctions (junction, 3); tied ends follow."""
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
    """Forces on ties without inertia (tie, 3), and the mass (tie, 3, 3) they carry."""
    lines = required_lines(model)
    on = _junctions_of(lines)
    force, mass = ends.force[:, :2].reshape(-1, 3), ends.mass.reshape(-1, 3, 3)
    own = lines.junction_mass + lines.junction_added * model.rho * lines.junction_volume
    tie, carried = np.zeros((len(lines.tie_body), 3)), np.zeros((len(lines.tie_body), 3, 3))
    for k, j in enumerate(lines.tie_junction):
        if state.let_go[k] == 0.0:
            tie[k] = needed[j] - force[on == j].sum(0)
            carried[k] = own[j] * np.eye(3) + mass[on == j].sum(0)
    return tie, carried
