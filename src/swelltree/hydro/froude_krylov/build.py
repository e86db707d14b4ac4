"""From described hulls to the triangles of nonlinear hydrostatics and Froude-Krylov forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import DISPLACEMENT, Body
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.meshes import Panels, mesh_notes
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.hydro.bem.meshes import check_closed
from swelltree.hydro.froude_krylov.hulls import Hulls, Triangles, wetted
from swelltree.multibody.kinematics import Pose
from swelltree.multibody.layout import Layout
from swelltree.waves.airy import STRETCHINGS
from swelltree.waves.dispersion import depth_decay, dispersion

OPEN = 1e-6  # of the surface: larger net area vectors mean a hole
SAME_HULL = 0.1  # of the Froude-Krylov force: more is another hull than that of the data


def nonlinear_bodies(
    system: System, nonlinear: bool | str | Sequence[str] | None, stretching: str
) -> tuple[str, ...]:
    """Names of the bodies with nonlinear hull forces, checked."""
    if stretching not in STRETCHINGS:
        raise SwelltreeError(
            f"stretching '{stretching}' is not known.{suggest(stretching, STRETCHINGS)} "
            f"The choices are {listed(STRETCHINGS)}."
        )
    if nonlinear is False or nonlinear is None:
        return ()
    hulled = tuple(body.name for body in system.bodies if body.hull is not None)
    if nonlinear is True:
        if not hulled:
            raise SwelltreeError("nonlinear=True, but no body has a hull. Give one to a body.")
        return hulled
    names = (nonlinear,) if isinstance(nonlinear, str) else tuple(nonlinear)
    known = tuple(body.name for body in system.bodies)
    for name in names:
        if name not in known:
            raise SwelltreeError(
                f"nonlinear names body '{name}', which is not in the system."
                f"{suggest(name, known)} The bodies are {listed(known)}."
            )
        if name not in hulled:
            raise SwelltreeError(
                f"body '{name}': it has no hull, which nonlinear forces need. Give it one."
            )
    return names


def closed_panels(body: Body) -> Panels:
    """The whole surface of a body's hull in body axes; a hull with a hole is rejected."""
    panels = hull_panels(body.hull, true_sections=True).moved(body.hull_origin)
    for text in mesh_notes(body.hull):
        warn_user(f"body '{body.name}': {text}")
    triangles = panels.triangles
    normal = 0.5 * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    surface = np.linalg.norm(normal, axis=1).sum()
    hole = normal.sum(0)
    if np.abs(hole).max() > OPEN * surface:
        raise SwelltreeError(
            f"body '{body.name}': its hull has a hole of {np.linalg.norm(hole):.3g} m^2, so it "
            "cannot sink or rise in waves. Give a closed mesh that reaches above the water."
        )
    # opposite holes have no net area; all rims count, so the hull is looked at under water
    top = float(panels.vertices[:, 2].max()) + 1.0
    check_closed(body.name, panels.moved((0.0, 0.0, -top)), top)
    return panels


def with_mesh_displacement(system: System, names: tuple[str, ...]) -> System:
    """Bodies of mass "displacement" get the mass displaced by their panels."""
    bodies = []
    for body in system.bodies:
        if body.name in names and body.mass == DISPLACEMENT:
            hull = _triangles([body], np.zeros((1, 3)))
            p, R = np.array(body.position)[None], body.rotation_matrix[None]
            volume = float(wetted(hull, p, R, np.ones(())).volume[0])
            if not volume > 0:
                raise body.fail(
                    "mass is 'displacement' but the hull is above the water. Lower it or give a "
                    "mass."
                )
            body = body.replace(mass=system.water.rho * volume)
        bodies.append(body)
    return system.replace(bodies=tuple(bodies))


def build_hulls(system: System, layout: Layout, names: tuple[str, ...]) -> Hulls:
    bodies = [system.body(name) for name in names]
    triangles = _triangles(bodies, np.array([body.reference for body in bodies]))
    return Hulls(
        triangles,
        None,
        tuple(f"hull {name}" for name in names),
        tuple(layout.bodies.index(name) for name in names),
        float(np.sqrt((triangles.vertices**2).sum(1)).max()),
    )


