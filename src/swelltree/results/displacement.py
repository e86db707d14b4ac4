"""The datum that displacements of results count from, and angles that do not jump."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.model.channels import ANGLES, DOFS
from swelltree.model.model import Model, Pose
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import euler_to_matrix, matrix_to_euler

if TYPE_CHECKING:
    import xarray as xr

DATUM = "datum"  # coordinate of results
DESCRIBED, EQUILIBRIUM = "the described pose", "the equilibrium in still water"


def datum_coordinates(model: Model, order: list[int], source: str) -> dict[str, tuple]:
    """The datum as a coordinate of a result: position and Euler angles of every body.

    Args:
        model: with its datum.
        order: depth-first numbers of the bodies in the order of the description.
        source: what the datum is, in words.
    """
    p, R = np.asarray(model.datum.p)[order], np.asarray(model.datum.R)[order]
    about: NamedValues = {
        "units": "m, rad",
        "long_name": f"position and roll, pitch, yaw from which displacements count: {source}",
        "frame": "world axes, z up from the still water",
        "source": source,
    }
    return {DATUM: (("body", "dof"), np.concatenate([p, matrix_to_euler(R)], axis=-1), about)}


def datum_of(run: xr.Dataset, model: Model) -> tuple[Pose, str]:
    """Datum of another run of the same model, and its description."""
    if DATUM not in run.coords:
        return model.datum, DESCRIBED
    rows = run[DATUM].sel(body=list(model.layout.described), dof=list(DOFS)).values
    place = [model.layout.bodies.index(name) for name in model.layout.described]
    p, R = np.array(model.datum.p), np.array(model.datum.R)
    p[place], R[place] = rows[:, :3], euler_to_matrix(rows[:, 3:])
    return Pose(p, R), str(run[DATUM].attrs["source"])


def motion_name(dataset: xr.Dataset) -> str:
    """Name of the variable with body motions; results of earlier versions have positions only."""
    return "displacement" if "displacement" in dataset else "position"


# --- Angles that do not jump: a body that has turned twice has turned by :math:`4\pi`

TURNS = ("Roll", "Pitch", "Yaw")
ROUND = 2.0 * np.pi
MIXED = ("dof", "coordinate", "pto")  # dimensions of which some entries may be rotations


def turning(dataset: xr.Dataset | xr.DataArray, dim: str, index: int) -> bool:
    """Whether an entry of a dimension is a rotation."""
    if dim == "dof":
        return str(dataset["dof"].values[index]) in TURNS
    mark = f"{dim}_turns"
    return mark in dataset.coords and bool(np.ravel(dataset[mark].values)[index])


def unwrapped(values: xr.DataArray) -> xr.DataArray:
    """A variable in time with its angles made continuous; others as they are.

    Args:
        values: an `xarray.DataArray` with the dimension `time`; angles are marked by an attribute.
    """
    if ANGLES not in values.attrs or "time" not in values.dims:
        return values
    dims = [dim for dim in MIXED if dim in values.coords]
    if not dims:
        result = values.transpose(..., "time").copy()
        result.values = _valid(result.values[..., None], _unwrap)[..., 0]
        return result.transpose(*values.dims)
    dim = dims[0]
    if dim not in values.dims:  # one entry, taken out by its label
        one = values.expand_dims(dim)
        return unwrapped(one).isel({dim: 0}).transpose(*values.dims)
    result = values.transpose(..., "time", dim).copy()
    for columns in _together(result, dim):
        continuous = _unwrap if dim == "pto" else _euler
        turns = result.values[..., columns]
        result.values[..., columns] = _valid(turns, continuous if len(columns) == 3 else _unwrap)
    return result.transpose(*values.dims)


def turning_entries(values: xr.DataArray) -> np.ndarray:
    """Which entries of a variable at one time are rotations that `unwrapped` makes continuous.

    Args:
        values: entries at one time; angles are marked by an attribute.
    """
    if ANGLES not in values.attrs:
        return np.zeros(values.shape, bool)
    dims = [dim for dim in MIXED if dim in values.dims]
    if not dims:
        return np.ones(values.shape, bool)
    marks = [turning(values, dims[0], k) for k in range(values.sizes[dims[0]])]
    shape = [-1 if dim == dims[0] else 1 for dim in values.dims]
    return np.broadcast_to(np.reshape(marks, shape), values.shape)


def following(
    layout: Layout, coordinate: np.ndarray, near: Mapping[str, float] | np.ndarray
) -> np.ndarray:
    """Joint coordinates (time, n) whose three free rotations follow one another.

    Args:
        layout: of the model.
        coordinate: with roll, pitch and yaw of ball and free joints as they come.
        near: what the first sample is near to: all coordinates, or by label those given.
    """
    result = coordinate.copy()
    start = coordinate[0].copy()
    for k, label in enumerate(layout.dof_labels):
        start[k] = near.get(label, start[k]) if isinstance(near, Mapping) else near[k]
    for joint in range(layout.n_joints):
        turns = [k for k, d in enumerate(layout.dofs) if d.joint == joint and d.free_turn]
        if len(turns) == 3:
            turns.sort(key=lambda k: layout.dofs[k].axis)
            rows = np.concatenate([start[None, turns], coordinate[:, turns]])
            result[:, turns] = _valid(rows, _euler)[1:]
    return result


def _together(values: xr.DataArray, dim: str) -> list[list[int]]:
    """Groups of rotation columns: those of one attitude together, others alone."""
    labels = [str(label) for label in np.atleast_1d(values[dim].values)]
    turns = [k for k in range(len(labels)) if turning(values, dim, k)]
    owners = {k: labels[k].rpartition("__")[0] if dim == "coordinate" else dim for k in turns}
    if dim == "pto":
        return [[k] for k in turns]
    groups = []
    for owner in dict.fromkeys(owners.values()):
        turns_of_owner = [k for k in turns if owners[k] == owner]
        groups += [turns_of_owner] if len(turns_of_owner) == 3 else [[k] for k in turns_of_owner]
    return groups


def _valid(values: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Apply a function to columns (..., time, k) without NaN samples."""
    out = values.copy()
    for place in np.ndindex(values.shape[:-2]):
        full = np.isfinite(values[place]).all(-1)
        out[place][full] = function(values[place][full])
    return out


def _unwrap(angles: np.ndarray) -> np.ndarray:
    return np.unwrap(angles, axis=0)


def _euler(angles: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (time, 3); (roll + pi, pi - pitch, yaw + pi) is the same attitude."""
    other = np.stack([angles[:, 0] + np.pi, np.pi - angles[:, 1], angles[:, 2] + np.pi], axis=1)
    near = _apart(angles[1:] - angles[:-1])
    far = _apart(other[1:] - angles[:-1])
    # both ways keep distances, so each change of the way turns all that follow
    changed = np.logical_xor.accumulate(np.concatenate([[False], far < near]))
    chosen = np.where(changed[:, None], other, angles)
    turns = np.round((np.unwrap(chosen, axis=0) - chosen) / ROUND)
    return chosen + ROUND * turns


def _apart(difference: np.ndarray) -> np.ndarray:
    return np.abs((difference + np.pi) % ROUND - np.pi).sum(-1)
