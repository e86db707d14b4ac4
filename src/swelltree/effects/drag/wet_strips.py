r"""How far strips of a member are under water, and what buoyancy stores in them.

A strip reaches over a height by its length, :math:`T = l |s_z|`, and by its section. The height of
the points of a circle of diameter D has the variance :math:`\tfrac1{16} D^2 (1 - s_z^2)`, that of a
uniform distribution of the width :math:`W = D \sqrt{\tfrac34 (1 - s_z^2)}`. To its square that of
half the strip is added, so that strips go under smoothly; it is taken in proportion to the slope,
which leaves the moment of a slanted member as it is. The two uniform distributions folded give a
trapezium; the part of it below the surface is the wet part of the strip. With x the depth of the
middle of the strip,

.. math::
    \text{wet}(x) = \Phi'(x), \qquad U = \rho g V \Phi(x), \qquad
    f = \rho g V \Phi'\, e_z, \qquad
    m = -\rho g V\, \frac{\partial \Phi}{\partial s_z}\, s \times e_z

U is the energy that buoyancy stores, f acts in the middle of the strip, and the moment m is that
of the centre of the wet part, which is not the middle. Both follow from U, so that in still water
buoyancy gives back exactly what it took. As the variance of W is that of the section, an upright
member has the moment of its waterplane, :math:`\rho g \tfrac{\pi}{64} D^4` for each radian.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace

if TYPE_CHECKING:
    from swelltree.effects.drag.morison import MorisonMembers, Strips


SAME_VARIANCE = 0.75  # of D^2: square of the width of a uniform distribution, D^2 / 16 = W^2 / 12
LEVEL = 0.2  # slope below which a strip counts as level


class Submergence(NamedTuple):
    """Of every strip."""

    wet: Array  # (k,) part under the surface
    head: Array  # (k,) Phi, m
    turn: Array  # (k,) derivative of Phi by s_z, m


def wetness(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: MorisonMembers | Strips,
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
    strips: MorisonMembers | Strips,
) -> Submergence:
    """Wet part, stored head and its derivative by the slope of the member."""
    xp = namespace(at, surface)
    s_z = s[:, 2]
    depth = surface - at[:, 2] - strips.shift * s_z
    up = xp.sqrt(s_z**2 + 1e-6)
    tall = strips.length * up
    section, smooth = SAME_VARIANCE * strips.width**2, (0.5 * strips.length) ** 2
    slanted = xp.sqrt(s_z**2 + LEVEL**2)
    wide = xp.sqrt(smooth * slanted + section * (1.0 - s_z**2))

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
    widens = (0.5 * smooth / slanted - section) * s_z / wide
    turn = by_tall * strips.length * s_z / up + by_wide * widens
    return Submergence(wet, head + xp.maximum(depth - b, 0.0), turn)
