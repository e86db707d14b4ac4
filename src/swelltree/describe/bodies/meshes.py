"""Panels from meshes: STL files read here, others by Capytaine's loaders, or from memory.

Panels: quadrilaterals and triangles, normals out of the body, made with numpy alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swelltree.describe.bodies.hulls import Hull, Mesh, PanelHull
from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import plain_bytes, user_path

GLUE = 0.01  # of a panel's size: nearer vertices are one
SHORTEST = 0.1  # of the shortest edge, likewise
ROUNDING = 1e-6  # of the hull's size: files are written with so many digits
HOLE = 0.3  # of the panels beside it: a rim that encloses more is a hole
SCATTERED = 0.3  # of all edges are rims: the panels do not share their vertices


class Edges(NamedTuple):
    start: np.ndarray  # (e,) numbers of glued vertices
    end: np.ndarray
    panel: np.ndarray  # (e,)
    place: np.ndarray  # (v, 3) of the glued vertices [m]
    partner: np.ndarray  # (e,) the other edge of two panels that meet there, or -1
    alone: np.ndarray  # (e,) no other panel has this edge


def edges_of(panels: Panels) -> Edges:
    """Directed edges after nearly equal vertices are merged."""
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
    """Vertex numbers after merging nearby vertices, and their positions."""
    corners = panels.vertices[panels.faces]
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    size = np.sqrt(np.median(panels.areas))
    within = min(GLUE * size, SHORTEST * float(sides[sides > 0.0].min()))
    within = max(within, ROUNDING * float(np.ptp(panels.vertices, axis=0).max()))
    # vertices in one cell of any of three grids are one; rounding parts no pair in all of them
    cells = []
    for shift in ((0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.25, 0.75, 0.35)):
        cell = np.round(panels.vertices / within + shift).astype(np.int64)
        cells.append(np.unique(cell, axis=0, return_inverse=True)[1].reshape(-1))
    number = _joined(len(panels.vertices), cells)
    place = np.zeros((int(number.max()) + 1, 3))
    place[number] = panels.vertices
    return number, place


def _joined(count: int, groups: list[np.ndarray]) -> np.ndarray:
    """Connected components of overlapping groups of `count` items, numbered 0, 1, 2 ..."""
    label = np.arange(count)
    while True:
        before = label
        for group in groups:
            least = np.full(int(group.max()) + 1, count)
            np.minimum.at(least, group, label)
            label = least[group]
        if np.array_equal(label, before):
            return np.unique(label, return_inverse=True)[1].reshape(-1)


def against_neighbours(panels: Panels) -> np.ndarray:
    """Panels whose normals oppose those of most of their surface (bool)."""
    edges = edges_of(panels)
    meet = np.flatnonzero(edges.partner > np.arange(edges.start.size))
    other = edges.partner[meet]
    one, two = edges.panel[meet], edges.panel[other]
    opposed = edges.start[meet] == edges.start[other]
    adjacent: list[list[tuple[int, bool]]] = [[] for _ in range(len(panels.faces))]
    for a, b, turn in zip(one.tolist(), two.tolist(), opposed.tolist(), strict=True):
        adjacent[a].append((b, turn))
        adjacent[b].append((a, turn))
    area = panels.areas
    turned = np.zeros(len(adjacent), dtype=bool)
    known = np.zeros(len(adjacent), dtype=bool)
    for first in range(len(adjacent)):
        if known[first]:
            continue
        known[first], piece, ahead = True, [first], [first]
        while ahead:
            here = ahead.pop()
            for there, turn in adjacent[here]:
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
    edges = edges_of(panels)
    if edges.alone.mean() > SCATTERED:
        return []
    dry = edges.place[:, 2] > -GLUE * np.sqrt(np.median(panels.areas))
    areas = panels.areas
    return [
        (area, middle)
        for area, middle, adjacent in _rims(edges, ~(dry[edges.start] & dry[edges.end]))
        if area > HOLE * np.median(areas[adjacent])
    ]


def _rims(edges: Edges, which: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Area, centre and adjacent panels of each connected rim."""
    rim = np.flatnonzero(edges.alone & which)
    if not rim.size:
        return []
    start, end = edges.start[rim], edges.end[rim]
    piece = _pieces(len(edges.place), start, end)
    result = []
    for k in range(int(piece.max()) + 1):
        here = piece == k
        a, b = start[here], end[here]
        # a rim that is open at the waterline is closed by a straight line there
        ends = np.setxor1d(a, b)
        about = edges.place[ends[0] if ends.size else a[0]]
        area = 0.5 * np.cross(edges.place[a] - about, edges.place[b] - about).sum(axis=0)
        middle = edges.place[a].mean(axis=0)
        result.append((float(np.linalg.norm(area)), middle, edges.panel[rim[here]]))
    return result


