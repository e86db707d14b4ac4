r"""The half step before the first: found so that the first sample has the given velocity.

A sample's velocity is the mean of the half steps before and after it, so the velocity of the half
step before is no more given than that of the half step after. Both follow from the velocity given:
a step is tried, and the half step before is corrected by what the mean is off,

.. math:: v_- \leftarrow v_- + \tfrac43 (v_0 - \bar v).

Where forces act, a change of :math:`v_-` changes the mean as much; where joints and inextensible
lines decide where the next pose is, half as much. The factor leaves a third of either each time.
Winches stand in the steps that are tried, as they did before: where one starts with a jump, the
half step before knows nothing of it. With the jump in them, the mean would be kept at zero by a
motion against the rope before the start, and a load that is jerked would bounce higher than its
energy allows.
Then the pose one step ago is brought onto the joints, as that of every later step is: that moves
the mean by O(h^2), and without it the acceleration across joints would be O(h) off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.hydro.linear.frame import in_axes, mean_yaw
from swelltree.hydro.linear.radiation import fitted_memory
from swelltree.integrate.complementarity.attached import end_positions
from swelltree.integrate.complementarity.lines.winch_statics import present
from swelltree.integrate.complementarity.poses import before
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.state import LineState, StepConstants, StepperState, locks
from swelltree.integrate.complementarity.step_rows import with_ends
from swelltree.jit import Array
from swelltree.model.capabilities import InternalState
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.mooring.cable.cables import with_drums_stopped
from swelltree.mooring.dynamic.lines import required_lines
from swelltree.multibody.build_layout import evaluate_rows
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.kinematics import joint_frames

NEARER = 4.0 / 3.0
ROUNDS = 40
CLOSE = 1e-10  # m/s, rad/s, and of the largest velocity


class Prescribed(NamedTuple):
    v: Array  # (N, 6)
    nodes: Array  # (line, node, 3)
    junctions: Array  # (junction, 3)


def specified_by(state: StepperState, h: Array) -> Prescribed:
    """Velocities of a state whose previous half step is still that of a steady motion."""
    lines = state.lines
    if lines is None:
        nothing = np.zeros((0, 3))
        return Prescribed(state.v_minus, nothing, nothing)
    return Prescribed(state.v_minus, (lines.q - lines.q_last) / h, (lines.y - lines.y_last) / h)


def with_first_half_step(
    step: Callable[[Model, StepConstants, StepperState], tuple[StepperState, Sample]],
    model: Model,
    setup: StepConstants,
    state: StepperState,
) -> StepperState:
    """The state with the half step before the first.

    Args:
        step: one step, (model, setup, state) -> (state, sample).
        model: compiled, in its sea.
        setup: constants of the run.
        state: the start, with the velocity now for that of the half step before.
    """
    specified = specified_by(state, setup.h)
    now = best = _with_memory(model, setup, state)
    least = np.inf
    standing = replace(setup, winding=np.zeros_like(setup.winding))
    with_brakes = with_drums_stopped(model)
    for _ in range(ROUNDS):
        after, sample = step(with_brakes, standing, now)
        off = _off(setup, now, after, sample, specified)
        # steps that fail or stick, at a contact or a snap: the nearest so far is taken
        if not bool(sample.solved) or not off < 0.7 * least:
            break
        now = corrected(model, setup, now, after, sample, specified)
        best, least = now, off
        if off < CLOSE * (1.0 + np.abs(np.asarray(specified.v)).max(initial=0.0)):
            break
    first = _joined_before(model, setup, best)
    if locks(model):  # winches of cables, which stood in the steps that were tried
        first = replace(first, element_rates=step(model, setup, first)[0].element_rates)
    return first


def _joined_before(model: Model, setup: StepConstants, state: StepperState) -> StepperState:
    """The state with its previous pose on the joints, by the change of minimum energy."""
    if not model.all_rows or not np.any(state.v_minus):
        return state
    h = float(setup.h)
    M = np.asarray(dense_inertia(model, world_inertia(model, state.pose)))
    M = M + 1e-9 * np.diag(M).max(initial=1.0) * np.eye(len(M))  # bodies without mass
    drives = drives_at(model.drives, np.asarray(state.t) - h)
    for _ in range(2):
        last = before(state.pose, np.asarray(state.v_minus), np.array(h))
        frames = joint_frames(model, last)
        still = np.zeros_like(state.v_minus)
        rows = evaluate_rows(
            model, model.all_rows, last, frames, still, np.asarray(state.angles), drives
        )
        J = np.asarray(rows.jacobian)
        back = np.linalg.solve(M, J.T)
        push = np.linalg.lstsq(J @ back, np.asarray(rows.residual), rcond=1e-10)[0]
        v_minus = state.v_minus + (back @ push).reshape(-1, 6) / h
        state = replace(state, v_minus=v_minus)
    return state


def corrected(
    model: Model,
    setup: StepConstants,
    state: StepperState,
    after: StepperState,
    sample: Sample,
    specified: Prescribed,
) -> StepperState:
    """The state with a corrected previous half step, from a trial step."""
    v_minus = state.v_minus + NEARER * (specified.v - sample.v)
    lines = state.lines
    if lines is not None:
        lines = _corrected_lines(
            model, setup, replace(state, v_minus=v_minus), after.lines, specified
        )
    # the rates of internal states now stand for those of a step ago
    rates = after.element_rates
    return replace(state, v_minus=v_minus, lam=sample.lam, lines=lines, element_rates=rates)


def _corrected_lines(
    model: Model, setup: StepConstants, state: StepperState, after: LineState, specified: Prescribed
) -> LineState:
    lines, h = state.lines, setup.h
    y_last = lines.y_last + NEARER * (0.5 * (after.y - lines.y_last) - h * specified.junctions)
    if not lines.q.size:
        return replace(lines, y_last=y_last)
    q_last = lines.q_last + NEARER * (0.5 * (after.q - lines.q_last) - h * specified.nodes)
    now = required_lines(present(model, state))
    ends = end_positions(now, before(state.pose, state.v_minus, h), y_last)
    q_last = with_ends(now.nodes, q_last, ends)
    return replace(lines, mu=after.mu, nu=after.nu, y_last=y_last, q_last=q_last)


def _with_memory(model: Model, setup: StepConstants, state: StepperState) -> StepperState:
    """The radiation memory half a step ago."""
    memory = fitted_memory(model)
    if memory is None:
        return state
    v = in_axes(mean_yaw(InternalState(state.chi, state.elements)), state.v_minus)
    rate = memory.rate(state.chi, v.reshape(-1))
    return replace(state, chi=state.chi - 0.5 * setup.h * rate)


def _off(
    setup: StepConstants,
    state: StepperState,
    after: StepperState,
    sample: Sample,
    specified: Prescribed,
) -> float:
    """Maximum deviation of velocities in the sample from the prescribed ones."""
    pairs = [(sample.v, specified.v)]
    if state.lines is not None:
        h, a, b = 2.0 * setup.h, state.lines, after.lines
        pairs += [((b.q - a.q_last)[used] / h, specified.nodes[used]) for used in _in_use(a)]
        pairs += [((b.y - a.y_last) / h, specified.junctions)]
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max(initial=0.0)) for x, y in pairs)


def _in_use(lines: LineState) -> list[np.ndarray]:
    """Nodes between the ends (line, node); nodes on a drum move with its end."""
    if not lines.q.size:
        return []
    count = lines.q.shape[1]
    first = 0 if lines.winch is None else np.asarray(lines.winch.first)[:, None]
    inner = (np.arange(count) > first) & (np.arange(count) < count - 1)
    return [np.broadcast_to(inner, lines.q.shape[:2])]
