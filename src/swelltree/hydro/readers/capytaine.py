"""Capytaine's netCDF files, versions 2 and 3: already our convention, so mostly names.

The order of dimensions changed between the versions: everything is taken by name. Complex numbers
are stored with a dimension `complex` (re, im). Files of version 2 do not hold the reference
points; `Hydrostatics*.dat` beside the file gives the centres of mass, which is where the
DOFs of such files are usually taken.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.files.hdf5 import as_numbers
from swelltree.describe.files.numbers import to_number
from swelltree.hydro.data.dataset import (
    DOFS,
    FORCE,
    MATRIX,
    RADIATION,
    VARIABLES,
    HydroParts,
    make_label,
    split_label,
)
from swelltree.hydro.readers.textfile import TextFile
from swelltree.waves.measured import open_netcdf

if TYPE_CHECKING:
    import xarray as xr

FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")


def read_capytaine(path: Path) -> HydroParts:
    """The contents of a Capytaine netCDF file.

    Args:
        path: of the file.
    """
    return from_capytaine(open_netcdf(path, "hydro data"), path)


def from_capytaine(raw: xr.Dataset, path: Path | None = None) -> HydroParts:
    """The contents of a dataset in Capytaine's form.

    Args:
        raw: as Capytaine makes it, complex or with the dimension `complex`.
        path: of its file, for messages and for the files beside it.
    """
    where = f"'{path}'" if path else "the dataset"
    for name in ("added_mass", "radiation_damping"):
        if name not in raw:
            raise SwelltreeError(
                f"{where} has no variable '{name}'. It is not a Capytaine result with "
                "radiation problems; recompute with all six DOFs."
            )
    raw, bodies, dofs, labels = _labelled(raw, where)
    notes: list[str] = []
    parts = HydroParts(
        bodies=bodies,
        dofs=labels,
        omega=_axis(raw, "omega", where),
        added_mass=_ordered(raw["added_mass"], RADIATION, dofs, where),
        radiation_damping=_ordered(raw["radiation_damping"], RADIATION, dofs, where),
        rho=_scalar(raw, "rho", where),
        g=_scalar(raw, "g", where),
        depth=_scalar(raw, "water_depth", where),
        notes=notes,
        attrs={
            "solver": "Capytaine",
            "solver_version": raw.attrs.get("capytaine_version", "unknown"),
        },
        files=[path] if path else [],
    )
    for name in FORCES:
        if name in raw:
            values = _complex(raw[name], where)
            parts.forces[name] = _ordered(values, FORCE, dofs, where).astype(complex)
    if parts.forces:
        parts.directions = _axis(raw, "wave_direction", where)
    for name in ("hydrostatic_stiffness", "inertia_matrix"):
        if name in raw and set(MATRIX) <= set(raw[name].dims):
            parts.matrices[name] = _ordered(raw[name], MATRIX, dofs, where)
    _second_order(raw, parts, dofs, where)
    _points(raw, parts, notes, where)
    return parts


def _second_order(raw: xr.Dataset, parts: HydroParts, dofs: list[str], where: str) -> None:
    """Mean drift and transfer functions in files of `write_hydro` or extended by a user."""
    for name in ("mean_drift", "mean_drift_own_headings", "qtf_difference", "qtf_sum"):
        if name not in raw or (name == "mean_drift" and parts.directions is None):
            continue
        values = _complex(raw[name], where)
        axes = tuple(
            str(x) for x in values.dims if str(x).endswith(("omega", "omega_1", "omega_2"))
        )
        axes += tuple(str(x) for x in values.dims if str(x).endswith(("_headings", "_direction")))
        axes += ("influenced_dof",)
        for axis in axes[:-1]:
            if not axis.endswith("_headings"):
                _axis(raw, axis, where)
        _check_dims(values, axes, where)
        if name == "mean_drift":
            _check_dims(values, FORCE, where)
            values = values.sortby(["omega", "wave_direction"]).transpose(*FORCE)
        values = values.transpose(..., "influenced_dof").sel(influenced_dof=dofs)
        as_numbers(values.values, name, lambda text: _fail(where, text))
        axes = set(values.dims) - set(FORCE)
        coords = {key: x for key, x in raw.coords.items() if axes & set(x.dims)}
        parts.extra[name] = (tuple(map(str, values.dims)), values.values)
        parts.coords.update({str(key): (x.dims, x.values) for key, x in coords.items()})
    name, order = "mean_drift_total", ("drift_omega", "drift_direction", "dof")
    if name in raw and raw[name].dims == order:
        parts.extra[name] = (order, as_numbers(raw[name].values, name, lambda x: _fail(where, x)))
        parts.coords.update({x: raw[x].values for x in order})
    for name in ("haskind_residual", "far_field_residual"):
        if name in raw and set(raw[name].dims) == {"omega", "influenced_dof"}:
            order = ("omega", "influenced_dof")
            values = raw[name].sortby("omega").transpose(*order).sel(influenced_dof=dofs).values
            parts.extra[name] = (order, as_numbers(values, name, lambda text: _fail(where, text)))
    if "second_order_force" in raw.attrs:
        parts.attrs["second_order_force"] = raw.attrs["second_order_force"]


def _fail(where: str, text: str) -> SwelltreeError:
    return SwelltreeError(f"{where}: {text}")


def _labelled(raw: xr.Dataset, where: str) -> tuple[xr.Dataset, list[str], list[str], list[str]]:
    """Plain text labels; DOFs of a single body get its name as prefix."""
    for name in ("influenced_dof", "radiating_dof"):
        if name not in raw.coords or raw[name].dims != (name,):
            raise SwelltreeError(f"{where} has no coordinate '{name}'. Is it Capytaine's?")
        # labels are categorical in version 3
        raw = raw.assign_coords({name: np.array([_text(x) for x in raw[name].values], object)})
    influenced = [str(x) for x in raw["influenced_dof"].values]
    radiating = [str(x) for x in raw["radiating_dof"].values]
    for labels in (influenced, radiating):
        twice = [x for x in dict.fromkeys(labels) if labels.count(x) > 1 or not x.strip()]
        if twice:
            raise SwelltreeError(
                f"{where}: the DOFs {listed(twice[:3])} come twice or have no name."
            )
    dofs = [dof for dof in influenced if dof in radiating]
    if not dofs:
        raise SwelltreeError(
            f"{where}: forces are on {listed(influenced[:3])}, motions of {listed(radiating[:3])}. "
            "Compute both for the same DOFs."
        )
    body = "body"
    if "body_name" in raw.variables and raw["body_name"].size == 1:
        body = _text(raw["body_name"].values.reshape(-1)[0])
    labels = [dof if split_label(dof)[0] else make_label(body, dof) for dof in dofs]
    bodies = list(dict.fromkeys(split_label(label)[0] for label in labels))
    order = {name: k for k, name in enumerate(DOFS)}
    ranked = sorted(
        range(len(dofs)),
        key=lambda k: (
            bodies.index(split_label(labels[k])[0]),
            order.get(split_label(labels[k])[1], 6),
        ),
    )
    return raw, bodies, [dofs[k] for k in ranked], [labels[k] for k in ranked]


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _axis(raw: xr.Dataset, name: str, where: str) -> np.ndarray:
    """Numeric coordinate, which xarray would replace by a range if it is absent."""
    if name not in raw.coords or raw[name].dims != (name,):
        raise SwelltreeError(f"{where} has no coordinate '{name}'. Is the file whole?")
    values = as_numbers(raw[name].values, name, lambda text: SwelltreeError(f"{where}: {text}"))
    if values.dtype.kind == "c" or np.isnan(values).any():
        bad = int(np.argmax(np.isnan(values)))
        raise SwelltreeError(f"{where}: {name} is {values[bad]} at index {bad}. Fix it.")
    return values


def _check_dims(values: xr.DataArray, dims: tuple[str, ...], where: str) -> None:
    """The dimensions are the expected ones, apart from those of length one."""
    have = tuple(str(name) for name in values.dims)
    more = [name for name in have if name not in dims and values.sizes[name] != 1]
    if more or not set(dims) <= set(have):
        raise SwelltreeError(
            f"{where}: {values.name} has the dimensions {listed(have)}, expected {listed(dims)}."
        )


def _scalar(raw: xr.Dataset, name: str, where: str) -> float:
    if name not in raw.variables or raw[name].size != 1:
        raise SwelltreeError(
            f"{where} needs one value of '{name}'. Read a file computed for one {name}, "
            "or select one with xarray first."
        )
    values = as_numbers(raw[name].values, name, lambda text: SwelltreeError(f"{where}: {text}"))
    return float(np.real(values.reshape(-1)[0]))


def _complex(values: xr.DataArray, where: str) -> xr.DataArray:
    as_numbers(values.values, str(values.name), lambda text: SwelltreeError(f"{where}: {text}"))
    if "complex" not in values.dims:
        return values
    if values.sizes["complex"] != 2:
        raise SwelltreeError(
            f"{where}: {values.name} has {values.sizes['complex']} parts of complex numbers."
        )
    names = [_text(x) for x in values["complex"].values] if "complex" in values.coords else []
    re_, im = (names.index("re"), names.index("im")) if {"re", "im"} <= set(names) else (0, 1)
    both = values.isel(complex=re_, drop=True) + 1j * values.isel(complex=im, drop=True)
    return both.rename(values.name)


def _ordered(
    values: xr.DataArray, dims: tuple[str, ...], dofs: list[str], where: str
) -> np.ndarray:
    _check_dims(values, dims, where)
    as_numbers(values.values, str(values.name), lambda text: SwelltreeError(f"{where}: {text}"))
    chosen = {name: dofs for name in ("influenced_dof", "radiating_dof") if name in dims}
    extra = {name: 0 for name in values.dims if name not in dims and values.sizes[name] == 1}
    return values.isel(extra).sel(chosen).transpose(*dims).values


def _points(raw: xr.Dataset, parts: HydroParts, notes: list[str], where: str) -> None:
    """Reference points and centres, from the file or an adjacent Hydrostatics*.dat."""
    count = len(parts.bodies)

    def numbers(name: str) -> np.ndarray:
        values = as_numbers(raw[name].values, name, lambda text: SwelltreeError(f"{where}: {text}"))
        return np.real(values)

    if "body" in raw.coords and raw["body"].dims == ("body",) and raw["body"].size == count > 1:
        names = [_text(x) for x in raw["body"].values]
        if set(names) == set(parts.bodies):
            raw = raw.isel(body=[names.index(body) for body in parts.bodies])
    for name in ("rotation_center", "center_of_mass", "center_of_buoyancy"):
        if name in raw.variables and raw[name].size == 3 * count:
            parts.points[name] = numbers(name).reshape(count, 3)
    for name in ("displaced_volume", "disp_volume"):
        if name in raw.variables and raw[name].size == count:
            parts.points["displaced_volume"] = numbers(name).reshape(count)
    if "disp_mass" in raw.variables and raw["disp_mass"].size == count:
        parts.points["displaced_volume"] = numbers("disp_mass").reshape(count) / parts.rho
    _poses(raw, parts, where)
    folder = parts.files[0].parent if parts.files else None
    if "rotation_center" in parts.points or folder is None:
        return
    adjacent = adjacent_hydrostatics(folder, count)
    if adjacent is None:
        return
    parts.points.update(adjacent.points)
    parts.points["rotation_center"] = adjacent.points["center_of_mass"]
    parts.files.extend(adjacent.files)
    notes.append(
        "The file does not give the reference points; they are taken as the centres of mass of "
        + " and ".join(path.name for path in adjacent.files)
        + ". Give rotation_center=... if this is not so."
    )


def _poses(raw: xr.Dataset, parts: HydroParts, where: str) -> None:
    """Poses of the bodies, in files of `write_hydro` from a BEM run."""
    count = len(parts.bodies)
    for name, shape in (("body_position", (count, 3)), ("body_axes", (count, 3, 3))):
        dims = VARIABLES[name][0]
        if name not in raw.variables or set(raw[name].dims) != set(dims):
            continue
        values = raw[name].transpose(*dims).values
        values = as_numbers(values, name, lambda text: SwelltreeError(f"{where}: {text}"))
        turn = name == "body_axes"
        if values.shape != shape or values.dtype.kind != "f" or not _sound_poses(values, turn):
            raise SwelltreeError(
                f"{where}: {name} does not give {'three axes' if turn else 'a point'} for each of "
                f"{count} bodies. Fix or remove it."
            )
        parts.extra[name] = (dims, values)


def _sound_poses(values: np.ndarray, turn: bool) -> bool:
    """Whether each body has finite numbers or none, and axes are right-handed and orthogonal."""
    rows = values.reshape(len(values), -1)
    specified = values[np.isfinite(rows).all(axis=1)]
    if len(specified) + int(np.isnan(rows).all(axis=1).sum()) != len(values):
        return False
    if not turn or not len(specified):
        return True
    off = np.abs(specified @ np.swapaxes(specified, 1, 2) - np.eye(3)).max()
    return bool(off < 1e-6 and (np.linalg.det(specified) > 0.0).all())


class Adjacent:
    """Contents of `Hydrostatics*.dat` files."""

    def __init__(self, files: list[Path], points: dict[str, np.ndarray]) -> None:
        self.files, self.points = files, points


def adjacent_hydrostatics(folder: Path, count: int) -> Adjacent | None:
    """Centres and volumes of `Hydrostatics.dat` or `Hydrostatics_0.dat` ..., as NEMOH writes them.

    Args:
        folder: where they lie.
        count: of bodies.
    """
    table = {path.name.lower(): path for path in folder.glob("*.dat")}
    names = ["hydrostatics.dat"] if count == 1 and "hydrostatics.dat" in table else []
    names = names or [f"hydrostatics_{k}.dat" for k in range(count)]
    if any(name not in table for name in names):
        return None
    files = [table[name] for name in names]
    mass, buoyancy, volume = np.zeros((3, count, 3))
    for k, path in enumerate(files):
        file = TextFile(path)
        centres, displaced = [], []
        for row, line in enumerate(file.lines):
            # some writers repeat the letter X on all three lines: go by their order
            pair = re.search(r"[XYZ]F\s*=\s*(\S+)\s*-\s*[XYZ]G\s*=\s*(\S+)", line)
            match = re.search(r"Displacement\s*=\s*(\S+)", line)
            if pair:
                centres.append([to_number(x, "centre", file.at(row)) for x in pair.groups()])
            if match:
                displaced.append(to_number(match[1], "Displacement", file.at(row)))
        if len(centres) != 3 or len(displaced) != 1:
            raise SwelltreeError(
                f"'{path}': expected three lines 'XF = ... - XG = ...' and one 'Displacement = "
                "...'. Is the file whole?"
            )
        buoyancy[k], mass[k] = np.array(centres).T
        volume[k] = displaced[0]
    points = {
        "center_of_mass": mass,
        "center_of_buoyancy": buoyancy,
        "displaced_volume": volume[:, 0],
    }
    return Adjacent(files, points)
