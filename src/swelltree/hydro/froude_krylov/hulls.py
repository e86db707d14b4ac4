"""Nonlinear hydrostatics and Froude-Krylov forces of hulls, at their actual position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import ClassVar, NamedTuple

import numpy as np

from swelltree.jit import Array, known, namespace, pytree
from swelltree.model.capabilities import PreparedForSea
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.spatial.loops import along, rows_of, sum_along
from swelltree.waves.airy import Components
from swelltree.waves.local import LocalWaves, local_waves, roomy
from swelltree.waves.sea import RealisedSea, surface_about

# --- Pressure on the wetted part of closed hulls, triangle by triangle

THIN = 1e-9  # m: flatter panels at the surface become wet over this height


@pytree()
class Triangles:
    """Closed hulls of b bodies in body axes from their reference points, padded to one size."""

    vertices: Array  # (b, 3, v)
    corner: Array  # (b, 3, t) number of the vertex at each corner
    point: Array  # (b, 3 corners, 3, t)
    area: Array  # (b, 3, t) area times outward normal; zero where padded


@pytree()
class Wetted:
    """Water pressure loads on each body, in world axes about its reference point."""

    wrench: Array  # (b, 6)
    volume: Array  # (b,) under the surface, m^3
    potential: Array  # (b,) J, in still water


def _ordered(
    low: tuple[Array, ...], high: tuple[Array, ...], xp: ModuleType
) -> tuple[tuple[Array, ...], tuple[Array, ...], Array]:
    """Two corners, the lower one first, and whether they were swapped."""
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


def place(p: Array, R: Array, x: Array) -> tuple[Array, Array, Array]:
    """World coordinates of points of a body: x (3, ...) in body axes."""
    return tuple(p[i] + R[i, 0] * x[0] + R[i, 1] * x[1] + R[i, 2] * x[2] for i in range(3))


def places(hull: Triangles, p: Array, R: Array) -> tuple[Array, Array, Array]:
    xp = namespace(p, R)
    found = [place(p[i], R[i], hull.vertices[i]) for i in range(len(p))]
    return tuple(xp.stack(part) for part in zip(*found, strict=True))


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
    panels = hull.corner, hull.point, hull.area

    def body(*row: Array) -> tuple[Array, ...]:
        corner, point, area, p, R, *fields = row
        own = Panels(corner, point, area, *fields)
        if not fields:
            return in_still_water(own, p, R, rho_g)
        volume = under_water(own, p, R)
        return pressed(own, p, R, rho_g), volume, 0.0 * volume

    return Wetted(*rows_of(xp, body, *panels, p, R, *(surface or ())))


class Panels(NamedTuple):
    corner: Array  # (3, t)
    point: Array  # (3, 3, t)
    area: Array  # (3, t)
    elevation: Array = None
    head: Array = None  # None: no dynamic pressure


def pressed(hull: Panels, p: Array, R: Array, rho_g: Array) -> Array:
    """Wrench (6,) of the total pressure in waves.

    Args:
        hull: panels of a body; without a head only the weight of the water presses.
        p: reference point (3,) [m].
        R: rotation (3, 3).
        rho_g: [N/m^3].
    """
    xp = namespace(p, R)

    def panel(corner: Array, point: Array, area: Array) -> tuple[Array, ...]:
        z = _heights(p, R, point)
        d = tuple(h - e for h, e in zip(z, _picked(hull.elevation, corner, xp), strict=True))
        head = tuple(-h for h in z)
        if hull.head is not None:
            head = tuple(e + h for h, e in zip(head, _picked(hull.head, corner, xp), strict=True))
        return _load(wet_shares(d, head), point, area)

    return rho_g * _turned(R, sum_along(xp, panel, *hull[:3]), xp)


def under_water(hull: Panels, p: Array, R: Array) -> Array:
    xp = namespace(p, R)

    def panel(corner: Array, point: Array, area: Array) -> tuple[Array, ...]:
        z = _heights(p, R, point)
        d = tuple(h - e for h, e in zip(z, _picked(hull.elevation, corner, xp), strict=True))
        return (sum(wet_shares(d, d)) * _up(R, area),)

    return sum_along(xp, panel, *hull[:3])[0]


def in_still_water(hull: Panels, p: Array, R: Array, rho_g: Array) -> tuple[Array, Array, Array]:
    """Wrench (6,), volume [m^3] and potential energy [J]."""
    xp = namespace(p, R)

    def panel(point: Array, area: Array) -> tuple[Array, ...]:
        z = _heights(p, R, point)
        share = wet_shares(z, tuple(-h for h in z))
        up = _up(R, area)
        squares = sum(g * h for g, h in zip(share, z, strict=True))
        return (*_load(share, point, area), -sum(share) * up, squares * up)

    *load, volume, squares = sum_along(xp, panel, hull.point, hull.area)
    return rho_g * _turned(R, load, xp), volume, 0.5 * rho_g * squares


def _heights(p: Array, R: Array, point: Array) -> tuple[Array, Array, Array]:
    """Height of the three corners of a triangle above z = 0."""
    return tuple(p[2] + R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2] for x in point)


def _up(R: Array, area: Array) -> Array:
    return R[2, 0] * area[0] + R[2, 1] * area[1] + R[2, 2] * area[2]


def _picked(field: Array, corner: Array, xp: ModuleType) -> list[Array]:
    # clipping the numbers, which are all in range, saves XLA a test of each of them
    return [xp.take(field, corner[i], mode="clip") for i in range(3)]


def _load(share: tuple[Array, ...], point: Array, area: Array) -> tuple[Array, ...]:
    """Force and moment of a triangle in body axes for fractions of the pressure head."""
    total = share[0] + share[1] + share[2]
    # integral of head times r
    m = [sum(g * point[j][k] for j, g in enumerate(share)) for k in range(3)]
    force = [-total * area[k] for k in range(3)]
    moment = [m[k - 1] * area[k - 2] - m[k - 2] * area[k - 1] for k in range(3)]
    return (*force, *moment)


def _turned(R: Array, load: Sequence[Array], xp: ModuleType) -> Array:
    """Rotate force and moment from body to world axes."""
    return xp.stack(
        [
            R[i, 0] * row[0] + R[i, 1] * row[1] + R[i, 2] * row[2]
            for row in (load[:3], load[3:])
            for i in range(3)
        ]
    )


@pytree("names", "bodies", "radius")
class Hulls(PreparedForSea):
    """Pressure of the undisturbed sea on hulls, and their buoyancy.

    In still water buoyancy stores energy; in waves all of it is counted as work.
    """

    kind: ClassVar[str] = "hull"
    feels = ("waves",)
    triangles: Triangles
    near: (
        RealisedSea | LocalWaves | None
    )  # the sea expanded about the bodies; None: use that of the model
    names: tuple[str, ...]
    bodies: tuple[int, ...]
    radius: float  # of the farthest point of any hull from its reference point, m

    def in_sea(self, model: Model, waves: RealisedSea, padded: bool = False) -> Hulls:
        """The effect in a realised sea, expanded about the bodies where that is faster."""
        near = waves
        if isinstance(waves, Components) and waves.is_known and known(model.water.depth):
            near = local_waves(waves, self.radius, model.water)
            if padded and isinstance(near, LocalWaves):
                near = roomy(near, model.water)
        return replace(self, near=near)

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrenches of the total pressure; stored energy in still water, else power."""
        pose = now.motion.pose
        xp = namespace(pose.p)
        body = np.array(self.bodies, dtype=int)
        p, R = pose.p[body], pose.R[body]
        hull, sea = self.triangles, model.sea
        rho_g = -model.rho * model.gravity[2]
        # of all bodies, zero where there is no such hull
        row = (np.arange(pose.p.shape[0])[:, None] == body[None, :]).astype(float)

        def of_all(x: Array) -> Array:
            return (row[:, :, None] * x[None]).sum(1)

        if sea.waves is None:
            wet = wetted(hull, p, R, rho_g)
            wrench, power = of_all(wet.wrench), (wet.wrench * now.motion.v[body]).sum(-1)
            channels = {"force": wrench, "volume": (row * wet.volume[None]).sum(1)}
            return Loads(wrench, wet.potential, 0.0 * power, channels)
        waves = sea.waves if self.near is None else self.near

        def at_vertices(p: Array, R: Array, vertices: Array) -> tuple[Array, ...]:
            """Elevation and pressure head of the sea, once for all that is asked of the panels."""
            at = surface_about(waves, now.t, p, model.water, sea.stretching)

            def vertex(x: Array) -> tuple[Array, ...]:
                # XLA keeps the result of a division, where it would evaluate the sea again for
                # every panel around a vertex
                return tuple(rho_g * field / rho_g for field in at(*place(p, R, x)))

            return along(xp, vertex, vertices)

        def load(p: Array, R: Array, *panels: Array) -> tuple[Array]:
            return (pressed(Panels(*panels), p, R, rho_g),)

        def shown(p: Array, R: Array, *parts: Array) -> tuple[Array, Array]:
            """Volume, and the wrench without dynamic pressure."""
            panels = Panels(*parts)
            return under_water(panels, p, R), pressed(panels._replace(head=None), p, R, rho_g)

        fields = rows_of(xp, at_vertices, p, R, hull.vertices)
        parts = hull.corner, hull.point, hull.area, *fields
        (own,) = rows_of(xp, load, p, R, *parts)
        volume, level = rows_of(xp, shown, p, R, *parts)
        channels = {"force": of_all(own), "volume": (row * volume[None]).sum(1)}
        channels["froude_krylov"] = of_all(own - level)
        power = (own * now.motion.v[body]).sum(-1)
        return Loads(channels["force"], xp.zeros(len(body)), power, channels)
