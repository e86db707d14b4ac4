r"""Are the panels of hulls fit for a boundary-element run?

A closed surface has the same volume by each of its three axes,
:math:`V = \oint x n_x = \oint y n_y = \oint z n_z`; the waterplane at z = 0 adds nothing to the
last and has no part in the others, so that wetted panels are judged without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.system.bodies.mesh_edges import holes, mended
from swelltree.system.bodies.panels import Panels
from swelltree.system.errors import SwelltreeError, warn_user

OPEN = 0.02  # of the volume or the wetted surface: more is missing than coarse panels leave out
LONGEST = 1500.0  # m: no hull is longer
BESIDE = 0.02  # of the size of a panel: how far inside its own hull a panel is looked for in others
HALF = 0.5  # of all area across an axis faces one way
INSIDE = 0.5  # of a full solid angle: hulls on the seabed are open below


@dataclass(frozen=True)
class Surface:
    """Area vectors and centres of panels."""

    center: np.ndarray
    normal: np.ndarray  # area times unit normal

    @property
    def area(self) -> float:
        """Of all panels [m^2]."""
        return float(np.linalg.norm(self.normal, axis=1).sum())

    @property
    def volumes(self) -> np.ndarray:
        """By the three axes [m^3]."""
        return (self.center * self.normal).sum(axis=0)


def surface_of(panels: Panels) -> Surface:
    """Panels as flat triangles."""
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
    panels, wrong = mended(panels)
    for text in wrong:
        tell(f"body '{name}': {text}", notes)
    # the middle of the waterplane, so that open surfaces are judged where they are
    middle = np.array([*panels.vertices[:, :2].mean(axis=0), 0.0])
    panels = panels.moved(-middle)
    surface = surface_of(panels)
    _check_closed(name, surface)
    panels = panels.moved(middle)
    check_whole(name, panels)
    return panels


def check_whole(name: str, panels: Panels, lowered: float = 0.0) -> None:
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
    """No part of the surface is missing, apart from the waterplane."""
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
    """Whether a panel, taken a little inside its own hull, lies inside closed wetted panels."""
    area = np.linalg.norm(points.normal, axis=1, keepdims=True)
    at = points.center - BESIDE * points.normal / np.sqrt(np.maximum(area, 1e-300))
    return bool(is_inside(at, panels).any())


def is_inside(at: np.ndarray, panels: Panels) -> np.ndarray:
    """Which points (n, 3) lie in the space that wetted panels enclose with the water above."""
    # the mirror image above the water closes the surface
    t = panels.triangles
    image = t[:, ::-1] * np.array([1.0, 1.0, -1.0])
    closed = np.concatenate([t, image])
    rows = np.array_split(at, max(1, len(at) * len(closed) // 400_000))
    return np.concatenate([_solid_angle(row, closed) > INSIDE * 4.0 * np.pi for row in rows])


def _solid_angle(at: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Solid angle of outward triangles seen from points (Van Oosterom and Strackee 1983)."""
    a, b, c = (t[None, :, k] - at[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    top = np.einsum("pti,pti->pt", a, np.cross(b, c))
    below = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return 2.0 * np.arctan2(top, below).sum(axis=1)


def tell(text: str, notes: list[str]) -> None:
    """A message as a warning and among the notes."""
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
    kept = Panels(above.vertices @ turned, above.faces).moved((0.0, 0.0, -depth))
    if not len(kept.faces):
        raise SwelltreeError(
            f"body '{name}': its hull lies below the seabed at z = {-depth:.4g} m. Raise it or "
            "deepen the water."
        )
    tell(
        f"body '{name}': its hull reaches z = {low:.4g} m and the water is {depth:.4g} m deep, so "
        "it stands on the seabed: no water is under it, and it should be held.",
        notes,
    )
    return kept
