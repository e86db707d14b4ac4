"""Equations of motion of a model in a chosen formulation, ready for a solver.

`Phase` is what a solver steps: the state, the work done so far by each element,
and the internal states of radiation and elements. `rates` is its right-hand side,
`settle` brings it back onto the constraints, `observe` gives one sample of
everything a run reports.
"""

from __future__ import annotations

import numpy as np

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.effects.linear_hydro.data import Convolution
from swelltree.effects.linear_hydro.frame import in_axes, mean_yaw
from swelltree.effects.linear_hydro.hydro import remembered
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.formulations.base import Acceleration, Formulation, Kinematics, Phase, State
from swelltree.formulations.latches import held_motion, latch_group
from swelltree.formulations.reactions import joint_reactions
from swelltree.formulations.reeling import reeled
from swelltree.model.constraints import evaluate_rows
from swelltree.model.effect import Loads, Now
from swelltree.model.inertia import kinetic_energy
from swelltree.model.internal_state import (
    AT_REST,
    InternalState,
    internal_at_rest,
    internal_rate,
    internal_settled,
)
from swelltree.model.kinematics import Motion, attitudes
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.points import point_motion
from swelltree.model.present import present
from swelltree.model.signals import drives_at
from swelltree.model.total import element_names, total_loads
from swelltree.spatial.vectors import cross, dot, matvec


def start_phase(model: Model, formulation: Formulation) -> Phase:
    """Assembled start, no work done yet; numpy unless the model is traced."""
    terms = len(element_names(model)) + len(model.layout.drives)
    state = formulation.start(model)
    return Phase(state, np.zeros(terms), settled_at(model, formulation, state))


def settled_at(model: Model, formulation: Formulation, state: State) -> InternalState:
    """Internal states at the start of a motion from a state: mean yaws are those of the bodies."""
    internal = internal_at_rest(model)
    if not internal.elements:
        return internal
    t = np.zeros(())
    pose = formulation.kinematics(present(model, internal), t, state).motion.pose
    return internal_settled(model, internal, pose)


def solve_motion(
    model: Model,
    formulation: Formulation,
    t: Array,
    state: State,
    internal: InternalState = AT_REST,
) -> tuple[Kinematics, Loads, Acceleration]:
    """Motion, loads and accelerations at one instant."""
    model = present(model, internal)
    kin = formulation.kinematics(model, t, state)
    loads = total_loads(model, t, kin.motion, internal)
    model = with_immersed_mass(model, t, kin.motion)
    if latch_group(model) is not None:
        now = Now(t, kin.motion, internal)
        return kin, *held_motion(model, formulation, kin, loads, now)[:2]
    return kin, loads, formulation.acceleration(model, kin, loads.wrench)


