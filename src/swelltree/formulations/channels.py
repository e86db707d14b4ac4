"""Every channel of a run at one instant, whichever scheme stepped there.

Who steps hands over an `Instant`: motion, loads, accelerations with their multipliers, and the
work of each term so far. From here on all runs look the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.formulations.base import Acceleration, Kinematics
from swelltree.formulations.reactions import joint_reactions
from swelltree.model.constraints import evaluate_rows
from swelltree.model.effect import Loads
from swelltree.model.inertia import kinetic_energy
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Motion, attitudes
from swelltree.model.layout import Row
from swelltree.model.model import Model
from swelltree.model.points import point_motion
from swelltree.model.present import present
from swelltree.model.rows import Coupled
from swelltree.model.signals import drives_at
from swelltree.model.solved import with_solved_mass
from swelltree.spatial.vectors import cross, dot, matvec


class Instant(NamedTuple):
    """What is known of an instant."""

    t: Array  # s
    kin: Kinematics
    loads: Loads
    acceleration: Acceleration
    internal: InternalState
    work: Array  # (terms,) J
    rows: tuple[Row, ...]  # joint equations of the multipliers
    open_rows: tuple[Row, ...]  # joint equations whose violation is watched


def channels_at(model: Model, now: Instant) -> dict[str, Array]:
    """Everything a run reports, at one instant.

    Positions, velocities and accelerations of the reference points; rotation matrices; joint
    coordinates, rates and reactions; channels and energy terms of effects; energies and works;
    sensors; the largest violation of any joint.
    """
    motion, loads, v_dot = now.kin.motion, now.loads, now.acceleration.v_dot
    angles = motion.coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    heavy = with_immersed_mass(present(model, now.internal), now.t, motion)
    world, joint_axes = joint_reactions(
        with_solved_mass(heavy), now.t, now.kin, now.acceleration, loads.wrench, now.rows
    )
    couplings: dict[str, Array] = {}
    if model.layout.couplings:
        couplings["coupling_force"] = coupling_forces(model, now.rows, now.acceleration.multipliers)
    coordinate, rate = attitudes(model, motion.frames, motion.coordinate, motion.rate)
    return {
        "position": motion.pose.p,
        "rotation": motion.pose.R,
        "velocity": motion.v,
        "acceleration": v_dot,
        "coordinate": coordinate,
        "rate": rate,
        "reaction": world,
        "reaction_joint_axes": joint_axes,
        "joint_point": motion.frames.follower_o,
        "wrench": loads.wrench,
        "kinetic_energy": kinetic_energy(heavy, now.kin.inertia, motion.v),
        "potential_energy": loads.potential,
        "work": now.work,
        "closure": closure(model, now.open_rows, now.t, motion, angles),
        **couplings,
        **loads.channels,
        **sensor_channels(model, motion, v_dot),
    }


def coupling_forces(model: Model, rows: tuple[Row, ...], lam: Array) -> Array:
    """Force of each coupling on each of its coordinates, one coupling after the other."""
    assert model.couplings is not None
    number = {row.i: k for k, row in enumerate(rows) if isinstance(row, Coupled)}
    of_row = [
        number.get(row.i, -1)
        for row in model.layout.rows
        if isinstance(row, Coupled)
        for _ in row.coordinates
    ]
    # a coupling that says nothing anywhere has no row, and no force
    lam = jnp.concatenate([lam, jnp.zeros(1)])
    return model.couplings.coefficient * lam[np.array(of_row)]


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
        at = point_motion(motion, body, sensors.point)
        a = jnp.concatenate([v_dot, jnp.zeros((1, 6))])[body]
        arm = matvec(at.rotation, sensors.point)
        w = at.angular_velocity
        out["point_position"] = at.position
        out["point_velocity"] = at.velocity
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
