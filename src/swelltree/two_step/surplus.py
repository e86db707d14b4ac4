r"""Joint equations that follow from others, in the two-step scheme.

Which combinations of rows say nothing new depends on the pose. With N the projector on them, taken
at the pose now, the equations of a step are

.. math:: (1 - N)\, g_+ + N \lambda = 0

where g follows from its independent part, and of the multipliers, which are not unique, those of
least norm are taken.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.model.constraints import evaluate_rows
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.model.rows import Drives
from swelltree.model.tree import tree_blocks, velocity_matrix
from swelltree.two_step.state import Form, Setup, Sizes


def surplus_projector(
    model: Model, form: Form, motion: Motion, angles: Array, drives: Drives
) -> Float[Array, "m m"] | None:
    """Projector on the combinations of rows that follow from the others, or None."""
    if not model.surplus:
        return None
    pose, frames = motion.pose, motion.frames
    still = jnp.zeros((model.layout.n_bodies, 6))
    J = evaluate_rows(model, form.rows, pose, frames, still, angles, drives).jacobian
    if form.joint_coordinates:
        J = J @ velocity_matrix(*tree_blocks(model, pose, frames))
    U = jnp.linalg.svd(jax.lax.stop_gradient(J), full_matrices=True)[0]
    idle = U[:, len(form.rows) - model.surplus :]
    return idle @ idle.T


def without_surplus(
    projector: Array | None, setup: Setup, size: Sizes, closing: Array, lam: Array
) -> Array:
    """Joint equations of a step, as many as multipliers, none of them twice."""
    if projector is None:
        return closing
    unit = setup.columns[size.balances + np.arange(size.rows)]
    return closing + projector @ (lam / unit - closing)