def rates(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Right-hand side of the equations of motion, powers included."""
    kin, loads, acceleration = solve_motion(model, formulation, t, y.state, y.internal)
    q_dot = formulation.position_rate(model, kin, y.state)
    power = jnp.concatenate([loads.power, drive_power(model, formulation, kin, acceleration)])
    chart = 0.0 * y.state.chart if isinstance(y.state.chart, jnp.ndarray) else y.state.chart
    internal = internal_rate(model, Now(t, kin.motion, y.internal))
    return Phase(State(q_dot, acceleration.s_dot, chart), power, internal)


def settle(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Phase brought back onto its constraints."""
    state = formulation.settle(present(model, y.internal), t, y.state)
    if model.hydro is None or not isinstance(model.hydro.memory, Convolution):
        return Phase(state, y.work, y.internal)
    v = formulation.kinematics(model, t, state).motion.v
    v = in_axes(mean_yaw(y.internal), v).reshape(-1)
    past = remembered(model.hydro.memory, t, v, y.internal.radiation)
    return Phase(state, y.work, InternalState(past, y.internal.elements))


def event_count(model: Model) -> int:
    """Number of events that the elements of a model watch for."""
    return sum(group.event_count for group in model.effects)


def _seen(model: Model, formulation: Formulation, t: Array, y: Phase) -> Now:
    """What events may depend on; the forces in latches only where someone watches them."""
    model = present(model, y.internal)
    kin = formulation.kinematics(model, t, y.state)
    now = Now(t, kin.motion, y.internal)
    group = latch_group(model)
    if group is None or not group.watches_hold:
        return now
    loads = total_loads(model, t, kin.motion, y.internal)
    heavy = with_immersed_mass(model, t, kin.motion)
    hold = held_motion(heavy, formulation, kin, loads, now)[2]
    return Now(t, kin.motion, y.internal, hold.needed)


def event_values(model: Model, formulation: Formulation, t: Array, y: Phase) -> Array:
    """Values whose fall through zero is an event, (event_count,)."""
    now = _seen(model, formulation, t, y)
    watching = [group for group in model.effects if group.event_count]
    return jnp.concatenate([group.event_values(model, now) for group in watching])


def switched(model: Model, formulation: Formulation, t: Array, y: Phase, hit: Array) -> Phase:
    """Phase after events: elements change their internal states, winches their cables too."""
    now = _seen(model, formulation, t, y)
    elements, first = dict(y.internal.elements), 0
    for group in model.effects:
        if group.event_count:
            own = hit[first : first + group.event_count]
            elements[group.kind] = group.switched(model, now, own)
            first += group.event_count
    after = Phase(y.state, y.work, InternalState(y.internal.radiation, elements))
    return reeled(model, formulation, t, y, after)


def drive_power(
    model: Model, formulation: Formulation, kin: Kinematics, acceleration: Acceleration
) -> Array:
    """Power that each prescribed motion puts into the system."""
    count = len(model.layout.drives)
    if count == 0:
        return jnp.zeros(0)
    assert kin.rows is not None
    rows = formulation.rows(model)
    each = acceleration.multipliers * kin.rows.velocity_rhs
    drives = np.array([r.j if r.kind in ("slide", "turn") else -1 for r in rows])
    hits = (np.arange(count)[:, None] == drives[None, :]).astype(float)
    return (hits * each[None]).sum(1)


def observe(model: Model, formulation: Formulation, t: Array, y: Phase) -> dict[str, Array]:
    """Everything a run reports, at one instant.

    Positions, velocities and accelerations of the reference points; rotation
    matrices; joint coordinates, rates and reactions; element channels;
    energies and works; sensors; the largest violation of any joint.
    """
    kin, loads, acceleration = solve_motion(model, formulation, t, y.state, y.internal)
    motion = kin.motion
    layout = model.layout
    angles = motion.coordinate[np.array(layout.angle_dofs, dtype=int)]
    rows = formulation.rows(model)
    heavy = with_immersed_mass(present(model, y.internal), t, motion)
    world, joint_axes = joint_reactions(heavy, t, kin, acceleration, loads.wrench, rows)
    shown, turning = attitudes(model, motion.frames, motion.coordinate, motion.rate)
    out = {
        "position": motion.pose.p,
        "rotation": motion.pose.R,
        "velocity": motion.v,
        "acceleration": acceleration.v_dot,
        "coordinate": shown,
        "rate": turning,
        "reaction": world,
        "reaction_joint_axes": joint_axes,
        "joint_point": motion.frames.follower_o,
        "wrench": loads.wrench,
        "kinetic_energy": kinetic_energy(heavy, kin.inertia, motion.v),
        "potential_energy": loads.potential,
        "work": y.work,
        "closure": closure(model, formulation.open_rows(model), t, motion, angles),
        **loads.channels,
        **sensor_channels(model, motion, acceleration.v_dot),
    }
    condition = formulation.condition(model, kin, y.state)
    return out if condition is None else out | {"partition_condition": condition}


def closure(model: Model, rows: tuple[Row, ...], t: Array, motion: Motion, angles: Array) -> Array:
    """Largest violation of any joint equation, redundant ones included [m, rad]."""
    if not rows:
        return jnp.zeros(())
    drives = drives_at(model.drives, t)
    values = evaluate_rows(model, rows, motion.pose, motion.frames, motion.v, angles, drives)
    return jnp.abs(values.residual).max()


def sensor_channels(model: Model, motion: Motion, v_dot: Array) -> dict[str, Array]:
    """Motion of named points, and distances between named pairs."""
    sensors = model.sensors
    out: dict[str, Array] = {}
    if sensors.body:
        body = np.array(sensors.body)
        seen = point_motion(motion, body, sensors.point)
        a = jnp.concatenate([v_dot, jnp.zeros((1, 6))])[body]
        arm = matvec(seen.rotation, sensors.point)
        w = seen.angular_velocity
        out["point_position"] = seen.position
        out["point_velocity"] = seen.velocity
        out["point_acceleration"] = a[:, :3] + cross(a[:, 3:], arm) + cross(w, cross(w, arm))
    if sensors.body_a:
        a = point_motion(motion, np.array(sensors.body_a), sensors.point_a)
        b = point_motion(motion, np.array(sensors.body_b), sensors.point_b)
        d = b.position - a.position
        length = jnp.sqrt(dot(d, d))
        out["distance"] = length
        rate = dot(d, b.velocity - a.velocity)
        out["distance_rate"] = rate / jnp.where(length > 0.0, length, 1.0)
    return out
