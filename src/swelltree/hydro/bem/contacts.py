"""Where bodies touch: which parts of their panels meet no water.

Two bodies in contact over a face have no water between them, so both faces are left out of the
boundary-element run. What is left must stay closed: exactly the same part is left out of both
bodies. Panels that cross the edge of a contact are divided there. Bodies that touch along a line or
at a point keep all their panels, divided there: leaving out the nearest ones opens the surfaces
(damping of a flap on its base 24 % too small).
"""

from __future__ import annotations

import numpy as np

from swelltree.hydro.bem.mesh_checks import is_inside, tell
from swelltree.system.bodies.panels import Panels, join

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
                tell(
                    f"bodies '{one}' and '{other}' touch over {faces[0]:.3g} m^2 of the one and "
                    f"{faces[1]:.3g} m^2 of the other, which should be equal: their panels do not "
                    "fit together. Give both the same panel_size.",
                    notes,
                )
    for name, area in left_out.items():
        if area > 0.0:
            share = area / float(named[name].areas.sum())
            notes.append(
                f"body '{name}': {share:.2g} of its wetted surface lies against another body and "
                "meets no water."
            )
    return result


def _near(panels: Panels, other: Panels) -> np.ndarray:
    """Which panels reach into the box around other panels (bool)."""
    corners = panels.vertices[panels.faces]
    reach = DISTANCE * np.sqrt(panels.areas)[:, None]
    low, high = corners.min(axis=1) - reach, corners.max(axis=1) + reach
    box = other.vertices
    return ((low <= box.max(axis=0)) & (high >= box.min(axis=0))).all(axis=1)


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
    """Panels a trifle smaller: no middle of one lies on the edge of another body's panel."""
    middle = panels.vertices.mean(axis=0)
    return Panels(middle + (1.0 - SHRUNK) * (panels.vertices - middle), panels.faces)


def _has_face_contact(panels: Panels, other: Panels) -> bool:
    """Whether another body lies against a whole panel, its corners included."""
    size = np.sqrt(panels.areas)
    whole = _touched(panels, other, CORNERS, FLAT * size) == 1.0
    if not whole.any():
        return False
    chosen = Panels(panels.vertices, panels.faces[whole])
    return bool((_touched(chosen, other, INNER, DISTANCE * size[whole]) == 1.0).any())


def _without_contact(panels: Panels, other: Panels, distance: float) -> tuple[Panels, float]:
    """Panels without what lies against another body, and the area that was left out [m^2]."""
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
