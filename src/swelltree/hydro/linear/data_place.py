"""Hydrodynamic data brought to where the bodies are described.

Data hold for bodies in the pose they were computed in. Moved over the sea or turned about the
vertical together, nothing changes but phases and axes, and the data are moved exactly. Another
draft or trim, or another distance between bodies, are other data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import Body
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.data.frames import shift, turn

if TYPE_CHECKING:
    import xarray as xr

SAME_PLACE = 1e-3  # of the size of a body: nearer counts as the same place
SAME_ANGLE = 1e-4  # rad
SAME_DRAFT = 0.01  # of the size
SAME_TRIM = np.radians(0.2)
SAME_VOLUME = 0.05  # of the displaced volume: meshes of one hull differ by less
SAME_CENTER = 0.05  # of the size: so far may centres of buoyancy of two meshes be apart
ELSEWHERE = 0.5  # of size or draft: a centre of mass so far off belongs to a body that was moved
OTHER_LOAD = 0.05  # of the draft: a centre of mass farther off is reported
FLATTEST = 0.05  # of the size: a draft below it is not a draft (a centre of buoyancy left at zero)


class Moved(NamedTuple):
    """Displacement of a body from the pose of its data."""

    body: str
    yaw: float  # rad
    offset: np.ndarray  # (3,) after the turn about the origin, m
    trim: float  # rad, between both
    tilt: tuple[float, float]  # rad, of the body's z axis as described and in the data
    size: float  # m, edge of a cube with its volume


def placed(system: System, data: xr.Dataset) -> tuple[xr.Dataset, list[str]]:
    """The data where the bodies are, and what to report.

    Args:
        system: resolved.
        data: hydrodynamic data.
    """
    names = [str(name) for name in data["body"].values]
    result = [_moved(system.body(name), data, system) for name in names]
    for name, moved in zip(names, result, strict=True):
        if moved is not None:
            _check_level(moved, system)
        _check_hull(system.body(name), data, moved)
    notes: list[str] = []
    full = [moved for moved in result if moved is not None]
    if len(full) < len(names) or not full:
        return data, notes
    first = full[0]
    for other in full[1:]:
        _check_together(first, other)
    yaw, (x, y) = first.yaw, first.offset[:2]
    if abs(yaw) <= SAME_ANGLE and np.hypot(x, y) <= SAME_PLACE * first.size:
        return data, notes
    notes.append(
        f"hydro data: turned by {np.degrees(yaw):.4g} degrees and moved by ({x:.4g}, {y:.4g}) m "
        "to where the bodies are."
    )
    return shift(turn(data, yaw) if abs(yaw) > SAME_ANGLE else data, float(x), float(y)), notes


def _size(body: Body, data: xr.Dataset, system: System) -> float:
    """Edge of a cube of the displaced volume [m]."""
    volume = _point(data, "displaced_volume", body.name)
    value = body.mass / system.water.rho if volume is None else float(volume)
    return max(value, 1e-9) ** (1.0 / 3.0)


def _point(data: xr.Dataset, name: str, body: str) -> np.ndarray | None:
    if name not in data:
        return None
    value = np.asarray(data[name].sel(body=body).values, dtype=float)
    return value if np.isfinite(value).all() else None


def _tilt(R: np.ndarray) -> float:
    """Angle of the z axis of a frame from the vertical."""
    return float(np.arccos(np.clip(R[2, 2], -1, 1)))


def _moved(body: Body, data: xr.Dataset, system: System) -> Moved | None:
    """Displacement of a body from its data: pose, axes, centre of mass."""
    place, axes = _point(data, "body_position", body.name), _point(data, "body_axes", body.name)
    size = _size(body, data, system)
    if axes is None:
        _warn_of_turned(body)
        axes, place = body.rotation_matrix, None
    R = body.rotation_matrix @ axes.T
    yaw = float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))
    c, s = np.cos(yaw), np.sin(yaw)
    about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    trim = float(np.arccos(np.clip((R @ about_z.T)[2, 2], -1.0, 1.0)))
    if place is not None:
        offset = np.array(body.position) - about_z @ place
    else:
        by_mass = _by_mass(body, data, size, about_z)
        if by_mass is None:
            return None
        offset = by_mass
    tilt = _tilt(body.rotation_matrix), _tilt(axes)
    return Moved(body.name, yaw, offset, trim, tilt, size)


def _by_mass(body: Body, data: xr.Dataset, size: float, about_z: np.ndarray) -> np.ndarray | None:
    """How far the centre of mass is from that of data that do not state the pose of their bodies.

    One rule for all joints: heights that differ by more than a twentieth of the draft are reported,
    and from half a draft on the data are rejected unless hull or reference point agree with them.
    """
    theirs = _point(data, "center_of_mass", body.name)
    if theirs is None:
        return None
    theirs = about_z @ theirs
    ours = np.array(body.position) + body.rotation_matrix @ np.array(body.com)
    offset = ours - theirs
    draft = _height(body, data, size)
    if abs(offset[2]) > OTHER_LOAD * draft:
        heights = (
            f"body '{body.name}': its centre of mass is at z = {ours[2]:.4g} m, in the hydro data "
            f"at z = {theirs[2]:.4g} m"
        )
        if _at_its_draft(body, data):
            warn_user(
                f"{heights}. The draft of the data is used, so this is another load, not another "
                "draft: the hull does not move with the position of the body. For another draft "
                "compute data with run_bem."
            )
        else:
            remedy = (
                "Describe the body where they were made, or compute data there; where only its "
                "load is another, give its hull, or as reference_point the rotation centre of the "
                "data."
            )
            if abs(offset[2]) > ELSEWHERE * draft:
                raise SwelltreeError(f"{heights}: its draft is not that of the data. {remedy}")
            warn_user(f"{heights}: its draft may not be that of the data. {remedy}")
    if np.hypot(*offset[:2]) <= ELSEWHERE * size:
        offset = np.zeros(3)
    return np.array([*offset[:2], 0.0])


def _warn_of_turned(body: Body) -> None:
    """Warn that files do not state the heading of their bodies."""
    R = body.rotation_matrix
    tilt, yaw = np.degrees(_tilt(R)), np.degrees(np.arctan2(R[1, 0], R[0, 0]))
    if abs(R - np.eye(3)).max() <= SAME_ANGLE:
        return
    warn_user(
        f"body '{body.name}' is described tilted by {tilt:.3g} degrees and turned by {yaw:.3g} "
        "degrees about the vertical; its hydro data do not state how it lay when they were made, "
        "and are taken as made with it so. If it lay at 0 degrees, give read_hydro(..., "
        f"rotation_deg={{'{body.name}': (0, 0, 0)}}), or where it lay as described, those angles."
    )


def _height(body: Body, data: xr.Dataset, size: float) -> float:
    """Draft of a box with the body's centre of buoyancy, limited by the size [m]."""
    center = _point(data, "center_of_buoyancy", body.name)
    draft = size if center is None else 2.0 * abs(float(center[2]))
    return min(draft, size) if draft > FLATTEST * size else size


