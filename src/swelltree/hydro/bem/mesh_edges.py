"""Edges of panels: which normals are against their neighbours', and where panels are missing.

Neighbours that look the same way go along their common edge in opposite directions. An edge with
one panel only is a rim: of the waterline, of a hole, or of two edges that lie on one another but
have other ends (panels of other sizes side by side), which enclose no area.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.system.bodies.panels import Panels

GLUE = 0.01  # of a panel's size: nearer vertices are one
SHORTEST = 0.1  # of the shortest edge, likewise
ROUNDING = 1e-6  # of the hull's size: files are written with so many digits
HOLE = 0.3  # of the panels beside it: a rim that encloses more is a hole
SCATTERED = 0.3  # of all edges are rims: the panels do not share their vertices


class Edges(NamedTuple):
    """Directed edges of all panels."""

    start: np.ndarray  # (e,) numbers of glued vertices
    end: np.ndarray
    panel: np.ndarray  # (e,)
    place: np.ndarray  # (v, 3) of the glued vertices [m]
    partner: np.ndarray  # (e,) the other edge of two panels that meet there, or -1
    alone: np.ndarray  # (e,) no other panel has this edge


def edges_of(panels: Panels) -> Edges:
    """Edges with nearly equal vertices made one."""
    number, place = _glued(panels)
    faces = number[panels.faces]
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    panel = np.repeat(np.arange(len(faces)), 4)
    true = start != end
    start, end, panel = start[true], end[true], panel[true]
    key = np.sort(np.column_stack([start, end]), axis=1)
    _, same, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)
    count = count[same.reshape(-1)]
    order = np.argsort(same.reshape(-1), kind="stable")
    partner = np.full(start.size, -1)
    pairs = order[count[order] == 2].reshape(-1, 2)
    partner[pairs[:, 0]], partner[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return Edges(start, end, panel, place, partner, count == 1)


def _glued(panels: Panels) -> tuple[np.ndarray, np.ndarray]:
    """Number of each vertex once near ones are one, and their places."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    corners = panels.vertices[panels.faces]
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    size = np.sqrt(np.median(panels.areas))
    within = min(GLUE * size, SHORTEST * float(sides[sides > 0.0].min()))
    within = max(within, ROUNDING * float(np.ptp(panels.vertices, axis=0).max()))
    near = cKDTree(panels.vertices).query_pairs(within, output_type="ndarray")
    n = len(panels.vertices)
    graph = coo_matrix((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(n, n))
    count, number = connected_components(graph, directed=False)
    place = np.zeros((count, 3))
    place[number] = panels.vertices
    return number, place


def against_neighbours(panels: Panels) -> np.ndarray:
    """Panels whose normals are against those of the larger part of their surface (bool)."""
    edges = edges_of(panels)
    meet = np.flatnonzero(edges.partner > np.arange(edges.start.size))
    other = edges.partner[meet]
    one, two = edges.panel[meet], edges.panel[other]
    opposed = edges.start[meet] == edges.start[other]
    beside: list[list[tuple[int, bool]]] = [[] for _ in range(len(panels.faces))]
    for a, b, turn in zip(one.tolist(), two.tolist(), opposed.tolist(), strict=True):
        beside[a].append((b, turn))
        beside[b].append((a, turn))
    area = panels.areas
    turned = np.zeros(len(beside), dtype=bool)
    known = np.zeros(len(beside), dtype=bool)
    for first in range(len(beside)):
        if known[first]:
            continue
        known[first], piece, ahead = True, [first], [first]
        while ahead:
            here = ahead.pop()
            for there, turn in beside[here]:
                if not known[there]:
                    known[there], turned[there] = True, turned[here] ^ turn
                    piece.append(there)
                    ahead.append(there)
        rows = np.array(piece)
        if area[rows[turned[rows]]].sum() > 0.5 * area[rows].sum():
            turned[rows] = ~turned[rows]
    return turned


def holes(panels: Panels) -> list[tuple[float, np.ndarray]]:
    """Area and place of every hole below the waterline [m^2, m].

    Args:
        panels: normals all alike; those of a wetted hull may end at z = 0.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = edges_of(panels)
    if edges.alone.mean() > SCATTERED:
        return []
    dry = edges.place[:, 2] > -GLUE * np.sqrt(np.median(panels.areas))
    rim = np.flatnonzero(edges.alone & ~(dry[edges.start] & dry[edges.end]))
    if not rim.size:
        return []
    n = len(edges.place)
    start, end = edges.start[rim], edges.end[rim]
    graph = coo_matrix((np.ones(rim.size), (start, end)), shape=(n, n))
    _, piece = connected_components(graph, directed=False)
    areas, result = panels.areas, []
    for k in np.unique(piece[start]):
        here = piece[start] == k
        a, b = start[here], end[here]
        # a rim that is open at the waterline is closed by a straight line there
        ends = np.setxor1d(a, b)
        about = edges.place[ends[0] if ends.size else a[0]]
        area = 0.5 * np.cross(edges.place[a] - about, edges.place[b] - about).sum(axis=0)
        size = float(np.linalg.norm(area))
        if size > HOLE * np.median(areas[edges.panel[rim[here]]]):
            result.append((size, edges.place[a].mean(axis=0)))
    return result
