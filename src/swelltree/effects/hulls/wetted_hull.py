r"""Pressure on the wetted part of closed hulls, triangle by triangle.

Every triangle is cut where the height above the surface, d = z - eta, linear over it, is zero.
With corners ordered by d, what is under water is two triangles, each possibly empty,

.. math:: (1, a, b) \cup (1, b, c), \quad a = 1 + s_{12}(2 - 1), \quad b = a + s_{23}(3 - 2),
          \quad c = 1 + s_{13}(3 - 1)

with s the part of an edge that is wet, between 0 and 1: no branches, fixed shapes, and a
derivative everywhere. The pressure is linear over a triangle, so its force and moment are exact
quadratures. In still water that is exact for the polyhedron: force and moment are the gradient of

.. math:: U = -\rho g \int_V z\, dV

and neither jumps when a panel crosses the surface.
"""

from __future__ import annotations

from types import ModuleType

from swelltree.engine.arrays import Array, namespace, pytree

THIN = 1e-9  # m: flatter panels at the surface become wet over this height


@pytree()
class Triangles:
    """Closed hulls of b bodies in body axes from their reference points, padded to one size."""

    vertices: Array  # (3, b, v)
    corner: Array  # (3, b, t) number of the vertex at each corner, counted over all bodies
    point: Array  # (3 corners, 3, b, t)
    area: Array  # (3, b, t) area times outward normal; zero where padded


@pytree()
class Wetted:
    """What the water does to each body, in world axes about its reference point."""

    wrench: Array  # (b, 6)
    volume: Array  # (b,) under the surface, m^3
    potential: Array  # (b,) J, in still water


def _ordered(
    low: tuple[Array, ...], high: tuple[Array, ...], xp: ModuleType
) -> tuple[tuple[Array, ...], tuple[Array, ...], Array]:
    """Two corners with the lower one first, and whether they were exchanged."""
    swap = low[0] > high[0]
    first = tuple(xp.where(swap, b, a) for a, b in zip(low, high, strict=True))
    second = tuple(xp.where(swap, a, b) for a, b in zip(low, high, strict=True))
    return first, second, swap


def wet_shares(d: tuple[Array, ...], f: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    r"""Integrals of a linear f times each barycentric coordinate over the wet part.

    .. math:: g_j = \frac{1}{A} \int_{d < 0} f \lambda_j\, dA

    Args:
        d: height of the three corners above the surface [m].
        f: value at the three corners.
    """
    xp = namespace(d[0], f[0])
    a, b, c = zip(d, f, strict=True)
    a, b, swap_ab = _ordered(a, b, xp)
    b, c, swap_bc = _ordered(b, c, xp)
    a, b, swap_last = _ordered(a, b, xp)
    (d1, f1), (d2, f2), (d3, f3) = a, b, c

    def part(low: Array, high: Array) -> Array:
        return xp.clip(-low / xp.maximum(high - low, THIN), 0.0, 1.0)

    s12, s13, s23 = part(d1, d2), part(d1, d3), part(d2, d3)
    rest = s12 - s23  # second coordinate of b; its third is s23
    fa = f1 + s12 * (f2 - f1)
    fb = fa + s23 * (f3 - f2)
    fc = f1 + s13 * (f3 - f1)
    upper, lower = s12 * s23 / 12.0, rest * s13 / 12.0
    sum_a, sum_b = f1 + fa + fb, f1 + fb + fc
    g2 = upper * (sum_a * (s12 + rest) + fa * s12 + fb * rest) + lower * (sum_b + fb) * rest
    g3 = upper * (sum_a + fb) * s23 + lower * (sum_b * (s23 + s13) + fb * s23 + fc * s13)
    g1 = 4.0 * (upper * sum_a + lower * sum_b) - g2 - g3
    # back to the corners as they were given
    g1, g2 = xp.where(swap_last, g2, g1), xp.where(swap_last, g1, g2)
    g2, g3 = xp.where(swap_bc, g3, g2), xp.where(swap_bc, g2, g3)
    g1, g2 = xp.where(swap_ab, g2, g1), xp.where(swap_ab, g1, g2)
    return g1, g2, g3


def heights(hull: Triangles, p: Array, R: Array) -> tuple[Array, Array, Array]:
    """Height of the three corners of every triangle above z = 0, (b, t) each."""
    up = [R[:, 2, k, None] for k in range(3)]
    return tuple(
        p[:, 2, None] + up[0] * point[0] + up[1] * point[1] + up[2] * point[2]
        for point in (hull.point[0], hull.point[1], hull.point[2])
    )


def places(hull: Triangles, p: Array, R: Array) -> tuple[Array, Array, Array]:
    """World coordinates x, y, z of the vertices, (b, v) each."""
    x = hull.vertices
    return tuple(
        p[:, i, None] + R[:, i, 0, None] * x[0] + R[:, i, 1, None] * x[1] + R[:, i, 2, None] * x[2]
        for i in range(3)
    )


def wetted(
    hull: Triangles,
    p: Array,
    R: Array,
    rho_g: Array,
    surface: tuple[Array, Array] | None = None,
) -> Wetted:
    """Wrench of the total pressure under the incident surface.

    Args:
        hull: triangles of the bodies.
        p: reference points (b, 3) [m].
        R: rotations (b, 3, 3).
        rho_g: [N/m^3].
        surface: elevation [m] and dynamic pressure head p / rho g [m] at the vertices, (b, v)
            each; still water if not given.
    """
    xp = namespace(p, R)
    z = heights(hull, p, R)
    d, head = z, tuple(-h for h in z)
    if surface is not None:
        # XLA keeps the result of a division, where it would evaluate the sea again for every
        # panel around a vertex
        eta, dynamic = ((rho_g * field / rho_g).reshape(-1) for field in surface)
        # clipping the numbers, which are all in range, saves XLA a test of each of them
        pick = [xp.take(eta, hull.corner[i], mode="clip") for i in range(3)]
        d = tuple(h - e for h, e in zip(z, pick, strict=True))
        pick = [xp.take(dynamic, hull.corner[i], mode="clip") for i in range(3)]
        head = tuple(e - h for h, e in zip(z, pick, strict=True))
    share = wet_shares(d, head)
    n = hull.area
    total = share[0] + share[1] + share[2]
    # integral of head times r, in body axes
    m = [sum(g * hull.point[j][k] for j, g in enumerate(share)) for k in range(3)]
    force = [-(total * n[k]).sum(-1) for k in range(3)]
    moment = [-(m[k - 2] * n[k - 1] - m[k - 1] * n[k - 2]).sum(-1) for k in range(3)]
    wrench = rho_g * xp.concatenate([_turned(R, force, xp), _turned(R, moment, xp)], axis=-1)
    up = R[:, 2, 0, None] * n[0] + R[:, 2, 1, None] * n[1] + R[:, 2, 2, None] * n[2]
    if surface is None:
        volume = -(total * up).sum(-1)
        squares = sum(g * h for g, h in zip(share, z, strict=True))
        return Wetted(wrench, volume, 0.5 * rho_g * (squares * up).sum(-1))
    volume = (sum(wet_shares(d, d)) * up).sum(-1)
    return Wetted(wrench, volume, 0.0 * volume)


def _turned(R: Array, rows: list[Array], xp: ModuleType) -> Array:
    """Vectors of the bodies from body to world axes."""
    return xp.stack(
        [R[:, i, 0] * rows[0] + R[:, i, 1] * rows[1] + R[:, i, 2] * rows[2] for i in range(3)], -1
    )
