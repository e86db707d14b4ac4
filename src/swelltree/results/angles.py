r"""Angles that do not jump: a body that has turned twice has turned by :math:`4\pi`.

Roll, pitch and yaw name one attitude in many ways. Of these ways each sample takes the one nearest
to the sample before it; joint coordinates of a result are so from the start, attitudes of bodies by
`unwrapped`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from swelltree.model.layout import Layout

if TYPE_CHECKING:
    import xarray as xr

TURNS = ("Roll", "Pitch", "Yaw")
ROUND = 2.0 * np.pi
_BY_UNIT = {
    "coordinate": "coordinate_unit",
    "pto": "pto_unit",
    "joint_element": "joint_element_unit",
    "coupling_term": "coupling_term_unit",
}


def turning(dataset: xr.Dataset | xr.DataArray, dim: str, index: int) -> bool:
    """Whether an entry of a dimension is a rotation."""
    if dim == "dof":
        return str(dataset["dof"].values[index]) in TURNS
    if dim in _BY_UNIT and _BY_UNIT[dim] in dataset.coords:
        return str(dataset[_BY_UNIT[dim]].values[index]) in ("rad", "N m")
    if dim == "coordinate":
        return str(dataset["coordinate"].values[index]).endswith(TURNS)
    return False


def unwrapped(values: xr.DataArray) -> xr.DataArray:
    """A variable in time with its angles made continuous; others as they are.

    Args:
        values: an `xarray.DataArray` with the dimension `time` and its units as an attribute.
    """
    units = [part.strip() for part in str(values.attrs.get("units", "")).split(",")]
    if units[-1] != "rad" or "time" not in values.dims:
        return values
    if len(units) == 1:
        result = values.transpose(..., "time").copy()
        result.values = _valid(result.values[..., None], _unwrap)[..., 0]
        return result.transpose(*values.dims)
    dims = [dim for dim in ("dof", "coordinate", "pto") if dim in values.coords]
    if not dims:
        return values
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
        values: entries at one time, with units as an attribute.
    """
    units = [part.strip() for part in str(values.attrs.get("units", "")).split(",")]
    if units[-1] != "rad":
        return np.zeros(values.shape, bool)
    if len(units) == 1:
        return np.ones(values.shape, bool)
    dims = [dim for dim in ("dof", "coordinate", "pto") if dim in values.dims]
    if not dims:
        return np.zeros(values.shape, bool)
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
    """Columns of rotations: those of one attitude together, others each alone."""
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
    """Apply to columns (..., time, k) without the samples that are not numbers."""
    out = values.copy()
    for place in np.ndindex(values.shape[:-2]):
        whole = np.isfinite(values[place]).all(-1)
        out[place][whole] = function(values[place][whole])
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
