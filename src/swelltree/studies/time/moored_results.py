"""From the samples of the two-step scheme to a labelled result."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.formulations.base import Acceleration, Kinematics
from swelltree.formulations.equations import closure, sensor_channels
from swelltree.formulations.reactions import joint_reactions
from swelltree.model.constraints import evaluate_rows
from swelltree.model.inertia import kinetic_energy, world_inertia
from swelltree.model.kinematics import (
    Motion,
    attitudes,
    dof_coordinates,
    dof_rates,
    joint_frames,
)
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.total import total_loads
from swelltree.solvers.chunks import gathered
from swelltree.solvers.solution import Code
from swelltree.spatial.products import compact
from swelltree.two_step.lines.channels import solved_loads
from swelltree.two_step.log import told
from swelltree.two_step.run import empty_samples
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
    """Everything a run reports, at one instant; see `formulations.equations.observe`."""
    layout, t = model.layout, sample.t
    frames = joint_frames(model, sample.pose)
    coordinate = dof_coordinates(model, frames, sample.angles)
    rate = dof_rates(model, sample.pose, frames, sample.v)
    motion = Motion(sample.pose, sample.v, frames, coordinate, rate)
    loads = total_loads(model, t, motion, sample.internal, solved=solved_loads(model, sample))
    model = with_immersed_mass(model, t, motion)
    inertia = world_inertia(model, sample.pose)
    angles = coordinate[np.array(layout.angle_dofs, dtype=int)]
    rows = None
    if form.rows:
        drives = drives_at(model.drives, t)
        rows = evaluate_rows(model, form.rows, sample.pose, frames, sample.v, angles, drives)
    P = jnp.eye(6 * layout.n_bodies)
    kin = Kinematics(motion, inertia, P, jnp.zeros_like(sample.v), rows, ())
    acceleration = Acceleration(sample.v_dot.reshape(-1), sample.v_dot, sample.lam)
    world, joint_axes = joint_reactions(model, t, kin, acceleration, loads.wrench, form.rows)
    # a joint that leaves all freedoms holds nothing: what is left there is of the order h^2
    holds = [any(row.joint == j for row in layout.rows) for j in range(layout.n_joints)]
    world, joint_axes = (x * np.array(holds, float)[:, None] for x in (world, joint_axes))
    shown, turning = attitudes(model, frames, coordinate, rate)
    return {
        "position": sample.pose.p,
        "rotation": sample.pose.R,
        "velocity": sample.v,
        "acceleration": sample.v_dot,
        "coordinate": shown,
        "rate": turning,
        "reaction": world,
        "reaction_joint_axes": joint_axes,
        "joint_point": frames.follower_o,
        "wrench": loads.wrench,
        "kinetic_energy": kinetic_energy(model, inertia, sample.v),
        "potential_energy": loads.potential,
        "work": sample.work,
        "closure": closure(model, layout.rows, t, motion, angles),
        "iterations": sample.iterations,
        "residual": sample.error,
        **loads.channels,
        **sensor_channels(model, motion, sample.v_dot),
    }


def warm_observer(model: Model, how: Any, state: Any) -> None:
    """Compile the observation while the stepper compiles and runs."""
    samples = empty_samples(model, how.form, state, how.width)
    observer(how.form)(model, samples)


def to_result(
    model: Model,
    how: Any,
    run: Any,
    ended: tuple[Code, str],
    provenance: dict[str, Any] | None,
    near: Any = None,
) -> Any:
    """The dataset of a run that ended so."""
    from swelltree.results.dataset import to_dataset

    watch = observer(how.form)

    def observed() -> Iterator[dict[str, np.ndarray]]:
        for samples in run.outputs_by_chunk():
            count = len(jax.tree.leaves(samples)[0])
            seen = watch(model, jax.tree.map(lambda x: _padded(x, how.width), samples))
            yield {name: np.asarray(x)[:count] for name, x in seen.items()}

    channels = gathered(observed(), len(run.times))
    run_state = run.carry.run_state
    attrs = {
        "formulation": "path_matrix" if how.form.joint_coordinates else "lagrange",
        "solver": how.solver,
        "step": float(how.step),
        "result": ended[0].name.lower(),
        "message": ended[1],
        "steps_accepted": int(run_state.index),
        "steps_rescued": int(run.carry.n_rescued),
        "iterations_per_step": float(run_state.iterations) / max(int(run_state.index), 1),
    }
    if run_state.state.log is not None:
        attrs["events"] = int(run_state.state.log.count)
        attrs["event_log"] = "\n".join(told(model, run_state.state.log, float(run_state.state.t)))
    return to_dataset(model, run.times, channels, attrs | (provenance or {}), near)


def _padded(x: np.ndarray, length: int) -> np.ndarray:
    """Rows repeated at the end up to a length."""
    x = np.asarray(x)
    return np.concatenate([x, np.repeat(x[-1:], length - len(x), axis=0)])
