"""Where the bodies are at three times in a row: before, now and after a step."""

from __future__ import annotations

from jaxtyping import Float

from swelltree.integrate.complementarity.cayley import cayley, turning
from swelltree.jit import Array, namespace, pytree
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Frames, Pose, joint_frames
from swelltree.spatial.rotations import matmul, transpose


@pytree()
class PoseStencil:
    """Poses at the last, present and next instant, and the velocities between them."""

    last: Pose
    now: Pose
    next: Pose
    v_minus: Array  # (N, 6) velocity of the half step before, world axes
    v_plus: Array  # (N, 6) velocity of the half step after
    T: Array  # (N, 3, 3) of `cayley.turning`
    last_frames: Frames
    next_frames: Frames

    @property
    def v(self) -> Array:
        """Velocity now, the mean of both half steps, (N, 6)."""
        return 0.5 * (self.v_minus + self.v_plus)


def half_velocity(
    p0: Float[Array, "n 3"], p1: Float[Array, "n 3"], g: Float[Array, "n 3"], h: Array
) -> Float[Array, "n 6"]:
    """Velocity over a step: difference of positions, and twice the Gibbs vector over h."""
    xp = namespace(p1, g)
    return xp.concatenate([(p1 - p0) / h, 2.0 * g / h], axis=-1)


def before(now: Pose, v_minus: Float[Array, "n 6"], h: Array) -> Pose:
    """The last pose, from the present one and the velocity of the half step between."""
    g = 0.5 * h * v_minus[:, 3:]
    return Pose(now.p - h * v_minus[:, :3], matmul(transpose(cayley(g)), now.R))


def three_poses(
    model: Model,
    now: Pose,
    v_minus: Float[Array, "n 6"],
    p_plus: Float[Array, "n 3"],
    g_plus: Float[Array, "n 3"],
    h: Array,
) -> PoseStencil:
    """The poses around a step from the unknowns of the step."""
    g_minus = 0.5 * h * v_minus[:, 3:]
    last = before(now, v_minus, h)
    after = Pose(p_plus, matmul(cayley(g_plus), now.R))
    v_plus = half_velocity(now.p, p_plus, g_plus, h)
    return PoseStencil(
        last,
        now,
        after,
        v_minus,
        v_plus,
        turning(g_plus, g_minus),
        joint_frames(model, last),
        joint_frames(model, after),
    )
