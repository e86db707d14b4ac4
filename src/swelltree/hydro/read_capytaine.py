"""Capytaine's netCDF files, versions 2 and 3: already our convention, so mostly names.

The order of dimensions changed between the versions: everything is taken by name. Complex numbers
are stored with a dimension `complex` (re, im). Files of version 2 do not hold the reference
points; `Hydrostatics*.dat` beside the file tells the centres of mass, which is where the
freedoms of such files are usually taken.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.hydro.dataset import (
    DOFS,
    FORCE,
    MATRIX,
    RADIATION,
    HydroParts,
    make_label,
    split_label,
)
from swelltree.hydro.textfile import read_text
from swelltree.system.errors import SwelltreeError

if TYPE_CHECKING:
    import xarray as xr

FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")


def open_netcdf(path: Path) -> xr.Dataset:
    """A netCDF file, version 4 (HDF5) or 3."""
    import xarray as xr

    with path.open("rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    try:
        with xr.open_dataset(path, engine=engine) as found:
            return found.load()
    except Exception as error:  # the libraries answer with many kinds
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SwelltreeError(
            f"hydro data '{path}' cannot be read: {text}. Is it a netCDF file and whole?"
        ) from None


def read_capytaine(path: Path) -> HydroParts:
    """The contents of a Capytaine netCDF file.

    Args:
        path: of the file.
    """
    return from_capytaine(open_netcdf(path), path)


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
                "radiation problems; recompute with all six freedoms."
            )
    if "omega" not in raw["added_mass"].dims:
        raise SwelltreeError(
            f"{where}: added_mass has dimensions {tuple(map(str, raw['added_mass'].dims))}, "
            "expected omega, influenced_dof and radiating_dof."
        )
    raw, bodies, dofs, labels = _labelled(raw, where)
    notes: list[str] = []
    parts = HydroParts(
        bodies=bodies,
        dofs=labels,
        omega=raw["omega"].values.astype(float),
        added_mass=_ordered(raw["added_mass"], RADIATION, dofs),
        radiation_damping=_ordered(raw["radiation_damping"], RADIATION, dofs),
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
            parts.forces[name] = _ordered(_complex(raw[name]), FORCE, dofs)
    if parts.forces:
        parts.directions = raw["wave_direction"].values.astype(float)
    for name in ("hydrostatic_stiffness", "inertia_matrix"):
        if name in raw and set(MATRIX) <= set(raw[name].dims):
            parts.matrices[name] = _ordered(raw[name], MATRIX, dofs)
    _second_order(raw, parts, dofs)
    _points(raw, parts, notes)
    return parts


def _second_order(raw: xr.Dataset, parts: HydroParts, dofs: list[str]) -> None:
    """Mean drift and transfer functions, in files that `write_hydro` made or a user added to."""
    for name in ("mean_drift", "mean_drift_own_headings", "qtf_difference", "qtf_sum"):
        if name not in raw or (name == "mean_drift" and parts.directions is None):
            continue
        values = _complex(raw[name])
        if name == "mean_drift":
            values = values.sortby(["omega", "wave_direction"]).transpose(*FORCE)
        values = values.transpose(..., "influenced_dof").sel(influenced_dof=dofs)
        own = set(values.dims) - set(FORCE)
        coords = {key: x for key, x in raw.coords.items() if own & set(x.dims)}
        parts.extra[name] = (tuple(map(str, values.dims)), values.values)
        parts.coords.update({str(key): (x.dims, x.values) for key, x in coords.items()})
    if "second_order_force" in raw.attrs:
        parts.attrs["second_order_force"] = raw.attrs["second_order_force"]


def _labelled(raw: xr.Dataset, where: str) -> tuple[xr.Dataset, list[str], list[str], list[str]]:
    """Plain text labels; a single body's freedoms get its name before them."""
    for name in ("influenced_dof", "radiating_dof"):
        if name not in raw.coords:
            raise SwelltreeError(f"{where} has no coordinate '{name}'. Is it Capytaine's?")
        # labels are categorical in version 3
        raw = raw.assign_coords({name: np.array([_text(x) for x in raw[name].values], object)})
    influenced = [str(x) for x in raw["influenced_dof"].values]
    radiating = [str(x) for x in raw["radiating_dof"].values]
    dofs = [dof for dof in influenced if dof in radiating]
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


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _scalar(raw: xr.Dataset, name: str, where: str) -> float:
    if name not in raw.variables or raw[name].size != 1:
        raise SwelltreeError(
            f"{where} needs one value of '{name}'. Read a file computed for one {name}, "
            "or select one with xarray first."
        )
    return float(raw[name].values.reshape(-1)[0])


