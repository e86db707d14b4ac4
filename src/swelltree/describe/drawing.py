"""What a system looks like, as plain data that every result carries.

Points of a body are measured from its reference point in body axes, so a shape is placed by the
position and quaternion of each sample alone. Shapes are packed: 16-bit numbers, compressed, as
text. Bodies of one shape share it.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.bodies.body import Body, Point
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.hulls import Hull, MeshFile
from swelltree.describe.bodies.meshes import Panels
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.elements import SpringDamper
from swelltree.describe.system import System
from swelltree.describe.values import NamedValues, turned_onto

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint
    from swelltree.describe.mooring.seabed import Seabed
    from swelltree.describe.pto import Pto


DRUM, BAR = 0.12, 0.04  # sides of a drum and of a boom, of the longest boom
MIN_THICKNESS = 0.05  # of the largest side: thinner boxes are drawn thicker
MOST_FACES = 6000  # of a shape; finer meshes are made coarser
STEPS = 65535  # of a coordinate over the size of the shape


def drawing_text(system: System) -> str:
    return json.dumps(drawing(system), separators=(",", ":"), ensure_ascii=False)


def drawing(system: System) -> NamedValues:
    """Bodies with their shapes, joints, springs, PTOs and moorings of a system.

    Args:
        system: the description.
    """
    system = system.resolved
    numbers = {body.name: i for i, body in enumerate(system.bodies)}
    size = typical_size(system)

    def place(point: Point) -> NamedValues:
        if point.body not in numbers:
            return {"body": -1, "point": _short(point.position)}
        local = np.array(point.position) - np.array(system.body(point.body).reference)
        return {"body": numbers[point.body], "point": _short(local)}

    shapes: list[NamedValues] = []
    bodies = []
    for body in system.bodies:
        packed = pack_shape(crane(system, body) or shape(body, size))
        if packed not in shapes:
            shapes.append(packed)
        about = {
            "name": body.name,
            "shape": shapes.index(packed),
            "mass": float(body.mass),
            "center": _short(np.array(body.center_of_mass) - np.array(body.reference)),
            "start": _short(system.world_point(Point(body.name, body.reference))),
            "turn": _short(body.rotation_matrix.reshape(-1), 9),
        }
        if body.hull is not None:
            about["hull"] = body.hull.shape
        bodies.append(about)
    springs = [f for f in system.forces if isinstance(f, SpringDamper)]
    return {
        "name": system.name,
        "depth": _depth(system),
        "bed": _bed(system.seabed),
        "size": size,
        "shapes": shapes,
        "bodies": bodies,
        "joints": [_joint(joint, place) for joint in system.joints],
        "springs": [{"name": f.name, "a": place(f.a), "b": place(f.b)} for f in springs],
        "ptos": [_pto(pto, place) for pto in system.ptos],
        "moorings": [
            {"name": m.name, "body": numbers.get(next(iter(m.points.values())).body, -1)}
            for m in system.moorings
            if m.points
        ],
    }


def _depth(system: System) -> float | None:
    """Depth of the seabed at the origin [m], None where there is none."""
    depth = system.water.depth if system.seabed.depth is None else system.seabed.depth
    return float(depth) if np.isfinite(depth) else None


def _bed(bed: Seabed) -> NamedValues | None:
    """A seabed that is not flat: its slope, or depths on a grid."""
    if bed.grid is not None:
        grid = bed.grid
        depths = [_short(row, 2) for row in grid.depth]
        return {"x": _short(grid.x, 2), "y": _short(grid.y, 2), "depth": depths}
    return {"slope": list(bed.slope)} if any(bed.slope) else None


def _joint(joint: Joint, place: Callable[[Point], NamedValues]) -> NamedValues:
    _, R = joint.base_frame()
    return {
        "name": joint.name,
        "type": joint.type,
        "dofs": list(joint.layout().dofs),
        "axis": _short(R[:, joint.axis_number], 6),  # in the axes of the base body
        "base": place(joint.base),
        "follower": place(joint.follower),
    }


def _pto(pto: Pto, place: Callable[[Point], NamedValues]) -> NamedValues:
    about: NamedValues = {"name": pto.name, "type": pto.type}
    if pto.joint is not None:
        return about | {"joint": pto.joint}
    return about | {"a": place(pto.a), "b": place(pto.b)}


def _short(values: Sequence[float] | np.ndarray, digits: int = 5) -> list[float]:
    return np.round(np.asarray(values, float), digits).tolist()


# --- shapes ------------------------------------------------------------------------------------


def pack_shape(panels: Panels) -> NamedValues:
    """A surface as text; `unpack_shape` reads it."""
    low, high = panels.vertices.min(0), panels.vertices.max(0)
    step = np.maximum(high - low, 1e-12) / STEPS
    vertices = np.round((panels.vertices - low) / step).astype("<u2")
    faces = panels.faces.astype("<u2")
    return {
        "low": _short(low, 6),
        "size": (high - low).tolist(),
        "vertices": _text(vertices),
        "faces": _text(faces),
    }


def unpack_shape(packed: NamedValues) -> Panels:
    """Inverse of `pack_shape`."""
    vertices = _numbers(packed["vertices"]).reshape(-1, 3) / STEPS
    faces = _numbers(packed["faces"]).reshape(-1, 4).astype(int)
    return Panels(vertices * np.array(packed["size"]) + np.array(packed["low"]), faces)


def _text(values: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(values.tobytes(), 9)).decode()


def _numbers(text: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u2").astype(float)


def shape(body: Body, size: float) -> Panels:
    """Surface of a body: its hull, or the box with its inertia."""
    reference = np.array(body.reference)
    if body.hull is not None:
        try:
            panels = surface(body.hull, _stamp(body.hull))
            return Panels(panels.vertices + body.hull_origin - reference, panels.faces)
        except SwelltreeError:
            pass  # a mesh file that has gone must not stop a run that does not need it
    sides, axes = sides_from_inertia(body)
    sides = np.maximum(sides, MIN_THICKNESS * (sides.max() or 2.0 * size))
    panels = box(*sides)
    return Panels(
        panels.vertices @ axes.T + np.array(body.center_of_mass) - reference, panels.faces
    )


def crane(system: System, body: Body) -> Panels | None:
    """A body without a hull that carries winches: a drum at its foot, booms to where ropes leave.

    The foot is where the body is joined to what carries it, else its centre of mass.
    """
    at = {winch.line: winch.end for winch in system.winches}
    ends = [getattr(line, at[line.name]) for line in system.lines if line.name in at]
    tips = [e.position for e in ends if isinstance(e, Point) and e.body == body.name]
    if body.hull is not None or not tips:
        return None
    joined = [j.follower.position for j in system.joints if j.follower.body == body.name]
    reference = np.array(body.reference)
    foot = np.array(joined[0] if joined else body.center_of_mass) - reference
    booms = [np.array(tip) - reference - foot for tip in tips]
    reach = max(float(np.linalg.norm(boom)) for boom in booms)
    if reach == 0.0:
        return None
    parts = [box(*(DRUM * reach * np.ones(3)))]
    for boom in booms:
        length = float(np.linalg.norm(boom))
        if length > 0.0:
            bar = box(length, BAR * reach, BAR * reach)
            axes = turned_onto(tuple(boom), 0)
            parts.append(Panels((bar.vertices + [0.5 * length, 0, 0]) @ axes.T, bar.faces))
    first = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return Panels(
        np.concatenate([part.vertices for part in parts]) + foot,
        np.concatenate([part.faces + k for part, k in zip(parts, first, strict=True)]),
    )


def _stamp(hull: Hull) -> tuple[float, ...]:
    """Modification times of the mesh files of a hull."""
    result = []
    for part in hull.parts:
        try:
            result.append(Path(part.path).stat().st_mtime if isinstance(part, MeshFile) else 0.0)
        except OSError:
            result.append(-1.0)
    return tuple(result)


@functools.lru_cache(maxsize=64)
def surface(hull: Hull, stamp: tuple[float, ...] = ()) -> Panels:
    """Panels of a hull for drawing, cached for studies that compile the same hull often."""
    # a box needs few panels, round shapes more
    return coarser(hull_panels(hull, scale=2.0 if hull.shape == "box" else 1.2))


def coarser(panels: Panels, most: int = MOST_FACES) -> Panels:
    """The surface with at most this many faces, by merging nearby vertices."""
    from swelltree.describe.bodies.meshes import merged

    size = float(np.ptp(panels.vertices, axis=0).max())
    cells = 160
    while len(panels.faces) > most and cells > 8:
        grid = np.round(panels.vertices / (size / cells))
        panels = merged(Panels(grid * (size / cells), panels.faces))
        cells = int(0.75 * cells)
    return panels


def typical_size(system: System) -> float:
    """Typical length for drawing items without dimensions [m]."""
    sides = [max(sides_from_inertia(body)[0], default=0.0) for body in system.bodies]
    if max(sides, default=0.0) > 0:
        return float(max(sides))
    places = np.array([body.position for body in system.bodies]).reshape(-1, 3)
    far = np.ptp(places, axis=0).max() if len(places) else 0.0
    return float(far) or 1.0


def sides_from_inertia(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Sides of the solid box with this mass and inertia [m], and its axes in body axes.

    A box of sides a, b, c has I_a = m (b^2 + c^2) / 12 about the axis of a, and so on.
    """
    inertia = body.inertia_matrix
    if not body.mass > 0:
        return np.zeros(3), np.eye(3)
    if np.abs(inertia - np.diag(np.diag(inertia))).max() <= 1e-9 * np.abs(inertia).max():
        moments, axes = np.diag(inertia), np.eye(3)
    else:
        moments, axes = np.linalg.eigh(inertia)
        axes = axes * np.sign(np.linalg.det(axes))
    squares = 6.0 / body.mass * (moments.sum() - 2.0 * moments)
    return np.sqrt(np.maximum(squares, 0.0)), axes


def box(length: float, width: float, height: float) -> Panels:
    """A box around the origin; faces run counter-clockwise seen from outside."""
    half = 0.5 * np.array([length, width, height])
    corners = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return Panels(np.array(corners) * half, np.array(faces))
