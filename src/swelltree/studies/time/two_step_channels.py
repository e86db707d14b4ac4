"""Every channel of a sample of the two-step scheme."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.formulations.base import Acceleration, Kinematics
from swelltree.formulations.channels import Instant, channels_at
from swelltree.model.constraints import evaluate_rows
from swelltree.model.inertia import world_inertia
from swelltree.model.kinematics import Motion, dof_coordinates, dof_rates, joint_frames
from swelltree.model.model import Model
from swelltree.model.present import present
from swelltree.model.signals import drives_at
from swelltree.model.total import total_loads
from swelltree.spatial.products import compact
from swelltree.spatial.vectors import cross, matvec
from swelltree.two_step.lines.channels import line_channels
from swelltree.two_step.samples import Sample
from swelltree.two_step.state import Form


@functools.lru_cache(maxsize=32)
def observer(form: Form) -> Any:
    """Compiled observation of a stack of samples."""

    def one(model: Model, sample: Sample) -> dict[str, Array]:
        with compact():
            return observe(model, form, sample)

    return jax.jit(lambda model, samples: jax.lax.map(lambda s: one(model, s), samples))


def observe(model: Model, form: Form, sample: Sample) -> dict[str, Array]:
    """Everything a run reports, at one instant: see `channels_at`."""
    layout, t = model.layout, sample.t
    frames = joint_frames(model, sample.pose)
    coordinate = dof_coordinates(model, frames, sample.angles)
    rate = dof_rates(model, sample.pose, frames, sample.v)
    motion = Motion(sample.pose, sample.v, frames, coordinate, rate)
    loads = total_loads(present(model, sample.internal), t, motion, sample.internal)
    loads = replace(loads, wrench=loads.wrench + attached_wrench(model, sample))
    rows = None
    if form.rows:
        angles, drives = (
            coordinate[np.array(layout.angle_dofs, dtype=int)],
            drives_at(model.drives, t),
        )
        rows = evaluate_rows(model, form.rows, sample.pose, frames, sample.v, angles, drives)
    kin = Kinematics(
        motion,
        world_inertia(model, sample.pose),
        jnp.eye(6 * layout.n_bodies),
        jnp.zeros_like(sample.v),
        rows,
        (),
    )
    acceleration = Acceleration(sample.v_dot.reshape(-1), sample.v_dot, sample.lam)
    instant = Instant(
        t, kin, loads, acceleration, sample.internal, sample.work, form.rows, layout.rows
    )
    channels = channels_at(model, instant)
    # a joint that leaves all freedoms holds nothing: what is left there is of the order h^2
    holds = [any(row.joint == j for row in layout.rows) for j in range(layout.n_joints)]
    for name in ("reaction", "reaction_joint_axes"):
        channels[name] = channels[name] * np.array(holds, float)[:, None]
    touching = {"contact_force": sample.contact_force} if sample.contact_force.size else {}
    return {
        **channels,
        "iterations": sample.iterations,
        "residual": sample.error,
        **touching,
        **line_channels(model, sample),
        **sample.extremes,
    }


def attached_wrench(model: Model, sample: Sample) -> Array:
    """Wrench of lines and contacts on every body, about the reference points."""
    lines = model.lines
    wrench = jnp.zeros_like(sample.v)
    if lines is None:
        return wrench
    N = sample.v.shape[0]
    for bodies, points, force in _attached(lines, sample):
        body = np.array(bodies, dtype=int)
        R = jnp.concatenate([sample.pose.R, jnp.eye(3)[None]])[body]
        moment = cross(matvec(R, points), force)
        hits = (np.arange(N)[:, None] == body[None, :]).astype(float)
        wrench = wrench + hits @ jnp.concatenate([force, moment], -1)
    return wrench


def _attached(lines: Any, sample: Sample) -> list[tuple[Any, Any, Any]]:
    """Bodies, points and forces of line ends and contacts."""
    places = []
    if sample.lines is not None and lines.arrays is not None:
        force = sample.lines.report.end_force.reshape(-1, 3)
        places.append((lines.end_body, lines.end_point, force))
    if lines.tie_body:
        places.append((lines.tie_body, sample.tie_point, -sample.tie))
    if lines.n_contacts:
        places.append((lines.contact_body, lines.contact_point, sample.contact_force))
    return places
