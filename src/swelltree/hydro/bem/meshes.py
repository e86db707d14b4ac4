"""Wetted panels of the bodies of a system, in the world, and their way into Capytaine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.meshes import Panels, holes, join, repaired
from swelltree.describe.errors import SwelltreeError, warn_user

if TYPE_CHECKING:
    import capytaine as cpt

THIN = 0.1  # thickness over length of a part below which it counts as thin
MIRRORS = {"xOz": 1, "yOz": 0}  # planes of symmetry of Capytaine, and the axis across each
SAME = 1e-6  # of the size of a panel: nearer is the same place


def wetted_panels(body: Body, scale: float = 1.0) -> Panels:
    """Panels of a hull below the still water, as the body is described, world axes [m].

    Args:
        body: with a hull.
        scale: factor on the size of the panels.
    """
    panels = hull_panels(body.hull, scale)
    place = np.array([body.position[0], body.position[1], 0.0])
    wet = panels.moved(place, body.rotation_matrix).immersed()
    if not len(wet.faces):
        raise SwelltreeError(
            f"body '{body.name}': its hull lies above the water. Lower it or leave the hull out."
        )
    return wet


def is_thin(body: Body) -> bool:
    """Whether a part of the hull is thin: its loads are small differences of large pressures.

    The thickness is that of a plate with the same volume and surface, 2 V / S.
    """
    from swelltree.describe.bodies.solids import immersed_of_panels

    for part in body.hull.parts:
        wet = hull_panels(part).moved(rotation=body.rotation_matrix).immersed()
        surface = float(wet.areas.sum())
        if surface > 0.0:
            thickness = 2.0 * immersed_of_panels(wet).volume / surface
            if thickness < THIN * np.sqrt(0.5 * surface):
                return True
    return False


def to_capytaine(panels: Panels, name: str) -> cpt.Mesh:
    """Panels as a Capytaine mesh."""
    import capytaine as cpt

    return cpt.Mesh(panels.vertices, panels.lists(), name=name, auto_clean=False, auto_check=False)


def common_symmetry(meshes: Sequence[cpt.Mesh]) -> str | int | None:
    """What maps every mesh to itself; None where nothing does.

    The number of rotations about the vertical through the origin where there are more than two,
    else a mirror plane, "xOz" or "yOz". One plane is used where there are two: Capytaine 3.0 keeps
    the matrices of quarters in memory.

    Args:
        meshes: all hulls and lids that are solved together.
    """
    n = math.gcd(*(_on_ring(mesh) for mesh in meshes))
    for turns in (k for k in range(n, 2, -1) if n % k == 0):
        R = np.kron(np.eye(2), _turned(2.0 * np.pi / turns))
        if all(_image(mesh, R) is not None for mesh in meshes):
            return turns
    planes = (p for p, axis in MIRRORS.items() if all(_is_mirrored(mesh, axis) for mesh in meshes))
    return next(planes, None)


def folded(
    mesh: cpt.Mesh, symmetry: str | int | None
) -> cpt.Mesh | cpt.ReflectionSymmetricMesh | cpt.RotationSymmetricMesh:
    """The same mesh as a part and its images, whose equations are solved apart.

    Args:
        mesh: that has this symmetry.
        symmetry: from `common_symmetry`.
    """
    import capytaine as cpt

    if symmetry is None:
        return mesh
    if isinstance(symmetry, str):
        half = mesh.extract_faces(np.flatnonzero(mesh.faces_centers[:, MIRRORS[symmetry]] > 0.0))
        return cpt.ReflectionSymmetricMesh(half, plane=symmetry, name=mesh.name)
    image = _image(mesh, np.kron(np.eye(2), _turned(2.0 * np.pi / symmetry)))
    assert image is not None
    # the panel of each ring with the lowest number and its images
    lowest = following = np.arange(mesh.nb_faces)
    for _ in range(symmetry):
        following = image[following]
        lowest = np.minimum(lowest, following)
    wedge = mesh.extract_faces(np.unique(lowest))
    return cpt.RotationSymmetricMesh(wedge, n=symmetry, name=mesh.name)


def _on_ring(mesh: cpt.Mesh) -> int:
    """How many panels are as far from the origin and as high as the first."""
    x, y, z = mesh.faces_centers.T
    size = np.sqrt(mesh.faces_areas[0])
    near = np.hypot(np.hypot(x, y) - np.hypot(x[0], y[0]), z - z[0])
    return int((near <= SAME * size).sum())


def _turned(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _image(mesh: cpt.Mesh, R: np.ndarray) -> np.ndarray | None:
    """The panel on which each lies after a rotation or reflection; None if one has no image."""
    from scipy.spatial import KDTree

    size = np.sqrt(mesh.faces_areas)
    rows = np.column_stack([mesh.faces_centers, size[:, None] * mesh.faces_normals])
    apart, which = (np.asarray(x) for x in KDTree(rows).query(rows @ R.T))
    fits = (apart <= SAME * size).all() and np.unique(which).size == which.size
    return which if fits else None


def _is_mirrored(mesh: cpt.Mesh, axis: int) -> bool:
    """Whether every panel has its mirror image and none crosses the plane."""
    size = np.sqrt(mesh.faces_areas)
    corners = mesh.vertices[mesh.faces][..., axis]
    across = (corners.min(axis=1) < -SAME * size) & (corners.max(axis=1) > SAME * size)
    mirror = np.diag(np.where(np.arange(6) % 3 == axis, -1.0, 1.0))
    return not across.any() and _image(mesh, mirror) is not None


# --- Are the panels of hulls fit for a boundary-element run?

OPEN = 0.02  # of the volume or the wetted surface: more is missing than coarse panels leave out
LONGEST = 1500.0  # m: no hull is longer
INSIDE_DEPTH = (
    0.02  # of the size of a panel: how far inside its own hull a panel is looked for in others
)
HALF = 0.5  # of all area across an axis faces one way
INSIDE = 0.5  # of a full solid angle: hulls on the seabed are open below


@dataclass(frozen=True)
class Surface:
    """Area vectors and centres of panels."""

    center: np.ndarray
    normal: np.ndarray  # area times unit normal

    @property
    def area(self) -> float:
        """Total area [m^2]."""
        return float(np.linalg.norm(self.normal, axis=1).sum())

    @property
    def volumes(self) -> np.ndarray:
        """Volumes from the three axes [m^3]."""
        return (self.center * self.normal).sum(axis=0)


def surface_of(panels: Panels) -> Surface:
    t = panels.triangles
    return Surface(t.mean(axis=1), 0.5 * np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]))


def checked_panels(name: str, panels: Panels, notes: list[str]) -> Panels:
    """Wetted panels that a solver may use; fixes are reported and added to the notes.

    Args:
        name: of the body.
        panels: below the still water, world axes.
        notes: messages about the run.
    """
    reach = float(np.ptp(panels.vertices, axis=0).max())
    if reach > LONGEST:
        raise SwelltreeError(
            f"body '{name}': its hull is {reach:.4g} m long. If the mesh is in millimetres, give "
            "MeshFile(..., scale=0.001)."
        )
    panels, wrong = repaired(panels)
    for text in wrong:
        notify(f"body '{name}': {text}", notes)
    # the middle of the waterplane, so that open surfaces are judged where they are
    middle = np.array([*panels.vertices[:, :2].mean(axis=0), 0.0])
    panels = panels.moved(-middle)
    surface = surface_of(panels)
    _check_closed(name, surface)
    panels = panels.moved(middle)
    check_closed(name, panels)
    return panels


def check_closed(name: str, panels: Panels, lowered: float = 0.0) -> None:
    """No single panel is missing.

    Args:
        name: of the body.
        panels: below the still water, normals outwards.
        lowered: how much deeper they are than the hull [m].
    """
    missing = holes(panels)
    if missing:
        area, (x, y, z) = max(missing, key=lambda hole: hole[0])
        count = "a hole" if len(missing) == 1 else f"{len(missing)} holes, the largest"
        raise SwelltreeError(
            f"body '{name}': its hull has {count} of {area:.3g} m^2 near ({x:.4g}, {y:.4g}, "
            f"{z + lowered:.4g}) m. Close the mesh."
        )


def _check_closed(name: str, surface: Surface) -> None:
    """Reject surfaces that are open other than at the waterplane."""
    net, size = surface.normal.sum(axis=0), np.abs(surface.volumes).max()
    axis = int(np.abs(net[:2]).argmax())
    # one half of a symmetric hull is open along the plane of symmetry: all of it faces one way
    if np.abs(net[axis]) > HALF * np.abs(surface.normal[:, axis]).sum():
        plane = "xz" if axis == 1 else "yz"
        raise SwelltreeError(
            f"body '{name}': its panels are open along the {plane} plane, as one half of a "
            "symmetric mesh is. Give the whole hull."
        )
    if np.abs(net[:2]).max() > OPEN * surface.area or np.ptp(surface.volumes) > OPEN * size:
        x, y, z = surface.volumes
        raise SwelltreeError(
            f"body '{name}': its hull has a hole: the panels enclose {x:.4g}, {y:.4g} and {z:.4g} "
            "m^3 along the three axes, which should be equal. Close the mesh below the water."
        )


def check_apart(named: dict[str, Panels]) -> None:
    """Bodies do not overlap or coincide.

    Args:
        named: wetted panels of every body, normals outwards.
    """
    surfaces = {name: surface_of(panels) for name, panels in named.items()}
    names = list(named)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            low = np.maximum(*(named[n].vertices.min(axis=0) for n in (one, other)))
            high = np.minimum(*(named[n].vertices.max(axis=0) for n in (one, other)))
            if (low >= high).any():
                continue
            if _enters(surfaces[one], named[other]) or _enters(surfaces[other], named[one]):
                raise SwelltreeError(
                    f"bodies '{one}' and '{other}' overlap: panels of one lie inside the other. "
                    "Move them apart, or make them one hull with Union."
                )


def _enters(points: Surface, panels: Panels) -> bool:
    """Whether points slightly inside a panel's own hull lie inside other closed wetted panels."""
    area = np.linalg.norm(points.normal, axis=1, keepdims=True)
    at = points.center - INSIDE_DEPTH * points.normal / np.sqrt(np.maximum(area, 1e-300))
    return bool(is_inside(at, panels).any())


