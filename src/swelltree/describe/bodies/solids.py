"""Volumes and moments of hulls: of the whole solid and of the part under water.

Upright simple shapes have closed forms; everything else is integrated exactly over its panels.
All lengths are measured from the origin of the hull's frame, which lies on the still water.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.describe.bodies import hulls as h
from swelltree.describe.bodies.hull_panels import hull_panels, profile, sphere_centre
from swelltree.describe.bodies.meshes import Panels


@dataclass(frozen=True)
class Solid:
    """A homogeneous solid.

    Args:
        volume: [m^3].
        centroid: (3,) [m].
        moments: integral of r r^T over the volume, from the origin [m^5], (3, 3).
    """

    volume: float
    centroid: np.ndarray
    moments: np.ndarray

    @property
    def inertia_per_mass(self) -> np.ndarray:
        """Inertia about the centroid for a mass of one [m^2], (3, 3)."""
        c = self.centroid
        spread = self.moments / self.volume - np.outer(c, c)
        return np.trace(spread) * np.eye(3) - spread


@dataclass(frozen=True)
class Immersed:
    """The part under water and its waterplane.

    Args:
        volume: [m^3].
        center: of buoyancy (3,) [m].
        area: of the waterplane [m^2].
        first: integrals of x and y over the waterplane (2,) [m^3].
        second: integrals of xx, xy; xy, yy over the waterplane (2, 2) [m^4].
    """

    volume: float
    center: np.ndarray
    area: float
    first: np.ndarray
    second: np.ndarray


def hull_solid(hull: h.Hull) -> Solid:
    return _sum_solids(
        _shifted_solid(_solid(part), part.offset)
        if not isinstance(part, h.PanelHull)
        else solid_of_panels(hull_panels(part))
        for part in hull.parts
    )


def hull_immersed(hull: h.Hull, rotation: np.ndarray | None = None) -> Immersed:
    """The part of a hull below z = 0.

    Args:
        hull: the shape.
        rotation: from hull axes to world axes; upright if not given.
    """
    tilted = rotation is not None and not np.allclose(np.asarray(rotation)[2], (0, 0, 1), atol=1e-9)
    result = []
    for part in hull.parts:
        if tilted or isinstance(part, h.PanelHull):
            panels = hull_panels(part).moved(rotation=rotation)
            result.append(immersed_of_panels(panels.immersed()))
        else:
            result.append(_turned(_immersed(part), rotation))
    return _sum_immersed(result)


def solid_of_panels(panels: Panels) -> Solid:
    """The solid inside closed panels, by tetrahedra from the origin."""
    t = panels.triangles
    six = np.linalg.det(t)
    total = t.sum(1)
    volume = six.sum() / 6.0
    centroid = np.einsum("k,ki->i", six, total) / 24.0 / volume
    moments = np.einsum("k,kai,kaj->ij", six, t, t) + np.einsum("k,ki,kj->ij", six, total, total)
    return Solid(float(volume), centroid, moments / 120.0)


def immersed_of_panels(panels: Panels) -> Immersed:
    """The water displaced by panels below z = 0, open or closed at the waterline.

    Gauss's theorem with fields along z: the waterplane at z = 0 adds nothing to volume moments,
    and its own moments are those of the wetted panels seen from above.
    """
    t = panels.triangles
    if not len(t):
        return Immersed(0.0, np.zeros(3), 0.0, np.zeros(2), np.zeros((2, 2)))
    # panels that lie in the waterplane are its lid, not the hull
    t = t[np.abs(t[:, :, 2]).max(1) > 0.0]
    down = 0.5 * np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])[:, 2]
    mid = 0.5 * (t + np.roll(t, -1, axis=1))  # exact for polynomials of degree two

    def integral(f: np.ndarray) -> np.ndarray:
        return np.tensordot(down, f.mean(1), 1)

    x, y, z = mid[..., 0], mid[..., 1], mid[..., 2]
    volume = float(integral(z))
    # the centre needs degree two; x z and y z are, z^2 / 2 is
    center = np.array([integral(x * z), integral(y * z), integral(0.5 * z * z)])
    plane = mid[..., :2]
    return Immersed(
        volume,
        center / volume if volume > 0 else np.zeros(3),
        float(-integral(np.ones_like(x))),
        -np.array([integral(x), integral(y)]),
        -integral(plane[..., :, None] * plane[..., None, :]),
    )


def _solid(part: h.Hull) -> Solid:
    """Solid of one part without its offset."""
    match part:
        case h.Box() | h.Plate():
            height = part.height if isinstance(part, h.Box) else part.thickness
            low = -part.draft if isinstance(part, h.Box) else -part.depth - part.thickness
            sides = np.array([part.length, part.width, height])
            c = np.array([0.0, 0.0, low + 0.5 * height])
            volume = float(sides.prod())
            return Solid(volume, c, volume * (np.diag(sides**2 / 12.0) + np.outer(c, c)))
        case h.HorizontalCylinder():
            draft = part.radius if part.draft is None else part.draft
            c = np.array([0.0, 0.0, part.radius - draft])
            volume = math.pi * part.radius**2 * part.length
            spread = np.full(3, part.radius**2 / 4.0)
            spread["xy".index(part.axis)] = part.length**2 / 12.0
            return Solid(volume, c, volume * (np.diag(spread) + np.outer(c, c)))
        case _:
            q = _round(part.replace(offset=h.ORIGIN), math.inf)
            c = np.array([0.0, 0.0, q[1] / q[0]])
            return Solid(q[0], c, np.diag([q[3], q[3], q[2]]))


def _immersed(part: h.Hull) -> Immersed:
    """Immersed solid of a simple upright shape at its offset."""
    x, y, up = part.offset
    match part:
        case h.Box() | h.Plate():
            height = part.height if isinstance(part, h.Box) else part.thickness
            low = up - (part.draft if isinstance(part, h.Box) else part.depth + part.thickness)
            wet = min(max(-low, 0.0), height)
            a, b = part.length, part.width
            cut = low < 0.0 < low + height
            volume, z = a * b * wet, low + 0.5 * wet
            area, second = (a * b, np.array([a**2, b**2]) / 12.0) if cut else (0.0, np.zeros(2))
        case h.HorizontalCylinder():
            r, draft = part.radius, part.radius if part.draft is None else part.draft
            centre = r - draft + up
            turn = math.acos(min(max(centre / r, -1.0), 1.0))  # half the wetted angle
            section = r**2 * (turn - 0.5 * math.sin(2.0 * turn))
            volume = section * part.length
            below = 2.0 / 3.0 * r**3 * math.sin(turn) ** 3 / section if section else 0.0
            z, chord = centre - below, 2.0 * r * math.sin(turn)
            area = chord * part.length if -r < centre < r else 0.0
            second = np.array([part.length**2, chord**2]) / 12.0
            second = second if part.axis == "x" else second[::-1]
        case _:
            q = _round(part, 0.0)
            volume, z = q[0], q[1] / q[0] if q[0] else 0.0
            radius, hole = _radius_at_waterline(part) ** 2, _bore(part) ** 2
            area, second = math.pi * max(radius - hole, 0.0), np.full(2, (radius + hole) / 4.0)
    plane = np.array([x, y])
    return Immersed(
        volume,
        np.array([x, y, z]),
        area,
        area * plane,
        area * (np.diag(second) + np.outer(plane, plane)),
    )


def _pieces(
    part: h.Hull, top: float
) -> list[tuple[float, float, Callable[[np.ndarray], np.ndarray]]]:
    """Height intervals below a level in which the radius is a smooth function."""
    if isinstance(part, h.Sphere | h.Hemisphere):
        centre, complete = sphere_centre(part)
        low, high = centre - part.radius, centre + (part.radius if complete == 1.0 else 0.0)

        def arc(z: np.ndarray) -> np.ndarray:
            return np.sqrt(np.maximum(part.radius**2 - (z - centre) ** 2, 0.0))

        return [(low, min(high, top), arc)] if low < top else []
    result = []
    for (r0, z0), (r1, z1) in itertools.pairwise(profile(part)):
        if z1 > z0 and z0 < top:
            slope = (r1 - r0) / (z1 - z0)
            result.append((z0, min(z1, top), lambda z, r=r0, z0=z0, s=slope: r + s * (z - z0)))
    return result


def _bore(part: h.Hull) -> float:
    """Radius of the axial hole [m]."""
    return part.bore if isinstance(part, h.Axisymmetric) else 0.0


def _round(part: h.Hull, top: float) -> np.ndarray:
    """Volume, integrals of z, z^2 and x^2 of a shape of revolution below a level."""
    nodes, weights = np.polynomial.legendre.leggauss(6)  # exact: at most degree four in z
    total = np.zeros(4)
    for low, high, radius in _pieces(part, top):
        z = 0.5 * (high + low) + 0.5 * (high - low) * nodes
        r, hole = radius(z) ** 2, _bore(part) ** 2
        w = 0.5 * (high - low) * weights * math.pi * (r - hole)
        total += np.array([w.sum(), w @ z, w @ z**2, w @ (r + hole) / 4.0])
    return total


def _radius_at_waterline(part: h.Hull) -> float:
    for low, high, radius in _pieces(part, math.inf):
        # a body whose top is just awash counts as cut: its flat side lies on the water
        if low < 0.0 <= high + 1e-12:
            return float(radius(np.zeros(1))[0])
    return 0.0


def _shifted_solid(solid: Solid, offset: Sequence[float] | np.ndarray) -> Solid:
    d, c, v = np.asarray(offset, float), solid.centroid, solid.volume
    cross = v * np.outer(c, d)
    return Solid(v, c + d, solid.moments + cross + cross.T + v * np.outer(d, d))


def _turned(part: Immersed, rotation: np.ndarray | None) -> Immersed:
    if rotation is None:
        return part
    R = np.asarray(rotation, float)
    r = R[:2, :2]
    return Immersed(part.volume, R @ part.center, part.area, r @ part.first, r @ part.second @ r.T)


def _sum_solids(solids: Iterable[Solid]) -> Solid:
    solids = list(solids)
    volume = sum(s.volume for s in solids)
    centroid = sum(s.volume * s.centroid for s in solids) / volume
    return Solid(volume, np.asarray(centroid), np.asarray(sum(s.moments for s in solids)))


def _sum_immersed(parts: list[Immersed]) -> Immersed:
    volume = sum(p.volume for p in parts)
    weighted = np.asarray(sum(p.volume * p.center for p in parts))
    return Immersed(
        volume,
        weighted / volume if volume > 0 else np.zeros(3),
        sum(p.area for p in parts),
        np.asarray(sum(p.first for p in parts)),
        np.asarray(sum(p.second for p in parts)),
    )
