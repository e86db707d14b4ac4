"""Bodies of a script as tables of a case file, with drag and damping."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.hydro_data import HydroData, path_of, plain_name

UNKNOWN = "unknown until the hydrodynamic data are there: import again"
DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")


def plain(values: object) -> list[float]:
    """Numbers as TOML writes them."""
    return [float(x) + 0.0 for x in np.asarray(values, dtype=float).reshape(-1)]


def rows6(matrix: np.ndarray) -> object:
    """A 6 x 6 matrix for TOML: its diagonal by name where there is no more."""
    if np.array_equal(matrix, np.diag(np.diag(matrix))):
        return {dof: float(x) for dof, x in zip(DOFS, np.diag(matrix), strict=True) if x}
    return [plain(row) for row in matrix]


def names_of(
    bodies: dict[int, Assignments], hydro: HydroData, blocks: dict[int, str]
) -> dict[int, str]:
    """Names of the bodies: those of the data, else of the script, else of the model's block."""
    result = dict(hydro.names)
    for n, body in bodies.items():
        if n not in result:
            name = plain_name(body.text("name")) or plain_name(blocks.get(n, "")) or f"body{n}"
            result[n] = name if name not in {*result.values(), "world"} else f"{name}_{n}"
    return result


def body_table(n: int, body: Assignments, name: str, hydro: HydroData, rho: float) -> NamedValues:
    """One body, its frame at the origin of the world, as WEC-Sim's frames are."""
    waits = hydro.file is not None and hydro.data is None and not body.number("nonHydro", 0.0)
    center = center_of(n, body, hydro)
    table: NamedValues = {"name": name}
    table["mass"] = _mass(n, body, name, hydro, rho, waits)
    table["inertia"] = _inertia(body)
    if center is not None:
        table["com"] = plain(center)
    elif waits:
        table["com"] = UNKNOWN
    else:
        body.lack("has no centerGravity; the origin is taken.")
    volume = body.number("volume", 0.0)
    buoyancy = body.vector("centerBuoyancy")
    if n not in hydro.names and not waits and volume > 0:
        table |= {"displaced_volume": volume, "center_of_buoyancy": plain(buoyancy)}
    return table


def center_of(n: int, body: Assignments, hydro: HydroData) -> np.ndarray | None:
    """Centre of gravity [m]; that of the data for a wet body."""
    specified = body.numbers("centerGravity", 3)
    data = hydro.of(n, "rotation_center")
    if data is None:
        data = hydro.of(n, "center_of_mass")
    if data is None:
        return None if specified is None else np.array(specified)
    if specified is not None and np.abs(np.array(specified) - data).max() > 1e-9:
        body.leave("centerGravity", "that of the hydrodynamic data is taken, as WEC-Sim does.")
    return data


def _mass(
    n: int, body: Assignments, name: str, hydro: HydroData, rho: float, waits: bool
) -> float | str:
    value = body.raw("mass")
    if not isinstance(value, str):
        result = body.number("mass")
        if result is None:
            body.lack("has no mass that can be read.")
            return UNKNOWN if waits else 0.0
        return result
    if value == "equilibrium":
        volume = hydro.of(n, "displaced_volume")
        if volume is None and body.has("volume"):
            volume = body.number("volume")
        if volume is not None:
            text = f"mass 'equilibrium': {float(volume):.6g} m^3 of water."
            body.findings.comment("bodies", name, text)
            return rho * float(volume)
        if waits:
            return UNKNOWN
    elif value == "fixed":
        text = "mass 'fixed': any mass serves, the body does not move."
        body.findings.comment("bodies", name, text)
        return 999.0
    body.refuse("mass", f"'{value[:30]}' gives no mass")
    return 0.0


def _inertia(body: Assignments) -> list[float]:
    if body.text("mass") == "fixed":
        return [999.0] * 3
    result = body.numbers("inertia", 3, 9, default=[0.0] * 3)
    if len(result) == 9:
        return [result[k] for k in (0, 4, 8, 3, 6, 7)]
    return result + body.numbers("inertiaProducts", 3, default=[])


def body_forces(
    body: Assignments, name: str, rho: float, center: np.ndarray | None
) -> dict[str, list[NamedValues]]:
    """Drag, Morison elements and linear damping of a body: rows of `forces` and of `moorings`."""
    drag = body.matrix("quadDrag.drag")
    cd, area = (body.vector(f"quadDrag.{part}", (0.0,) * 6) for part in ("cd", "area"))
    if drag is None and (cd * area).any():
        drag = np.diag(0.5 * rho * cd * area)
    damping = body.matrix("linearDamping")
    forces, moorings = _morison(body, name, center), []
    if drag is not None:
        row: NamedValues = {"type": "quadratic_drag", "name": f"{name}_drag", "body": name}
        # WEC-Sim takes the velocity of the body alone
        forces.insert(0, row | {"damping": rows6(drag), "relative_to": "ground"})
    if damping is not None:
        row = {"type": "damping", "name": f"{name}_damping", "body": name}
        moorings.append(row | {"damping": rows6(damping)})
    return {"forces": forces, "moorings": moorings}


def _morison(body: Assignments, name: str, center: np.ndarray | None) -> list[NamedValues]:
    """Drag of Morison elements that are given by areas; their inertia has no counterpart."""
    parts = ("cd", "ca", "area", "VME", "rgME", "z")
    rows = {part: body.raw(f"morisonElement.{part}") for part in parts}
    option = body.number("morisonElement.option", 0.0)
    if option not in (0, 1):
        body.leave("morisonElement.option", "only elements along x, y, z (option 1) are translated")
    if option != 1:
        return []
    count = max((x.shape[0] for x in rows.values() if isinstance(x, np.ndarray)), default=0)
    built = []
    for k in range(min(count, 1000)):
        cd, area, arm = (_row3(rows[part], k) for part in ("cd", "area", "rgME"))
        if cd.any() and area.any():
            point = arm + (np.zeros(3) if center is None else center)
            built.append(
                {
                    "type": "body_drag",
                    "name": f"{name}_morison{k + 1}",
                    "point": {"body": name, "position": plain(point)},
                    "area": plain(area),
                    "Cd": plain(cd),
                }
            )
    if all(isinstance(x, np.ndarray) and x.any() for x in (rows["ca"], rows["VME"])):
        body.leave(
            "morisonElement.ca",
            "the inertia of Morison elements given by volumes has no counterpart; their drag is "
            "translated. Use `morison` members with diameters instead.",
        )
    return built


def _row3(value: object, k: int) -> np.ndarray:
    if not isinstance(value, np.ndarray) or value.shape[1] != 3 or not np.isfinite(value).all():
        return np.zeros(3)
    return value[min(k, len(value) - 1)] + 0.0


def hull_table(
    body: Assignments, folder: Path, out: Path, center: np.ndarray | None
) -> NamedValues | None:
    """The mesh of a body, where its buoyancy and wave pressure are taken on the wetted hull."""
    path = path_of(folder, body.text("geometryFile"))
    if path is None or not os.path.isfile(path):
        body.findings.leave(
            body.place("geometryFile"),
            f"{body.label}: the mesh '{body.text('geometryFile')}' is not there, so nonlinearHydro "
            "is left out.",
            missing=True,
        )
        return None
    table: NamedValues = {"shape": "mesh", "path": relative(path, out)}
    if center is not None and np.any(center):
        table["offset"] = plain(center)  # WEC-Sim's meshes are about the centre of gravity
    return table


def relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder, with forward slashes."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()
