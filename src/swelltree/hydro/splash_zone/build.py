"""From described immersions to tables over depth."""

from __future__ import annotations

import numpy as np

from swelltree.describe import Immersion, System
from swelltree.describe.bodies.solids import hull_immersed
from swelltree.hydro.froude_krylov.build import closed_panels
from swelltree.hydro.splash_zone.immersions import COLUMNS, WIDTH, Immersions, depth_tables
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout

LEVELS = 41  # rows of a table made from a hull


def build_immersions(system: System, layout: Layout) -> Immersions | None:
    """The group of all immersing bodies; None if there are none."""
    described = [force for force in system.forces if isinstance(force, Immersion)]
    if not described:
        return None
    tables = [immersion_table(system, force) for force in described]
    names = tuple(force.name for force in described)
    return Immersions(
        point=np.array([local_point(system, force.point) for force in described]),
        at=np.array([columns[-1, COLUMNS["center"]] for _, columns in tables]),
        tables=depth_tables(tables),
        entry=np.array([1.0 if force.slamming else 0.0 for force in described]),
        exit=np.array([0.5 if force.exit == "returned" else 0.0 for force in described]),
        buoyant=np.array([1.0 if force.buoyancy else 0.0 for force in described]),
        body=tuple(layout.bodies.index(force.point.body) for force in described),
        names=(*names, *(f"{name} spray" for name in names)),
    )


def immersion_table(system: System, force: Immersion) -> tuple[np.ndarray, np.ndarray]:
    """Rows of depth and the columns of `depth_tables`, centres from the reference point."""
    body = system.body(force.point.body)
    for field in ("displaced_volume", "added_mass"):
        if getattr(body, field):
            raise force.fail(
                f"body '{body.name}' has {field}, which does not depend on depth. Leave it out: "
                "the tables over depth contain it."
            )
    if force.volume:
        depth, columns = _specified(system, force)
    elif body.hull is not None:
        depth, columns = _of_hull(system, force)
    elif force.buoyancy or not force.depth:
        raise force.fail(
            f"it has no volume and body '{body.name}' has no hull. Give depth and volume, or a "
            "hull."
        )
    else:
        depth, columns = _specified(system, force)
    for name, field in (("added", "added_mass"), ("drag", "drag_area")):
        if rows := getattr(force, field):
            columns[:, COLUMNS[name]] = _three(rows)
    if force.center:
        columns[:, COLUMNS["center"]] = np.array(force.center) - np.array(body.reference)
    return depth, columns


def _three(rows: tuple) -> np.ndarray:
    """Rows along three axes; plain numbers are along z."""
    table = np.array(rows, dtype=float)
    return table if table.ndim == 2 else np.outer(table, [0.0, 0.0, 1.0])


def _specified(system: System, force: Immersion) -> tuple[np.ndarray, np.ndarray]:
    """Volumes as given, and their centres."""
    depth = np.array(force.depth, dtype=float)
    columns = np.zeros((len(depth), WIDTH))
    volume = np.array(force.volume if force.volume else np.zeros(len(depth)), dtype=float)
    columns[:, COLUMNS["volume"]] = volume
    # layers of the body between two rows lie in the middle between them
    layers = np.diff(volume)
    moment = np.concatenate([[0.0], np.cumsum(layers * 0.5 * (depth[1:] + depth[:-1]))])
    height = np.where(volume > 0, moment / np.where(volume > 0, volume, 1.0), depth[0])
    up = system.body(force.point.body).rotation_matrix.T @ [0.0, 0.0, 1.0]
    columns[:, COLUMNS["center"]] = local_point(system, force.point) + np.outer(height, up)
    return depth, columns


def _of_hull(system: System, force: Immersion) -> tuple[np.ndarray, np.ndarray]:
    """Volumes, centres and areas of the wet part of the hull as described."""
    body = system.body(force.point.body)
    R = body.rotation_matrix
    place = np.array(force.point.position)
    panels = closed_panels(body).moved(-place)
    origin = R @ (np.array(body.hull_origin) - place)
    turned = panels.moved(rotation=R)
    low, high = turned.vertices[:, 2].min(), turned.vertices[:, 2].max()
    depth = np.linspace(low, high, LEVELS) if not force.depth else np.array(force.depth)
    columns = np.zeros((len(depth), WIDTH))
    shift = local_point(system, force.point)
    for k, level in enumerate(depth):
        wet = turned.moved((0.0, 0.0, -level)).immersed()
        # the hull's own frame, moved so that the level is its still water
        lifted = np.array(body.hull.offset) + R.T @ [0.0, 0.0, origin[2] - level]
        immersed = hull_immersed(body.hull.replace(offset=tuple(lifted)), R)
        center = immersed.center + [origin[0], origin[1], level]
        if not immersed.volume > 0:
            center = np.array([0.0, 0.0, max(level, low)])
        columns[k, COLUMNS["volume"]] = immersed.volume
        columns[k, COLUMNS["center"]] = R.T @ center + shift
        columns[k, COLUMNS["drag"]] = np.array(force.Cd) * _projected_area(wet.triangles @ R)
    if columns[0, 0] > 1e-9 * columns[-1, 0] or not columns[-1, 0] > 0:
        raise force.fail(
            f"depth {depth[0]:g} to {depth[-1]:g} m does not reach from above the hull's lowest "
            f"point, which is at {low:g} m. Begin there, or leave depth out."
        )
    columns[0, COLUMNS["drag"]] = 0.0
    added = system.water.rho * np.outer(columns[:, 0], force.Ca)
    columns[:, COLUMNS["added"]] = added
    return depth, columns


def _projected_area(triangles: np.ndarray) -> np.ndarray:
    """Projected area of wet triangles along x, y and z, from the side with the larger area."""
    if not len(triangles):
        return np.zeros(3)
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    area = 0.5 * np.cross(b - a, c - a)
    return np.maximum(np.maximum(area, 0.0).sum(0), np.maximum(-area, 0.0).sum(0))
