"""Panels of hulls.

Made with numpy alone. A line of panels follows the waterline, and panels become smaller towards
edges and the waterline. Corners on a circle would enclose too little, corners that enclose the
true volume give 1.5 times as large an error of the added mass of the other sign; the radius is
taken half way, which takes away most of the error of flat panels on a sphere.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from swelltree.describe.bodies import hulls as h
from swelltree.describe.bodies.meshes import Panels, join, merged, read_panels

PANELS = 400  # about so many on the surface of a shape that has no panel_size


def hull_panels(hull: h.Hull, scale: float = 1.0, *, true_sections: bool = False) -> Panels:
    """The whole closed surface of a hull in its own frame.

    Args:
        hull: the shape.
        scale: factor on the size of the panels; a mesh file can only be divided (0.5, 0.25 ...).
        true_sections: horizontal sections of shapes of revolution have the true area, as
            hydrostatics want it, rather than half way to it, as a BEM run wants it.
    """
    return join(_part(part, scale, true_sections) for part in hull.parts)


def _part(part: h.Hull, scale: float, true_sections: bool) -> Panels:
    match part:
        case h.PanelHull():
            panels = read_panels(part)
            for _ in range(round(-math.log2(scale)) if scale < 1.0 else 0):
                panels = panels.divided()
            return panels.moved(part.offset)
        case h.Box():
            sides = (part.length, part.width, part.height)
            low, x, y, z = part.offset[2] - part.draft, *sides
            return _box(x, y, low, z, _size(part, scale)).moved((*part.offset[:2], 0.0))
        case h.Plate():
            low = part.offset[2] - part.depth - part.thickness
            built = _box(part.length, part.width, low, part.thickness, _size(part, scale))
            return built.moved((*part.offset[:2], 0.0))
        case h.HorizontalCylinder():
            return _horizontal(part, _size(part, scale)).moved((*part.offset[:2], 0.0))
        case _:
            return _revolved(part, _size(part, scale), true_sections).moved((*part.offset[:2], 0.0))


def _size(part: h.Hull, scale: float) -> float:
    if part.panel_size is not None:
        return scale * part.panel_size
    return scale * math.sqrt(wetted_area(part) / PANELS)


def wetted_area(part: h.Hull) -> float:
    """Approximate wetted area of a shape, to choose a panel size [m^2]."""
    match part:
        case h.Box():
            return part.length * part.width + 2 * (part.length + part.width) * part.draft
        case h.Plate():
            return 2 * part.length * part.width
        case h.HorizontalCylinder():
            return math.pi * part.radius * (part.length + part.radius)
        case _:
            points = profile(part)
            rows = itertools.pairwise(points)
            sides = sum(
                math.pi * (a[0] + b[0]) * math.hypot(b[0] - a[0], b[1] - a[1])
                for a, b in rows
                if min(a[1], b[1]) < 0.0
            )
            return sides or math.pi * max(r for r, _ in points) ** 2


def steps(length: float, size: float, least: int = 2, grade: float = 0.8) -> np.ndarray:
    """Numbers from 0 to 1 with smaller steps towards both ends."""
    n = max(least, round(length / size))
    u = np.linspace(0.0, 1.0, n + 1)
    return (1.0 - grade) * u + grade * 0.5 * (1.0 - np.cos(math.pi * u))


def _levels(low: float, high: float, size: float) -> np.ndarray:
    """Heights from low to high; one of them is the waterline if it lies between."""
    if low < 0.0 < high:
        return np.concatenate([low * (1.0 - steps(-low, size)), high * steps(high, 2 * size)[1:]])
    return low + (high - low) * steps(high - low, size, least=1)


def _patch(points: np.ndarray) -> Panels:
    """Quadrilaterals of a grid of points (rows, columns, 3)."""
    rows, columns = points.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    faces = np.stack([number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]], axis=-1)
    return Panels(points.reshape(-1, 3), faces.reshape(-1, 4))


def _flat(u: np.ndarray, v: np.ndarray, at: float, axes: tuple[int, int, int]) -> Panels:
    """A rectangle of panels: u and v along two axes, the third constant, normal u x v."""
    points = np.zeros((len(v), len(u), 3))
    points[..., axes[0]] = u[None, :]
    points[..., axes[1]] = v[:, None]
    points[..., axes[2]] = at
    return _patch(points)


def _box(length: float, width: float, low: float, height: float, size: float) -> Panels:
    x = length * (steps(length, size) - 0.5)
    y = width * (steps(width, size) - 0.5)
    z = _levels(low, low + height, size)
    a, b = 0.5 * length, 0.5 * width
    return join(
        [
            _flat(y, z, a, (1, 2, 0)),
            _flat(z, y, -a, (2, 1, 0)),
            _flat(z, x, b, (2, 0, 1)),
            _flat(x, z, -b, (0, 2, 1)),
            _flat(x, y, z[-1], (0, 1, 2)),
            _flat(y, x, z[0], (1, 0, 2)),
        ]
    )


def profile(part: h.Hull) -> list[tuple[float, float]]:
    """Corners (radius, z) of a shape of revolution with its offset; arcs are not divided."""
    up = part.offset[2]
    match part:
        case h.Cylinder():
            low = -part.draft
            rows = [(0.0, low), (part.radius, low), (part.radius, low + part.height)]
            rows.append((0.0, low + part.height))
        case h.Cone():
            low = -part.draft
            rows = [(0.0, low), (part.bottom_radius, low)]
            rows += [(part.radius, low + part.height), (0.0, low + part.height)]
        case h.Axisymmetric():
            (_, low), (_, high) = part.profile[0], part.profile[-1]
            rows = [(part.bore, low), *part.profile, (part.bore, high)]
            if part.bore > 0.0:
                rows.append(rows[0])
        case h.Sphere() | h.Hemisphere():
            centre, top = sphere_centre(part)
            angles = np.linspace(0.0, math.pi * top, 25)
            rows = [(part.radius * math.sin(a), centre - part.radius * math.cos(a)) for a in angles]
            return [*rows, (0.0, rows[-1][1])]
        case _:
            raise TypeError(part.shape)
    return [(r, z + up) for r, z in rows]


def sphere_centre(part: h.Sphere | h.Hemisphere) -> tuple[float, float]:
    """Height of the centre of a sphere, and the fraction of the half turn that it covers."""
    draft = part.radius if part.draft is None else part.draft
    return part.radius - draft + part.offset[2], 1.0 if isinstance(part, h.Sphere) else 0.5


def _revolved(part: h.Hull, size: float, true_sections: bool = False) -> Panels:
    if isinstance(part, h.Sphere | h.Hemisphere):
        points = _arc(part, size, 1.0 if true_sections else 2.0)
    else:
        points = _subdivided(profile(part), size)
    largest = max(r for r, _ in points)
    n = max(8, 4 * round(0.5 * math.pi * largest / size))
    # half way to a polygon with the area of the circle
    factor = math.sqrt(2.0 * math.pi / n / math.sin(2.0 * math.pi / n))
    if true_sections:
        factor = factor**2
    elif isinstance(part, h.Sphere | h.Hemisphere):
        factor *= _arc_factor(part, np.array(points))
    angle = np.linspace(0.0, 2.0 * math.pi, n + 1)
    r, z = np.array(points).T
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * math.sqrt(factor)
    ring[-1] = ring[0]
    grid = np.concatenate(
        [r[:, None, None] * ring[None], np.broadcast_to(z[:, None, None], (len(z), n + 1, 1))],
        axis=-1,
    )
    return merged(_patch(grid))


def _arc_factor(part: h.Sphere | h.Hemisphere, points: np.ndarray) -> float:
    """Factor on the radii so that chords of a sphere have its (wetted) volume."""
    r, z = points.T
    slices = np.diff(z) / 3.0 * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2)
    low, high = z[0], min(z[-1], 0.0) if z[0] < 0.0 else z[-1]
    up = high - low
    return math.sqrt(up**2 * (part.radius - up / 3.0) / slices[z[1:] <= high].sum())


def _subdivided(rows: list[tuple[float, float]], size: float) -> list[tuple[float, float]]:
    """A polyline cut at the waterline and divided into steps of about the panel size."""
    points = [rows[0]]
    for a, b in itertools.pairwise(rows):
        ends = [a, b]
        if a[1] * b[1] < 0.0:
            s = a[1] / (a[1] - b[1])
            ends.insert(1, (a[0] + s * (b[0] - a[0]), 0.0))
        for p, q in itertools.pairwise(ends):
            length = math.hypot(q[0] - p[0], q[1] - p[1])
            if length > 0.0:
                coarse = 2.0 * size if min(p[1], q[1]) >= 0.0 else size
                for s in steps(length, coarse, least=1)[1:]:
                    points.append((p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])))
    return points


def _arc(
    part: h.Sphere | h.Hemisphere, size: float, above: float = 2.0
) -> list[tuple[float, float]]:
    """The profile of a sphere, with a point on the waterline and larger steps above it."""
    radius, (centre, top) = part.radius, sphere_centre(part)
    cuts = [0.0, top * math.pi]
    if -radius < centre < radius:
        water = math.acos(centre / radius)
        if 0.0 < water < cuts[1] - 1e-9:
            cuts.insert(1, water)
    angles = [0.0]
    for a, b in itertools.pairwise(cuts):
        coarse = above * size if len(angles) > 1 else size
        # even steps: the pole is not an edge
        angles += [a + (b - a) * s for s in steps(radius * (b - a), coarse, grade=0.2)[1:]]
    rows = [(radius * math.sin(a), centre - radius * math.cos(a)) for a in angles]
    rows[0] = (0.0, rows[0][1])
    if part.shape == "sphere":
        rows[-1] = (0.0, rows[-1][1])
    else:
        rows += [(r, rows[-1][1]) for r in radius * (1.0 - steps(radius, 2 * size)[1:])]
    return [(r, 0.0 if abs(z) < 1e-12 * radius else z) for r, z in rows]


def _horizontal(part: h.HorizontalCylinder, size: float) -> Panels:
    """Panels of a horizontal cylinder: side in two halves, end discs in strips."""
    draft = part.radius if part.draft is None else part.draft
    centre = part.radius - draft + part.offset[2]
    cuts = [0.0, math.pi]
    if -part.radius < centre < part.radius:
        cuts.insert(1, math.acos(centre / part.radius))
    turns = [0.0]
    for a, b in itertools.pairwise(cuts):
        n = max(3, round(part.radius * (b - a) / size))
        turns += [a + (b - a) * (i + 1) / n for i in range(n)]
    angle = np.array(turns)
    # half way to a polygon with the area of the circle
    factor = math.sqrt(math.pi / np.sin(np.diff(angle)).sum())
    half = factor * part.radius * np.sin(angle)
    half[[0, -1]] = 0.0
    z = centre - part.radius * np.cos(angle)
    z[np.abs(z) < 1e-12 * part.radius] = 0.0
    along = part.length * (steps(part.length, size) - 0.5)
    across = 2.0 * steps(2.0 * part.radius, size) - 1.0
    end = 0.5 * part.length

    def grid(u: np.ndarray, x: np.ndarray, up: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(u.shape, x.shape, up.shape)
        return np.stack([np.broadcast_to(v, shape) for v in (u, x, up)], axis=-1)

    # axis along the first coordinate, then across, then up
    right = grid(along[::-1][None, :], half[:, None], z[:, None])
    left = grid(along[None, :], -half[:, None], z[:, None])
    front = grid(np.array(end), half[:, None] * across[None, :], z[:, None])
    back = grid(np.array(-end), half[:, None] * across[None, ::-1], z[:, None])
    built = join([_patch(right), _patch(left), _patch(front), _patch(back)])
    if part.axis == "y":
        turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return built.moved(rotation=turn)
    return built