def _pieces(count: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Connected component of each edge; every vertex takes the minimum number of its neighbours."""
    label = np.arange(count)
    while True:
        least = np.minimum(label[start], label[end])
        before = label.copy()
        np.minimum.at(label, start, least)
        np.minimum.at(label, end, least)
        if np.array_equal(label, before):
            return np.unique(label[start], return_inverse=True)[1].reshape(-1)


def repaired(panels: Panels) -> tuple[Panels, tuple[str, ...]]:
    """Panels each once, with their normals outwards, and what was wrong, in words.

    Args:
        panels: of a hull, closed or open at the waterline or a plane of symmetry.
    """
    notes = []
    _, once = np.unique(np.sort(panels.faces, axis=1), axis=0, return_index=True)
    extra = len(panels.faces) - len(once)
    if extra:
        notes.append(f"{extra} panels were duplicates and were removed.")
        panels = Panels(panels.vertices, panels.faces[np.sort(once)])
    wrong = against_neighbours(panels)
    if wrong.any():
        notes.append(
            f"the normals of {wrong.sum()} of its {wrong.size} panels are opposite to those of "
            "their neighbours; they were reversed."
        )
        panels = turned(panels, wrong)
    t = panels.triangles
    normal = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    # seen from the middle of its largest opening an open surface looks outwards too
    edges = edges_of(panels)
    rims = _rims(edges, np.ones(edges.start.size, dtype=bool))
    middle = max(rims, key=lambda rim: rim[0])[1] if rims else panels.vertices.mean(axis=0)
    if np.einsum("ki,ki->", t.mean(axis=1) - middle, normal) < 0.0:
        notes.append("the normals of its panels point inwards; they were reversed.")
        panels = turned(panels, np.ones(len(panels.faces), dtype=bool))
    return panels, tuple(notes)


def turned(panels: Panels, which: np.ndarray) -> Panels:
    """Panels with some of them reversed; triangles keep their double vertex last."""
    faces = panels.faces.copy()
    back = faces[which][:, ::-1]
    flat = back[:, 0] == back[:, 1]
    back[flat] = back[flat][:, [1, 2, 3, 3]]
    faces[which] = back
    return Panels(panels.vertices, faces)


NEED_BEM = "needs Capytaine, which is not installed. Run `pip install swelltree[bem]`."


def mesh_bytes(path: str) -> bytes:
    file = user_path(path, "mesh file")
    if not file.is_file():
        near = [other.name for other in file.parent.glob("*")] if file.parent.is_dir() else []
        hint = suggest(file.name, near) or " Check the path."
        raise SwelltreeError(f"mesh file '{path}' does not exist.{hint}")
    try:
        return plain_bytes(file)
    except OSError as error:
        raise SwelltreeError(
            f"mesh file '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None


def read_panels(hull: object) -> Panels:
    """Panels of a `MeshFile` or `Mesh` in its own frame, without its offset, normals outwards."""
    return _repaired(hull)[0]


def mesh_notes(hull: Hull) -> list[str]:
    """Messages about corrections to the meshes of a hull."""
    return [
        note for part in hull.parts if isinstance(part, PanelHull) for note in _repaired(part)[1]
    ]


def _repaired(hull: Any) -> tuple[Panels, tuple[str, ...]]:
    if isinstance(hull, Mesh):
        return _from_memory(hull.vertices, hull.faces)
    content = mesh_bytes(hull.path)
    stamp = hash(content)
    return _read(hull.path, hull.file_format, hull.scale, stamp)


@functools.lru_cache(maxsize=16)
def _from_memory(
    vertices: tuple[tuple[float, ...], ...], faces: tuple[tuple[int, ...], ...]
) -> tuple[Panels, tuple[str, ...]]:
    numbers = np.array([face if len(face) == 4 else (*face, face[2]) for face in faces], int)
    triangles = numbers[:, 0] == numbers[:, 3]  # Capytaine repeats the first point of a triangle
    numbers[triangles, 3] = numbers[triangles, 2]
    return repaired(merged(Panels(np.array(vertices, float), numbers)))


@functools.lru_cache(maxsize=16)
def _read(
    path: str, file_format: str | None, scale: float, stamp: int
) -> tuple[Panels, tuple[str, ...]]:
    kind = (file_format or Path(path).suffix.lstrip(".")).lower()
    try:
        vertices, faces = _read_stl(Path(path)) if kind == "stl" else _by_capytaine(path, kind)
    except SwelltreeError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:150]
        raise SwelltreeError(
            f"mesh file '{path}' cannot be read as {kind or 'a mesh'}: {text}. "
            "Give file_format, or convert it to STL."
        ) from None
    panels = merged(Panels(scale * vertices, faces))
    if not len(panels.faces):
        raise SwelltreeError(f"mesh file '{path}' holds no panels. Check the file.")
    return repaired(panels)


def _by_capytaine(path: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        import capytaine as cpt
    except ImportError:
        raise SwelltreeError(f"mesh file '{path}': reading it {NEED_BEM}") from None
    # NEMOH's own meshes end in .dat, which other programs use too
    mesh: Any = cpt.load_mesh(path, file_format="nemoh" if kind == "dat" else kind)
    if hasattr(mesh, "merged"):
        mesh = mesh.merged()
    faces = np.array(mesh.faces, int)
    triangles = faces[:, 0] == faces[:, 3]
    faces[triangles, 3] = faces[triangles, 2]
    return np.asarray(mesh.vertices, float), faces


def _read_stl(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """An STL file, text or binary."""
    content = plain_bytes(path)
    count = int.from_bytes(content[80:84], "little") if len(content) >= 84 else -1
    if len(content) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(content, record, offset=84)["corners"].astype(float)
    else:
        words = content.decode("ascii", "replace").split()
        places = [i for i, word in enumerate(words) if word == "vertex"]
        corners = np.array([[float(w) for w in words[i + 1 : i + 4]] for i in places])
        corners = corners.reshape(-1, 3, 3)
    numbers = np.arange(3 * len(corners)).reshape(-1, 3)
    return corners.reshape(-1, 3), numbers[:, [0, 1, 2, 2]]


@dataclass(frozen=True)
class Panels:
    """A surface.

    Args:
        vertices: (n, 3) [m].
        faces: (m, 4) numbers of vertices, counter-clockwise seen from outside; a triangle has its
            last vertex twice.
    """

    vertices: np.ndarray
    faces: np.ndarray

    def moved(
        self,
        offset: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
        rotation: np.ndarray | None = None,
    ) -> Panels:
        """Panels rotated, then translated."""
        turned = self.vertices if rotation is None else self.vertices @ np.asarray(rotation).T
        return Panels(turned + np.asarray(offset, float), self.faces)

    @property
    def triangles(self) -> np.ndarray:
        """Corners of triangles that cover the surface, (k, 3, 3)."""
        corners = self.vertices[self.faces]
        both = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        return both[areas(both) > 0.0]

    @property
    def areas(self) -> np.ndarray:
        """Area of each panel [m^2]."""
        corners = self.vertices[self.faces]
        return areas(corners[:, [0, 1, 2]]) + areas(corners[:, [0, 2, 3]])

    def lists(self) -> list[list[int]]:
        """Faces as lists of three or four different vertices."""
        return [[int(v) for i, v in enumerate(face) if v != face[i - 1]] for face in self.faces]

    def immersed(self) -> Panels:
        """The part below z = 0; panels that cross it are cut."""
        z = self.vertices[:, 2]
        size = np.ptp(self.vertices, axis=0).max() if len(z) else 0.0
        tiny = 1e-9 * size
        z = np.where(np.abs(z) < tiny, 0.0, z)
        deep = z[self.faces]
        below = (deep <= 0.0).all(1) & (deep < 0.0).any(1)
        crossing = (deep < 0.0).any(1) & (deep > 0.0).any(1)
        level = np.column_stack([self.vertices[:, :2], z])
        pieces = [Panels(level, self.faces[below])]
        for face in self.faces[crossing]:
            ring = _cut(level[[v for i, v in enumerate(face) if v != face[i - 1]]])
            fan = [[0, i, i + 1, i + 1] for i in range(1, len(ring) - 1)]
            if len(ring) == 4:
                fan = [[0, 1, 2, 3]]
            pieces.append(Panels(ring, np.array(fan, int).reshape(-1, 4)))
        return join(pieces)

    def divided(self) -> Panels:
        """Each panel divided into four."""
        corners = self.vertices[self.faces]
        following = np.roll(corners, -1, axis=1)
        mid = 0.5 * (corners + following)
        # a triangle (last side without length) is cut through the middles of its sides
        flat = self.faces[:, 2] == self.faces[:, 3]
        centre = corners.mean(1)
        a, b, c, d = (corners[:, i] for i in range(4))
        ab, bc, cd, da = (mid[:, i] for i in range(4))
        quads = [(a, ab, centre, da), (ab, b, bc, centre), (centre, bc, c, cd), (da, centre, cd, d)]
        thirds = [(a, ab, da, da), (ab, b, bc, bc), (da, bc, c, c), (ab, bc, da, da)]
        result = []
        for rows, chosen in ((quads, ~flat), (thirds, flat)):
            for row in rows:
                result.append(np.stack([corner[chosen] for corner in row], axis=1))
        points = np.concatenate(result)
        return merged(Panels(points.reshape(-1, 3), np.arange(4 * len(points)).reshape(-1, 4)))


def areas(triangles: np.ndarray) -> np.ndarray:
    """Areas of triangles (k, 3, 3)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def join(pieces: Iterable[Panels]) -> Panels:
    """One surface from several."""
    vertices, faces, first = [], [], 0
    for piece in pieces:
        vertices.append(piece.vertices)
        faces.append(piece.faces + first)
        first += len(piece.vertices)
    return merged(Panels(np.concatenate(vertices), np.concatenate(faces).astype(int)))


def merged(panels: Panels) -> Panels:
    """Panels with equal vertices merged, without degenerate panels and unused vertices."""
    if not len(panels.faces):
        return Panels(np.zeros((0, 3)), np.zeros((0, 4), int))
    size = np.ptp(panels.vertices, axis=0).max() or 1.0
    key = np.round(panels.vertices / (1e-9 * size)).astype(np.int64)
    _, first, same = np.unique(key, axis=0, return_index=True, return_inverse=True)
    faces = same.reshape(-1)[panels.faces]
    vertices = panels.vertices[first]
    # a corner that comes twice makes a triangle: its last vertex is repeated
    rows = []
    for face in faces:
        ring = [v for i, v in enumerate(face) if v != face[i - 1]]
        if len(set(ring)) >= 3:
            rows.append(ring if len(ring) == 4 else [*ring[:3], ring[2]])
    faces = np.array(rows, int).reshape(-1, 4)
    result = Panels(vertices, faces)
    faces = faces[result.areas > 1e-12 * size**2]
    used, numbers = np.unique(faces, return_inverse=True)
    return Panels(vertices[used], numbers.reshape(-1, 4))


def _cut(ring: np.ndarray) -> np.ndarray:
    """The part of a polygon below z = 0."""
    stored = []
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if a[2] <= 0.0:
            stored.append(a)
        if a[2] * b[2] < 0.0:
            point = a + (b - a) * a[2] / (a[2] - b[2])
            stored.append(np.array([point[0], point[1], 0.0]))
    return np.array(stored)
