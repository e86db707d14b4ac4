"""Runs inside `jit`, `grad` and `vmap` look at themselves too: numbers, and a code.

They measure what `watch` does and judge it by the same limits. No message can be given there, so a
run ends with the code (`solvers.solution.Code`) that the plain run would name.
"""

from __future__ import annotations

import functools

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jitted, jnp
from swelltree.model.checks.rank import RANK, term_size
from swelltree.model.constraints import evaluate_rows
from swelltree.model.kinematics import Pose, joint_frames
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.tree import tree_blocks, velocity_matrix
from swelltree.results.energy import energy_residual
from swelltree.solvers.solution import Code
from swelltree.studies.time.watch import lasting, lost_limit, open_limit


def with_watch(
    model: Model, channels: dict[str, Array], code: Array, solver: str, rtol: float = 1e-6
) -> dict[str, Array]:
    """Channels of a run with `energy_residual`, `loop_margin` and `code`.

    Args:
        model: compiled.
        channels: channels of all samples, time first.
        code: how stepping ended.
        solver: its name.
        rtol: its tolerance.
    """
    kinetic, potential, work = (
        channels[name] for name in ("kinetic_energy", "potential_energy", "work")
    )
    residual = energy_residual(kinetic, potential, work)
    margin = jnp.ones(len(channels["time"]))
    if model.cut_rows and len(model.cut_rows) > model.surplus:
        margin = jax.vmap(lambda *x: _margin(model, *x))(
            *jax.lax.stop_gradient(_places(model, channels))
        )
    limit = lost_limit(model, kinetic, potential, work, solver, rtol)
    result = (
        (code != Code.SUCCESS, code),
        (~(channels["closure"] <= open_limit(channels["joint_point"], rtol)).all(), Code.LOOP_OPEN),
        (~(lasting(jnp.abs(residual)) <= limit).all(), Code.ENERGY_LOST),
        (~(margin > RANK).all(), Code.LOOP_SINGULAR),
    )
    conditions = [condition for condition, _ in result]
    ended = jnp.select(conditions, [jnp.asarray(code, int) for _, code in result], 0)
    return channels | {"energy_residual": residual, "loop_margin": margin, "code": ended}


def ended_with_loops(
    models: list[Model], channels: dict[str, np.ndarray], codes: np.ndarray, solver: str
) -> np.ndarray:
    """Codes of parallel runs that have ended, by the same limits.

    Args:
        models: compiled, one of each run.
        channels: of all samples, runs first.
        codes: how stepping ended.
        solver: its name.
    """
    rows = [{name: x[k] for name, x in channels.items()} for k in range(len(models))]
    codes_found = [_of_loops(*each, solver) for each in zip(models, rows, codes, strict=True)]
    return np.array([int(code) for code in codes_found])


@functools.partial(jitted, static_argnames="solver")
def _of_loops(model: Model, channels: dict[str, Array], code: Array, solver: str) -> Array:
    return with_watch(model, channels, code, solver)["code"]


def _places(model: Model, channels: dict[str, Array]) -> tuple[Array, ...]:
    angles = channels["coordinate"][:, np.array(model.layout.angle_dofs, dtype=int)]
    return channels["time"], channels["position"], channels["rotation"], angles


def _margin(model: Model, t: Array, p: Array, R: Array, angles: Array) -> Array:
    """Smallest singular value of the loops that counts, of the largest."""
    pose = Pose(p, R)
    frames = joint_frames(model, pose)
    P = velocity_matrix(*tree_blocks(model, pose, frames))
    still = jnp.zeros((model.layout.n_bodies, 6))
    now = drives_at(model.drives, t)
    J = evaluate_rows(model, model.cut_rows, pose, frames, still, angles, now).jacobian
    s = jnp.linalg.svd(J @ P / term_size(J, P)[:, None], compute_uv=False)
    rank = len(model.cut_rows) - model.surplus
    return s[rank - 1] / jnp.maximum(s[0], RANK) if rank <= len(s) else jnp.ones(())