def _complex(values: xr.DataArray) -> xr.DataArray:
    if "complex" not in values.dims:
        return values
    names = [_text(x) for x in values["complex"].values] if "complex" in values.coords else []
    re_, im = (names.index("re"), names.index("im")) if {"re", "im"} <= set(names) else (0, 1)
    return values.isel(complex=re_, drop=True) + 1j * values.isel(complex=im, drop=True)


def _ordered(values: xr.DataArray, dims: tuple[str, ...], dofs: list[str]) -> np.ndarray:
    chosen = {name: dofs for name in ("influenced_dof", "radiating_dof") if name in dims}
    extra = {name: 0 for name in values.dims if name not in dims and values.sizes[name] == 1}
    return values.isel(extra).sel(chosen).transpose(*dims).values


def _points(raw: xr.Dataset, parts: HydroParts, notes: list[str]) -> None:
    """Reference points and centres, from the file or from Hydrostatics*.dat beside it."""
    count = len(parts.bodies)
    if "body" in raw.coords and raw["body"].size == count > 1:
        names = [_text(x) for x in raw["body"].values]
        if set(names) == set(parts.bodies):
            raw = raw.isel(body=[names.index(body) for body in parts.bodies])
    for name in ("rotation_center", "center_of_mass", "center_of_buoyancy"):
        if name in raw.variables and raw[name].size == 3 * count:
            parts.points[name] = raw[name].values.reshape(count, 3)
    for name in ("displaced_volume", "disp_volume"):
        if name in raw.variables and raw[name].size == count:
            parts.points["displaced_volume"] = raw[name].values.reshape(count)
    if "disp_mass" in raw.variables and raw["disp_mass"].size == count:
        parts.points["displaced_volume"] = raw["disp_mass"].values.reshape(count) / parts.rho
    folder = parts.files[0].parent if parts.files else None
    if "rotation_center" in parts.points or folder is None:
        return
    beside = hydrostatics_beside(folder, count)
    if beside is None:
        return
    parts.points.update(beside.points)
    parts.points["rotation_center"] = beside.points["center_of_mass"]
    parts.files.extend(beside.files)
    notes.append(
        "The file does not tell the reference points; they are taken as the centres of mass of "
        + " and ".join(path.name for path in beside.files)
        + ". Give rotation_center=... if this is not so."
    )


class Beside:
    """What `Hydrostatics*.dat` files tell."""

    def __init__(self, files: list[Path], points: dict[str, np.ndarray]) -> None:
        self.files, self.points = files, points


def hydrostatics_beside(folder: Path, count: int) -> Beside | None:
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
        text = read_text(path)
        # some writers repeat the letter X on all three lines: go by their order
        pairs = re.findall(r"[XYZ]F\s*=\s*(\S+)\s*-\s*[XYZ]G\s*=\s*(\S+)", text)
        found = re.search(r"Displacement\s*=\s*(\S+)", text)
        if len(pairs) != 3 or found is None:
            raise SwelltreeError(
                f"'{path}': expected three lines 'XF = ... - XG = ...' and 'Displacement = ...'."
            )
        buoyancy[k] = [float(pair[0]) for pair in pairs]
        mass[k] = [float(pair[1]) for pair in pairs]
        volume[k] = float(found[1])
    points = {
        "center_of_mass": mass,
        "center_of_buoyancy": buoyancy,
        "displaced_volume": volume[:, 0],
    }
    return Beside(files, points)
