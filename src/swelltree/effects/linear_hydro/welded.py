r"""Bodies that are welded together move as one, and radiate as one.

With u the velocities of one body of every welded set, :math:`v = T u`, the memory is fitted to
:math:`T^\top K T`: what the bodies do to one another inside the set is never seen. The fitted
memory acts on all of them again through W, :math:`w = W f`, :math:`u = W^\top v`, with

.. math:: W = \bar B\, T \left(T^\top \bar B\, T\right)^{-1}, \qquad T^\top W = I,

which shares the force out as the damping does, so that the loads inside the welds are sensible.
"""

from __future__ import annotations

import numpy as np

from swelltree.model.kinematics import Pose
from swelltree.model.layout import Layout


def welded_sets(layout: Layout) -> list[int]:
    """For every body the first one of those it is welded to, itself where there is none."""
    lead = list(range(layout.n_bodies))
    loose = {dof.joint for dof in layout.dofs}
    # the joints of the tree come first; one without a DOF is a weld
    for j in range(layout.n_bodies):
        base, follower = layout.base[j], layout.follower[j]
        inside = 0 <= base < layout.n_bodies and 0 <= follower < layout.n_bodies
        if j in loose or not inside:
            continue
        one, other = sorted((lead[base], lead[follower]))
        lead = [one if k == other else k for k in lead]
    return lead


def welded_motion(layout: Layout, mean: Pose) -> np.ndarray:
    """T (6N, 6N): columns of bodies that follow another are zero."""
    T = np.zeros((6 * layout.n_bodies,) * 2)
    p = np.asarray(mean.p)
    for i, first in enumerate(welded_sets(layout)):
        x, y, z = p[i] - p[first]
        block = np.eye(6)
        block[:3, 3:] = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        T[6 * i : 6 * i + 6, 6 * first : 6 * first + 6] = block
    return T


def shared_out(damping: np.ndarray, T: np.ndarray, live: np.ndarray) -> np.ndarray:
    """W (6N, live), with T^T W the identity on what is live.

    Args:
        damping: (f, 6N, 6N), symmetric.
        T: of `welded_motion`.
        live: columns of T that are fitted.
    """
    independent = T[:, live]
    if np.array_equal(independent, np.eye(len(T))[:, live]):
        return independent
    mean = damping.mean(axis=0)
    size = np.sqrt(np.maximum(np.diagonal(mean), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    scaled, motion = mean / np.outer(size, size), independent * size[:, None]
    W = scaled @ motion @ np.linalg.pinv(motion.T @ scaled @ motion, rcond=1e-9)
    # what the mean damping cannot share out stays on the first body
    first = np.eye(len(T))[:, live] / size[:, None]
    W = W + first @ (np.eye(live.size) - motion.T @ W)
    return size[:, None] * W
