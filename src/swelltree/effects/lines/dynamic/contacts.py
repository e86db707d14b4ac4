"""The seabed under dynamic lines, and points of bodies and junctions that may touch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.lines.network import Network
from swelltree.effects.lines.seabed import Bed, make_bed
from swelltree.model.build_layout import local_point
from swelltree.model.layout import Layout
from swelltree.system import System
from swelltree.system.bodies.body import Body
from swelltree.system.bodies.hull_panels import hull_panels

if TYPE_CHECKING:
    from swelltree.system.lines.seabed import SeabedContact


def seabed_of(system: System) -> Bed | None:
    """The seabed, None in infinitely deep water."""
    seabed = system.seabed
    depth = system.water.depth if seabed.depth is None else seabed.depth
    if np.isinf(depth) and seabed.grid is None:
        return None
    grid = None
    if seabed.grid is not None:
        grid = seabed.grid.x, seabed.grid.y, -np.array(seabed.grid.depth)
        for name in ("x", "y"):
            steps = np.diff(getattr(seabed.grid, name))
            if np.ptp(steps) > 1e-6 * steps[0]:
                raise seabed.grid.fail(f"{name} is not evenly spaced. Give an even grid.")
    return make_bed(
        depth,
        seabed.slope,
        seabed.stiffness,
        seabed.damping,
        seabed.friction,
        grid,
    )


def contact_points(
    system: System, layout: Layout, network: Network, bed: Bed | None
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """Points of bodies and junctions that may touch the seabed."""
    N, J = layout.n_bodies, len(network.junctions)
    points, areas, bodies, junctions = [], [], [], []
    for contact in system.contacts:
        body = system.body(contact.body.body)
        for at in contact.at or _lowest(contact, body):
            points.append(local_point(system, body.at(*at)))
            areas.append(contact.area)
            bodies.append(layout.bodies.index(body.name))
            junctions.append(J)
    if bed is not None:
        for k in range(J):
            points.append(np.zeros(3))
            areas.append(1.0)
            bodies.append(N)
            junctions.append(k)
    return (
        np.array(points, float).reshape(-1, 3),
        np.array(areas, float),
        tuple(bodies),
        tuple(junctions),
    )


def _lowest(contact: SeabedContact, body: Body) -> list[tuple[float, float, float]]:
    """The lowest corners of a hull."""
    if body.hull is None:
        raise contact.fail(f"body '{body.name}' has no hull. Give the points in `at`.")
    vertices = np.asarray(hull_panels(body.hull).vertices).reshape(-1, 3)
    vertices = vertices + body.hull_origin
    low = vertices[:, 2].min()
    near = vertices[vertices[:, 2] < low + 1e-3 * max(1.0, np.ptp(vertices[:, 2]))]
    corners = {
        tuple(np.round(near[index], 9).tolist())
        for index in (
            (near[:, 0] + near[:, 1]).argmax(),
            (near[:, 0] + near[:, 1]).argmin(),
            (near[:, 0] - near[:, 1]).argmax(),
            (near[:, 0] - near[:, 1]).argmin(),
        )
    }
    return sorted(corners)
