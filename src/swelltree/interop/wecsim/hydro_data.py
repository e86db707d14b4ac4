"""The hydrodynamic data of a WEC-Sim case, as one file that a case file can name.

WEC-Sim takes each body from the file that it names, scales the data to the density of the run and
leaves out the interaction unless set otherwise. Where the file serves as it is, the case names it;
where bodies are chosen from it, renamed, rescaled or put together, the data are kept beside it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments, Findings, path_of, plain_name

SCALED = (
    *("added_mass", "radiation_damping", "hydrostatic_stiffness"),
    *("excitation_force", "Froude_Krylov_force", "diffraction_force"),
)


@dataclass
class HydroData:
    """What is known of the water.

    Args:
        file: that the case is to name, None where no body has data.
        data: the dataset, None where the file is not there.
        names: of the wet bodies, by their number in the script.
        built: the dataset is not what the file holds and must be written.
        gaps: how the case reads the file.
    """

    file: Path | None = None
    data: xr.Dataset | None = None
    names: dict[int, str] = field(default_factory=dict)
    built: bool = False
    gaps: str = "error"

    def of(self, number: int, variable: str) -> np.ndarray | None:
        """A number or point of a body, None if not in the data."""
        if self.data is None or number not in self.names or variable not in self.data:
            return None
        value = np.asarray(self.data[variable].sel(body=self.names[number]).values, dtype=float)
        return value if np.isfinite(value).all() else None


def find_hydro(
    bodies: dict[int, Assignments],
    folder: Path,
    instead: Path | None,
    rho: float,
    findings: Findings,
) -> HydroData:
    """The data that the bodies of a script ask for.

    Args:
        bodies: by number.
        folder: of the script; files are named from there.
        instead: a file to be taken in place of those.
        rho: density of the run [kg/m^3].
        findings: takes what is missing.
    """
    requested = {n: p for n, body in bodies.items() if (p := _data_path(body, folder, instead))}
    if not requested:
        return HydroData()
    paths = list(dict.fromkeys(requested.values()))
    absent = [path for path in paths if not os.path.exists(path)]
    for path in absent:
        n = next(n for n, named in requested.items() if named == path)
        shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path
        findings.leave(
            bodies[n].place(),
            f"the hydrodynamic data '{shown}' are not there. The case names them; put them there "
            "and import again, because centres of mass and displaced masses stand in them.",
            missing=True,
        )
    if absent:
        return HydroData(file=paths[0])
    read = {path: _read(path, rho) for path in paths}
    return _chosen(requested, read, rho, bodies, findings)


def _data_path(body: Assignments, folder: Path, instead: Path | None) -> Path | None:
    if body.number("nonHydro"):
        return None
    first = body.item.arguments[0] if body.item.arguments else ""
    if isinstance(first, list) and first:  # several files, one for each state of the body
        body.leave(
            "h5File", "data that change in the run have no counterpart; the first file is taken."
        )
        first = first[0]
    path = path_of(folder, first.strip() if isinstance(first, str) else "")
    return path and (instead or path)


class _Read(NamedTuple):
    data: xr.Dataset
    gaps: str  # how: "error", or "drop" where values are missing
    direct: bool  # without being given the density, as a case reads it


def _read(path: Path, rho: float) -> _Read:
    """Read the data of a file with the first reader that accepts it."""
    from swelltree.hydro.readers.read import read_hydro

    first: SwelltreeError | None = None
    for density in (None, rho):
        for gaps in ("error", "drop"):
            try:
                data = read_hydro(path, rho=density, check=False, gaps=gaps)
                return _Read(data, gaps, density is None)
            except SwelltreeError as error:
                first = first or error
    assert first is not None
    raise first


def _chosen(
    requested: dict[int, Path],
    read: dict[Path, _Read],
    rho: float,
    bodies: dict[int, Assignments],
    findings: Findings,
) -> HydroData:
    """Bodies selected from the files."""
    picks: dict[int, tuple[Path, str]] = {}
    for n, path in requested.items():
        in_file = [str(name) for name in read[path].data["body"].values]
        k = _number_in_file(bodies[n], n, len(in_file))
        if k is None:
            raise SwelltreeError(
                f"{bodies[n].place()}: {bodies[n].label} is body {n} of '{path.name}', which has "
                f"{len(in_file)}. Name a file that holds it."
            )
        if (path, in_file[k - 1]) in picks.values():
            raise SwelltreeError(
                f"{bodies[n].file}: two bodies take the same body of the hydrodynamic data. Give "
                "each its own."
            )
        picks[n] = path, in_file[k - 1]
    names: dict[int, str] = {}  # names that bodies can have, each once
    for n, (_, name) in picks.items():
        plain = plain_name(name) or f"body{n}"
        names[n] = f"{plain}{n}" if plain in names.values() or plain == "world" else plain
    full = list(read)
    first, _, direct = read[full[0]]
    order = [*names.values()]
    scaled = abs(float(first["rho"]) / rho - 1.0) >= 1e-3
    same = (
        len(full) == 1
        and direct
        and not scaled
        and [str(name) for name in first["body"].values] == order
        and len(first["influenced_dof"]) == len(_rigid_dofs(first, order))
    )
    data = first
    if not same:
        data = _together(
            [
                _piece(part.data, {name: names[n] for n, (p, name) in picks.items() if p == q}, rho)
                for q, part in read.items()
            ]
        )
        files = ", ".join(f"'{path.name}'" for path in full)
        how = f" and scaled from rho = {float(first['rho']):g} to {rho:g} kg/m^3" if scaled else ""
        findings.comment("hydro", "", f"the data of {files}, with the bodies of this case{how}.")
    gaps = any(part.gaps == "drop" for part in read.values())
    if gaps:
        findings.comment("hydro", "", "frequencies at which the data hold no numbers are dropped.")
    return HydroData(full[0], data, names, not same, "drop" if gaps and same else "error")


def _number_in_file(body: Assignments, n: int, count: int) -> int | None:
    """Index of a body in its file: given by older scripts, else its own number."""
    number = body.item.arguments[1] if len(body.item.arguments) > 1 else None
    if isinstance(number, np.ndarray) and number.size == 1 and np.isfinite(number).all():
        n = int(number[0, 0])
    if count == 1:
        return 1
    return n if 1 <= n <= count else None


def _rigid_dofs(data: xr.Dataset, bodies: list[str]) -> list[str]:
    """Labels of the rigid DOFs, without flexible modes."""
    from swelltree.hydro.data.dataset import DOFS, dofs_of, split_label

    result = [dof for name in bodies for dof in dofs_of(data, name)]
    return [dof for dof in result if split_label(dof)[1] in DOFS]


def _piece(data: xr.Dataset, names: dict[str, str], rho: float) -> xr.Dataset:
    """Bodies of a dataset with new names and another density."""
    from swelltree.hydro.data.dataset import rename_bodies

    dofs = _rigid_dofs(data, [*names])
    chosen = data.sel(body=[*names], influenced_dof=dofs, radiating_dof=dofs)
    ratio = rho / float(data["rho"])
    if abs(ratio - 1.0) >= 1e-3:
        scaled = {name: chosen[name] * ratio for name in SCALED if name in chosen}
        chosen = chosen.assign({**scaled, "rho": ((), rho)})
    return rename_bodies(chosen, [*names.values()])


def _together(pieces: list[xr.Dataset]) -> xr.Dataset:
    """Merge datasets of different bodies without interaction."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    for other in pieces[1:]:
        for axis in ("omega", "wave_direction"):
            if axis in first.coords and not np.array_equal(first[axis], other.get(axis, np.nan)):
                raise SwelltreeError(
                    f"the bodies' hydrodynamic data have different values of {axis}, so they "
                    "cannot be used together. Compute them at the same ones."
                )
    shared = set.intersection(*(set(map(str, piece.data_vars)) for piece in pieces))
    built: NamedValues = {}
    for name in sorted(shared):
        parts = [piece[name] for piece in pieces]
        if "radiating_dof" in parts[0].dims:
            # no force between the bodies of different files
            blocks = [
                xr.concat(
                    [part if k == j else _zeros(part, pieces[j]) for k, part in enumerate(parts)],
                    "influenced_dof",
                )
                for j in range(len(parts))
            ]
            built[name] = xr.concat(blocks, "radiating_dof")
            continue
        axis = next((d for d in ("influenced_dof", "body") if d in parts[0].dims), None)
        built[name] = parts[0] if axis is None else xr.concat(parts, axis)
    return xr.Dataset(built, attrs=first.attrs)


def _zeros(part: xr.DataArray, other: xr.Dataset) -> xr.DataArray:
    columns = other["radiating_dof"].values
    zero = part.isel(radiating_dof=[0] * len(columns)) * 0.0
    return zero.assign_coords(radiating_dof=columns)
