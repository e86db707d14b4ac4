"""Hulls that pierce the surface, as lines from the keel to the top: meridians about their axis.

The wet part of every meridian ends where it meets the water. Vertices are spread between keel and
waterline in fixed parts of the wet length, so the mesh follows a moving waterline with the same
triangles. The hull must be star-shaped in every half plane through its axis, as spheres, cylinders,
boxes and most barges are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, angles, graded

KNUCKLE = np.cos(np.radians(40.0))  # of the turn of a line, beyond which it has an edge


MOST_ABOVE = 40  # places on a line above the water


@dataclass(frozen=True)
class Meridians:
    """Lines in body axes.

    Args:
        points: (line, place, 3) from the keel, the same for all, to the top; the last is repeated.
        arc: (line, place) length from the keel [m].
        knuckle: (line,) length to the lowest edge; zero: the hull is round.
    """

    points: np.ndarray
    arc: np.ndarray
    knuckle: np.ndarray

    def divided(self, wet: np.ndarray, rings: int) -> Meridians:
        """Straight between the rings of a mesh, and between those and places above the water.

        The first `rings` points are the rings below the waterline. None lies at the waterline
        itself: a waterline that moves a little stays on the same straight pieces, so that the
        volume changes by the strip at the surface alone.

        Args:
            wet: length of each line in still water (line,) [m].
            rings: steps from keel to waterline, at least two.
        """
        sharp = self.knuckle > 0.0
        bottom, knuckle = 0, np.zeros(len(wet))
        if sharp.any():
            # lines without an edge of their own are divided like the others
            share = float(np.mean(np.minimum(0.9, self.knuckle[sharp] / wet[sharp])))
            bottom = min(rings - 1, max(1, round(rings * share)))
            knuckle = np.where(sharp, np.minimum(self.knuckle, 0.9 * wet), share * wet)
        # finer towards edges, around which the water runs fast, and towards the waterline, whose
        # place on a straight piece is wrong by its bulge
        low = knuckle[:, None] * (
            graded(bottom, False, True, edge=True)[:-1] if bottom else np.zeros(0)
        )
        part = graded(rings - bottom, bottom > 0, True, edge=bottom > 0)
        side = (wet - knuckle)[:, None]
        high = knuckle[:, None] + side * part[:-1]
        rest = (self.arc[:, -1] - wet)[:, None]
        above = wet[:, None] + np.minimum(side * (1.0 - part[-2]), 0.5 * rest)
        count = max(2, int(np.ceil((rest / side).max() * (rings - bottom))))
        count = min(count, MOST_ABOVE)
        above = above + (self.arc[:, -1:] - above) * np.linspace(0.0, 1.0, count)
        places = np.concatenate([low, high, above], axis=1)
        points = np.array(
            [
                np.stack([np.interp(at, arc, line[:, c]) for c in range(3)], -1)
                for at, arc, line in zip(places, self.arc, self.points, strict=True)
            ]
        )
        return Meridians(points, lengths(points), self.knuckle)

    def moved(self, offset: np.ndarray) -> Meridians:
        return Meridians(self.points + offset, self.arc, self.knuckle)

    def widened(self, factor: float) -> Meridians:
        """Moved away from the axis, as corners of flat triangles on a round hull must be."""
        points = self.points * [factor, factor, 1.0]
        return Meridians(points, lengths(points), self.knuckle)


def lengths(points: np.ndarray) -> np.ndarray:
    """From the first point along lines (line, place, 3)."""
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    return np.concatenate([np.zeros((len(points), 1)), np.cumsum(steps, axis=1)], axis=1)


def meridians(name: str, surface: Surface, count: int | np.ndarray, half: bool) -> Meridians:
    """Cut a closed mesh along half planes through the vertical axis of its origin.

    Args:
        name: of the body.
        surface: in body axes, the axis inside of it.
        count: of lines, evenly spread, or their angles.
        half: from y = 0 at x > 0 to y = 0 at x < 0.
    """
    keel, top = _on_axis(name, surface)
    at = angles(count, half) if isinstance(count, int) else np.asarray(count)
    lines = [_section(surface, angle, keel, top) for angle in at]
    if half:
        for line in (lines[0], lines[-1]):
            line[:, 1] = 0.0
    width = max(len(line) for line in lines)
    points = np.array([np.concatenate([x, np.repeat(x[-1:], width - len(x), 0)]) for x in lines])
    arc = lengths(points)
    edges = [_lowest_edge(x, s) for x, s in zip(lines, arc, strict=True)]
    return Meridians(points, arc, np.array(edges))


def _on_axis(name: str, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest point of the axis on the hull."""
    a, b, c = (surface.vertices[surface.triangles[:, i]] for i in range(3))
    result = []
    for p, q, r in zip(a, b, c, strict=True):
        plan = np.array([[*p[:2], 1.0], [*q[:2], 1.0], [*r[:2], 1.0]]).T
        if abs(np.linalg.det(plan)) > 1e-14:
            weight = np.linalg.solve(plan, [0.0, 0.0, 1.0])
            if weight.min() > -1e-9:
                result.append(float(weight @ [p[2], q[2], r[2]]))
    if len(result) < 2 or max(result) - min(result) <= 0.0:
        raise SwelltreeError(
            f"body '{name}': the vertical line through its reference point does not pass through "
            "its hull. Choose a reference point inside the hull."
        )
    return np.array([0.0, 0.0, min(result)]), np.array([0.0, 0.0, max(result)])


def _section(surface: Surface, angle: float, keel: np.ndarray, top: np.ndarray) -> np.ndarray:
    """The line from keel to top in one half plane."""
    ahead, across = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    size = np.abs(surface.vertices).max()
    offset = surface.vertices[:, :2] @ across
    offset = np.where(np.abs(offset) < 1e-12 * size, 0.0, offset)
    edges = np.unique(
        np.sort(np.concatenate([surface.triangles[:, [i, (i + 1) % 3]] for i in range(3)]), 1),
        axis=0,
    )
    a, b = edges[(offset[edges[:, 0]] * offset[edges[:, 1]]) < 0.0].T
    part = (offset[a] / (offset[a] - offset[b]))[:, None]
    result = surface.vertices[a] * (1 - part) + surface.vertices[b] * part
    result = np.concatenate([result, surface.vertices[offset == 0.0]])
    out = result[:, :2] @ ahead
    result, out = result[out > 1e-9 * size], out[out > 1e-9 * size]
    # around a point of the axis half way up, from straight down to straight up
    order = np.argsort(np.arctan2(result[:, 2] - 0.5 * (keel[2] + top[2]), out))
    line = np.concatenate([keel[None], result[order], top[None]])
    apart = np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-9 * size
    return line[np.concatenate([[True], apart])]


def _lowest_edge(line: np.ndarray, arc: np.ndarray) -> float:
    """Length from the keel to the first sharp turn of a line; zero if there is none."""
    step = np.diff(line, axis=0)
    step /= np.linalg.norm(step, axis=1)[:, None]
    sharp = np.flatnonzero((step[1:] * step[:-1]).sum(1) < KNUCKLE)
    return float(arc[sharp[0] + 1]) if len(sharp) else 0.0