def _at_its_draft(body: Body, data: xr.Dataset) -> bool:
    """Whether hull or reference point show that the body is at the draft of its data."""
    volume, center = (_point(data, x, body.name) for x in ("displaced_volume", "rotation_center"))
    if body.hull is not None and volume is not None and volume > 0:
        return True  # `_check_hull` compares them
    if body.reference_point is None or center is None:
        return False
    reference = np.array(body.position) + body.rotation_matrix @ np.array(body.reference_point)
    return bool(abs(reference[2] - center[2]) <= 1e-3 * max(1.0, abs(center[2])))


def _check_level(moved: Moved, system: System) -> None:
    """Reject another draft or trim than that of the data."""
    again = "Describe the body there, or compute data with run_bem as it is."
    if abs(moved.offset[2]) > SAME_DRAFT * moved.size:
        here = float(system.body(moved.body).position[2])
        raise SwelltreeError(
            f"body '{moved.body}' is described at z = {here:.4g} m, but its hydro data were made "
            f"with it at z = {here - moved.offset[2]:.4g} m: its draft is another. {again}"
        )
    if moved.trim > SAME_TRIM:
        ours, theirs = np.degrees(moved.tilt)
        raise SwelltreeError(
            f"body '{moved.body}' is described trimmed by {ours:.3g} degrees, but its hydro data "
            f"were made with it trimmed by {theirs:.3g} degrees, {np.degrees(moved.trim):.3g} "
            f"degrees apart. {again}"
        )


def _check_together(first: Moved, other: Moved) -> None:
    """Reject changed arrangements of interacting bodies."""
    apart = np.hypot(*(other.offset - first.offset)[:2])
    turned = abs((other.yaw - first.yaw + np.pi) % (2 * np.pi) - np.pi)
    if apart > SAME_PLACE * max(first.size, other.size) or turned > SAME_ANGLE:
        raise SwelltreeError(
            f"bodies '{first.body}' and '{other.body}' are described {apart:.4g} m and "
            f"{np.degrees(turned):.3g} degrees from the arrangement of their hydro data, which "
            "hold their interaction. Describe them as there, or run run_bem again."
        )


def _check_hull(body: Body, data: xr.Dataset, moved: Moved | None) -> None:
    """Reject hulls whose displacement differs from the data."""
    volume = _point(data, "displaced_volume", body.name)
    if body.hull is None or volume is None or not volume > 0:
        return
    from swelltree.describe.bodies.solids import hull_immersed

    wet = hull_immersed(body.hull, body.rotation_matrix)
    again = "Give the hull of the data, or compute data for this one."
    if abs(wet.volume - volume) > SAME_VOLUME * volume:
        raise SwelltreeError(
            f"body '{body.name}': its hull displaces {wet.volume:.5g} m^3, its hydro data "
            f"{float(volume):.5g} m^3: hull, draft or trim are not those of the data. {again}"
        )
    center = _point(data, "center_of_buoyancy", body.name)
    if moved is None or center is None or not center.any():
        return
    # where the data would have it, moved over the sea with the body
    c, s = np.cos(moved.yaw), np.sin(moved.yaw)
    x, y = c * center[0] - s * center[1], s * center[0] + c * center[1]
    theirs = np.array([x, y, center[2]]) + moved.offset
    ours = wet.center + [*body.position[:2], 0.0]
    if np.linalg.norm(ours - theirs) > SAME_CENTER * moved.size:
        texts = [f"({', '.join(f'{value:.4g}' for value in point)}) m" for point in (ours, theirs)]
        raise SwelltreeError(
            f"body '{body.name}': the centre of buoyancy of its hull is at {texts[0]}, that of its "
            f"hydro data at {texts[1]}: hull, draft or trim are not those of the data. {again}"
        )
