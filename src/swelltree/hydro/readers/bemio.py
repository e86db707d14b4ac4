"""BEMIO / WEC-Sim h5 files.

Stored normalised: A/rho, B/(rho omega), F/(rho g), K/(rho g), unless `scaled` is set. Phases lead
(exp(+iwt)), so forces are conjugated. DOFs are about the centre of gravity.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.hdf5 import as_numbers, open_hdf5, read_value
from swelltree.describe.files.numbers import check_size, to_positive
from swelltree.hydro.data.dataset import FORCE, HydroParts, rigid_labels
from swelltree.jit import Numbers

if TYPE_CHECKING:
    import h5py


DRIFT = ("pressure_integration", "control_surface", "momentum_conservation")
PARTS = {
    "excitation_force": "excitation",
    "Froude_Krylov_force": "excitation/froude-krylov",
    "diffraction_force": "excitation/scattering",
}


def read_bemio(path: Path) -> HydroParts:
    """The contents of a BEMIO h5 file.

    Args:
        path: of the file.
    """
    with open_hdf5(path, "hydro data") as file:
        return _read(file, path)


def _read(file: h5py.File, path: Path) -> HydroParts:
    omega = _get(file, "simulation_parameters/w", path).reshape(-1)
    rho = _positive(file, "simulation_parameters/rho", path)
    g = _positive(file, "simulation_parameters/g", path)
    depth = _depth(file, "simulation_parameters/water_depth", path)
    headings = np.deg2rad(_get(file, "simulation_parameters/wave_dir", path).reshape(-1))
    numbers = sorted(
        int(key[4:]) for key in map(str, file) if key.startswith("body") and key[4:].isdigit()
    )
    if not numbers:
        raise SwelltreeError(f"'{path}' has no group 'body1'. It is not a BEMIO file.")
    groups = [f"body{number}" for number in numbers]
    bodies = _unique([_name(file, group, path) for group in groups])
    sizes = [_shape(file, f"{x}/hydro_coeffs/added_mass/all", path)[0] for x in groups]
    for group, size in zip(groups, sizes, strict=True):
        if size < 6:
            raise _fail(path, f"'{group}' has {size} DOFs, expected six or more.")
    check_size((omega.size, sum(sizes), sum(sizes)), "added mass", lambda x: _fail(path, x))
    dofs = [x for body, n in zip(bodies, sizes, strict=True) for x in rigid_labels(body, n - 6)]
    scaled = bool(_get(file, "simulation_parameters/scaled", path, 0.0).reshape(-1)[0])
    parts = HydroParts(
        bodies,
        dofs,
        omega,
        np.full((omega.size, len(dofs), len(dofs)), np.nan),
        np.full((omega.size, len(dofs), len(dofs)), np.nan),
        rho,
        g,
        depth,
        directions=headings,
        attrs={"solver": _text(_raw(file, "bem_data/code", path, "unknown")), "format": "BEMIO"},
        files=[path],
    )
    unit = (1.0, np.ones(omega.size), 1.0) if scaled else (rho, rho * omega, rho * g)
    starts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    infinite = np.full((len(dofs), len(dofs)), np.nan)
    stiffness = np.zeros((len(dofs), len(dofs)))
    for k, group in enumerate(groups):
        _body(file, path, group, parts, slice(starts[k], starts[k + 1]), unit, infinite, stiffness)
    present = [f"{x}/hydro_coeffs/linear_restoring_stiffness" in file for x in groups]
    if all(present):
        parts.matrices["hydrostatic_stiffness"] = stiffness
    elif any(present):
        raise _fail(
            path, f"'{groups[present.index(False)]}' has no linear_restoring_stiffness. Add it."
        )
    for name, key, size in (
        ("center_of_mass", "cg", 3),
        ("center_of_buoyancy", "cb", 3),
        ("displaced_volume", "disp_vol", 1),
    ):
        rows = [_get(file, f"{x}/properties/{key}", path, np.full(size, np.nan)) for x in groups]
        for group, row in zip(groups, rows, strict=True):
            if row.size < size:
                raise _fail(path, f"'{group}/properties/{key}' holds {row.size} numbers of {size}.")
        values = np.array([np.reshape(row, -1)[:size] for row in rows], dtype=float)
        parts.points[name] = values if size == 3 else values[:, 0]
    parts.points["rotation_center"] = parts.points["center_of_mass"]
    parts.force_omega = omega
    _mean_drift(file, path, groups, parts, starts, unit[2])
    if all(f"{x}/hydro_coeffs/added_mass/inf_freq" in file for x in groups):
        parts.omega = np.append(omega, np.inf)
        parts.added_mass = np.concatenate([parts.added_mass, infinite[None]])
        parts.radiation_damping = np.concatenate([parts.radiation_damping, 0 * infinite[None]])
        if "mean_drift" in parts.extra:  # no waves, no drift
            table = parts.extra["mean_drift"][1]
            parts.extra["mean_drift"] = (FORCE, np.concatenate([table, 0 * table[:1]]))
    return parts


def _body(
    file: h5py.File,
    path: Path,
    group: str,
    parts: HydroParts,
    rows: slice,
    unit: tuple[float, np.ndarray, float],
    infinite: np.ndarray,
    stiffness: np.ndarray,
) -> None:
    """Rows of one body in every array."""
    mass_unit, damping_unit, force_unit = unit
    root = f"{group}/hydro_coeffs"
    n, n_omega = len(parts.dofs), parts.omega.size
    size = rows.stop - rows.start
    columns = slice(0, n)
    values = _shaped(file, path, f"{root}/added_mass/all", size, n, n_omega)
    if values.shape[1] == size and size != n:
        columns = rows  # written without body-to-body coupling
        parts.added_mass[:, rows], parts.radiation_damping[:, rows] = 0.0, 0.0
        parts.notes.append(f"'{group}' is stored without the motion of the other bodies.")
    parts.added_mass[:, rows, columns] = mass_unit * np.moveaxis(values, 2, 0)
    width = columns.stop - columns.start
    values = _exactly(file, path, f"{root}/radiation_damping/all", (size, width, n_omega))
    parts.radiation_damping[:, rows, columns] = np.moveaxis(values * damping_unit, 2, 0)
    if f"{root}/added_mass/inf_freq" in file:
        infinite[rows] = 0.0
        key = f"{root}/added_mass/inf_freq"
        width = columns.stop - columns.start
        infinite[rows, columns] = mass_unit * _exactly(file, path, key, (size, width))
    if f"{root}/linear_restoring_stiffness" in file:
        key = f"{root}/linear_restoring_stiffness"
        value = _get(file, key, path)
        if value.ndim != 2 or min(value.shape) < size:
            raise _fail(path, f"'{key}' has shape {value.shape}, expected {(size, size)}.")
        stiffness[rows, rows] = force_unit * value[:size, :size]
    n_headings = 0 if parts.directions is None else parts.directions.size
    for name, where in PARTS.items():
        key = f"{root}/{where}"
        if f"{key}/re" not in file or f"{key}/im" not in file:
            continue
        shape = (size, n_headings, n_omega)
        real, imag = (_exactly(file, path, f"{key}/{part}", shape) for part in ("re", "im"))
        value = real - 1j * imag
        complete = parts.forces.setdefault(name, np.full((n_omega, n_headings, n), np.nan + 0j))
        complete[:, :, rows] = force_unit * np.moveaxis(value, (0, 1, 2), (2, 1, 0))


def _mean_drift(
    file: h5py.File,
    path: Path,
    groups: list[str],
    parts: HydroParts,
    starts: list[int],
    unit: float,
) -> None:
    """Mean drift of the bodies by the method available for all, pressure integration preferred."""
    assert parts.directions is not None
    for method in DRIFT:
        keys = [f"{group}/hydro_coeffs/mean_drift/{method}/val" for group in groups]
        if not all(key in file for key in keys):
            continue
        shape = (parts.directions.size, parts.omega.size)
        table = np.full((parts.omega.size, shape[0], len(parts.dofs)), np.nan)
        for k, key in enumerate(keys):
            size = starts[k + 1] - starts[k]
            values = _exactly(file, path, key, (size, *shape))
            rows = slice(starts[k], starts[k + 1])
            table[:, :, rows] = unit * np.moveaxis(values, (0, 1, 2), (2, 1, 0))
        if not np.nan_to_num(table).any():
            continue  # places of methods that were not used hold zeros
        by_omega, by_heading = np.argsort(parts.omega), np.argsort(parts.directions, kind="stable")
        table = table[by_omega][:, by_heading]
        parts.extra["mean_drift"] = (FORCE, table)
        parts.sources["mean_drift"] = path
        return


def _shaped(file: h5py.File, path: Path, key: str, size: int, n: int, n_omega: int) -> np.ndarray:
    values = _get(file, key, path)
    if (
        values.ndim != 3
        or values.shape[0] != size
        or values.shape[2] != n_omega
        or values.shape[1] not in (n, size)
    ):
        raise _fail(
            path,
            f"'{key}' has shape {values.shape}, expected {(size, n, n_omega)} "
            "(DOFs of the body, all DOFs, frequencies).",
        )
    return values


def _exactly(file: h5py.File, path: Path, key: str, shape: tuple[int, ...]) -> np.ndarray:
    values = _get(file, key, path)
    if values.shape != shape:
        raise _fail(path, f"'{key}' has shape {values.shape}, expected {shape}.")
    return values


def _fail(path: Path, text: str) -> SwelltreeError:
    return SwelltreeError(f"'{path}': {text}")


def _raw(file: h5py.File, key: str, path: Path, default: object = None) -> object:
    values = read_value(file, key, path, "hydro data")
    if values is None and default is None:
        raise SwelltreeError(f"'{path}' has no '{key}'. It is not a whole BEMIO file.")
    return default if values is None else values


def _get(file: h5py.File, key: str, path: Path, default: Numbers | None = None) -> np.ndarray:
    values = as_numbers(_raw(file, key, path, default), key, lambda text: _fail(path, text))
    if values.dtype.kind == "c":
        raise _fail(path, f"'{key}' holds complex numbers where real ones are expected.")
    return values


def _shape(file: h5py.File, key: str, path: Path) -> tuple[int, ...]:
    shape = _get(file, key, path).shape
    if not shape:
        raise _fail(path, f"'{key}' is one number, expected a table.")
    return shape


def _positive(file: h5py.File, key: str, path: Path) -> float:
    value = float(_get(file, key, path).reshape(-1)[0])
    return to_positive(value, f"'{key}'", lambda text: _fail(path, text))


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "ui":  # MATLAB characters
            return "".join(chr(int(c) % 0x110000) for c in value.reshape(-1)[:200])
        return _text(value.reshape(-1)[0]) if value.size else ""
    return str(value)


def _name(file: h5py.File, group: str, path: Path) -> str:
    return _text(_raw(file, f"{group}/properties/name", path, group)).strip().replace("__", "_")


def _unique(names: list[str]) -> list[str]:
    """Names made unique."""
    return [
        name if names.count(name) == 1 and name else f"{name or 'body'}{k + 1}"
        for k, name in enumerate(names)
    ]


def _depth(file: h5py.File, key: str, path: Path) -> float:
    """Depth [m]; some files contain the word 'infinite'."""
    value = _raw(file, key, path)
    array = np.asarray(value)
    if array.dtype.kind in "SOU" or (array.dtype.kind in "ui" and array.size > 1):
        word = _text(value).strip().lower()
        if word.startswith("inf"):
            return np.inf
        return to_positive(word, f"'{key}'", lambda text: _fail(path, text))
    number = float(_get(file, key, path).reshape(-1)[0])
    return number if number == np.inf else _positive(file, key, path)
