r"""Moving data between reference points and axes.

Velocities in the frame of the data and in another one are related by

.. math:: \nu^h = J \nu^b, \qquad J = \mathrm{blkdiag}(R, R)\, H(r), \qquad
          H(r) = \begin{bmatrix} I & S(r)^\top \\ 0 & I \end{bmatrix}

Power is the same in both, so forces go the other way, and matrices follow:

.. math:: \tau^b = J^\top \tau^h, \qquad M^b = J^\top M^h J .

Paper 003 of the references (NEEC), eqs. 26-32; eq. 32 prints the forces with J instead of its
transpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import (
    DOFS,
    FORCE,
    MATRIX,
    RADIATION,
    HydroParts,
    body_names,
    find_body,
    make_label,
    wavenumber,
)
from swelltree.jit import Array, Numbers

if TYPE_CHECKING:
    import xarray as xr

FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")
POINTS = ("rotation_center", "center_of_mass", "center_of_buoyancy", "body_position")
SECOND_HEADINGS = (
    "drift_direction",
    "difference_heading_1",
    "difference_heading_2",
    "sum_heading_1",
    "sum_heading_2",
)
Z_DOWN = np.diag([1.0, -1.0, -1.0])  # eqs. 26-27: half a turn about x


def cross_matrix(r: np.ndarray) -> np.ndarray:
    """S(r), so that S(r) a = r x a."""
    x, y, z = np.asarray(r, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def transform_matrix(rotation: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """J = blkdiag(R, R) H(r): velocity in the data's frame from that in the new frame.

    Args:
        rotation: from the new axes to those of the data, (3, 3).
        arm: from the new reference point to that of the data, in new axes [m].
    """
    J = np.zeros((6, 6))
    J[:3, :3] = J[3:, 3:] = rotation
    J[:3, 3:] = rotation @ cross_matrix(arm).T
    return J


def transform(data: xr.Dataset, J: Mapping[str, np.ndarray]) -> xr.Dataset:
    """Matrices and forces in new coordinates of some bodies: M -> J^T M J, tau -> J^T tau.

    Args:
        data: hydrodynamic data.
        J: (6, 6) per body; generalised modes and bodies not named stay as they are.
    """
    dofs = [str(x) for x in data["influenced_dof"].values]
    full = np.eye(len(dofs))
    for body, block in J.items():
        rows = _rigid_rows(dofs, find_body(data, body))
        full[np.ix_(rows, rows)] = block
    changed = {}
    for name in ("added_mass", "radiation_damping"):
        values = data[name].transpose(*RADIATION).values
        changed[name] = (RADIATION, full.T @ values @ full, data[name].attrs)
    for name in ("hydrostatic_stiffness", "inertia_matrix"):
        if name in data:
            values = data[name].transpose(*MATRIX).values
            changed[name] = (MATRIX, full.T @ values @ full, data[name].attrs)
    for name in (*FORCES, "mean_drift"):
        if name in data:
            changed[name] = (FORCE, data[name].transpose(*FORCE).values @ full, data[name].attrs)
    for name in ("mean_drift_own_headings", "qtf_difference", "qtf_sum"):
        if name in data:
            changed[name] = (data[name].dims, data[name].values @ full, data[name].attrs)
    return data.assign(changed)


def _rigid_rows(dofs: Sequence[str], body: str) -> list[int]:
    labels = [make_label(body, dof) for dof in DOFS]
    missing = [label for label in labels if label not in dofs]
    if missing:
        raise SwelltreeError(
            f"hydro data of body '{body}' cannot be moved: '{missing[0]}' is missing. "
            "Compute all six DOFs."
        )
    return [dofs.index(label) for label in labels]


def move_reference(
    data: xr.Dataset,
    points: Mapping[str, Numbers],
    net_force: Mapping[str, float] | None = None,
) -> xr.Dataset:
    """The data about other reference points.

    Args:
        data: hydrodynamic data.
        points: new `rotation_center` per body, world axes [m].
        net_force: upward static force that `hydrostatic_stiffness` leaves unbalanced, per body
            [N]: zero when it counts weight and buoyancy (the default), rho g V when it counts
            buoyancy only.
    """
    centers = data["rotation_center"].values.copy()
    names = body_names(data)
    J = {}
    for body, point in points.items():
        result = find_body(data, body)
        k = names.index(result)
        if np.isnan(centers[k]).any():
            raise SwelltreeError(
                f"hydro data of body '{result}' do not state their reference point. "
                "Read them with rotation_center={'" + result + "': (x, y, z)}."
            )
        J[result] = transform_matrix(np.eye(3), centers[k] - np.asarray(point, dtype=float))
    moved = transform(data, J)
    dofs = [str(x) for x in data["influenced_dof"].values]
    for body, force in (net_force or {}).items():
        result = find_body(data, body)
        if result in J and "hydrostatic_stiffness" in moved:
            # the arm turns with the body: moment (theta x d) x f, linear in theta
            arm = centers[names.index(result)] - np.asarray(points[body], dtype=float)
            block = -cross_matrix(np.array([0.0, 0.0, force])) @ cross_matrix(arm)
            rows = _rigid_rows(dofs, result)[3:]
            stiffness = moved["hydrostatic_stiffness"].values.copy()
            stiffness[np.ix_(rows, rows)] += block
            moved["hydrostatic_stiffness"] = (
                MATRIX,
                stiffness,
                moved["hydrostatic_stiffness"].attrs,
            )
    for body, point in points.items():
        centers[names.index(find_body(data, body))] = point
    return moved.assign(rotation_center=(("body", "xyz"), centers, data["rotation_center"].attrs))


def turn(data: xr.Dataset, yaw: float) -> xr.Dataset:
    """The whole arrangement turned about the vertical through the origin; waves turn with it.

    DOFs stay in world axes.

    Args:
        data: hydrodynamic data.
        yaw: angle about +z [rad].
    """
    c, s = np.cos(yaw), np.sin(yaw)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    J = {body: transform_matrix(rotation.T, np.zeros(3)) for body in body_names(data)}
    turned = transform(data, J)
    if "wave_direction" in data.coords:
        turned = turned.assign_coords(wave_direction=data["wave_direction"] + yaw)
    for name in SECOND_HEADINGS:
        if name in turned.coords:
            turned = turned.assign_coords({name: turned[name] + yaw})
    for name in POINTS:
        if name in data:
            turned[name] = (data[name].dims, data[name].values @ rotation.T, data[name].attrs)
    if "body_axes" in data:
        axes = data["body_axes"].transpose("body", "xyz", "axis")
        turned["body_axes"] = (axes.dims, rotation @ axes.values, axes.attrs)
    return turned


def shift(data: xr.Dataset, x: float, y: float) -> xr.Dataset:
    """The whole arrangement moved over the sea: only phases and places change.

    A wave exp(i k.x) meets the moved bodies with the phase k.d ahead.

    Args:
        data: hydrodynamic data.
        x: [m].
        y: [m].
    """
    moved = data.copy()
    k = wavenumber(data["omega"].values, float(data["water_depth"]), float(data["g"]))
    if "wave_direction" in data.coords:
        beta = data["wave_direction"].values
        phase = k[:, None] * (x * np.cos(beta) + y * np.sin(beta))[None]
        factor = np.exp(1j * phase)[:, :, None]
        for name in FORCES:
            if name in data:
                values = data[name].transpose(*FORCE).values * factor
                moved[name] = (FORCE, values, data[name].attrs)
    for short, sign in (("difference", -1.0), ("sum", 1.0)):
        if f"qtf_{short}" in data:
            moved[f"qtf_{short}"] = _shifted_pairs(data, short, sign, (x, y))
    for name in POINTS:
        if name in data:
            values = data[name].values + np.array([x, y, 0.0])
            moved[name] = (data[name].dims, values, data[name].attrs)
    return moved


def _shifted_pairs(
    data: xr.Dataset, short: str, sign: float, d: tuple[float, float]
) -> xr.DataArray:
    """A transfer function of the moved bodies: phase (k1 -+ k2).d ahead."""
    phase: Array = 0.0
    for number, factor in ((1, 1.0), (2, sign)):
        omega, beta = data[f"{short}_omega_{number}"], data[f"{short}_heading_{number}"]
        k = wavenumber(omega.values, float(data["water_depth"]), float(data["g"]))
        along = d[0] * np.cos(beta) + d[1] * np.sin(beta)
        phase = phase + factor * omega.copy(data=k) * along
    pairs = data[f"qtf_{short}"]
    return (pairs * np.exp(1j * phase)).transpose(*pairs.dims).assign_attrs(pairs.attrs)


def from_z_down(data: xr.Dataset) -> xr.Dataset:
    """Data whose axes are x forward, y right, z down, in our axes (z up); also the way back.

    Headings change sign with the y axis, since they count the other way round seen from above.
    """
    J = {body: transform_matrix(Z_DOWN, np.zeros(3)) for body in body_names(data)}
    turned = transform(data, J)
    if "wave_direction" in data.coords:
        turned = turned.assign_coords(wave_direction=-data["wave_direction"])
        turned = turned.sortby("wave_direction")
    for name in SECOND_HEADINGS:
        if name in turned.coords:
            turned = turned.assign_coords({name: -turned[name]})
    for name in ("rotation_center", "center_of_mass", "center_of_buoyancy"):
        if name in data:
            turned[name] = (data[name].dims, data[name].values @ Z_DOWN, data[name].attrs)
    return turned


def turn_parts(parts: HydroParts, rotations: Sequence[np.ndarray]) -> None:
    """What a reader found in body axes, turned to world axes in place.

    Args:
        parts: matrices and forces in the axes of each body.
        rotations: from body axes to world axes, one per body.
    """
    full = np.eye(len(parts.dofs))
    for body, rotation in zip(parts.bodies, rotations, strict=True):
        rows = _rigid_rows(parts.dofs, body)
        full[np.ix_(rows, rows)] = transform_matrix(rotation.T, np.zeros(3))
    parts.added_mass = full.T @ parts.added_mass @ full
    parts.radiation_damping = full.T @ parts.radiation_damping @ full
    for name, values in parts.forces.items():
        parts.forces[name] = values @ full
    for name, values in parts.matrices.items():
        parts.matrices[name] = full.T @ values @ full
    for name, (dims, values) in parts.extra.items():
        if dims[-1] == "influenced_dof":
            parts.extra[name] = (dims, values @ full)
