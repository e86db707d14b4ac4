"""The moving scene of a run as plain data: shapes, joints, springs, keyframes.

Points of a body are measured from its reference point in body axes, so a shape is placed by the
position and quaternion of each keyframe alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.system import System
from swelltree.system.bodies import Body, Point
from swelltree.system.forces import SpringDamper

if TYPE_CHECKING:
    import xarray as xr

COLORS = (
    "#2f6fb0",
    "#e08a1e",
    "#2a9d7c",
    "#c8553d",
    "#8a63b8",
    "#4fb3d9",
    "#a3843b",
    "#d16ba5",
)
MAX_FRAMES = 900
MAX_COMPONENTS = 150  # of a sea, drawn
SMALL = 0.05  # of the largest side: thinner boxes are drawn thicker


def scene(
    system: System, dataset: xr.Dataset, wave: Any = None, case: int | str = 0
) -> dict[str, Any]:
    """Everything a viewer needs.

    Args:
        system: the system that was run.
        dataset: its result in time.
        wave: the sea it was run in, drawn as a moving surface.
        case: number or name of the run, as given to `simulate`.
    """
    system = system.resolved
    numbers = {body.name: i for i, body in enumerate(system.bodies)}
    size = typical_size(system)

    def place(point: Point) -> dict[str, Any]:
        if point.body == "world":
            return {"body": -1, "point": rounded(point.position)}
        local = np.array(point.position) - np.array(system.body(point.body).reference)
        return {"body": numbers[point.body], "point": rounded(local)}

    bodies = []
    for i, body in enumerate(system.bodies):
        vertices, faces = shape(body, size)
        bodies.append(
            {
                "name": body.name,
                "color": COLORS[i % len(COLORS)],
                "vertices": rounded(vertices),
                "faces": faces,
                "center": rounded(np.array(body.com) - np.array(body.reference)),
            }
        )
    every = -(-len(dataset["time"]) // MAX_FRAMES)
    some = dataset.isel(time=slice(None, None, every))
    springs = [f for f in system.forces if isinstance(f, SpringDamper)]
    return {
        "name": system.name,
        "bodies": bodies,
        "joints": [
            {"name": j.name, "type": j.type, "base": place(j.base), "follower": place(j.follower)}
            for j in system.joints
            if j.type != "free"
        ],
        "springs": [{"name": f.name, "a": place(f.a), "b": place(f.b)} for f in springs],
        "time": rounded(some["time"].values),
        "position": rounded(some["position"].values[:, :, :3]),
        "quaternion": rounded(some["quaternion"].values, 5),
        "tension": rounded(some["spring_tension"].values, 1) if springs else [],
        "waves": None if wave is None else waves(wave, system, case),
        "depth": system.water.depth if np.isfinite(system.water.depth) else None,
    }


def waves(wave: Any, system: System, case: int | str = 0) -> dict[str, Any] | None:
    """The components of a sea that matter to the eye; None for still water."""
    from swelltree.waves.airy import Components
    from swelltree.waves.sea import realise

    sea = wave if isinstance(wave, Components) else realise(wave, system.water, case)
    if not isinstance(sea, Components) or not np.any(sea.amplitude):
        return None
    strong = np.argsort(-np.asarray(sea.amplitude))[:MAX_COMPONENTS]
    a, omega, k, beta, phase = (
        np.asarray(x)[strong]
        for x in (sea.amplitude, sea.omega, sea.wavenumber, sea.beta, sea.phase)
    )
    # wavelength below which little of the energy lies: the grid must resolve the rest
    order = np.argsort(k)
    share = np.cumsum(a[order] ** 2) / (a**2).sum()
    shortest = 2.0 * np.pi / float(k[order][np.searchsorted(share, 0.9)])
    return {
        "amplitude": rounded(a, 5),
        "omega": rounded(omega, 6),
        "kx": rounded(k * np.cos(beta), 7),
        "ky": rounded(k * np.sin(beta), 7),
        "phase": rounded(phase % (2.0 * np.pi), 4),
        "ramp": float(sea.ramp),
        "shortest": shortest,
        "highest": float(min(a.sum(), 2.5 * np.sqrt(0.5 * (a**2).sum()))),
    }


def rounded(values: Any, digits: int = 4) -> Any:
    """Numbers as nested lists with few digits."""
    return np.nan_to_num(np.round(np.asarray(values, float), digits)).tolist()


def typical_size(system: System) -> float:
    """A length to draw things that have none [m]."""
    sides = [max(sides_from_inertia(body)[0], default=0.0) for body in system.bodies]
    if max(sides) > 0:
        return max(sides)
    places = np.array([body.position for body in system.bodies])
    return float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0


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


def shape(body: Body, size: float) -> tuple[np.ndarray, list[list[int]]]:
    """Vertices and faces of a body: its hull, or the box its inertia belongs to."""
    reference = np.array(body.reference)
    hull = body.hull
    if hull is not None:
        from swelltree.system.panels import hull_panels

        # few panels are enough to look at
        panels = hull_panels(hull, scale=2.0)
        faces = panels.lists()
        return panels.vertices + body.hull_origin - reference, faces
    sides, axes = sides_from_inertia(body)
    sides = np.maximum(sides, SMALL * (sides.max() or 2.0 * size))
    vertices, faces = box(*sides)
    return vertices @ axes.T + np.array(body.com) - reference, faces


def box(length: float, width: float, height: float) -> tuple[np.ndarray, list[list[int]]]:
    """A box around the origin; faces run counter-clockwise seen from outside."""
    half = 0.5 * np.array([length, width, height])
    corners = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ]
    return np.array(corners) * half, faces
