"""Every channel of a sample of the two-step scheme."""

from __future__ import annotations

import functools

import numpy as np

from swelltree.integrate.complementarity.lines.channels import solved_loads
from swelltree.integrate.complementarity.lines.node_axes import node_axes
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.state import SchemeOptions
from swelltree.jit import Array, Program, jax, jnp
from swelltree.model.capabilities import present
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.solved import coupled_effect, solved_at, total_loads, with_accelerations
from swelltree.multibody.build_layout import evaluate_rows
from swelltree.multibody.formulations.base import Acceleration, Kinematics
from swelltree.multibody.formulations.channels import StepInstant, channels_at
from swelltree.multibody.inertia import world_inertia
from swelltree.multibody.kinematics import Motion, dof_coordinates, dof_rates, joint_frames
from swelltree.spatial.rotations import compact


@functools.lru_cache(maxsize=32)
def observer(form: SchemeOptions) -> Program:
    """Compiled observation of a stack of samples."""

    def one(model: Model, sample: Sample) -> dict[str, Array]:
        with compact():
            return observe(model, form, sample)

    def all_of_them(model: Model, samples: Sample) -> dict[str, Array]:
        return jax.lax.map(lambda s: one(model, s), samples)

    return Program(all_of_them, rows=_rows)


def _rows(model: Model, samples: Sample) -> dict[tuple[int, ...], int]:
    """First axes of arrays computed in loops: over nodes and segments."""
    return {} if samples.lines is None else node_axes(model, samples.lines.report.tension.shape[1:])


def observe(model: Model, form: SchemeOptions, sample: Sample) -> dict[str, Array]:
    """All reported quantities at one instant: see `channels_at`."""
    layout, t = model.layout, sample.t
    frames = joint_frames(model, sample.pose)
    coordinate = dof_coordinates(model, frames, sample.angles)
    rate = dof_rates(model, sample.pose, frames, sample.v)
    motion = Motion(sample.pose, sample.v, frames, coordinate, rate)
    solved = solved_loads(model, sample)
    now = solved_at(present(model, sample.internal), Instant(t, motion, sample.internal))
    loads = total_loads(now, t, motion, sample.internal, solved=solved)
    loads = with_accelerations(now, loads, motion, sample.v_dot)
    flowing = coupled_effect(now)
    model = model if flowing is None else model.with_effect(flowing)
    rows = None
    if form.rows:
        angles, drives = (
            coordinate[np.array(layout.angle_dofs, dtype=int)],
            drives_at(model.drives, t),
        )
        rows = evaluate_rows(model, form.rows, sample.pose, frames, sample.v, angles, drives)
    kin = Kinematics(
        motion,
        world_inertia(now, sample.pose),
        jnp.eye(6 * layout.n_bodies),
        jnp.zeros_like(sample.v),
        rows,
        (),
    )
    acceleration = Acceleration(sample.v_dot.reshape(-1), sample.v_dot, sample.lam)
    instant = StepInstant(
        t, kin, loads, acceleration, sample.internal, sample.work, form.rows, layout.rows
    )
    channels = channels_at(model, instant)
    # a joint that leaves all DOFs holds nothing: what is left there is of the order h^2
    holds = [any(row.joint == j for row in layout.rows) for j in range(layout.n_joints)]
    for name in ("reaction", "reaction_joint_axes"):
        channels[name] = channels[name] * np.array(holds, float)[:, None]
    return {
        **channels,
        "iterations": sample.iterations,
        "residual": sample.error,
        **sample.extremes,
    }
