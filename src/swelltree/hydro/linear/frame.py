r"""A hydrodynamic frame for each body that follows its mean yaw (O Cathain 2006, eqs. 26-32).

Linear data hold in axes that turn with the body's mean yaw psi_m, a slow state

.. math:: \dot\psi_m = (\psi - \psi_m)/T

so that a vessel may turn in a current or swing about a mooring while its small motions stay
linear. With v_h the velocity in these axes, the added mass acts as

.. math:: w = -T A\, \frac{d}{dt}(T^\top v)
            = -A_w \dot v + A_w (\dot\psi_m\, \hat z \times v), \qquad A_w = T A T^\top

The first term is in the mass matrix (`apply_states`), the second is its wrench. Half
v A_w v changes by the work of the other forces alone, so it does no work of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import ChangesModel, HasEquilibriumStates
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import matmul, transpose

if TYPE_CHECKING:
    from swelltree.model.capabilities import InternalState

KIND = "frame"


def yaw(mean: Pose, pose: Pose) -> Array:
    """Yaw of every body from its mean pose, (N,), within half a turn [rad]."""
    xp = namespace(pose.R)
    R = matmul(pose.R, transpose(mean.R))
    return xp.arctan2(R[:, 1, 0] - R[:, 0, 1], R[:, 0, 0] + R[:, 1, 1])


def turned(psi: Array, x: Array) -> Array:
    """Three-vectors (N, ..., 3) rotated by the yaw of each body."""
    xp = namespace(psi, x)
    psi = psi.reshape(-1, *(1,) * (x.ndim - 2))
    c, s = xp.cos(psi), xp.sin(psi)
    return xp.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]], -1)


def turned_six(psi: Array, x: Array) -> Array:
    """Both halves of six-vectors (N, 6) rotated by the yaw of each body."""
    return turned(psi, x.reshape(-1, 2, 3)).reshape(x.shape)


def mean_yaw(internal: InternalState) -> Array | None:
    """Mean yaw of every body (N,); None if the frame is fixed."""
    return internal.elements.get(KIND)


def in_axes(psi: Array | None, x: Array) -> Array:
    """Six-vectors (N, 6) from world axes into those of the frame."""
    return x if psi is None else turned_six(-psi, x)


def columns_in_axes(psi: Array | None, P: Array) -> Array:
    """Columns of six-vectors (6N, n) from world axes into those of the frame."""
    if psi is None:
        return P
    xp = namespace(psi, P)
    rows = xp.swapaxes(P.reshape(P.shape[0] // 6, 2, 3, P.shape[1]), 2, 3)
    return xp.swapaxes(turned(-psi, rows), 2, 3).reshape(P.shape)


def out_of_axes(psi: Array | None, x: Array) -> Array:
    """Six-vectors (N, 6) from the axes of the frame into world axes."""
    return x if psi is None else turned_six(psi, x)


def unturned(psi: Array | None, mean: Pose, pose: Pose) -> Pose:
    """Pose of the bodies relative to the yaw frames, about the mean position."""
    if psi is None:
        return pose
    xp = namespace(psi, pose.p)
    moved = mean.p + turned(-psi, pose.p - mean.p)
    return Pose(moved, xp.swapaxes(turned(-psi, xp.swapaxes(pose.R, 1, 2)), 1, 2))


def turned_matrix(psi: Array, A: Array) -> Array:
    """T A T^T of a matrix (6N, 6N)."""
    n = A.shape[0]

    def columns(M: Array) -> Array:
        # columns of M as six-vectors of every body
        rows = M.T.reshape(n, -1, 2, 3)
        xp = namespace(psi, M)
        return turned(psi, xp.swapaxes(rows, 0, 1)).swapaxes(0, 1).reshape(n, n).T

    return columns(columns(A).T).T


@pytree("names")
class FollowingFrame(ChangesModel, HasEquilibriumStates):
    """Mean yaw of every body as a state, and the wrench due to the rotating added mass."""

    kind: ClassVar[str] = KIND
    mean: Pose
    time: Array  # s, over which the mean is taken
    names: tuple[str, ...] = ()

    def apply_states(self, model: Model, internal: InternalState) -> Model:
        """The model with its added mass in the axes of the mean yaw."""
        if KIND not in internal.elements:
            return model
        return model.replace(added_mass=turned_matrix(internal.elements[KIND], model.added_mass))

    def internal_start(self) -> Array:
        return np.zeros(self.mean.p.shape[0])

    def equilibrium_states(self, states: Array, pose: Pose) -> Array:
        return yaw(self.mean, pose)

    def internal_rate(self, model: Model, now: Instant) -> Array:
        """Rate of the mean yaw."""
        xp = namespace(now.motion.pose.p)
        off = yaw(self.mean, now.motion.pose) - now.internal.elements[KIND]
        return xp.arctan2(xp.sin(off), xp.cos(off)) / self.time

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrench due to the rotating frame; the model's added mass is rotated already."""
        xp = namespace(now.motion.pose.p)
        v = now.motion.v
        rate = self.internal_rate(model, now)[:, None]
        spun = [-rate * v[:, [1, 4]], rate * v[:, [0, 3]], 0.0 * v[:, [2, 5]]]
        spun = xp.stack(spun, -1).reshape(v.shape)
        wrench = (model.added_mass @ spun.reshape(-1)).reshape(v.shape)
        return Loads(wrench, xp.zeros(0), xp.zeros(0), {"yaw": now.internal.elements[KIND]})


def follows_yaw(model: Model) -> bool:
    """Whether the hydrodynamic axes follow the mean yaw of the bodies."""
    return model.effect(FollowingFrame) is not None


# --- Bodies that are welded together move as one, and radiate as one


def welded_sets(layout: Layout) -> list[int]:
    """For every body the first body of its welded group."""
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
    """T (6N, 6N): columns of welded followers are zero."""
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
