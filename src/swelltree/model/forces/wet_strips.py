r"""How far strips of a member are under water, and what buoyancy stores in them.

A strip reaches over a height by its length, :math:`T = l |s_z|`, and by its width W. The two
uniform distributions folded give a trapezium; the part of it below the surface is the wet part of
the strip. With x the depth of the middle of the strip,

.. math::
    \text{wet}(x) = \Phi'(x), \qquad U = \rho g V \Phi(x), \qquad
    f = \rho g V \Phi'\, e_z, \qquad
    m = -\rho g V\, \frac{\partial \Phi}{\partial s_z}\, s \times e_z

U is the energy that buoyancy stores, f acts in the middle of the strip, and the moment m is that
of the centre of the wet part, which is not the middle. Both follow from U, so that in still water
buoyancy gives back exactly what it took.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Float

from swelltree.spatial.arrays import Array, namespace


class Submergence(NamedTuple):
    """Of every strip."""

    wet: Array  # (k,) part under the surface
    head: Array  # (k,) Phi, m
    turn: Array  # (k,) derivative of Phi by s_z, m


def wetness(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: Any,
) -> Float[Array, " k"]:
    """Part of each strip under the surface, with a continuous derivative.

    Strips on end add up to the wetted length exactly.

    Args:
        surface: height of the free surface [m].
        at: points of the strips [m].
        s: along the member.
        strips: with `length`, `width` and `shift` of each strip.
    """
    return submergence(surface, at, s, strips).wet


def submergence(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: Any,
) -> Submergence:
    """Wet part, stored head and its derivative by the slope of the member."""
    xp = namespace(at, surface)
    s_z = s[:, 2]
    depth = surface - at[:, 2] - strips.shift * s_z
    up, level = xp.sqrt(s_z**2 + 1e-6), xp.sqrt(1.0 + 1e-6 - s_z**2)
    tall = strips.length * up
    across, least = strips.width * level, 0.5 * strips.length
    wide = xp.maximum(across, least)

    # powers that begin at the corners of the trapezium; deep strips are cut off at its edge, so
    # that they lose no digits
    b, e = 0.5 * (tall + wide), 0.5 * (tall - wide)
    x = xp.clip(depth, -b, b)
    corner = [xp.maximum(y, 0.0) for y in (x + b, x + e, x - e, x - b)]
    one, two, three, four = (0.5 * y**2 for y in corner)
    cube = (corner[0] ** 3 - corner[1] ** 3 - corner[2] ** 3 + corner[3] ** 3) / 6.0
    area = tall * wide
    wet = (one - two - three + four) / area
    head = cube / area
    by_tall = 0.5 * (one - two + three - four) / area - head / tall
    by_wide = 0.5 * (one + two - three - four) / area - head / wide
    widens = xp.where(across > least, -strips.width * s_z / level, 0.0)
    turn = by_tall * strips.length * s_z / up + by_wide * widens
    return Submergence(wet, head + xp.maximum(depth - b, 0.0), turn)
