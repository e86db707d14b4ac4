"""What a force hands over: wrenches, stored energy and power, element by element."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.model.kinematics import Motion, body_index, with_world
from swelltree.model.layout import Layout
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import cross, matvec


@pytree()
class Loads:
    """Action of one kind of force element on the whole system."""

    wrench: Array  # (N, 6) about the reference points, world axes
    potential: Array  # (e,) stored energy of each element, J
    power: Array  # (e,) power of its non-conservative part on the system, W
    channels: dict[str, Array]  # results of the elements, e.g. tension


@pytree()
class Now:
    """What a force may depend on."""

    t: Array  # s
    motion: Motion
    inner: Any  # inner.Inner: states of radiation memory and of elements
    hold: Any = None  # forces that hold locked strokes, where a group watches them


class ForceGroup:
    """All force elements of one kind, in one vectorised call.

    A kind of force is a file with a pytree class of this base, whose static field `names` holds
    one name for each term of the energy budget. Channels are prefixed by the kind.
    """

    kind: ClassVar[str]
    uses_sea: ClassVar[bool] = False  # asks `model.sea` for the motion of the water
    adds_excitation: ClassVar[bool] = False  # wave forces that hydro data do not hold
    names: tuple[str, ...]

    def loads(self, model: Any, now: Now) -> Loads:
        """Wrenches, stored energies and powers."""
        raise NotImplementedError

    def in_sea(self, model: Any, waves: Any) -> ForceGroup:
        """The same group, prepared for a realised sea."""
        return self

    def present(self, model: Any, inner: Any) -> Any:
        """The model with the masses and locked freedoms that follow from inner states."""
        return model

    def drag(self, model: Any, motion: Motion) -> tuple[Any, ...]:
        """Its drag as `drag.DragPieces`, for equivalent linearisation; at a pose, in numpy."""
        return ()

    def without_drag(self) -> ForceGroup:
        """The same group without what `drag` gives."""
        return self

    def inner_start(self) -> Array | None:
        """States of its own at the start, such as the volume of an accumulator."""
        return None

    def inner_settled(self, states: Array, pose: Any) -> Array:
        """These states after a long rest of the bodies at a pose."""
        return states

    def inner_rate(self, model: Any, now: Now) -> Array:
        """Their rates."""
        raise NotImplementedError

    @property
    def event_count(self) -> int:
        """Number of events it watches for; static."""
        return 0

    def event_values(self, model: Any, now: Now) -> Array:
        """Values whose fall through zero is an event, (event_count,)."""
        raise NotImplementedError

    def switched(self, model: Any, now: Now, hit: Array) -> Array:
        """States of its own after the events of which `hit` is true."""
        raise NotImplementedError

    @property
    def holds(self) -> bool:
        """Can it lock strokes as constraints (`held`, `strokes`)? Static."""
        return False


@pytree()
class PointMotion:
    """Motion of one or several body points in world axes."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


def point_motion(motion: Motion, body: np.ndarray, point: Float[Array, "k 3"]) -> PointMotion:
    """Motion of points fixed in bodies (index N: the world)."""
    R = with_world(motion.pose.R, np.eye(3))[body]
    v = with_world(motion.v, np.zeros(6))[body]
    arm = matvec(R, point)
    position = with_world(motion.pose.p, np.zeros(3))[body] + arm
    return PointMotion(position, R, v[:, :3] + cross(v[:, 3:], arm), v[:, 3:])


def spread(
    layout: Layout,
    motion: Motion,
    body: np.ndarray,
    at: Float[Array, "k 3"],
    force: Float[Array, "k 3"],
    moment: Float[Array, "k 3"],
) -> Float[Array, "n 6"]:
    """Body wrenches of forces and moments acting at world points on the given bodies."""
    xp = namespace(force, motion.pose.p)
    arm = at - with_world(motion.pose.p, np.zeros(3))[body]
    wrench = xp.concatenate([force, moment + cross(arm, force)], axis=-1)
    hits = (np.arange(layout.n_bodies)[:, None] == body[None, :]).astype(float)
    return (hits[:, :, None] * wrench[None]).sum(1)


def joint_pair(
    layout: Layout,
    motion: Motion,
    joint: np.ndarray,
    force: Float[Array, "k 3"],
    moment: Float[Array, "k 3"],
) -> Float[Array, "n 6"]:
    """Equal and opposite wrenches on follower and base, at the follower's joint point."""
    at = motion.frames.follower_o[joint]
    follower = body_index(layout, layout.follower)[joint]
    base = body_index(layout, layout.base)[joint]
    on_follower = spread(layout, motion, follower, at, force, moment)
    return on_follower + spread(layout, motion, base, at, -force, -moment)


def no_loads(layout: Layout, xp: Any) -> Loads:
    """Nothing acts."""
    return Loads(xp.zeros((layout.n_bodies, 6)), xp.zeros(0), xp.zeros(0), {})
