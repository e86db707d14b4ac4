"""Writing hydrodynamic data: Capytaine's netCDF and BEMIO's h5, whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, warn_user
from swelltree.describe.files.atomic import write_atomic
from swelltree.hydro.data.dataset import (
    DOFS,
    FORCE,
    MATRIX,
    RADIATION,
    body_names,
    dofs_of,
    infinite_added_mass,
    split_label,
)
from swelltree.hydro.data.frames import FORCES
from swelltree.hydro.data.report import Finding

if TYPE_CHECKING:
    import h5py
    import xarray as xr

# places of mean drift in BEMIO files, by method; data of other codes are written to the first
DRIFT = ("momentum_conservation", "control_surface", "pressure_integration")
NOT_IN_BEMIO = ("mean_drift_own_headings", "mean_drift_total", "qtf_difference", "qtf_sum")


def write_hydro(data: xr.Dataset, path: str | Path) -> Path:
    """Write hydrodynamic data; an older file is replaced, a crash leaves either or none.

    Args:
        data: hydrodynamic data.
        path: ending in .nc for Capytaine's form, in .h5 for BEMIO's (WEC-Sim).
    """
    path = Path(path)
    writers = {".nc": _write_netcdf, ".h5": _write_bemio, ".hdf5": _write_bemio}
    if path.suffix.lower() not in writers:
        raise SwelltreeError(
            f"cannot write hydro data '{path}': the ending '{path.suffix}' is not known. "
            "Use .nc (Capytaine) or .h5 (BEMIO)."
        )
    content = io.BytesIO()  # HDF5 ends the process when a disk fills up under an open file
    writers[path.suffix.lower()](data, content)
    return write_atomic(path, content.getbuffer())


def _write_netcdf(data: xr.Dataset, file: io.BytesIO) -> None:
    """Complex numbers get the dimension `complex` (re, im), as in Capytaine's files."""
    import xarray as xr

    stored = data.copy()
    for name in list(stored.data_vars):
        if np.iscomplexobj(stored[name].values):
            pair = [stored[name].real, stored[name].imag]
            joined = xr.concat(pair, dim="complex").assign_attrs(stored[name].attrs)
            stored[name] = joined
    if "complex" in stored.dims:
        stored = stored.assign_coords(complex=np.array(["re", "im"], dtype=object))
    names = body_names(data)
    stored = stored.assign_coords(body_name="+".join(names))
    stored.to_netcdf(file, engine="h5netcdf")


def _write_bemio(data: xr.Dataset, content: io.BytesIO) -> None:
    """Normalised by rho, rho omega, rho g; phases lead; DOFs about the centre of gravity."""
    import h5py

    lost = [name for name in NOT_IN_BEMIO if name in data]
    if lost:
        warn_user(f"write_hydro: BEMIO files cannot hold {listed(lost)}. Write .nc to keep them.")

    omega = data["omega"].values
    finite = (omega > 0) & np.isfinite(omega)
    w = omega[finite]
    rho, g = float(data["rho"]), float(data["g"])
    names = body_names(data)
    centers = data["rotation_center"].values
    if np.isnan(centers).any():
        raise SwelltreeError(
            "BEMIO files need the reference point of every body and the data do not give it. "
            "Give rotation_center={body: (x, y, z)} when reading."
        )
    A = data["added_mass"].transpose(*RADIATION).values / rho
    B = data["radiation_damping"].transpose(*RADIATION).values[finite] / (rho * w[:, None, None])
    infinite = infinite_added_mass(data)
    with h5py.File(content, "w") as file:
        simulation = {
            "w": w[:, None],
            "T": (2 * np.pi / w)[:, None],
            "rho": rho,
            "g": g,
            "water_depth": float(data["water_depth"]),
            "scaled": 0.0,
        }
        if "wave_direction" in data.coords:
            simulation["wave_dir"] = np.rad2deg(data["wave_direction"].values)[:, None]
        else:
            simulation["wave_dir"] = np.zeros((1, 1))
        for key, value in simulation.items():
            file[f"simulation_parameters/{key}"] = value
        if np.isinf(float(data["water_depth"])):
            del file["simulation_parameters/water_depth"]
            file["simulation_parameters/water_depth"] = "infinite"
        file["bem_data/code"] = str(data.attrs.get("solver", "unknown"))
        for k, body in enumerate(names):
            rows = _rows(data, body)
            root = f"body{k + 1}"
            _properties(file, f"{root}/properties", data, k, rows)
            coefficients = f"{root}/hydro_coeffs"
            file[f"{coefficients}/added_mass/all"] = np.moveaxis(A[finite][:, rows], 0, 2)
            if infinite is not None:
                file[f"{coefficients}/added_mass/inf_freq"] = infinite[rows] / rho
            file[f"{coefficients}/radiation_damping/all"] = np.moveaxis(B[:, rows], 0, 2)
            if "hydrostatic_stiffness" in data:
                stiffness = data["hydrostatic_stiffness"].transpose(*MATRIX).values
                block = stiffness[np.ix_(rows, rows)] / (rho * g)
                file[f"{coefficients}/linear_restoring_stiffness"] = block
            _forces(file, coefficients, data, rows, finite, rho * g)


