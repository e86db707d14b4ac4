r"""The discrete path matrix: exact null space of all tree joints over two steps.

Each tree joint has six rows: its equations, and its DOFs. Written with discrete gradients they
tie the mean velocity of a body to that of its parent,

.. math:: V_i = X_i V_{p(i)} + S_i \dot z_i

and products of the X along the path give :math:`\hat P` with :math:`\hat\Phi \hat P = 0` exactly.
Equations projected with it give the very motion of the form with multipliers.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.integrate.complementarity.joint_rows import row_wrenches
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.jit import Array, jnp
from swelltree.model.model import Model
from swelltree.multibody.layout import Layout, Row
from swelltree.multibody.rows import Rotation, Translation, coordinate_row


def tree_rows(layout: Layout) -> tuple[Row, ...]:
    """Six rows for each tree joint: its equations, then its DOFs."""
    rows: list[Row] = []
    for j in range(layout.n_bodies):
        of_joint = [r for r in layout.rows if r.joint == j and not r.of_coordinates]
        for k, dof in enumerate(layout.dofs[: layout.n_tree]):
            if dof.joint == j:
                of_joint.append(coordinate_row(dof.turns, j, k))
        assert len(of_joint) == 6
        rows += of_joint
    return tuple(rows)


def discrete_path_matrix(model: Model, three: PoseStencil) -> Float[Array, "b6 n"]:
    """Mean velocities of all bodies per unit mean velocity of the tree coordinates."""
    layout = model.layout
    N, n = layout.n_bodies, layout.n_tree
    rows = tree_rows(layout)
    on_follower, on_base = row_wrenches(model, rows, three)
    outward = (np.array(layout.follower[:N]) == np.arange(N))[:, None, None]
    on_follower, on_base = on_follower.reshape(N, 6, 6), on_base.reshape(N, 6, 6)
    on_outer = jnp.where(outward, on_follower, on_base)
    parent = jnp.where(outward, on_base, on_follower)
    inverse = jnp.linalg.inv(on_outer)
    X = -inverse @ parent
    rooted = np.array([p >= 0 for p in layout.parent])[:, None, None]
    X = jnp.where(rooted, X, jnp.eye(6))
    for ancestor in layout.jumps:
        X = X @ jnp.concatenate([X, jnp.eye(6)[None]])[ancestor]
    # column of each DOF, carried back to the root and out again along the path
    joint = np.array([d.joint for d in layout.dofs[:n]], dtype=int)
    slot = np.array([_slot(rows, int(j), k) for k, j in enumerate(joint)], dtype=int)
    S = inverse[joint, :, slot]
    at_root = jnp.linalg.solve(X[joint], S[:, :, None])[:, :, 0]
    P = jnp.einsum("iab,kb->iak", X, at_root) * layout.path[:, joint][:, None, :]
    return P.reshape(6 * N, n)


def _slot(rows: tuple[Row, ...], joint: int, dof: int) -> int:
    """Which of a joint's six rows is the DOF."""
    block = rows[6 * joint : 6 * joint + 6]
    return next(
        i for i, r in enumerate(block) if isinstance(r, Translation | Rotation) and r.i == dof
    )