def is_inside(at: np.ndarray, panels: Panels) -> np.ndarray:
    """Which points (n, 3) lie in the volume enclosed by wetted panels and the waterplane."""
    # the mirror image above the water closes the surface
    t = panels.triangles
    image = t[:, ::-1] * np.array([1.0, 1.0, -1.0])
    closed = np.concatenate([t, image])
    rows = np.array_split(at, max(1, len(at) * len(closed) // 400_000))
    return np.concatenate([_solid_angle(row, closed) > INSIDE * 4.0 * np.pi for row in rows])


def _solid_angle(at: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Solid angle of outward triangles seen from points (Van Oosterom and Strackee 1983)."""
    middle = t.reshape(-1, 3).mean(axis=0)
    at, (a, b, c) = at - middle, np.moveaxis(t - middle, 1, 0)
    # corners less point, multiplied out: products of (point, triangle) are matrix products
    square = (at * at).sum(axis=1)[:, None]

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (x * y).sum(axis=1) - at @ (x + y).T + square

    la, lb, lc = (np.sqrt(np.maximum(dot(x, x), 0.0)) for x in (a, b, c))
    area = np.cross(a, b) + np.cross(b, c) + np.cross(c, a)
    top = (a * np.cross(b, c)).sum(axis=1) - at @ area.T
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return 2.0 * np.arctan2(top, below).sum(axis=1)


def notify(text: str, notes: list[str]) -> None:
    """Emit a message as a warning and append it to the notes."""
    notes.append(text)
    warn_user(text)


def standing(name: str, panels: Panels, depth: float, notes: list[str]) -> Panels:
    """Panels of a hull that stands on the seabed, without what lies on it or below.

    Args:
        name: of the body.
        panels: below the still water.
        depth: of the water [m].
        notes: messages about the run.
    """
    low, size = float(panels.vertices[:, 2].min()), float(np.ptp(panels.vertices, axis=0).max())
    if not np.isfinite(depth) or low > -depth + 1e-6 * size:
        return panels
    # half a turn about x brings the water above the bed below z = 0
    turned = np.diag([1.0, -1.0, -1.0])
    up = panels.moved((0.0, 0.0, depth), None)
    above = Panels(up.vertices @ turned, up.faces).immersed()
    stored = Panels(above.vertices @ turned, above.faces).moved((0.0, 0.0, -depth))
    if not len(stored.faces):
        raise SwelltreeError(
            f"body '{name}': its hull lies below the seabed at z = {-depth:.4g} m. Raise it or "
            "deepen the water."
        )
    notify(
        f"body '{name}': its hull reaches z = {low:.4g} m and the water is {depth:.4g} m deep, so "
        "it stands on the seabed: no water is under it, and it should be held.",
        notes,
    )
    return stored


# --- Where bodies touch: which parts of their panels meet no water

DISTANCE = 0.1  # of the size of a panel: nearer than that, another body touches a face contact
FLAT = 0.03  # of the size of a panel: so near are its corners in a contact over a face
DIVISIONS = 3  # how often a panel on the edge of a contact is divided in four
UNEQUAL = 0.05  # of the area of a contact: by how much the faces of two bodies may differ
SHRUNK = 1e-5  # of the size of a body that may touch another along a line
INNER = np.array([1.0, 3.0, 5.0]) / 6.0  # of the sides of a panel: where it is looked at
CORNERS = np.array([0.01, 0.99])
LINE = np.array([0.01, 0.25, 0.5, 0.75, 0.99])


def wet_panels(named: dict[str, Panels], notes: list[str]) -> dict[str, Panels]:
    """The panels of each body that meet the water.

    Args:
        named: panels of every body below the water, normals outwards.
        notes: messages about the run.
    """
    result, left_out = dict(named), dict.fromkeys(named, 0.0)
    names = list(named)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            first, second = named[one], named[other]
            if not (_has_face_contact(first, second) or _has_face_contact(second, first)):
                if _near(first, second).any():
                    result[one] = _split(result[one], second)
                    result[other] = _shrunk(_split(result[other], first))
                continue
            near = [a.areas[_near(a, b)] for a, b in ((first, second), (second, first))]
            distance = DISTANCE * np.sqrt(max(float(np.median(x)) for x in near if x.size))
            faces = []
            for name, against in ((one, other), (other, one)):
                wet, area = _without_contact(result[name], named[against], distance)
                result[name] = wet
                left_out[name] += area
                faces.append(area)
            if abs(faces[0] - faces[1]) > UNEQUAL * max(faces):
                notify(
                    f"bodies '{one}' and '{other}' touch over {faces[0]:.3g} m^2 of the one and "
                    f"{faces[1]:.3g} m^2 of the other, which should be equal: their panels do not "
                    "fit together. Give both the same panel_size.",
                    notes,
                )
    for name, area in left_out.items():
        if area > 0.0:
            share = area / float(named[name].areas.sum())
            notes.append(
                f"body '{name}': {share:.2g} of its wetted surface touches another body and is "
                "not wetted."
            )
    return result


def _near(panels: Panels, other: Panels) -> np.ndarray:
    """Which panels may touch a panel of another surface (bool)."""
    from scipy.spatial import KDTree

    if not len(panels.faces) or not len(other.faces):
        return np.zeros(len(panels.faces), dtype=bool)
    (center, radius), (middle, largest) = _spheres(panels), _spheres(other)
    reach = radius + largest.max() + DISTANCE * np.sqrt(panels.areas)
    return KDTree(middle).query(center)[0] <= reach


def _spheres(panels: Panels) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii of spheres around panels [m], (panel, 3) and (panel,)."""
    corners = panels.vertices[panels.faces]
    center = corners.mean(axis=1)
    return center, np.linalg.norm(corners - center[:, None], axis=-1).max(axis=1)


def _touched(panels: Panels, other: Panels, sides: np.ndarray, step: np.ndarray) -> np.ndarray:
    """How much of each panel has another body before it, of 1 (panel,).

    Args:
        panels: of one body.
        other: panels of the other.
        sides: fractions of the sides at whose crossings a panel is looked at.
        step: how far before each panel [m].
    """
    result = np.zeros(len(panels.faces))
    rows = np.flatnonzero(_near(panels, other))
    if not rows.size:
        return result
    a, b, c, d = np.moveaxis(panels.vertices[panels.faces[rows]], 1, 0)
    normal = np.cross(c - a, d - b)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    out = normal * np.broadcast_to(step, result.shape)[rows, None]
    points = [
        (1 - u) * ((1 - v) * a + v * d) + u * ((1 - v) * b + v * c) + out
        for u in sides
        for v in sides
    ]
    at = np.stack(points, axis=1)
    result[rows] = is_inside(at.reshape(-1, 3), other).reshape(at.shape[:2]).mean(axis=1)
    return result


def _split(panels: Panels, other: Panels) -> Panels:
    """Panels that another body touches along a line divided in four.

    Water cannot pass there: a panel that crosses the line has one potential for both sides, and
    lets it through (damping of a flap on its base 19 % too small; divided once, 4 %, as often as
    you like 4 %).
    """
    touched = _touched(panels, other, LINE, DISTANCE * np.sqrt(panels.areas)) > 0.0
    if not touched.any():
        return panels
    divided = Panels(panels.vertices, panels.faces[touched]).divided()
    return join([Panels(panels.vertices, panels.faces[~touched]), divided])


def _shrunk(panels: Panels) -> Panels:
    """Panels shrunk slightly so that no centre lies on the edge of another body's panel."""
    middle = panels.vertices.mean(axis=0)
    return Panels(middle + (1.0 - SHRUNK) * (panels.vertices - middle), panels.faces)


def _has_face_contact(panels: Panels, other: Panels) -> bool:
    """Whether another body touches an entire panel, corners included."""
    size = np.sqrt(panels.areas)
    full = _touched(panels, other, CORNERS, FLAT * size) == 1.0
    if not full.any():
        return False
    chosen = Panels(panels.vertices, panels.faces[full])
    return bool((_touched(chosen, other, INNER, DISTANCE * size[full]) == 1.0).any())


def _without_contact(panels: Panels, other: Panels, distance: float) -> tuple[Panels, float]:
    """Panels without those that touch another body, and the removed area [m^2]."""
    pieces, area = [], 0.0
    for level in range(DIVISIONS + 1):
        share = _touched(panels, other, INNER, np.array(distance))
        dry, mixed = share == 1.0, (share > 0.0) & (share < 1.0)
        if level == DIVISIONS:
            dry, mixed = share > 0.5, np.zeros_like(dry)
        area += float(panels.areas[dry].sum())
        pieces.append(Panels(panels.vertices, panels.faces[~dry & ~mixed]))
        if not mixed.any():
            break
        panels = Panels(panels.vertices, panels.faces[mixed]).divided()
    return join(pieces), area
