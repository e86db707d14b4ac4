"""Mirror images: a flat seabed and a vertical plane of symmetry need no panels.

The potential of a surface and of its image at a point is that of the surface at the point and at
its mirrored point, so the points are mirrored and the surface stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp


@dataclass(frozen=True)
class Mirrors:
    """What is mirrored.

    Args:
        depth: of the seabed z = -depth [m]; None: no seabed.
        symmetric: whether the plane y = 0 is a mirror.
    """

    depth: float | None = None
    symmetric: bool = False

    @property
    def count(self) -> int:
        """Points in the place of one."""
        return (2 if self.depth is not None else 1) * (2 if self.symmetric else 1)


def mirrored(
    points: Float[Array, "point xyz"], mirrors: Mirrors
) -> Float[Array, "image point xyz"]:
    """The points, first as they are, then in every mirror and pair of mirrors."""
    result = [points]
    if mirrors.depth is not None:
        low = jnp.array([0.0, 0.0, -2.0 * mirrors.depth], points.dtype)
        result += [low + p * jnp.array([1.0, 1.0, -1.0], points.dtype) for p in result]
    if mirrors.symmetric:
        result += [p * jnp.array([1.0, -1.0, 1.0], points.dtype) for p in result]
    return jnp.stack(result)
