"""Small multibody systems for verification: bodies that are free, and one on a rail."""

from __future__ import annotations

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.motion.coupling import Mechanics
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies
from swelltree.jit import Array, jnp, pytree


@pytree()
class Rail:
    """One body that slides along a direction without turning, on a spring and a damper.

    Args:
        origin: of the reference point where the stroke is zero [m].
        direction: unit vector.
        mass: [kg].
        weight: load along the direction of everything but water and spring [N].
        stiffness: [N/m].
        damping: [N s/m].
    """

    origin: Float[Array, " xyz"]
    direction: Float[Array, " xyz"]
    mass: Array
    weight: Array
    stiffness: Array
    damping: Array

    def at(self, t: Array, q: Array, v: Array) -> Mechanics:
        """Motion, masses and loads."""
        J = jnp.concatenate([self.direction, jnp.zeros(3)])[:, None]
        position = self.origin + q[0] * self.direction
        bodies = Bodies(position[None], jnp.eye(3)[None], (J @ v)[None])
        load = self.weight - self.stiffness * q - self.damping * v
        mass = jnp.asarray(self.mass, float)
        return Mechanics(bodies, J, jnp.zeros(6), mass[None, None], load)

    def rate(self, q: Array, v: Array) -> Array:
        """Of the stroke."""
        return v


@pytree()
class FreeBodies:
    """Bodies without joints; positions are those of the centres of mass and quaternions.

    Args:
        mass: [kg].
        inertia: about the centre of mass in body axes [kg m^2].
        load: constant wrench at the centre of mass, world axes [N, N m].
    """

    mass: Float[Array, " body"]
    inertia: Float[Array, "body xyz also"]
    load: Float[Array, "body dof"]

    def at(self, t: Array, q: Array, v: Array) -> Mechanics:
        """Motion, masses and loads."""
        n = len(self.mass)
        place, v = q.reshape(n, 7), v.reshape(n, 6)
        R = _rotation(place[:, 3:])
        turned = jnp.einsum("bij,bjk,blk->bil", R, self.inertia, R)
        omega = v[:, 3:]
        gyroscopic = jnp.cross(omega, jnp.einsum("bij,bj->bi", turned, omega))
        load = self.load.at[:, 3:].add(-gyroscopic)
        mass = jnp.zeros((n, 6, n, 6))
        index = jnp.arange(n)
        mass = mass.at[index, :3, index, :3].set(self.mass[:, None, None] * jnp.eye(3))
        mass = mass.at[index, 3:, index, 3:].set(turned)
        bodies = Bodies(place[:, :3], R, v)
        return Mechanics(
            bodies, jnp.eye(6 * n), jnp.zeros(6 * n), mass.reshape(6 * n, 6 * n), load.reshape(-1)
        )

    def rate(self, q: Array, v: Array) -> Array:
        """Of places and quaternions, scalar first, world rates."""
        n = len(self.mass)
        e, v = q.reshape(n, 7)[:, 3:], v.reshape(n, 6)
        omega, scalar, vector = v[:, 3:], e[:, :1], e[:, 1:]
        turn = [-(omega * vector).sum(1, keepdims=True), scalar * omega + jnp.cross(omega, vector)]
        return jnp.concatenate([v[:, :3], 0.5 * jnp.concatenate(turn, 1)], 1).reshape(-1)


def _rotation(e: Float[Array, "body four"]) -> Float[Array, "body xyz also"]:
    """Rotations of quaternions, scalar first; their length does not matter."""
    w, x, y, z = (e / jnp.linalg.norm(e, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.moveaxis(jnp.array(rows), 2, 0)