def hull_notes(system: System, names: tuple[str, ...]) -> tuple[str, ...]:
    """Warnings about members on bodies whose hull may contain them already."""
    return tuple(
        f"member '{force.name}' and the hull of body '{force.feels_pressure_on}' both feel the "
        "pressure of the waves; if the hull holds the member, set inertia=False and buoyancy=False."
        for force in system.forces
        if force.feels_pressure_on in names
    )


def _triangles(bodies: list[Body], reference: np.ndarray) -> Triangles:
    """Triangles of several hulls about their reference points."""
    hulls = []
    for body, point in zip(bodies, reference, strict=True):
        panels = closed_panels(body)
        both = np.concatenate([panels.faces[:, [0, 1, 2]], panels.faces[:, [0, 2, 3]]])
        distinct = (both[:, 1] != both[:, 2]) & (both[:, 0] != both[:, 2])
        hulls.append((panels.vertices - point, both[distinct]))
    return joined_triangles(hulls)


def joined_triangles(hulls: list[tuple[np.ndarray, np.ndarray]]) -> Triangles:
    """Closed hulls, padded to one size.

    Args:
        hulls: vertices about the reference point, and triangles, of each.
    """
    v, t = (max(len(hull[k]) for hull in hulls) for k in range(2))
    # padded points repeat the last one, padded triangles have no area
    points = np.stack([np.pad(x, ((0, v - len(x)), (0, 0)), mode="edge") for x, _ in hulls])
    sides = np.stack([np.pad(x, ((0, t - len(x)), (0, 0))) for _, x in hulls])
    corner = np.stack([points[i][side] for i, side in enumerate(sides)])  # (b, t, 3, 3)
    area = 0.5 * np.cross(corner[:, :, 1] - corner[:, :, 0], corner[:, :, 2] - corner[:, :, 0])
    return Triangles(
        np.ascontiguousarray(np.moveaxis(points, 2, 1)),
        np.ascontiguousarray(np.moveaxis(sides, 2, 1).astype(np.int32)),
        np.ascontiguousarray(np.transpose(corner, (0, 2, 3, 1))),
        np.ascontiguousarray(np.moveaxis(area, 2, 1)),
    )


def linear_froude_krylov(
    body: Body, mean: Pose, water: Water, omega: np.ndarray, direction: np.ndarray
) -> np.ndarray:
    """Froude-Krylov force in the mean position per metre of a crest at the body, (f, d, 6).

    Integrated over the same panels and in the same way as the nonlinear force, which it is for
    small waves and motions.

    Args:
        body: with a hull.
        mean: pose of its reference point, p (3,) and R (3, 3).
        water: rho, g and depth.
        omega: (f,) [rad/s].
        direction: (d,) [rad].
    """
    local = closed_panels(body).moved(-np.array(body.reference))
    wet = local.moved(mean.p * [0.0, 0.0, 1.0], mean.R).immersed()
    if not len(wet.faces):
        return np.zeros((len(omega), len(direction), 6), dtype=complex)
    corner = wet.triangles
    area = 0.5 * np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    arm = corner - [0.0, 0.0, mean.p[2]]
    # weights of the pressure at each corner: exact for a pressure that is linear over a triangle
    lever = np.cross((arm.sum(1)[:, None] + arm) / 12.0, area[:, None])
    weight = -np.concatenate([np.broadcast_to(area[:, None] / 3.0, arm.shape), lever], axis=-1)
    out = np.empty((len(omega), len(direction), 6), dtype=complex)
    for i, k in enumerate(np.atleast_1d(dispersion(omega, water.depth, water.g))):
        decay = water.rho * water.g * depth_decay(k, corner[..., 2], water.depth)[0]
        for j, beta in enumerate(direction):
            ahead = corner[..., 0] * np.cos(beta) + corner[..., 1] * np.sin(beta)
            pressure = decay * np.exp(1j * k * ahead)
            out[i, j] = (pressure[..., None] * weight).sum((0, 1))
    return out