def _rows(data: xr.Dataset, body: str) -> list[int]:
    """Rows of a body, the six rigid DOFs first."""
    labels = [str(x) for x in data["influenced_dof"].values]
    body_dofs = dofs_of(data, body)
    missing = [dof for dof in DOFS if f"{body}__{dof}" not in body_dofs]
    if missing:
        raise SwelltreeError(
            f"BEMIO files need six DOFs and body '{body}' has no {missing[0]}. "
            "Write .nc instead, or compute all DOFs."
        )
    modes = [dof for dof in body_dofs if split_label(dof)[1] not in DOFS]
    return [labels.index(x) for x in (*(f"{body}__{dof}" for dof in DOFS), *modes)]


def _properties(file: h5py.File, root: str, data: xr.Dataset, k: int, rows: list[int]) -> None:
    values = {
        "name": body_names(data)[k],
        "cg": data["rotation_center"].values[k][:, None],
        "cb": data["center_of_buoyancy"].values[k][:, None],
        "disp_vol": float(data["displaced_volume"].values[k]),
        "body_number": float(k + 1),
        "dof": float(len(rows)),
        "dof_start": float(min(rows) + 1),
        "dof_end": float(max(rows) + 1),
    }
    for key, value in values.items():
        file[f"{root}/{key}"] = value


def _forces(
    file: h5py.File, root: str, data: xr.Dataset, rows: list[int], finite: np.ndarray, unit: float
) -> None:
    places = ("excitation", "excitation/froude-krylov", "excitation/scattering")
    for name, place in zip(FORCES, places, strict=True):
        if name not in data:
            continue
        values = data[name].transpose(*FORCE).values[finite][:, :, rows].conj() / unit
        values = np.moveaxis(values, (0, 1, 2), (2, 1, 0))
        for key, part in (
            ("re", values.real),
            ("im", values.imag),
            ("mag", np.abs(values)),
            ("phase", np.angle(values)),
        ):
            file[f"{root}/{place}/{key}"] = part
    if "mean_drift" in data:
        values = data["mean_drift"].transpose(*FORCE).values[finite][:, :, rows] / unit
        file[f"{root}/mean_drift/{DRIFT[0]}/val"] = np.moveaxis(values, (0, 1, 2), (2, 1, 0))


# --- What hydrodynamic data hold, as text for the terminal

OPTIONAL = ("Froude_Krylov_force", "diffraction_force", "hydrostatic_stiffness", "inertia_matrix")
SECOND = ("mean_drift", "mean_drift_total", "qtf_difference", "qtf_sum")


def hydro_outline(data: xr.Dataset, findings: Sequence[Finding]) -> str:
    """Contents and findings, one fact per line.

    Args:
        data: hydrodynamic data.
        findings: of `hydro_report`.
    """
    omega = data["omega"].values
    finite = omega[(omega > 0) & np.isfinite(omega)]
    limits = [
        name for name, there in (("0", 0.0 in omega), ("inf", np.isinf(omega).any())) if there
    ]
    also = f", and {' and '.join(limits)}" if limits else ""
    lines = [
        f"source       {data.attrs.get('source', '')} ({data.attrs.get('solver', 'unknown')})",
        f"water        rho {float(data['rho']):g} kg/m^3, g {float(data['g']):g} m/s^2, "
        f"depth {float(data['water_depth']):g} m",
        f"frequencies  {finite.size}, {finite.min():.4g} to {finite.max():.4g} rad/s{also}",
    ]
    if "wave_direction" in data.coords:
        beta = np.rad2deg(data["wave_direction"].values)
        lines.append(f"headings     {beta.size}, {beta.min():g} to {beta.max():g} deg")
    for k, body in enumerate(body_names(data)):
        point, volume = data["rotation_center"].values[k], data["displaced_volume"].values[k]
        where = "unknown" if np.isnan(point).any() else "({:g}, {:g}, {:g}) m".format(*point)
        lines.append(
            f"body         {body}: {len(dofs_of(data, body))} DOFs about {where}"
            + ("" if np.isnan(volume) else f", volume {volume:.6g} m^3")
        )
    optional_names = [name for name in ("excitation_force", *OPTIONAL, *SECOND) if name in data]
    lines.append(f"also holds   {', '.join(optional_names)}")
    specified = "given" if infinite_added_mass(data) is not None else "not given"
    lines.append(f"A_inf        {specified}")
    lines += [f"note         {text}" for text in str(data.attrs.get("notes", "")).splitlines()]
    lines.append("")
    lines += [str(finding) for finding in findings] or ["no findings: the data are consistent."]
    return "\n".join(lines)
