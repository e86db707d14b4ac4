"""BEMIO / WEC-Sim h5 files.

Stored normalised: A/rho, B/(rho omega), F/(rho g), K/(rho g), unless `scaled` is set. Phases lead
(exp(+iwt)), so forces are conjugated. Freedoms are about the centre of gravity.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from swelltree.hydro.dataset import HydroParts, rigid_labels
from swelltree.system.errors import SwelltreeError

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
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise SwelltreeError(
            f"hydro data '{path}' cannot be read: {error}. Is it an HDF5 file and whole?"
        ) from None
    with file:
        return _read(file, path)


def _read(file: Any, path: Path) -> HydroParts:
    omega = _get(file, "simulation_parameters/w", path).reshape(-1)
    rho = float(_get(file, "simulation_parameters/rho", path).reshape(-1)[0])
    g = float(_get(file, "simulation_parameters/g", path).reshape(-1)[0])
    depth = _depth(_raw(file, "simulation_parameters/water_depth", path))
    headings = np.deg2rad(_get(file, "simulation_parameters/wave_dir", path).reshape(-1))
    numbers = sorted(int(key[4:]) for key in file if key.startswith("body") and key[4:].isdigit())
    if not numbers:
        raise SwelltreeError(f"'{path}' has no group 'body1'. It is not a BEMIO file.")
    groups = [f"body{number}" for number in numbers]
    bodies = _unique([_name(file, group) for group in groups])
    sizes = [_get(file, f"{x}/hydro_coeffs/added_mass/all", path).shape[0] for x in groups]
    dofs = [x for body, n in zip(bodies, sizes, strict=True) for x in rigid_labels(body, n - 6)]
    scaled = bool(_get(file, "simulation_parameters/scaled", path, 0.0).reshape(-1)[0])
    parts = HydroParts(
        bodies,
        dofs,
        omega,
        np.zeros((omega.size, len(dofs), len(dofs))),
        np.zeros((omega.size, len(dofs), len(dofs))),
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
    parts.matrices["hydrostatic_stiffness"] = stiffness
    for name, key, size in (
        ("center_of_mass", "cg", 3),
        ("center_of_buoyancy", "cb", 3),
        ("displaced_volume", "disp_vol", 1),
    ):
        rows = [_get(file, f"{x}/properties/{key}", path, np.full(size, np.nan)) for x in groups]
        values = np.array([np.reshape(row, -1)[:size] for row in rows], dtype=float)
        parts.points[name] = values if size == 3 else values[:, 0]
    parts.points["rotation_center"] = parts.points["center_of_mass"]
    parts.force_omega = omega
    if np.isfinite(infinite).all():
        parts.omega = np.append(omega, np.inf)
        parts.added_mass = np.concatenate([parts.added_mass, infinite[None]])
        parts.radiation_damping = np.concatenate([parts.radiation_damping, 0 * infinite[None]])
    return parts


def _body(
    file: Any,
    path: Path,
    group: str,
    parts: HydroParts,
    rows: slice,
    unit: tuple[float, np.ndarray, float],
    infinite: np.ndarray,
    stiffness: np.ndarray,
) -> None:
    """The rows of one body in every array."""
    mass_unit, damping_unit, force_unit = unit
    root = f"{group}/hydro_coeffs"
    n, n_omega = len(parts.dofs), parts.omega.size
    size = rows.stop - rows.start
    columns = slice(0, n)
    values = _shaped(file, path, f"{root}/added_mass/all", size, n, n_omega)
    if values.shape[1] == size and size != n:
        columns = rows  # written without body-to-body coupling
        parts.notes.append(f"'{group}' is stored without the motion of the other bodies.")
    parts.added_mass[:, rows, columns] = mass_unit * np.moveaxis(values, 2, 0)
    values = _shaped(file, path, f"{root}/radiation_damping/all", size, n, n_omega)
    parts.radiation_damping[:, rows, columns] = np.moveaxis(values * damping_unit, 2, 0)
    if f"{root}/added_mass/inf_freq" in file:
        infinite[rows] = 0.0
        infinite[rows, columns] = mass_unit * _get(file, f"{root}/added_mass/inf_freq", path)
    if f"{root}/linear_restoring_stiffness" in file:
        found = _get(file, f"{root}/linear_restoring_stiffness", path)
        stiffness[rows, rows] = force_unit * found[:size, :size]
    n_headings = 0 if parts.directions is None else parts.directions.size
    for name, where in PARTS.items():
        key = f"{root}/{where}"
        if f"{key}/re" not in file or f"{key}/im" not in file:
            continue
        found = _get(file, f"{key}/re", path) - 1j * _get(file, f"{key}/im", path)
        if found.shape != (size, n_headings, n_omega):
            raise SwelltreeError(
                f"'{path}': '{key}/re' has shape {found.shape}, expected "
                f"{(size, n_headings, n_omega)} (freedoms, headings, frequencies)."
            )
        whole = parts.forces.setdefault(name, np.full((n_omega, n_headings, n), np.nan + 0j))
        whole[:, :, rows] = force_unit * np.moveaxis(found, (0, 1, 2), (2, 1, 0))


def _shaped(file: Any, path: Path, key: str, size: int, n: int, n_omega: int) -> np.ndarray:
    values = _get(file, key, path)
    if values.ndim != 3 or values.shape[2] != n_omega or values.shape[1] not in (n, size):
        raise SwelltreeError(
            f"'{path}': '{key}' has shape {values.shape}, expected {(size, n, n_omega)} "
            "(freedoms of the body, all freedoms, frequencies)."
        )
    return values


def _raw(file: Any, key: str, path: Path, default: Any = None) -> Any:
    if key in file:
        return file[key][()]
    if default is None:
        raise SwelltreeError(f"'{path}' has no '{key}'. It is not a whole BEMIO file.")
    return default


def _get(file: Any, key: str, path: Path, default: Any = None) -> np.ndarray:
    return np.asarray(_raw(file, key, path, default), dtype=float)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "ui":  # MATLAB characters
            return "".join(chr(c) for c in value.reshape(-1))
        return _text(value.reshape(-1)[0]) if value.size else ""
    return str(value)


def _name(file: Any, group: str) -> str:
    key = f"{group}/properties/name"
    return _text(file[key][()]).strip() if key in file else group


def _unique(names: list[str]) -> list[str]:
    """Names that differ, whatever the file says."""
    return [
        name if names.count(name) == 1 and name else f"{name or 'body'}{k + 1}"
        for k, name in enumerate(names)
    ]


def _depth(value: Any) -> float:
    """Depth in metres; some files say 'infinite'."""
    try:
        number = float(np.asarray(value).reshape(-1)[0])
    except (ValueError, TypeError):
        return np.inf
    return number if number > 0 else np.inf
